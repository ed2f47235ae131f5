#include "windhover/tools/daemon/status_report.h"

#include <utility>

#include "windhover/runtime/diagnostics/reason_number.h"

namespace windhover {

StatusReport::StatusReport(std::string_view model, DaemonLog& log) noexcept
    : model_(model), log_(log) {}

void StatusReport::look(const Provenance& p, std::int64_t now_ns) noexcept {
  look_at_recovery(p, now_ns);
  if (p.status == status_ && p.reason == reason_) return;
  if (!changes_.allow(now_ns)) return;  // a later look tells the last state
  LogLine line =
      log_.line(p.status == PosteriorStatus::kOk || p.status == PosteriorStatus::kWarmingUp ||
                        p.status == PosteriorStatus::kRecovering
                    ? LogLevel::kInfo
                    : LogLevel::kWarning,
                "status_changed");
  line.add("model", model_).add("from", to_string(status_)).add("to", to_string(p.status));
  line.add("reason", to_string(p.reason));
  if (const ReasonNumber number = number_behind(p); number.name != nullptr) {
    line.add(number.name, number.value);
  }
  if (p.reason == StatusReason::kDrift && p.drift_onset > 0) line.add("drift_onset", p.drift_onset);
  line.add("rows", p.n_seen).add("posterior_rows", p.n_eff).add("draws", p.draws);
  log_.write(line);
  status_ = p.status;
  reason_ = p.reason;
}

void StatusReport::look_at_recovery(const Provenance& p, std::int64_t now_ns) noexcept {
  const bool now = p.recovery_target != 0;
  if (now ? !progress_.allow(now_ns) : !recovering_) return;
  LogLine line = log_.line(LogLevel::kInfo, now ? "recovering" : "recovered");
  line.add("model", model_).add("rows", p.sequence);
  if (now) line.add("of", p.recovery_target);
  log_.write(line);
  recovering_ = now;
}

}  // namespace windhover
