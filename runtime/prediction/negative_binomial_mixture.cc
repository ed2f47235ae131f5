#include "windhover/runtime/prediction/negative_binomial_mixture.h"

#include <algorithm>
#include <cmath>

#include "windhover/runtime/prediction/count_mixture.h"
#include "windhover/runtime/prediction/poisson_mixture.h"

namespace windhover {

namespace {

// log Gamma(k + r) - log Gamma(r) - k log(r), k a count.
double log_rising(double k, double r) noexcept {
  constexpr double kFew = 50;
  constexpr double kLarge = 1e3;
  if (k <= kFew) {
    const auto end = static_cast<int>(std::ceil(k));
    double sum = 0;
    for (int j = 1; j < end; ++j) sum += std::log1p(j / r);
    return sum;
  }
  if (r < kLarge) return log_gamma(k + r) - log_gamma(r) - k * std::log(r);
  return (k + r - 0.5) * std::log1p(k / r) - k + (1 / (k + r) - 1 / r) / 12;
}

}  // namespace

NegativeBinomialMixture::NegativeBinomialMixture(double m, double s, double alpha) noexcept
    : m_(m), s_(s), alpha_(alpha) {
  const LogNormalMoments moments(m, s);
  mean_ = moments.mean;
  var_epistemic_ = moments.variance;
  var_aleatoric_ =
      std::min(mean_ + alpha * std::exp(std::min(2 * m + 2 * s * s, kMostLogMean)), 1e300);
}

double NegativeBinomialMixture::cdf(double k) const noexcept {
  if (k < 0) return 0;
  return gamma_ratio_cdf(std::floor(k) + 1, 1 / alpha_, alpha_, m_, s_);
}

double NegativeBinomialMixture::log_probability(double k) const noexcept {
  const double r = 1 / alpha_;
  const auto rate = [](double eta) { return std::exp(std::min(eta, kMostLogMean)); };
  const double log_alpha = std::log(alpha_);
  const auto log_likelihood = [&](double eta) {
    return k * eta - (k + r) * log_spread(log_alpha + eta);
  };
  const double constant = log_rising(k, r) - log_gamma(k + 1);
  if (s_ == 0) return log_likelihood(m_) + constant;
  const auto slope = [&](double eta) {
    const double mu = rate(eta);
    return (k - mu) / (1 + alpha_ * mu);
  };
  const auto curvature = [&](double eta) {
    const double mu = rate(eta);
    return mu / (1 + alpha_ * mu) * ((1 + alpha_ * k) / (1 + alpha_ * mu));
  };
  // At `low` the slope of the whole integrand is above 0, as the likelihood's is above -min(mu, r).
  const double low =
      std::max(std::min(m_, std::log(k + 1e-300)) - 1, m_ - s_ * s_ * std::min(rate(m_), r) - 1);
  return constant + log_normal_expectation(k, m_, s_, low, log_likelihood, slope, curvature);
}

// The search starts at the quantile of a Gamma variable of the same mean and about the same spread
// (Wilson and Hilferty 1931).
double NegativeBinomialMixture::quantile(const NormalLevel& level) const noexcept {
  const double rate = std::exp(std::clamp(m_, -kMostLogMean, kMostLogMean));
  // The squared spread over the squared mean; above 9 no guess is good.
  const double square = std::min(alpha_ + 1 / rate + s_ * s_, 9.0);
  const double root = std::max(1 - square / 9 + std::sqrt(square) * level.z / 3, 0.0);
  const double guess = rate * root * root * root;
  const double step = 1 + std::floor(0.05 * std::sqrt(square) * rate);
  return count_quantile(level.p, guess, std::min(step, kMostCount),
                        [&](double k) { return cdf(k); });
}

}  // namespace windhover
