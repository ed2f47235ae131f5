#include "windhover/runtime/prediction/poisson_mixture.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "windhover/runtime/prediction/count_mixture.h"

namespace windhover {

namespace {

constexpr double kLargeShape = 1e4;

// log of x^shape e^-x / Gamma(shape).
double log_gamma_kernel(double shape, double x) noexcept {
  return shape * std::log(x) - x - log_gamma(shape);
}

// The expectation of f(z), z ~ N(0, 1), by a trapezoidal rule. REQUIRES: f varies no faster than z.
template <class F>
double normal_expectation(F&& f) noexcept {
  constexpr int kHalf = 13;
  constexpr double kSpacing = 0.55;
  double total = 0;
  double sum = 0;
  for (int i = -kHalf; i <= kHalf; ++i) {
    const double z = kSpacing * i;
    const double weight = std::exp(-0.5 * z * z);
    total += weight;
    sum += weight * f(z);
  }
  return sum / total;
}

}  // namespace

double log_gamma(double x) noexcept {
  // Shifts the argument to where Stirling's series has 15 digits.
  double shift = 1;
  while (x < 12) shift *= x++;
  const double y = 1 / (x * x);
  const double series =
      (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y / 1188)))) / x;
  return (x - 0.5) * std::log(x) - x + 0.5 * std::log(2 * std::numbers::pi) + series -
         std::log(shift);
}

double upper_gamma(double shape, double x) noexcept {
  if (x <= 0) return 1;
  if (shape > kLargeShape) {
    const double scale = 9 * shape;
    return normal_cdf((1 - 1 / scale - std::cbrt(x / shape)) * std::sqrt(scale));
  }
  constexpr int kMaxTerms = 2000;
  if (x < shape + 1) {  // series of the lower tail
    double term = 1 / shape;
    double sum = term;
    for (int i = 1; i < kMaxTerms && term > 1e-16 * sum; ++i) {
      term *= x / (shape + i);
      sum += term;
    }
    return std::max(0.0, 1 - sum * std::exp(log_gamma_kernel(shape, x)));
  }
  // Legendre's continued fraction of the upper tail, by Lentz's method.
  double b = x + 1 - shape;
  double c = 1e300;
  double d = 1 / b;
  double h = d;
  for (int i = 1; i < kMaxTerms; ++i) {
    const double a = i * (shape - i);
    b += 2;
    d = 1 / (a * d + b);
    c = b + a / c;
    h *= c * d;
    if (std::abs(c * d - 1) < 1e-15) break;
  }
  return h * std::exp(log_gamma_kernel(shape, x));
}

PoissonMixture::PoissonMixture(double m, double s) noexcept : m_(m), s_(s) {
  const LogNormalMoments moments(m, s);
  mean_ = moments.mean;
  var_epistemic_ = moments.variance;
}

// A Poisson count of mean lambda is at most k when a Gamma(k + 1) variable exceeds lambda. So there
// are two smooth variables, eta and log Gamma: the integral is over the wider one.
double PoissonMixture::cdf(double k) const noexcept {
  if (k < 0) return 0;
  const double shape = std::floor(k) + 1;
  if (s_ * s_ * shape < 1) {
    return normal_expectation(
        [&](double z) { return upper_gamma(shape, std::exp(std::min(m_ + s_ * z, 690.0))); });
  }
  // v = log(Gamma / shape) has log-density shape (v - e^v + 1) and falls by e^-36 at the edges.
  constexpr double kFall = 36;
  constexpr int kNodes = 96;
  const auto log_density = [&](double v) { return shape * (v - std::expm1(v)); };
  const auto edge = [&](double outside) {
    double inside = 0;
    for (int i = 0; i < 40; ++i) {
      const double middle = 0.5 * (inside + outside);
      (log_density(middle) > -kFall ? inside : outside) = middle;
    }
    return outside;
  };
  const double low = edge(-2 * kFall);
  const double high = edge(kFall);
  const double spacing = (high - low) / (kNodes - 1);
  const double centre = std::log(shape) - m_;
  double total = 0;
  double sum = 0;
  for (int i = 0; i < kNodes; ++i) {
    const double v = low + spacing * i;
    const double density = std::exp(log_density(v));
    total += density;
    sum += density * normal_cdf((v + centre) / s_);
  }
  return sum / total;
}

double PoissonMixture::log_probability(double k) const noexcept {
  const auto rate = [](double eta) { return std::exp(std::min(eta, kMostLogMean)); };
  if (s_ == 0) return k * m_ - rate(m_) - log_gamma(k + 1);
  // At `low` the slope k - e^eta - (eta - m) / s^2 is above 0.
  const double low = std::max(std::min(m_, std::log(k + 1e-300)) - 1, m_ - s_ * s_ * rate(m_) - 1);
  return log_normal_expectation(
             k, m_, s_, low, [&](double eta) { return k * eta - rate(eta); },
             [&](double eta) { return k - rate(eta); }, rate) -
         log_gamma(k + 1);
}

double PoissonMixture::quantile(const NormalLevel& level) const noexcept {
  // The search starts at about the quantile of a normal of the same location and spread, on the log
  // scale.
  const double rate = std::exp(std::clamp(m_, -kMostLogMean, kMostLogMean));
  const double z = level.z;
  const double guess =
      rate * std::exp(std::clamp(s_ * z, -kMostLogMean, kMostLogMean)) + z * std::sqrt(rate);
  return count_quantile(level.p, guess, 1 + std::floor(0.1 * std::sqrt(rate)),
                        [&](double k) { return cdf(k); });
}

}  // namespace windhover
