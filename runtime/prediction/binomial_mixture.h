// Successes of a number of trials whose log-odds are normal: the predictive of binomial regression.
#ifndef WINDHOVER_RUNTIME_PREDICTION_BINOMIAL_MIXTURE_H_
#define WINDHOVER_RUNTIME_PREDICTION_BINOMIAL_MIXTURE_H_

#include "windhover/runtime/prediction/gaussian_mixture.h"

namespace windhover {

// y ~ Binomial(n, p), p = 1 / (1 + exp(-eta)), eta ~ N(m, s^2); n is a whole number from 1 to 10^9.
class BinomialMixture {
 public:
  BinomialMixture(double m, double s, double trials) noexcept;

  double mean() const noexcept { return mean_; }
  double var_epistemic() const noexcept { return var_epistemic_; }  // of n p
  double var_aleatoric() const noexcept { return var_aleatoric_; }  // the rest of y's: n E[p (1-p)]
  // P(y <= k), k any number. Accurate to 1e-9, with 10^9 trials to 1e-6.
  double cdf(double k) const noexcept;
  // log P(y = k), k = 0, 1, ... n. Accurate to 1e-8, with 10^9 trials to 1e-6.
  double log_probability(double k) const noexcept;
  // The smallest k with cdf(k) >= p, p in (0, 1).
  double quantile(const NormalLevel& level) const noexcept;
  double quantile(double p) const noexcept { return quantile(NormalLevel(p)); }

 private:
  double m_;
  double s_;
  double trials_;
  double mean_;
  double var_epistemic_;
  double var_aleatoric_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_BINOMIAL_MIXTURE_H_
