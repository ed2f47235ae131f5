// The observe thread's end of the log.
#ifndef WINDHOVER_IO_DURABLE_FRAME_FEED_H_
#define WINDHOVER_IO_DURABLE_FRAME_FEED_H_

#include <atomic>
#include <cstdint>

#include "windhover/io/durable/frame_ring.h"
#include "windhover/io/durable/log_progress.h"
#include "windhover/io/durable/log_writer.h"
#include "windhover/io/durable/wake.h"

namespace windhover {

// Where a conversation puts the frames that it has judged, and sees which are on disk. It is closed
// while the log is being learned again: no frame may be judged before the engine has the log's
// rows. Without a log frames are only numbered, so that a checkpoint can say which it holds. The
// observe thread's, except where a function says otherwise.
class FrameFeed {
 public:
  // `ring` and `wake` are the log's, null without one. The ring begins at the number that open() is
  // given.
  FrameFeed(FrameRing* ring, const LogProgress& progress, Wake* wake,
            const FrameSizes& sizes) noexcept
      : ring_(ring), progress_(progress), wake_(wake), sizes_(sizes) {}

  // Opens the feed; frames are numbered from `first` on.
  void open(std::uint64_t first) noexcept {
    pushed_ = first;
    open_.store(true, std::memory_order_release);
  }
  bool is_open() const noexcept { return open_.load(std::memory_order_acquire); }  // any thread
  bool logs() const noexcept { return ring_ != nullptr; }

  // Whether a frame of so many rows may be judged now; otherwise it is tried a little later.
  bool has_room(std::uint64_t rows) noexcept {
    if (!is_open()) return false;
    if (ring_ == nullptr) return true;
    return ring_->has_room() &&
           pushed_bytes_ + bytes_of(rows) <= progress_.room_until.load(std::memory_order_acquire);
  }
  // REQUIRES: has_room() for the frame's rows.
  void push(const LoggedFrame& frame) noexcept {
    ++pushed_;
    if (ring_ == nullptr) return;
    pushed_bytes_ += bytes_of(frame.accepted);
    ring_->push(frame);
    wake_->wake_if_sleeping();
  }

  std::uint64_t bytes_of(std::uint64_t rows) const noexcept { return sizes_.bytes_of(rows); }
  // Whether the rows of one frame may take so many bytes, and how many rows always may.
  bool fits(std::uint64_t bytes) const noexcept { return bytes <= sizes_.most; }
  std::uint64_t most_rows() const noexcept {
    return sizes_.row == 0 ? UINT64_MAX : sizes_.most / sizes_.row;
  }

  // Frames judged since the history began.
  std::uint64_t pushed() const noexcept { return pushed_; }
  std::uint64_t durable_frames() const noexcept {
    return progress_.durable_frames.load(std::memory_order_acquire);
  }
  std::uint64_t committing_frames() const noexcept {
    return progress_.committing_frames.load(std::memory_order_acquire);
  }

 private:
  FrameRing* ring_;
  const LogProgress& progress_;
  Wake* wake_;
  FrameSizes sizes_;
  std::uint64_t pushed_ = 0;
  std::uint64_t pushed_bytes_ = 0;  // since open()
  std::atomic<bool> open_{false};
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_FRAME_FEED_H_
