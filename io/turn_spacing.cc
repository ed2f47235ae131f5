#include "windhover/io/turn_spacing.h"

#include <sys/resource.h>

namespace windhover {

bool TurnSpacing::pauses(std::int64_t now_ns, std::uint64_t stops) noexcept {
  if (stops != stops_) {
    stops_ = stops;
    stopped_until_ns_ = now_ns + kStopNs;
  }
  paused_ = !paused_ && now_ns < light_until_ns_ && now_ns < stopped_until_ns_;
  return paused_;
}

std::uint64_t stops_of_this_thread() noexcept {
  rusage used{};
  (void)::getrusage(RUSAGE_THREAD, &used);
  return static_cast<std::uint64_t>(used.ru_nivcsw);
}

}  // namespace windhover
