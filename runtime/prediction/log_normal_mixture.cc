#include "windhover/runtime/prediction/log_normal_mixture.h"

#include <algorithm>
#include <cmath>

#include "windhover/runtime/prediction/count_mixture.h"

namespace windhover {
namespace {

// log E exp(power x noise) of a mixture of Gaussians around 0.
double log_moment(const GaussianMixture& noise, double power) noexcept {
  const double half = 0.5 * power * power;
  const double largest = half * noise.sd(noise.components() - 1) * noise.sd(noise.components() - 1);
  double sum = 0;
  for (std::size_t i = 0; i < noise.components(); ++i) {
    sum += noise.weight(i) * std::exp(half * noise.sd(i) * noise.sd(i) - largest);
  }
  return largest + std::log(sum);
}

}  // namespace

LogNormalNoise::LogNormalNoise(double dispersion, double relative_sd) noexcept {
  const GaussianMixture noise(0, 0, dispersion, relative_sd);
  log_mean = log_moment(noise, 1);
  log_square = log_moment(noise, 2);
}

LogNormalMixture::LogNormalMixture(double m, double s, const GaussianMixture& logarithm,
                                   const LogNormalNoise& noise) noexcept
    : m_(m), logarithm_(logarithm), usual_(logarithm.components()) {
  const LogNormalMoments expected(m + noise.log_mean, s);
  mean_ = expected.mean;
  var_epistemic_ = expected.variance;
  // (E e^(2 noise) - (E e^noise)^2) E e^(2 eta)
  const double log_all = 2 * (m + s * s) + noise.log_square;
  const double share = -std::expm1(std::min(0.0, 2 * noise.log_mean - noise.log_square));
  var_aleatoric_ = exponential(log_all) * share;
}

double LogNormalMixture::exponential(double x) noexcept {
  return std::exp(std::clamp(x, -kMostLogMean, kMostLogMean));
}

double LogNormalMixture::cdf(double y) const noexcept {
  return y > 0 ? std::min(1.0, logarithm_.cdf(std::log(y))) : 0.0;  // weights are rounded
}

double LogNormalMixture::log_density(double y) const noexcept {
  const double log_y = std::log(y);
  return logarithm_.log_density(log_y) - log_y;
}

double LogNormalMixture::quantile(const NormalLevel& level) const noexcept {
  return exponential(logarithm_.quantile(level));
}

double LogNormalMixture::crps(double y) const noexcept {
  // CRPS = E|Y - y| - E|Y - Y'| / 2, Y and Y' log-normal of log-variances v and w:
  //   E|Y - y| = y (2 Phi(z) - 1) + EY (1 - 2 Phi(z - sqrt v)), z = (log y - m) / sqrt v;
  //   E|Y - Y'| = EY (2 Phi(v / r) - 1) + EY' (2 Phi(w / r) - 1), r = sqrt(v + w).
  // EY cancels in the difference, which may be many orders of magnitude smaller.
  const double off = std::log(y) - m_;
  double score = 0;
  double weights = 0;
  for (std::size_t i = 0; i < usual_; ++i) weights += logarithm_.weight(i);
  for (std::size_t i = 0; i < usual_; ++i) {
    const double sd = logarithm_.sd(i);
    const double z = off / sd;
    double beyond = -normal_cdf(z - sd);
    for (std::size_t j = 0; j < usual_; ++j) {
      const double other = logarithm_.sd(j);
      const double both = std::sqrt(sd * sd + other * other);
      beyond += logarithm_.weight(j) / weights * normal_cdf(-sd * sd / both);
    }
    const double log_mean = m_ + 0.5 * sd * sd;
    // No double holds such a mean, nor the score.
    if (log_mean > kMostLogMean && z < sd) return 1e300;
    const double mean = exponential(log_mean);
    score += logarithm_.weight(i) / weights * (y * (2 * normal_cdf(z) - 1) + 2 * mean * beyond);
  }
  return std::clamp(score, 0.0, 1e300);
}

}  // namespace windhover
