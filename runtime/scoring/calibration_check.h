#ifndef WINDHOVER_RUNTIME_SCORING_CALIBRATION_CHECK_H_
#define WINDHOVER_RUNTIME_SCORING_CALIBRATION_CHECK_H_

#include <atomic>
#include <cstdint>

#include "windhover/runtime/scoring/outcome_ratios.h"

namespace windhover {

// The evidence for each alternative, in nats, counted from where it was least (Page 1954) and up to
// kMost, so that predictions that were wrong for long count as right again within some 1,000
// independent rows. One thread.
class RecentEvidence {
 public:
  // Adds an outcome. Returns the evidence for the alternative that has most.
  double add(const OutcomeRatios& ratios) noexcept;

  static constexpr double kLittle = 3;  // an alternative e^3 times as likely
  static constexpr double kMost = 4 * kLittle;

 private:
  OutcomeRatios log_ratio_{};
};

// Whether the predictive distribution is about what it claims to be, checked after every row: an
// e-detector (Shin, Ramdas, Rinaldo 2022). For each alternative R <- (R + 1) ratio sums, over all
// rows before, the evidence that something changed there (Shiryaev and Roberts). While the
// predictions are near enough (outcome_ratios.h), the sum of all R grows on average by at most
// their number a row. So it reaches kRows times their number once in kRows rows or less often,
// however often one looks. One thread; failing() from any.
class CalibrationCheck {
 public:
  static constexpr double kRows = 1e6;  // between two false alarms, at least, on average

  void add(const OutcomeRatios& ratios) noexcept;

  // True from the alarm on until little speaks for any alternative.
  bool failing() const noexcept { return failing_.load(std::memory_order_relaxed); }

 private:
  bool goes_off(const OutcomeRatios& ratios) noexcept;

  OutcomeRatios evidence_{};  // R; 0 while failing
  RecentEvidence recent_;
  std::atomic<bool> failing_{false};
};

// Whether kLeastRows outcomes or more have come, and little speaks for any alternative now. One
// thread; yes() from any.
class BorneOut {
 public:
  static constexpr std::uint64_t kLeastRows = 20;

  void add(const OutcomeRatios& ratios) noexcept;
  bool yes() const noexcept { return yes_.load(std::memory_order_relaxed); }

 private:
  RecentEvidence recent_;
  std::uint64_t rows_ = 0;
  std::atomic<bool> yes_{false};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_CALIBRATION_CHECK_H_
