#include "windhover/runtime/learning/first_noise.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "windhover/runtime/learning/noise_scales.h"

namespace windhover {

NoiseMixture first_noise(double variance, double degrees, double of_targets) noexcept {
  constexpr double kShare = NoiseScales::kFarShareAtFirst;
  // How likely each variance is, and the normal quantile half-way through: the first has the large
  // chi-squares.
  constexpr std::array kWeights = {0.4, 0.4, 0.17, 0.03};
  constexpr std::array kQuantiles = {0.841621233572914, -0.253347103135800, -1.200358858030859,
                                     -2.170090377584560};
  const double spread = 2 / (9 * degrees);
  NoiseMixture noise;
  const auto add = [&noise](double of, double weight) {
    noise.variance[noise.components] = of;
    noise.weight[noise.components++] = weight;
  };
  for (std::size_t i = 0; i < kWeights.size(); ++i) {
    const double root = 1 - spread + kQuantiles[i] * std::sqrt(spread);
    add(variance / (root * root * root), (1 - kShare) * kWeights[i]);
  }
  const double far = NoiseScales::kFarAtFirst * variance;
  // Rows by the targets' variance add 5 % to the variance of all, but there is one in a million.
  constexpr double kOfVariance = 0.05;
  constexpr double kLeast = 1e-6;
  const double beyond =
      of_targets > far ? std::clamp(kOfVariance * variance / of_targets, kLeast, 0.5 * kShare) : 0;
  add(far, kShare - beyond);
  if (beyond > 0) add(of_targets, beyond);
  return noise;
}

NoiseMixture first_noise(const Model& model, const Estimator& estimator) noexcept {
  const LaplaceApproximation& laplace = estimator.laplace();
  const bool normal = model.response() == Response::kGaussian && !laplace.loss().network;
  if (!normal || !estimator.dispersion().learned()) return {};
  const std::uint32_t d = estimator.done().dimension();
  double degrees = laplace.weight();
  for (std::uint32_t j = 0; j < d; ++j) {
    const double variance = laplace.covariance()[std::size_t{j} * (d + 1)];
    degrees -= std::max(0.0, 1 - estimator.prior().values()[j] * variance);
  }
  return first_noise(estimator.dispersion().value(), std::max(kFewestDegrees, degrees),
                     estimator.dispersion().target_variance());
}

}  // namespace windhover
