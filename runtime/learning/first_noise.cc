#include "windhover/runtime/learning/first_noise.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace windhover {

namespace {

// The share of the rows that lie far off, and how much larger their variance is, before any row has
// told: as NoiseScales has it at first.
constexpr double kShare = 5e-4;
constexpr double kFar = 100;

}  // namespace

NoiseMixture first_noise(double variance, double degrees, double of_targets) noexcept {
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
  const double far = kFar * variance;
  const bool explained = of_targets > far;
  add(far, explained ? 0.5 * kShare : kShare);
  if (explained) add(of_targets, 0.5 * kShare);
  return noise;
}

NoiseMixture first_noise(const Model& model, const Estimator& estimator) noexcept {
  const LaplaceApproximation& laplace = estimator.laplace();
  const bool normal = is_normal(model.response()) && !laplace.loss().network;
  if (!normal || !estimator.dispersion().learned()) return {};
  const std::uint32_t d = estimator.done().dimension();
  double degrees = laplace.weight();
  for (std::uint32_t j = 0; j < d; ++j) {
    const double variance = laplace.covariance()[std::size_t{j} * (d + 1)];
    degrees -= std::max(0.0, 1 - estimator.prior().values()[j] * variance);
  }
  return first_noise(estimator.dispersion().value(), std::max(degrees, kFewestDegrees),
                     estimator.dispersion().target_variance());
}

}  // namespace windhover
