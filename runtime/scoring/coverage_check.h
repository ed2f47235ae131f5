#ifndef WINDHOVER_RUNTIME_SCORING_COVERAGE_CHECK_H_
#define WINDHOVER_RUNTIME_SCORING_COVERAGE_CHECK_H_

#include <array>
#include <atomic>
#include <cstddef>

namespace windhover {

// Whether the predictive distribution's central intervals hold about what they promise, looked at
// after every row: an e-detector (Shin, Ramdas, Rinaldo 2022). Near enough is 46 to 54 % of the
// outcomes within the 50 % interval and 87 to 93 % within the 90 % one. Against each of these four
// bounds the likelihood ratio of an alternative (35, 65, 78, 97.5 %) is multiplied up row by row,
// and begun anew whenever it falls below 1. While the predictions are near enough one of the four
// comes to kRows x 4 at most once in kRows rows on average, however often one looks.
// One thread; failing() from any.
class CoverageCheck {
 public:
  static constexpr double kRows = 1e5;  // between two false alarms, at least, on average

  // Probability integral transform of one outcome, 0 to 1.
  void add(double pit) noexcept;

  // From the alarm on until little speaks for it any more.
  bool failing() const noexcept { return failing_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kAlternatives = 4;

  // 0 to twice the threshold: what has long been wrong can be right again within 1,000 rows.
  std::array<double, kAlternatives> log_ratio_{};
  std::atomic<bool> failing_{false};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_COVERAGE_CHECK_H_
