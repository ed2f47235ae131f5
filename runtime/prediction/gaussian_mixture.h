// A mixture of Gaussians of one mean: the predictive of a linear model whose noise variance is
// uncertain, or is one of a few, or whose noise is Student's t.
#ifndef WINDHOVER_RUNTIME_PREDICTION_GAUSSIAN_MIXTURE_H_
#define WINDHOVER_RUNTIME_PREDICTION_GAUSSIAN_MIXTURE_H_

#include <array>
#include <cstddef>

#include "windhover/runtime/posterior/noise_mixture.h"

namespace windhover {

double normal_cdf(double z) noexcept;
// Inverse of normal_cdf for p in (0, 1); relative error below 1e-13.
double normal_quantile(double p) noexcept;
// The log density of an outcome that lies `off` the mean; variance > 0.
double normal_log_density(double off, double variance) noexcept;

// A probability with the standard normal's quantile at it, from which searches for quantiles of y
// start: computed once for many of them.
struct NormalLevel {
  NormalLevel() noexcept = default;
  explicit NormalLevel(double p_in) noexcept : p(p_in), z(normal_quantile(p_in)) {}
  static NormalLevel at(double z) noexcept {
    NormalLevel level;
    level.p = normal_cdf(z);
    level.z = z;
    return level;
  }

  double p = 0.5;
  double z = 0;
};

// Student's t as a mixture of normals: y = scale x sqrt(factor) x N(0, 1), where log factor has the
// density of -log(chi^2_nu / nu), widened by N(0, relative_sd^2) for an uncertain scale. Nodes,
// which ascend, and weights of a trapezoidal rule over log factor.
struct StudentScale {
  static constexpr std::size_t kNodes = 64;
  StudentScale() noexcept = default;  // to be assigned to before use
  StudentScale(double degrees_of_freedom, double relative_sd) noexcept;

  std::array<double, kNodes> factor{};
  std::array<double, kNodes> weight{};
};

class GaussianMixture {
 public:
  // y ~ N(mean, epistemic + noise), log noise ~ N(log dispersion - c, relative_sd^2), c such that E
  // noise = dispersion, as kComponents normals of equal weight; one where relative_sd is small, and
  // kWideComponents where it is large.
  GaussianMixture(double mean, double epistemic, double dispersion, double relative_sd) noexcept;
  // y ~ N(mean, epistemic) + sqrt(dispersion) x Student's t.
  GaussianMixture(double mean, double epistemic, double dispersion,
                  const StudentScale& scale) noexcept;

  // y ~ N(mean, epistemic + noise), the noise's variance one of a few. REQUIRES: noise.any().
  GaussianMixture(double mean, double epistemic, const NoiseMixture& noise) noexcept;

  double cdf(double y) const noexcept;
  double log_density(double y) const noexcept;
  // Inverts the cdf, by bracketed Newton steps to 1e-12 of the spread.
  double quantile(const NormalLevel& level) const noexcept;
  double quantile(double p) const noexcept { return quantile(NormalLevel(p)); }
  // Continuous ranked probability score of outcome y (closed form).
  double crps(double y) const noexcept;

  // The Gaussians that it consists of, by ascending sd.
  std::size_t components() const noexcept { return components_; }
  double sd(std::size_t i) const noexcept { return sd_[i]; }
  double weight(std::size_t i) const noexcept { return weight_[i]; }

 private:
  static constexpr std::size_t kComponents = 9;
  static constexpr std::size_t kWideComponents = 41;
  static constexpr std::size_t kMaxComponents = StudentScale::kNodes;
  void spread_wide(double epistemic, double dispersion, double relative_sd) noexcept;
  double density(double y) const noexcept;

  double mean_;
  std::size_t components_;
  std::array<double, kMaxComponents> sd_;  // ascending
  std::array<double, kMaxComponents> weight_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_GAUSSIAN_MIXTURE_H_
