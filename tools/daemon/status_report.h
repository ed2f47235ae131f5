// The status of a posterior in the log, and how far it has come after a restart.
#ifndef WINDHOVER_TOOLS_DAEMON_STATUS_REPORT_H_
#define WINDHOVER_TOOLS_DAEMON_STATUS_REPORT_H_

#include <cstdint>
#include <string_view>

#include "windhover/runtime/prediction/predictive.h"
#include "windhover/tools/daemon/daemon_log.h"
#include "windhover/tools/daemon/rate_limit.h"

namespace windhover {

// One thread. The log and the name outlive it. No heap call.
class StatusReport {
 public:
  StatusReport(std::string_view model, DaemonLog& log) noexcept;

  // Logs what has changed since the last line. Of a status that comes and goes ten changes are
  // logged, then one in ten seconds.
  void look(const Provenance& provenance, std::int64_t now_ns) noexcept;

 private:
  void look_at_recovery(const Provenance& provenance, std::int64_t now_ns) noexcept;

  std::string_view model_;
  DaemonLog& log_;
  PosteriorStatus status_ = PosteriorStatus::kWarmingUp;
  StatusReason reason_ = StatusReason::kFewDraws;
  RateLimit changes_{10, std::chrono::seconds(10)};
  RateLimit progress_{1, std::chrono::seconds(10)};
  bool recovering_ = false;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_STATUS_REPORT_H_
