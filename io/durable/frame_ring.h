// Judged frames on their way from the observe thread to the log.
#ifndef WINDHOVER_IO_DURABLE_FRAME_RING_H_
#define WINDHOVER_IO_DURABLE_FRAME_RING_H_

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/durable/log_options.h"
#include "windhover/platform/arena.h"

namespace windhover {

// It holds what is known of each frame; the rows stay in the window. Frames are numbered as in the
// log. One thread pushes, one thread takes; the taker sees a pushed frame with all that was written
// before it, its rows included.
class FrameRing {
 public:
  // Takes memory, writes nothing. `capacity` is rounded up to a power of two.
  FrameRing(Arena& arena, std::size_t capacity) noexcept
      : frames_(arena.allocate<LoggedFrame>(std::bit_ceil(capacity))) {}
  FrameRing(const FrameRing&) = delete;
  FrameRing& operator=(const FrameRing&) = delete;

  // Empties the ring; the next frame is number `first`. While neither thread is at work.
  void reset(std::uint64_t first) noexcept {
    pushed_.store(first, std::memory_order_relaxed);
    taken_.store(first, std::memory_order_relaxed);
    room_until_ = first + frames_.size();
  }

  // --- The observe thread.

  bool has_room() noexcept {
    const std::uint64_t next = pushed_.load(std::memory_order_relaxed);
    if (next == room_until_) room_until_ = taken_.load(std::memory_order_acquire) + frames_.size();
    return next != room_until_;
  }
  // Sets frame.number. REQUIRES: has_room().
  void push(LoggedFrame frame) noexcept {
    frame.number = pushed_.load(std::memory_order_relaxed);
    slot(frame.number) = frame;
    // Sequentially consistent, because the pusher then looks whether the other thread sleeps.
    pushed_.store(frame.number + 1, std::memory_order_seq_cst);
  }

  // --- The log's thread.

  // The oldest frame that has not been taken; null: none.
  const LoggedFrame* front() noexcept {
    const std::uint64_t next = taken_.load(std::memory_order_relaxed);
    return next == pushed_.load(std::memory_order_seq_cst) ? nullptr : &slot(next);
  }
  // REQUIRES: front() is not null.
  void take() noexcept {
    taken_.store(taken_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // --- Any thread. The number of the next frame to be pushed.
  std::uint64_t pushed() const noexcept { return pushed_.load(std::memory_order_acquire); }

 private:
  LoggedFrame& slot(std::uint64_t number) noexcept {
    return frames_[number & (frames_.size() - 1)];
  }

  std::span<LoggedFrame> frames_;
  alignas(64) std::atomic<std::uint64_t> pushed_{0};
  std::uint64_t room_until_ = 0;  // beside pushed_: both are the observe thread's
  alignas(64) std::atomic<std::uint64_t> taken_{0};
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_FRAME_RING_H_
