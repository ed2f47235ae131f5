// A positive number whose logarithm is a mixture of Gaussians: the predictive of log-normal
// regression.
#ifndef WINDHOVER_RUNTIME_PREDICTION_LOG_NORMAL_MIXTURE_H_
#define WINDHOVER_RUNTIME_PREDICTION_LOG_NORMAL_MIXTURE_H_

#include "windhover/runtime/prediction/gaussian_mixture.h"

namespace windhover {

// The factors of the moments of y that come from the noise of log y. The noise's variance is
// `dispersion`, uncertain by relative_sd as in GaussianMixture.
struct LogNormalNoise {
  LogNormalNoise() noexcept = default;  // none
  LogNormalNoise(double dispersion, double relative_sd) noexcept;

  double log_mean = 0;    // log E e^noise
  double log_square = 0;  // log E e^(2 noise)
};

// y = e^(eta + noise), eta ~ N(m, s^2): mean and variances in closed form, at most 1e300. An
// uncertain variance of the noise is discretised (with Student's t there would be no mean).
// Probabilities hold for any y > 0, however small or large.
class LogNormalMixture {
 public:
  LogNormalMixture(double m, double s, double dispersion, double relative_sd,
                   const LogNormalNoise& noise) noexcept
      : LogNormalMixture(m, s, GaussianMixture(m, s * s, dispersion, relative_sd), noise) {}
  // With a mixture for the noise of log y. Mean and variances of y are still those of `noise`: with
  // the mixture the widest component, of which there is hardly a row, would determine them.
  LogNormalMixture(double m, double s, const NoiseMixture& mixture,
                   const LogNormalNoise& noise) noexcept
      : LogNormalMixture(m, s, GaussianMixture(m, s * s, mixture), noise) {
    --usual_;
  }

  // e^x, kept within e^-690 and e^690.
  static double exponential(double x) noexcept;

  double mean() const noexcept { return mean_; }
  double var_epistemic() const noexcept { return var_epistemic_; }  // of E[y | eta]
  double var_aleatoric() const noexcept { return var_aleatoric_; }  // the rest of y's
  const GaussianMixture& logarithm() const noexcept { return logarithm_; }

  double cdf(double y) const noexcept;  // 0 for y <= 0
  double log_density(double y) const noexcept;
  double quantile(const NormalLevel& level) const noexcept;  // 10^-300 to 10^300, about
  // Continuous ranked probability score of outcome y (closed form; for one log-normal Baran and
  // Lerch 2015), at most 1e300. The widest component of a mixture, of far rows, is left out: its
  // part alone could be beyond all numbers.
  double crps(double y) const noexcept;

 private:
  LogNormalMixture(double m, double s, const GaussianMixture& logarithm,
                   const LogNormalNoise& noise) noexcept;

  double m_;
  double mean_;
  double var_epistemic_;
  double var_aleatoric_;
  GaussianMixture logarithm_;
  std::size_t usual_;  // how many components crps() uses
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_LOG_NORMAL_MIXTURE_H_
