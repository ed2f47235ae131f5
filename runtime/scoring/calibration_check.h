#ifndef WINDHOVER_RUNTIME_SCORING_CALIBRATION_CHECK_H_
#define WINDHOVER_RUNTIME_SCORING_CALIBRATION_CHECK_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace windhover {

// Whether the predictive distribution is about what it claims to be, looked at after every row: an
// e-detector (Shin, Ramdas, Rinaldo 2022). Near enough is
//   46 to 54 % of the outcomes within the central 50 % interval, 87 to 93 % within the 90 % one;
//   a forecast that knows nothing of x predicts no better;
//   of classes, the log-odds are the right ones times 0.75 to 1.25.
// Against each bound stand likelihood ratios of alternatives, as if something had changed at any
// row before: 20, 35, 65 and 85 %, 60, 78 and 97.5 %; that forecast itself; log-odds times 0.5 and
// 2. Each is added up over these rows by R <- (R + 1) ratio (Shiryaev and Roberts). While the
// predictions are near enough, and as to the forecast right, the sum of all R grows by their number
// a row at most on average, so that it comes to kRows times that once in kRows rows or less often,
// however often one looks.
// One thread; failing() and borne_out() from any.
class CalibrationCheck {
 public:
  static constexpr double kRows = 1e6;  // between two false alarms, at least, on average

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

  // Whether there were kLeastRows outcomes, and little speaks for any alternative now.
  static constexpr std::uint64_t kLeastRows = 20;
  bool borne_out() const noexcept { return borne_out_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kAlternatives = 10;

  // Each takes a row in: whether the alarm goes off, and whether it would stay.
  bool goes_off(const std::array<double, kAlternatives>& gain) noexcept;
  bool stays_on(const std::array<double, kAlternatives>& gain) noexcept;

  std::array<double, kAlternatives> evidence_{};  // R; 0 while failing
  // Since something speaks for the alternative most: 0 to twice the threshold, so that what has
  // long been wrong can be right again within 1,000 rows that judge.
  std::array<double, kAlternatives> log_ratio_{};
  std::uint64_t rows_ = 0;
  std::atomic<bool> failing_{false};
  std::atomic<bool> borne_out_{false};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_CALIBRATION_CHECK_H_
