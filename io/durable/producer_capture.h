// A copy of the table of producers, made between two frames.
#ifndef WINDHOVER_IO_DURABLE_PRODUCER_CAPTURE_H_
#define WINDHOVER_IO_DURABLE_PRODUCER_CAPTURE_H_

#include <atomic>
#include <cstdint>
#include <span>

#include "windhover/io/producer_table.h"
#include "windhover/platform/arena.h"
#include "windhover/runtime/checkpoint/sink.h"

namespace windhover {

// The observe thread, which owns the table, makes it when the checkpoints' thread asks. Invariant:
// while taken() is true only the checkpoints' thread uses the copy, until release().
class ProducerCapture {
 public:
  // Takes memory, writes nothing. `pairs`: ProducerTable::most_shown().
  ProducerCapture(Arena& arena, std::size_t pairs) noexcept
      : numbers_(arena.allocate<std::uint64_t>(2 * pairs)) {}

  // --- The checkpoint's thread.
  void request() noexcept { state_.store(State::kRequested, std::memory_order_release); }
  bool taken() const noexcept { return state_.load(std::memory_order_acquire) == State::kTaken; }
  void release() noexcept { state_.store(State::kIdle, std::memory_order_release); }
  // Rows accepted and frames judged at that moment. REQUIRES: taken().
  std::uint64_t head() const noexcept { return head_; }
  std::uint64_t frames() const noexcept { return frames_; }
  bool tells_owners() const noexcept { return tells_owners_; }
  // Writes the number of pairs, then the pairs of ProducerTable::visit_state(), little-endian.
  // REQUIRES: taken().
  Status write(Sink& sink) const noexcept;

  // --- The observe thread, or any other while that is not at work.
  bool requested() const noexcept {
    return state_.load(std::memory_order_acquire) == State::kRequested;
  }
  // O(the table's capacity).
  void take(ProducerTable& table, std::uint64_t head, std::uint64_t frames) noexcept;

  // Restores into the table what write() wrote, before others use the table. kMalformed, kTooLarge
  // (more than the table holds), or an error of the source; the table is then empty.
  static Status read(Source& source, ProducerTable& table) noexcept;

 private:
  enum class State : std::uint8_t { kIdle, kRequested, kTaken };

  std::span<std::uint64_t> numbers_;
  std::size_t count_ = 0;  // how many numbers there are
  std::uint64_t head_ = 0;
  std::uint64_t frames_ = 0;
  bool tells_owners_ = false;
  std::atomic<State> state_{State::kIdle};
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_PRODUCER_CAPTURE_H_
