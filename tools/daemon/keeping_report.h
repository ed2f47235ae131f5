// The state of the data folder, in the log: commits that fail, a log that is full, checkpoints.
#ifndef WINDHOVER_TOOLS_DAEMON_KEEPING_REPORT_H_
#define WINDHOVER_TOOLS_DAEMON_KEEPING_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "windhover/io/durable/checkpoint_progress.h"
#include "windhover/io/durable/log_progress.h"
#include "windhover/tools/daemon/daemon_log.h"
#include "windhover/tools/daemon/rate_limit.h"

namespace windhover {

// Logs that `failures` checkpoints of the model could not be taken, the last one because of
// `status`.
void tell_checkpoint_failed(DaemonLog& out, std::string_view model, std::uint64_t failures,
                            Status status, const CheckpointProgress& checkpoints) noexcept;

// One thread. All that it refers to outlives it. No heap call after the constructor.
class KeepingReport {
 public:
  // Counts from before are not reported.
  KeepingReport(std::string_view model, const LogProgress& log,
                const CheckpointProgress& checkpoints, DaemonLog& out) noexcept;

  // Logs what has changed since the last line of its kind: three lines at once, then one in ten
  // seconds, of whatever kind; of checkpoints taken as many beside them. What has to wait is told
  // with what comes meanwhile.
  void look(std::int64_t now_ns) noexcept;
  // Logs what waits, and then nothing has to wait any more.
  void finish() noexcept;

 private:
  bool may_tell(RateLimit& lines, std::int64_t now_ns) noexcept {
    return finishing_ || lines.allow(now_ns);
  }
  // Each tells of one kind, if there is news and a line is allowed, and returns whether it did.
  bool tell_commits_fail(std::int64_t now_ns) noexcept;
  bool tell_commits_again(std::int64_t now_ns) noexcept;
  bool tell_room(std::int64_t now_ns) noexcept;
  bool tell_seals_fail(std::int64_t now_ns) noexcept;
  bool tell_checkpoints_failed(std::int64_t now_ns) noexcept;
  bool tell_checkpoints_taken(std::int64_t now_ns) noexcept;

  std::string_view model_;
  const LogProgress& log_;
  const CheckpointProgress& checkpoints_;
  DaemonLog& out_;
  std::uint64_t log_failures_;
  std::uint64_t seal_failures_;
  std::uint64_t checkpoint_failures_;
  std::uint64_t taken_;
  RateLimit lines_{3, std::chrono::seconds(10)};
  RateLimit taken_lines_{3, std::chrono::seconds(10)};
  std::size_t next_kind_ = 0;
  bool log_fails_ = false;
  bool log_is_full_ = false;
  bool finishing_ = false;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_KEEPING_REPORT_H_
