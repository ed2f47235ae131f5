// What one posterior predicts of a row, given the outcomes of rows that it predicted before.
#ifndef WINDHOVER_RUNTIME_SCORING_OUTCOME_FILTER_H_
#define WINDHOVER_RUNTIME_SCORING_OUTCOME_FILTER_H_

#include <cstddef>
#include <span>

#include "windhover/platform/arena.h"

namespace windhover {

// Outcomes that one posterior predicts share what it does not know of the parameters: each is as
// likely as it says, all together are not. One after the other, each given those before it, they
// are independent where the model is right (Dawid 1984). The parameters of a posterior are theta =
// mean + B z, z standard normal. After every outcome z is taken for normal, with the right mean and
// covariance (assumed density filtering: Opper and Winther 1998); for a normal y that is Kalman's
// filter.
//
// Invariant: z ~ N(mean_, covariance_) given the outcomes taken in, which are all that were told
// since begin() but for the last; before the first it is N(0, I), and both are unset. One thread.
// Memory n^2 + 3 n doubles for n numbers z. Makes no heap call.
class OutcomeFilter {
 public:
  // `n` is the size of z; with 0 only any() may be called.
  OutcomeFilter(Arena& arena, std::size_t n) noexcept;

  bool any() const noexcept { return !mean_.empty(); }

  // Begins anew, with no outcome told.
  void begin() noexcept;

  // x^T B, how a row's linear predictor depends on z: n numbers, to be filled in before look().
  std::span<double> direction() noexcept { return direction_; }
  // Mean and variance of x^T B z. O(n^2), or O(n) before the first outcome.
  struct LinearPredictor {
    double mean;
    double variance;
  };
  LinearPredictor look() noexcept;
  // Tells the outcome of the row last looked at, by the first two derivatives of the logarithm of
  // its probability by that mean: these determine mean and covariance of z given the outcome (Stein
  // 1981). `weight`: what the row counts as.
  struct Outcome {
    double slope;
    double curvature;
    double weight;
  };
  void tell(const Outcome& outcome) noexcept;

 private:
  void take_in() noexcept;  // the outcome told last

  bool any_taken_in_ = false;
  std::span<double> direction_;
  std::span<double> gain_;  // covariance x direction, of the row looked at last
  std::span<double> mean_;
  std::span<double> covariance_;  // n x n, as Kernels::symmetric_product reads it
  double variance_ = 0;           // of the row looked at last
  double shift_ = 0;              // to be taken in: mean += shift_ x gain_, ...
  double growth_ = 0;             // ... covariance += growth_ x gain_ gain_^T
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_OUTCOME_FILTER_H_
