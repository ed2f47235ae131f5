#ifndef WINDHOVER_TOOLS_DAEMON_RATE_LIMIT_H_
#define WINDHOVER_TOOLS_DAEMON_RATE_LIMIT_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace windhover {

// A token bucket: `burst` permits at once, then one a `period`.
class RateLimit {
 public:
  constexpr RateLimit(std::int64_t burst, std::chrono::nanoseconds period) noexcept
      : most_ns_(burst * period.count()), period_ns_(period.count()), saved_ns_(most_ns_) {}

  // `now_ns` never falls.
  bool allow(std::int64_t now_ns) noexcept {
    if (started_) saved_ns_ = std::min(most_ns_, saved_ns_ + (now_ns - last_ns_));
    started_ = true;
    last_ns_ = now_ns;
    if (saved_ns_ < period_ns_) return false;
    saved_ns_ -= period_ns_;
    return true;
  }

 private:
  std::int64_t most_ns_;
  std::int64_t period_ns_;
  std::int64_t saved_ns_;
  std::int64_t last_ns_ = 0;
  bool started_ = false;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_RATE_LIMIT_H_
