// What the predictive distributions of counts share. The log of their mean, or the log-odds of each
// trial, is normal: eta ~ N(m, s^2).
#ifndef WINDHOVER_RUNTIME_PREDICTION_COUNT_MIXTURE_H_
#define WINDHOVER_RUNTIME_PREDICTION_COUNT_MIXTURE_H_

#include <algorithm>
#include <cmath>
#include <numbers>

#include "windhover/runtime/prediction/gaussian_mixture.h"

namespace windhover {

inline constexpr double kMostCount = 0x1.0p53;  // counts are exact up to here
inline constexpr double kMostLogMean = 690;     // e^690 = 10^299.7

// log(1 + e^x).
inline double log_spread(double x) noexcept {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

// P(eta < V), eta ~ N(m, s^2), where e^V is a ratio of Gamma variables of shapes `shape` and r,
// over alpha = 1 / r. It is the integral of V's density, exp(shape v - (shape + r) log(1 + alpha
// e^v)) up to a constant, times Phi((v - m) / s). A negative binomial count of mean e^eta and
// variance e^eta + alpha e^(2 eta) is below `shape` when eta < V. Of n = shape + r - 1 trials of
// log-odds eta fewer than `shape` succeed when eta + log r < V. Accurate to 1e-9, and to 1e-6 where
// both shapes are 10^9.
double gamma_ratio_cdf(double shape, double r, double alpha, double m, double s) noexcept;

// The moments of exp(eta), eta ~ N(m, s^2); at most 1e300.
struct LogNormalMoments {
  LogNormalMoments(double m, double s) noexcept {
    constexpr double kMostMoment = 1e300;
    const double square = s * s;
    mean = std::exp(std::min(m + 0.5 * square, kMostLogMean));
    // (e^{s^2} - 1) e^{2 m + s^2}
    const double log_square = 2 * m + square;
    variance = log_square + square < kMostLogMean
                   ? std::exp(log_square + square) * -std::expm1(-square)
                   : kMostMoment;
  }

  double mean;
  double variance;
};

// The log of the expectation of exp(log_likelihood(eta)) over eta ~ N(m, s^2), s > 0, for a
// log-concave likelihood of the count k. Newton steps within a bracket find the maximum of the
// integrand, which is then summed over the width that it has there. `slope` and `curvature`: the
// first derivative of the log likelihood, and minus the second. REQUIRES: far to the left the
// likelihood is a constant times exp(k eta); its maximum is at log k or left of it; at `low` the
// integrand still rises.
template <class Log, class Slope, class Curvature>
double log_normal_expectation(double k, double m, double s, double low, Log&& log_likelihood,
                              Slope&& slope, Curvature&& curvature) noexcept {
  const double precision = 1 / (s * s);
  const auto log_integrand = [&](double eta) {
    return log_likelihood(eta) - 0.5 * precision * (eta - m) * (eta - m);
  };
  double high = std::max(m, std::log(k + 1e-300)) + 1;
  double top = std::clamp(m, low, high);
  for (int i = 0; i < 200; ++i) {
    const double rise = slope(top) - precision * (top - m);
    (rise > 0 ? low : high) = top;
    const double newton = top + rise / (curvature(top) + precision);
    const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
    if (std::abs(next - top) < 1e-12 * (1 + std::abs(top))) break;
    top = next;
  }
  // Left of its maximum the integrand may fall as slowly as the normal; right of it at least as
  // fast as its curvature there says.
  const double width = 1 / std::sqrt(curvature(top) + precision);
  const double peak = log_integrand(top);
  constexpr int kNodes = 200;
  constexpr double kFall = 40;
  double left = width;
  while (log_integrand(top - left) > peak - kFall && left < 1e6 * width) left *= 1.3;
  double right = width;
  while (log_integrand(top + right) > peak - kFall && right < 1e6 * width) right *= 1.3;
  const double spacing = (left + right) / (kNodes - 1);
  double sum = 0;
  for (int i = 0; i < kNodes; ++i) {
    sum += std::exp(log_integrand(top - left + spacing * i) - peak);
  }
  return peak + std::log(sum * spacing / s) - 0.5 * std::log(2 * std::numbers::pi);
}

// The smallest count with cdf(count) >= p. Goes from `guess` outwards in steps that begin with
// `step` and double; within the bracket then found, in turns to where the straight line between its
// ends passes p, and half-way.
template <class Cdf>
double count_quantile(double p, double guess, double step, Cdf&& cdf) noexcept {
  double high = std::floor(std::clamp(guess, 0.0, kMostCount));
  double at_high = cdf(high);
  double low = -1;  // cdf(low) < p <= cdf(high), once the bracket stands
  double at_low = 0;
  if (at_high < p) {
    while (high < kMostCount && at_high < p) {
      low = high;
      at_low = at_high;
      high = std::min(high + step, kMostCount);
      at_high = cdf(high);
      step *= 2;
    }
    if (at_high < p) return high;
  } else {
    for (low = high; low >= 0; step *= 2) {
      low = std::max(high - step, -1.0);
      at_low = cdf(low);
      if (at_low < p) break;
      high = low;
      at_high = at_low;
    }
  }
  for (bool straight = true; high - low > 1; straight = !straight) {
    const double share = straight ? (p - at_low) / (at_high - at_low) : 0.5;
    const double between = std::floor(low + share * (high - low));
    const double middle = std::clamp(between, low + 1, high - 1);
    const double value = cdf(middle);
    (value < p ? low : high) = middle;
    (value < p ? at_low : at_high) = value;
  }
  return high;
}

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_COUNT_MIXTURE_H_
