#ifndef WINDHOVER_RUNTIME_SCORING_CALIBRATION_CHECK_H_
#define WINDHOVER_RUNTIME_SCORING_CALIBRATION_CHECK_H_

#include <array>
#include <atomic>
#include <cstddef>

namespace windhover {

// Whether the predictive distribution is about what it claims to be, looked at after every row: an
// e-detector (Shin, Ramdas, Rinaldo 2022). Near enough is
//   46 to 54 % of the outcomes within the central 50 % interval, 87 to 93 % within the 90 % one;
//   a forecast that knows nothing of x predicts no better;
//   of classes, the log-odds are the right ones times 0.75 to 1.25.
// Against each bound the likelihood ratio of an alternative is multiplied up row by row, and begun
// anew whenever it falls below 1: 35, 65, 78, 97.5 %; that forecast itself; log-odds times 0.5 and
// 2. While the predictions are near enough, and as to the forecast right, one of them comes to
// kRows times their number at most once in kRows rows on average, however often one looks.
// One thread; failing() from any.
class CalibrationCheck {
 public:
  static constexpr double kRows = 1e5;  // between two false alarms, at least, on average

  // What one outcome y says.
  struct Outcome {
    double pit = 0;             // its probability integral transform, 0 to 1
    double reference_lead = 0;  // log p(y) of who knows nothing of x, less log p(y | x)
    // Of classes: log p(y | x) with log-odds that are `times` as large, normalized. Otherwise 0.
    struct {
      double half = 0;  // times 0.5
      double three_quarters = 0;
      double five_quarters = 0;
      double twice = 0;
    } tempered;
  };
  void add(const Outcome& outcome) noexcept;

  // From the alarm on until little speaks for it any more.
  bool failing() const noexcept { return failing_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kAlternatives = 7;

  // 0 to twice the threshold: what has long been wrong can be right again within
  // 1,000 rows that judge.
  std::array<double, kAlternatives> log_ratio_{};
  std::atomic<bool> failing_{false};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_CALIBRATION_CHECK_H_
