// A Poisson count whose log-mean is normal: the predictive of Poisson regression.
#ifndef WINDHOVER_RUNTIME_PREDICTION_POISSON_MIXTURE_H_
#define WINDHOVER_RUNTIME_PREDICTION_POISSON_MIXTURE_H_

#include "windhover/runtime/prediction/gaussian_mixture.h"

namespace windhover {

// P(Gamma(shape, 1) > x): for a whole `shape` the probability that a Poisson count of mean x is
// below it. Accurate to 1e-12 for shapes up to 10^4, to 1e-5 beyond (Wilson and Hilferty 1931).
// REQUIRES: shape >= 1, x >= 0.
double upper_gamma(double shape, double x) noexcept;
// log Gamma(x), x >= 1. Unlike std::lgamma it writes no global variable.
double log_gamma(double x) noexcept;

// y ~ Poisson(exp(eta)), eta ~ N(m, s^2). Moments are at most 1e300, quantiles at most 2^53.
class PoissonMixture {
 public:
  PoissonMixture(double m, double s) noexcept;

  double mean() const noexcept { return mean_; }                    // also the aleatoric variance
  double var_epistemic() const noexcept { return var_epistemic_; }  // of exp(eta)
  // P(y <= k), k any number. Accurate to 1e-9 for k up to 10^4, to 1e-5 beyond.
  double cdf(double k) const noexcept;
  // log P(y = k), k = 0, 1, ..., however small. Accurate to 1e-8 for k up to 10^7; beyond, terms of
  // k log k cancel, and from 10^12 on hundredths are lost.
  double log_probability(double k) const noexcept;
  // The smallest k with cdf(k) >= p, p in (0, 1).
  double quantile(const NormalLevel& level) const noexcept;
  double quantile(double p) const noexcept { return quantile(NormalLevel(p)); }

 private:
  double m_;
  double s_;
  double mean_;
  double var_epistemic_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_POISSON_MIXTURE_H_
