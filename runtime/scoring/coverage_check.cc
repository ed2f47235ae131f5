#include "windhover/runtime/scoring/coverage_check.h"

#include <algorithm>
#include <cmath>

namespace windhover {
namespace {

struct Alternative {
  double promised;
  double bound;  // of what is near enough
  double held;   // beyond it
};
constexpr std::array kAlternativesTried = {
    Alternative{0.5, 0.46, 0.35}, Alternative{0.5, 0.54, 0.65}, Alternative{0.9, 0.87, 0.78},
    Alternative{0.9, 0.93, 0.975}};
constexpr double kLittle = 3;  // log ratio: an alternative e^3 times as likely

}  // namespace

void CoverageCheck::add(double pit) noexcept {
  static_assert(kAlternativesTried.size() == kAlternatives);
  const double threshold = std::log(kRows * kAlternatives);
  double largest = 0;
  for (std::size_t i = 0; i < kAlternatives; ++i) {
    const auto [promised, bound, held] = kAlternativesTried[i];
    const bool covered = std::abs(pit - 0.5) <= 0.5 * promised;
    const double ratio = covered ? held / bound : (1 - held) / (1 - bound);
    log_ratio_[i] = std::clamp(log_ratio_[i] + std::log(ratio), 0.0, 2 * threshold);
    largest = std::max(largest, log_ratio_[i]);
  }
  const bool failed = failing_.load(std::memory_order_relaxed);
  failing_.store(failed ? largest > kLittle : largest >= threshold, std::memory_order_relaxed);
}

}  // namespace windhover
