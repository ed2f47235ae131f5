#include "windhover/io/turn_spacing.h"

#include <algorithm>

#include <sys/resource.h>

namespace windhover {

bool TurnSpacing::pauses(std::int64_t now_ns, std::uint64_t stops) noexcept {
  const auto more = static_cast<std::int64_t>(std::min<std::uint64_t>(stops - stops_, 100));
  stops_ = stops;
  if (more > 0) {
    stopped_until_ns_ =
        std::min(std::max(stopped_until_ns_, now_ns) + more * kStopNs, now_ns + kMostStopNs);
  }
  passed_ns_ = paused_ ? std::min(now_ns - paused_since_ns_, kMostPassedNs) : 0;
  paused_ = !paused_ && now_ns < light_until_ns_ && now_ns < stopped_until_ns_;
  if (paused_) paused_since_ns_ = now_ns;
  return paused_;
}

std::uint64_t stops_of_this_thread() noexcept {
  rusage used{};
  (void)::getrusage(RUSAGE_THREAD, &used);
  return static_cast<std::uint64_t>(used.ru_nivcsw);
}

}  // namespace windhover
