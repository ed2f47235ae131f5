#include "windhover/runtime/prediction/negative_binomial_mixture.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "windhover/runtime/prediction/count_mixture.h"
#include "windhover/runtime/prediction/poisson_mixture.h"

namespace windhover {

namespace {

// Gauss-Legendre quadrature with 32 nodes on -1 to 1: the positive half.
constexpr std::array kLegendreNodes = {
    0.04830766568773831, 0.1444719615827965, 0.23928736225213706, 0.33186860228212767,
    0.42135127613063533, 0.5068999089322294, 0.5877157572407623,  0.6630442669302152,
    0.7321821187402897,  0.7944837959679424, 0.84936761373257,    0.8963211557660522,
    0.9349060759377397,  0.9647622555875064, 0.9856115115452684,  0.9972638618494816};
constexpr std::array kLegendreWeights = {
    0.09654008851472781,  0.09563872007927483,  0.09384439908080457,  0.09117387869576386,
    0.08765209300440391,  0.08331192422694685,  0.07819389578707031,  0.07234579410884845,
    0.06582222277636175,  0.058684093478535704, 0.050998059262376244, 0.042835898022226426,
    0.034273862913021626, 0.025392065309262427, 0.016274394730905965, 0.007018610009469298};

// log of (1 + e^x).
double log_spread(double x) noexcept {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

// log Gamma(k + r) - log Gamma(r) - k log(r), k a count.
double log_rising(double k, double r) noexcept {
  constexpr double kFew = 50;
  constexpr double kLarge = 1e3;
  if (k <= kFew) {
    double sum = 0;
    for (double j = 1; j < k; ++j) sum += std::log1p(j / r);
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

// y is at most k when eta is below V, a logarithm of a ratio of Gamma variables of shapes k + 1 and
// r = 1 / alpha, whose log-density is (k + 1) v - (k + 1 + r) log(1 + alpha e^v). So P(y <= k) is
// the integral of that density times Phi((v - m) / s), piece by piece between its edges, its top
// and where Phi rises.
double NegativeBinomialMixture::cdf(double k) const noexcept {
  if (k < 0) return 0;
  constexpr double kFall = 36;     // the density's edges lie where it is e^-36 of its top
  constexpr double kShoulder = 4;  // from where on it falls by an even rate, if slow
  constexpr double kRise = 8;      // of Phi, in s to each side of m
  const double shape = std::floor(k) + 1;
  const double r = 1 / alpha_;
  const double top = std::log(shape);
  // Seen from the side on which the logarithm is small, so that large shapes do not cancel.
  const double log_alpha = std::log(alpha_);
  const double side_of_top = log_alpha + top > 0 ? -1 : 1;
  const double slope = side_of_top > 0 ? shape : -r;
  const double spread_at_top = log_spread(side_of_top * (log_alpha + top));
  const auto log_density = [&](double v) {
    return slope * (v - top) -
           (shape + r) * (log_spread(side_of_top * (log_alpha + v)) - spread_at_top);
  };
  const double width = 1 / std::sqrt(shape / (1 + alpha_ * shape));  // at the top
  const auto edge = [&](double direction, double fall) {
    double outside = width;
    while (log_density(top + direction * outside) > -fall) outside *= 2;
    double inside = 0;
    for (int i = 0; i < 5; ++i) {
      const double middle = 0.5 * (inside + outside);
      (log_density(top + direction * middle) > -fall ? inside : outside) = middle;
    }
    return top + direction * outside;
  };
  const double low = edge(-1, kFall);
  const double high = edge(1, kFall);
  std::array breaks = {low,
                       edge(-1, kShoulder),
                       std::clamp(m_ - kRise * s_, low, high),
                       top,
                       std::clamp(m_ + kRise * s_, low, high),
                       edge(1, kShoulder),
                       high};
  std::sort(breaks.begin(), breaks.end());
  const auto below = [&](double v) {
    const double off = v - m_;
    if (std::abs(off) >= kRise * s_) return off > 0 ? 1.0 : 0.0;
    return normal_cdf(off / s_);
  };
  double total = 0;
  double sum = 0;
  for (std::size_t i = 0; i + 1 < breaks.size(); ++i) {
    const double half = 0.5 * (breaks[i + 1] - breaks[i]);
    const double centre = 0.5 * (breaks[i + 1] + breaks[i]);
    if (half <= 0) continue;
    for (std::size_t j = 0; j < kLegendreNodes.size(); ++j) {
      for (const double side : {-half, half}) {
        const double v = centre + side * kLegendreNodes[j];
        const double density = half * kLegendreWeights[j] * std::exp(log_density(v));
        total += density;
        sum += density * below(v);
      }
    }
  }
  return std::min(sum / total, 1.0);
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
  // The slope of the whole integrand is above 0 there: the likelihood's is above -min(mu, r).
  const double low =
      std::max(std::min(m_, std::log(k + 1e-300)) - 1, m_ - s_ * s_ * std::min(rate(m_), r) - 1);
  return constant + log_normal_expectation(k, m_, s_, low, log_likelihood, slope, curvature);
}

// From where the quantile of a Gamma variable of the same mean and about the same spread lies
// (Wilson and Hilferty 1931).
double NegativeBinomialMixture::quantile(const NormalLevel& level) const noexcept {
  const double rate = std::exp(std::clamp(m_, -kMostLogMean, kMostLogMean));
  // The squared spread over the squared mean; where it is larger no guess is good.
  const double square = std::min(alpha_ + 1 / rate + s_ * s_, 9.0);
  const double root = std::max(1 - square / 9 + std::sqrt(square) * level.z / 3, 0.0);
  const double guess = rate * root * root * root;
  const double step = 1 + std::floor(0.05 * std::sqrt(square) * rate);
  return count_quantile(level.p, guess, std::min(step, kMostCount),
                        [&](double k) { return cdf(k); });
}

}  // namespace windhover
