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

// Sections, each with its header, one after another in a buffer.
class StateCopy final : public StateVisitor {
 public:
  explicit StateCopy(std::span<std::byte> room) noexcept : room_(room) {}

  void section(const char* name, std::uint32_t version) noexcept override;
  void visit(std::span<double> numbers) noexcept override { put(std::as_bytes(numbers)); }
  void visit(std::span<std::uint64_t> numbers) noexcept override { put(std::as_bytes(numbers)); }
  void visit(std::span<std::uint32_t> numbers) noexcept override { put(std::as_bytes(numbers)); }

  // Call this after the last number.
  void end() noexcept;
  std::size_t size() const noexcept { return size_; }
  bool fits() const noexcept { return fits_; }

 private:
  void put(std::span<const std::byte> bytes) noexcept;

  std::span<std::byte> room_;
  std::size_t size_ = 0;
  std::size_t section_ = 0;  // where the last one's header stands
  bool any_ = false;
  bool fits_ = true;
};

// The buffer and whose it is. A request goes from whoever asks to the learner, and the copy from
// the learner to whoever writes it.
//
// Memory order. The learner writes the buffer between kTaking (acquire: whoever read the buffer
// before is done) and kTaken (release); a writer reads it after it has seen kTaken (acquire) and
// gives it back with kIdle (release).
class Capture {
 public:
  // Takes memory, writes nothing.
  Capture(Arena& arena, std::size_t state_bytes, std::size_t largest_row) noexcept;

  // How many bytes a state may take, by what the arena has given to the parts that have one: all
  // their memory, a slot of snapshots, and numbers that are shown as longer ones than they are kept
  // as. Only the learner's weights count of the rows.
  static std::size_t state_bound(const Arena& arena, const EngineConfig& config) noexcept;

  // --- Who asks.
  bool request() noexcept;  // false: one is under way
  bool taken() const noexcept { return stage_.load(std::memory_order_acquire) >= Stage::kTaken; }
  std::uint64_t head() const noexcept { return head_; }
  // From taken to written; false where there is no copy, or it has been written.
  bool begin_write() noexcept;
  // Back to idle. true: the caller has to end the lease first (see EngineState).
  bool call_off() noexcept;
  void release() noexcept { stage_.store(Stage::kIdle, std::memory_order_release); }

  // --- The learner's thread.
  // Whether begin() is worth a try. It is never false while a request waits; where it is true for
  // nothing, begin() makes it false.
  const std::atomic<bool>& wanted() const noexcept { return wanted_; }
  bool begin() noexcept;          // from requested to taking
  bool begin_unasked() noexcept;  // from idle to taking
  // The buffer holds the state of a learner that has taken in `head` rows. false: it was called off
  // meanwhile, the lease is to be ended and release() called.
  bool end(std::uint64_t head, std::size_t counters_at, const StateCopy& copy) noexcept;

  // --- Whoever has it.
  std::span<std::byte> room() const noexcept { return room_; }
  std::span<std::byte> state() const noexcept { return room_.first(size_); }
  // Where the first counter lies in the room.
  std::byte* counters() const noexcept { return room_.data() + counters_at_; }
  bool fits() const noexcept { return fits_; }
  // Room for a section of rows.
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
