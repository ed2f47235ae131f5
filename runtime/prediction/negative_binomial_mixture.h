// A negative binomial count whose log-mean is normal: the predictive of negative binomial
// regression.
#ifndef WINDHOVER_RUNTIME_PREDICTION_NEGATIVE_BINOMIAL_MIXTURE_H_
#define WINDHOVER_RUNTIME_PREDICTION_NEGATIVE_BINOMIAL_MIXTURE_H_

#include "windhover/runtime/prediction/gaussian_mixture.h"

namespace windhover {

// y of mean mu = exp(eta) and variance mu + alpha mu^2, eta ~ N(m, s^2), alpha > 0. Moments are at
// most 1e300, quantiles at most 2^53.
class NegativeBinomialMixture {
 public:
  NegativeBinomialMixture(double m, double s, double alpha) noexcept;

  double mean() const noexcept { return mean_; }
  double var_epistemic() const noexcept { return var_epistemic_; }  // of exp(eta)
  double var_aleatoric() const noexcept { return var_aleatoric_; }  // the rest of y's
  // P(y <= k), k any number. Accurate to 1e-9.
  double cdf(double k) const noexcept;
  // log P(y = k), k = 0, 1, ... Accurate to 1e-8 for k up to 10^7.
  double log_probability(double k) const noexcept;
  // The smallest k with cdf(k) >= p, p in (0, 1).
  double quantile(const NormalLevel& level) const noexcept;
  double quantile(double p) const noexcept { return quantile(NormalLevel(p)); }

 private:
  double m_;
  double s_;
  double alpha_;
  double mean_;
  double var_epistemic_;
  double var_aleatoric_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_NEGATIVE_BINOMIAL_MIXTURE_H_
