// How far the log has come.
#ifndef WINDHOVER_IO_DURABLE_LOG_PROGRESS_H_
#define WINDHOVER_IO_DURABLE_LOG_PROGRESS_H_

#include <atomic>
#include <cstdint>

#include "windhover/platform/status.h"

namespace windhover {

// Written by the log's thread, and before it starts by recovery; while the log is learned again the
// observe thread writes status, error_number and failures (LogReplay). Read by any thread. Frames,
// rows and counts only rise.
struct LogProgress {
  // Frames and rows below these are on disk.
  std::atomic<std::uint64_t> durable_frames{0};
  std::atomic<std::uint64_t> durable_head{0};
  // Frames below this are on disk or in the commit under way.
  std::atomic<std::uint64_t> committing_frames{0};
  std::atomic<std::uint64_t> commits{0};
  std::atomic<std::int64_t> committed_ns{0};  // when the last of them ended; 0: none has
  std::atomic<std::uint64_t> failures{0};     // commits and reads that failed and were tried again
  // How many seals (LogWriter::seal) failed, and the errno of the last.
  std::atomic<std::uint64_t> seal_failures{0};
  std::atomic<int> seal_error_number{0};
  std::atomic<std::uint64_t> used_bytes{0};
  // Frames may be judged while FrameFeed's count of their bytes, with a commit of its own for each,
  // is at most this: they are then certain of a place in the log. So a full log holds up senders,
  // and never a frame that a checkpoint waits for.
  std::atomic<std::uint64_t> room_until{0};
  // All judged frames are on disk, and there is no place for more: senders wait until a checkpoint
  // lets old frames go. While frames are on their way it stays as it is, because one more segment
  // is kept for them.
  std::atomic<bool> full{false};
  // The result of the last commit, or of reading the log again: kOk, or why it failed; and the
  // errno.
  std::atomic<Status> status{Status::kOk};
  std::atomic<int> error_number{0};

  // What keeps the log from going on: kLogFull, or `status`; kOk: nothing.
  Status obstacle() const noexcept {
    const Status committed = status.load(std::memory_order_relaxed);
    return ok(committed) && full.load(std::memory_order_relaxed) ? Status::kLogFull : committed;
  }
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_LOG_PROGRESS_H_
