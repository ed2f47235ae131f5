// How far the log has come: what its thread tells the others.
#ifndef WINDHOVER_IO_DURABLE_LOG_PROGRESS_H_
#define WINDHOVER_IO_DURABLE_LOG_PROGRESS_H_

#include <atomic>
#include <cstdint>

#include "windhover/platform/status.h"

namespace windhover {

// Written by the log's thread (by recovery before it starts), read by anybody. Numbers only rise.
struct LogProgress {
  // Frames below are on disk, and rows below: all that their acknowledgements say.
  std::atomic<std::uint64_t> durable_frames{0};
  std::atomic<std::uint64_t> durable_head{0};
  // Frames below are on disk or in the commit under way.
  std::atomic<std::uint64_t> committing_frames{0};
  std::atomic<std::uint64_t> commits{0};
  std::atomic<std::uint64_t> failures{0};  // commits and reads that failed and were tried again
  // Seals (LogWriter::seal) that failed, and the errno of the last.
  std::atomic<std::uint64_t> seal_failures{0};
  std::atomic<int> seal_error_number{0};
  std::atomic<std::uint64_t> used_bytes{0};
  // Frames may be judged while the bytes of all that have been (FrameFeed's count, at most a commit
  // of its own for each) are not more than this: they have a place in the log, whatever happens. So
  // a log that is full holds up who sends, and never a frame that a checkpoint waits for.
  std::atomic<std::uint64_t> room_until{0};
  // All that has been judged is on disk, and what comes next has no place: who sends waits until a
  // checkpoint lets old frames go. While frames are on their way it stays as it was: a segment more
  // is kept for them.
  std::atomic<bool> full{false};
  // The state of the last commit: kOk, or why it failed, and its errno.
  std::atomic<Status> status{Status::kOk};
  std::atomic<int> error_number{0};

  // What keeps the log from going on: kLogFull, or why the last commit failed; kOk: nothing.
  Status obstacle() const noexcept {
    const Status committed = status.load(std::memory_order_relaxed);
    return ok(committed) && full.load(std::memory_order_relaxed) ? Status::kLogFull : committed;
  }
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_LOG_PROGRESS_H_
