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
  // The state of the last commit: kOk, or what keeps the log from going on, and its errno.
  std::atomic<Status> status{Status::kOk};
  std::atomic<int> error_number{0};
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_LOG_PROGRESS_H_
