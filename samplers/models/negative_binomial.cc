#include "windhover/samplers/models/negative_binomial.h"

namespace windhover {

namespace {

constexpr double kAsymptotic = 12;  // from here on the series below have 15 digits

// Digamma(x) - log(x), x > 0, and its derivative.
struct DigammaRest {
  double value;
  double derivative;
};

DigammaRest digamma_rest(double x) noexcept {
  double value = 0;
  double derivative = 0;
  double at = x;
  // Digamma(x) = digamma(x + 1) - 1 / x.
  while (at < kAsymptotic) {
    value -= 1 / at;
    derivative += 1 / (at * at);
    at += 1;
  }
  const double r = 1 / at;
  const double s = r * r;
  value -= r * 0.5 + s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s / 132))));
  derivative +=
      s * 0.5 +
      r * s * (1.0 / 6 - s * (1.0 / 30 - s * (1.0 / 42 - s * (1.0 / 30 - s * (5.0 / 66)))));
  if (at != x) {
    value += std::log(at / x);
    derivative += 1 / at - 1 / x;
  }
  return {value, derivative};
}

// log(ratio) - x, with ratio = 1 + x > 0.
double log_rest(double ratio, double x) noexcept {
  if (std::abs(x) > 0.01) return std::log(ratio) - x;
  double sum = 0;
  double power = x;
  for (int k = 2; k < 10; ++k) {
    power *= -x;
    sum += power / k;
  }
  return sum;
}

}  // namespace

// With r = 1 / alpha, the terms of d log p / dr cancel down to order 1 / r^2. They are combined
// before, so that no digits are lost where the counts are nearly Poisson's.
void NegativeBinomialLikelihood::shape_derivatives(const double* eta, const double* y,
                                                   std::size_t n, double* first,
                                                   double* second) const noexcept {
  const double r = 1 / alpha_;
  const DigammaRest none = digamma_rest(r);
  for (std::size_t i = 0; i < n; ++i) {
    const double mu = mean(eta[i]);
    const DigammaRest counted = digamma_rest(y[i] + r);
    const double off = (y[i] - mu) / (r + mu);
    // Derivatives of log p by r.
    const double beyond = std::max(eta[i] - kLargest, 0.0);  // see loss()
    const double by_r =
        log_rest((y[i] + r) / (r + mu), off) + (counted.value - none.value) - beyond;
    const double twice_by_r = off * off / (y[i] + r) + (counted.derivative - none.derivative);
    first[i] = r * by_r;
    second[i] = -r * (by_r + r * twice_by_r);
  }
}

}  // namespace windhover
