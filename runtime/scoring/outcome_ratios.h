// How much more likely outcomes would be if the predictions were wrong in certain ways.
#ifndef WINDHOVER_RUNTIME_SCORING_OUTCOME_RATIOS_H_
#define WINDHOVER_RUNTIME_SCORING_OUTCOME_RATIOS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace windhover {

// What one outcome y says.
struct JudgedOutcome {
  double pit = 0;             // its probability integral transform, 0 to 1
  double reference_lead = 0;  // log p(y) of a forecast that knows nothing of x, less log p(y | x)
  // For classes: log p(y | x) with log-odds that are `times` as large, normalized. Otherwise 0.
  struct {
    double half = 0;  // times 0.5
    double three_quarters = 0;
    double five_quarters = 0;
    double twice = 0;
  } tempered;
};

// Likelihood ratios of alternatives to predictions that are near enough. Near enough is
//   46 to 54 % of the outcomes within the central 50 % interval, 88 to 92 % within the 90 % one;
//   a forecast that knows nothing of x predicts no better;
//   for classes, the log-odds are the right ones times 0.75 to 1.25.
// The alternatives: 20, 35, 65 and 85 % within the first, 60, 78, 85, 95 and 97.5 % within the
// second interval; that forecast; log-odds times 0.5 and 2. Each only finds predictions that are
// closer to itself than to near enough. While the predictions are near enough (for that forecast's
// ratio: right), each ratio is at most 1 on average, and so is the mean of several, however these
// depend on one another. Ratios are positive, or NaN where a number of the outcome is.
constexpr std::size_t kAlternatives = 12;
constexpr std::size_t kReferenceAlternative = 9;  // that forecast
using OutcomeRatios = std::array<double, kAlternatives>;
OutcomeRatios ratios_of(const JudgedOutcome& outcome) noexcept;

// The ratios of many outcomes that one posterior predicted as it was served, taken together. They
// share what it does not know, and so are worth fewer: m of correlation c are worth m / (1 + (m -
// 1) c) independent ones (Kish 1965). So the product of their ratios is taken to the power 1 / (1 +
// (m - 1) c). If the outcomes were groups of equal ones that would be one ratio for each group, at
// most 1 on average; for normal ones it is at most 1 by experiment (outcome_ratios_test). One
// thread.
class RatiosOfOnePosterior {
 public:
  // Adds a row that the posterior of `n_seen` rows has predicted; `share`: of y's variance, by what
  // the posterior does not know, which bounds how far rows depend on one another. If it is the
  // first row of that posterior, returns the ratios of the posterior before, taken together;
  // otherwise, and if there was none, null.
  const OutcomeRatios* add(std::uint64_t n_seen, const OutcomeRatios& ratios,
                           double share) noexcept;
  void reset() noexcept { rows_ = 0; }

 private:
  std::uint64_t n_seen_ = 0;
  std::uint64_t rows_ = 0;
  double share_ = 0;  // sum over the rows
  OutcomeRatios log_sum_{};
  OutcomeRatios of_last_{};  // of the posterior before
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_OUTCOME_RATIOS_H_
