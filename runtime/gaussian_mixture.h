// A mixture of Gaussians with one common mean: the predictive of a linear model whose noise
// variance is known only up to a spread.
#ifndef WINDHOVER_RUNTIME_GAUSSIAN_MIXTURE_H_
#define WINDHOVER_RUNTIME_GAUSSIAN_MIXTURE_H_

#include <array>
#include <cstddef>

namespace windhover {

double normal_cdf(double z) noexcept;
// Inverse of normal_cdf for p in (0, 1); relative error below 1e-13.
double normal_quantile(double p) noexcept;

class GaussianMixture {
 public:
  // y ~ N(mean, epistemic + noise), log noise ~ N(log dispersion - c, relative_sd^2) discretised
  // into kComponents equal-weight parts, with c such that E noise = dispersion.
  GaussianMixture(double mean, double epistemic, double dispersion, double relative_sd) noexcept;

  double cdf(double y) const noexcept;
  double log_density(double y) const noexcept;
  // Inversion of the cdf, by bracketed Newton steps to 1e-12 of the spread.
  double quantile(double p) const noexcept;
  // Continuous ranked probability score of outcome y (closed form).
  double crps(double y) const noexcept;

 private:
  static constexpr std::size_t kComponents = 9;
  double density(double y) const noexcept;

  double mean_;
  std::size_t components_;
  std::array<double, kComponents> sd_{};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_GAUSSIAN_MIXTURE_H_
