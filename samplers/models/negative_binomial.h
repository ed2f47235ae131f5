// The negative binomial likelihood of counts that scatter more than Poisson's.
#ifndef WINDHOVER_SAMPLERS_MODELS_NEGATIVE_BINOMIAL_H_
#define WINDHOVER_SAMPLERS_MODELS_NEGATIVE_BINOMIAL_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "windhover/samplers/models/likelihoods.h"

namespace windhover {

// y is negative binomial of mean mu = exp(eta) and variance mu + alpha mu^2 (Cameron and Trivedi
// 2013, section 3.3: NB2). What set_dispersion() is told is alpha. For a fixed alpha -log p is
// convex in eta, and as alpha goes to 0 it is Poisson's.
struct NegativeBinomialLikelihood : PlainLikelihood {
  using PlainLikelihood::PlainLikelihood;
  static constexpr std::string_view kName = "negative-binomial";
  static constexpr Response kResponse = Response::kOverdispersedCount;
  static constexpr bool kHasStart = true;
  static constexpr bool kHasShape = true;
  static constexpr double kLargest = 300.0;  // of eta: squares stay finite

  void set_dispersion(double alpha) noexcept { alpha_ = alpha; }

  static double mean(double eta) noexcept { return std::exp(std::min(eta, kLargest)); }

  void derivatives(const double* eta, const double* y, std::size_t n,
                   double* residual) const noexcept {
    for (std::size_t i = 0; i < n; ++i) {
      const double mu = mean(eta[i]);
      residual[i] = (mu - y[i]) / (1 + alpha_ * mu);
    }
  }
  void curvatures(const double* eta, const double* y, std::size_t n, double* curvature,
                  double* third) const noexcept {
    for (std::size_t i = 0; i < n; ++i) {
      const double spread = alpha_ * mean(eta[i]);
      const double scale = 1 / (1 + spread);
      curvature[i] = mean(eta[i]) * scale * (1 + alpha_ * y[i]) * scale;
      third[i] = curvature[i] * (1 - spread) * scale;
    }
  }
  double loss(const double* eta, const double* y, std::size_t n) const noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      // Beyond kLargest log1p(alpha mu) goes on as eta does. Without that, the further off a
      // predictor the likelier its row.
      const double beyond = std::max(eta[i] - kLargest, 0.0);
      sum += (y[i] + 1 / alpha_) * (std::log1p(alpha_ * mean(eta[i])) + beyond) - y[i] * eta[i];
    }
    return sum;
  }
  static void start(const double* y, std::size_t n, double* eta) noexcept {
    PoissonLikelihood::start(y, n, eta);
  }

  // The first and second derivative of each row's -log p by log alpha, at fixed eta.
  void shape_derivatives(const double* eta, const double* y, std::size_t n, double* first,
                         double* second) const noexcept;
  // The derivative of each row's curvature by log alpha.
  void curvatures_by_shape(const double* eta, const double* y, std::size_t n,
                           double* derivative) const noexcept {
    for (std::size_t i = 0; i < n; ++i) {
      const double mu = mean(eta[i]);
      const double scale = 1 / (1 + alpha_ * mu);
      derivative[i] =
          alpha_ * mu * scale * (y[i] * scale - 2 * (mu * scale) * ((1 + alpha_ * y[i]) * scale));
    }
  }

 private:
  double alpha_ = 1.0;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_NEGATIVE_BINOMIAL_H_
