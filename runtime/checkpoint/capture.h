// A copy of the learner's state, taken at one moment and written at leisure.
#ifndef WINDHOVER_RUNTIME_CHECKPOINT_CAPTURE_H_
#define WINDHOVER_RUNTIME_CHECKPOINT_CAPTURE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/checkpoint/format.h"
#include "windhover/runtime/config.h"

namespace windhover::checkpoint {

// Writes sections, each with its header, one after another into a buffer.
class StateCopy final : public StateVisitor {
 public:
  explicit StateCopy(std::span<std::byte> room) noexcept : room_(room) {}

  void section(const char* name, std::uint32_t version) noexcept override;
  void visit(std::span<double> numbers) noexcept override { put(std::as_bytes(numbers)); }
  void visit(std::span<std::uint64_t> numbers) noexcept override { put(std::as_bytes(numbers)); }
  void visit(std::span<std::uint32_t> numbers) noexcept override { put(std::as_bytes(numbers)); }

  // Completes the last section. Call it after the last number.
  void end() noexcept;
  std::size_t size() const noexcept { return size_; }
  bool fits() const noexcept { return fits_; }

 private:
  void put(std::span<const std::byte> bytes) noexcept;

  std::span<std::byte> room_;
  std::size_t size_ = 0;
  std::size_t section_ = 0;  // where the last section's header stands
  bool any_ = false;
  bool fits_ = true;
};

// The buffer, and who may use it. A request goes from the thread that asks to the learner, and the
// copy from the learner to the thread that writes it.
//
// Memory order. The learner writes the buffer between kTaking (acquire: the reader before is done)
// and kTaken (release); the writing thread reads it after it has seen kTaken (acquire) and gives it
// back with kIdle (release).
class Capture {
 public:
  // Takes memory, writes nothing. `largest_entry`: bytes of the largest row or key.
  Capture(Arena& arena, std::size_t state_bytes, std::size_t largest_entry) noexcept;

  // A bound on the bytes of a state, by the memory that the arena has given to the parts that have
  // one: all of it, one slot of snapshots, and room for numbers that are shown wider than they are
  // kept. Of the rows only the learner's weights count.
  static std::size_t state_bound(const Arena& arena, const EngineConfig& config) noexcept;

  // --- The thread that asks and writes.
  bool request() noexcept;  // false: one is under way
  bool taken() const noexcept { return stage_.load(std::memory_order_acquire) >= Stage::kTaken; }
  std::uint64_t head() const noexcept { return head_; }
  // From taken to written; false: there is no copy, or it has been written.
  bool begin_write() noexcept;
  // Calls a request off. true: the learner has taken a copy, and the caller has to end the lease
  // and call release() (see EngineState).
  bool call_off() noexcept;
  void release() noexcept { stage_.store(Stage::kIdle, std::memory_order_release); }

  // --- The learner's thread. Whether begin() is worth a try. Never false while a request waits; if
  // it is true without one, begin() makes it false.
  const std::atomic<bool>& wanted() const noexcept { return wanted_; }
  bool begin() noexcept;          // from requested to taking
  bool begin_unasked() noexcept;  // from idle to taking
  // The buffer holds the state of a learner that has taken in `head` rows. false: the request was
  // called off meanwhile, and the caller has to end the lease and call release().
  bool end(std::uint64_t head, std::size_t counters_at, const StateCopy& copy) noexcept;

  // --- The thread that has the buffer.
  std::span<std::byte> room() const noexcept { return room_; }
  std::span<std::byte> state() const noexcept { return room_.first(size_); }
  // Where the first counter lies in the room.
  std::byte* counters() const noexcept { return room_.data() + counters_at_; }
  bool fits() const noexcept { return fits_; }
  // The room for one section of rows, or of keys.
  std::span<std::byte> rows() const noexcept { return rows_; }

 private:
  enum class Stage : std::uint8_t { kIdle, kRequested, kTaking, kCalledOff, kTaken, kWritten };

  bool step(Stage from, Stage to) noexcept {
    return stage_.compare_exchange_strong(from, to, std::memory_order_acq_rel,
                                          std::memory_order_acquire);
  }

  std::atomic<Stage> stage_{Stage::kIdle};
  std::atomic<bool> wanted_{false};
  std::span<std::byte> room_;
  std::span<std::byte> rows_;
  std::uint64_t head_ = 0;
  std::size_t size_ = 0;
  std::size_t counters_at_ = 0;
  bool fits_ = true;
};

}  // namespace windhover::checkpoint

#endif  // WINDHOVER_RUNTIME_CHECKPOINT_CAPTURE_H_
