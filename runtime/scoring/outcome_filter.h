// What one posterior predicts of a row, once it has been told how others came out.
#ifndef WINDHOVER_RUNTIME_SCORING_OUTCOME_FILTER_H_
#define WINDHOVER_RUNTIME_SCORING_OUTCOME_FILTER_H_

#include <cstddef>
#include <span>

#include "windhover/platform/arena.h"

namespace windhover {

// Outcomes that one posterior predicts share what it does not know of the parameters: each is as
// likely as it says, all together are not. One after the other, each given those before it, they
// are independent where the model is right (Dawid 1984). The parameters of a posterior are
// theta = mean + B z, z standard normal; here z is normal after every outcome too, of the right
// mean and covariance (assumed density filtering: Opper and Winther 1998), which is Kalman's filter
// of a normal y.
//
// Invariant: z ~ N(mean_, covariance_) given the outcomes taken in, which are all that were told
// since begin() but for the last; without any it is N(0, I), which is not written down. One thread.
// Memory n^2 + 3 n doubles for n numbers z. Makes no heap call.
class OutcomeFilter {
 public:
  // `n` is the size of z; with 0 only any() may be called.
  OutcomeFilter(Arena& arena, std::size_t n) noexcept;

  bool any() const noexcept { return !mean_.empty(); }

  // Begins anew: nothing has been told.
  void begin() noexcept;

  // How a row's linear predictor depends on z: x^T B, n numbers, to be filled in before look().
  std::span<double> direction() noexcept { return direction_; }
  // What is known of x^T B z. O(n^2), and where nothing has been told O(n).
  struct LinearPredictor {
    double mean;
    double variance;
  };
  LinearPredictor look() noexcept;
  // Tells the outcome of the row last looked at, by the derivatives of the logarithm of its
  // probability when that mean is moved: these determine z given the outcome (Stein 1981).
  // `weight`: what the row counts as.
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
