#include "windhover/runtime/prediction/binomial_mixture.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "windhover/runtime/prediction/count_mixture.h"
#include "windhover/runtime/prediction/logit_normal.h"
#include "windhover/runtime/prediction/poisson_mixture.h"

namespace windhover {

namespace {

// The log of x! over Stirling's sqrt(2 pi x) (x / e)^x, x = 1, 2, ...
double stirling_rest(double x) noexcept {
  if (x < 16) {
    return log_gamma(x + 1) - (x + 0.5) * std::log(x) + x - 0.5 * std::log(2 * std::numbers::pi);
  }
  const double y = 1 / (x * x);
  return (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y / 1188)))) / x;
}

// log P(y = k) of n trials that succeed with the probability k / n (Loader 2000).
double log_top(double k, double n) noexcept {
  if (k == 0 || k == n) return 0;
  return stirling_rest(n) - stirling_rest(k) - stirling_rest(n - k) -
         0.5 * std::log(2 * std::numbers::pi * k * ((n - k) / n));
}

}  // namespace

BinomialMixture::BinomialMixture(double m, double s, double trials) noexcept
    : m_(m), s_(s), trials_(trials) {
  const LogitNormalMoments p = logit_normal_moments(m, s);
  mean_ = trials * p.mean;
  var_epistemic_ = trials * trials * std::max(0.0, p.mean * p.other - p.product);
  var_aleatoric_ = trials * p.product;
}

// At most k of n trials succeed when a negative binomial count of failures is at least n - k: both
// are statements about a ratio of Gamma variables of shapes k + 1 and n - k.
double BinomialMixture::cdf(double k) const noexcept {
  if (k < 0) return 0;
  k = std::floor(k);
  if (k >= trials_) return 1;
  const double rest = trials_ - k;
  return gamma_ratio_cdf(k + 1, rest, 1 / rest, m_ + std::log(rest), s_);
}

// Counts failures where they are fewer: far to the left the likelihood of k successes is then a
// constant times exp(k eta), and its maximum, if there is one, is at log-odds not above 0.
double BinomialMixture::log_probability(double k) const noexcept {
  const double n = trials_;
  const bool failures = k > 0.5 * n;
  if (failures) k = n - k;
  const double m = failures ? -m_ : m_;
  // Terms are relative to the top, so that what is large cancels before it is summed.
  const double top = k > 0 ? std::log(k / (n - k)) : 0.0;
  const double spread_at_top = k > 0 ? log_spread(top) : 0.0;
  const auto log_likelihood = [&](double eta) {
    return k * (eta - top) - n * (log_spread(eta) - spread_at_top);
  };
  const double constant = log_top(k, n);
  if (s_ == 0) return constant + log_likelihood(m);
  const auto slope = [&](double eta) { return k - n * sigmoid(eta); };
  const auto curvature = [&](double eta) { return n * sigmoid(eta) * sigmoid(-eta); };
  // At `low` the slope of the whole integrand is above 0, as the likelihood's falls with eta.
  const double below_both = std::min(m, std::log((k + 1e-300) / (n - k))) - 1;
  const double low = std::max(below_both, m - s_ * s_ * n * sigmoid(m) - 1);
  return constant + log_normal_expectation(k, m, s_, low, log_likelihood, slope, curvature);
}

// The search starts at the quantile of a normal on the scale of log-odds, with the spread of both.
double BinomialMixture::quantile(const NormalLevel& level) const noexcept {
  const double information = trials_ * sigmoid(m_) * sigmoid(-m_);
  const double spread = std::sqrt(s_ * s_ + 1 / (information + 0.5));
  const double guess = trials_ * sigmoid(m_ + level.z * spread);
  const double step = 1 + std::floor(0.05 * spread * guess * (1 - guess / trials_));
  return count_quantile(level.p, guess, step, [&](double k) { return cdf(k); });
}

}  // namespace windhover
