// How much more likely outcomes are, if the predictions were wrong in a certain way.
#ifndef WINDHOVER_RUNTIME_SCORING_OUTCOME_RATIOS_H_
#define WINDHOVER_RUNTIME_SCORING_OUTCOME_RATIOS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace windhover {

// What one outcome y says.
struct JudgedOutcome {
  double pit = 0;             // its probability integral transform, 0 to 1
  double reference_lead = 0;  // log p(y) of who knows nothing of x, less log p(y | x)
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
// The alternatives: 20, 35, 65 and 85 %, 60, 78, 85, 95 and 97.5 %; that forecast itself; log-odds
// times 0.5 and 2. None of them sees what is closer to near enough than to itself. While the
// predictions are near enough, and as to the forecast right, each ratio is at most 1 on average,
// and so is the mean of several, however these depend on one another. They are positive, except
// where a number of the outcome is NaN.
constexpr std::size_t kAlternatives = 12;
constexpr std::size_t kReferenceAlternative = 9;  // that forecast
using OutcomeRatios = std::array<double, kAlternatives>;
OutcomeRatios ratios_of(const JudgedOutcome& outcome) noexcept;

// What many outcomes say that one posterior predicted, as it was served. They share what it does
// not know, and so are worth fewer: m of correlation c are worth m / (1 + (m - 1) c) independent
// ones (Kish 1965). The product of their ratios to the power of 1 / (1 + (m - 1) c) is, of m
// outcomes in groups of equal ones, the product of a ratio a group, so at most 1 on average; with
// normal ones it is so by experiment (outcome_ratios_test). One thread.
class RatiosOfOnePosterior {
 public:
  // Adds a row that the posterior of so many rows has predicted, and the share of y's variance that
  // it does not know: how far rows depend on one another at most. If it is the first row of that
  // posterior, returns what those of the posterior before say; otherwise, and if there were none,
  // null.
  const OutcomeRatios* add(std::uint64_t n_seen, const OutcomeRatios& ratios,
                           double share) noexcept;
  void reset() noexcept { rows_ = 0; }

 private:
  std::uint64_t n_seen_ = 0;
  std::uint64_t rows_ = 0;
  double share_ = 0;  // sum
  OutcomeRatios log_sum_{};
  OutcomeRatios of_last_{};  // posterior
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_OUTCOME_RATIOS_H_
