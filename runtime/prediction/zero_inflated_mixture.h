// A count that is 0 with some probability, otherwise Poisson with a normal log-mean: the predictive
// of zero-inflated Poisson regression.
#ifndef WINDHOVER_RUNTIME_PREDICTION_ZERO_INFLATED_MIXTURE_H_
#define WINDHOVER_RUNTIME_PREDICTION_ZERO_INFLATED_MIXTURE_H_

#include <algorithm>
#include <cmath>

#include "windhover/runtime/prediction/poisson_mixture.h"

namespace windhover {

// y is 0 with probability pi = odds / (1 + odds), otherwise Poisson(mu), mu = exp(eta), eta ~ N(m,
// s^2). Moments and quantiles are bounded as PoissonMixture's.
class ZeroInflatedMixture {
 public:
  ZeroInflatedMixture(double m, double s, double odds) noexcept
      : counted_(m, s), structural_(odds / (1 + odds)), share_(1 / (1 + odds)) {}

  double mean() const noexcept { return share_ * counted_.mean(); }
  double var_epistemic() const noexcept {  // of (1 - pi) mu
    return share_ * share_ * counted_.var_epistemic();
  }
  // The variance of y around (1 - pi) mu: E[(1 - pi) mu + pi (1 - pi) mu^2].
  double var_aleatoric() const noexcept {
    const double square =
        std::min(counted_.var_epistemic() + counted_.mean() * counted_.mean(), kMost);
    return std::min(share_ * (counted_.mean() + structural_ * square), kMost);
  }
  // P(y <= k), k any number.
  double cdf(double k) const noexcept {
    return k < 0 ? 0.0 : structural_ + share_ * counted_.cdf(k);
  }
  // log P(y = k), k = 0, 1, ...
  double log_probability(double k) const noexcept {
    const double log_counted = counted_.log_probability(k);
    if (k == 0) return std::log(structural_ + share_ * std::exp(log_counted));
    return std::log(share_) + log_counted;
  }
  // The smallest k with cdf(k) >= p, p in (0, 1).
  double quantile(const NormalLevel& level) const noexcept {
    const double rest = (level.p - structural_) / share_;
    return rest > 0 ? counted_.quantile(std::min(rest, kMostProbability)) : 0.0;
  }
  double quantile(double p) const noexcept { return quantile(NormalLevel(p)); }

 private:
  static constexpr double kMost = 1e300;
  static constexpr double kMostProbability = 1 - 0x1.0p-53;

  PoissonMixture counted_;
  double structural_;  // pi
  double share_;       // 1 - pi
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_ZERO_INFLATED_MIXTURE_H_
