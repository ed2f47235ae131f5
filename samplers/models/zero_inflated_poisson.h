// The likelihood of counts with more zeros than Poisson's: some rows are 0 whatever their mean.
#ifndef WINDHOVER_SAMPLERS_MODELS_ZERO_INFLATED_POISSON_H_
#define WINDHOVER_SAMPLERS_MODELS_ZERO_INFLATED_POISSON_H_

#include <cmath>
#include <cstddef>
#include <string_view>

#include "windhover/samplers/models/likelihoods.h"

namespace windhover {

// y is 0 with probability pi, a structural zero, otherwise Poisson with mean mu = exp(eta) (Lambert
// 1992, with the same pi for every row). set_dispersion() is given the odds phi = pi / (1 - pi).
// Where y = 0, -log p = -log(phi + exp(-mu)), but for a constant, is not convex in eta: it levels
// off where the zero looks structural. So the curvature is the Fisher information.
struct ZeroInflatedPoissonLikelihood : PlainLikelihood {
  using PlainLikelihood::PlainLikelihood;
  static constexpr std::string_view kName = "zero-inflated-poisson";
  static constexpr Response kResponse = Response::kZeroInflatedCount;
  static constexpr Curvature kCurvature = Curvature::kFisher;
  static constexpr bool kHasStart = true;
  static constexpr bool kHasShape = true;

  void set_dispersion(double odds) noexcept {
    odds_ = odds;
    structural_ = odds / (1 + odds);
  }

  double mean(double eta) const noexcept { return PoissonLikelihood::mean(eta) / (1 + odds_); }

  void derivatives(const double* eta, const double* y, std::size_t n,
                   double* residual) const noexcept {
    PoissonLikelihood::derivatives(eta, y, n, residual);
    for (std::size_t i = 0; i < n; ++i) {
      if (y[i] == 0) residual[i] *= zero(eta[i]).counted;
    }
  }
  void curvatures(const double* eta, const double* y, std::size_t n, double* curvature,
                  double* third) const noexcept {
    for (std::size_t i = 0; i < n; ++i) {
      const Zero z = zero(eta[i]);
      curvature[i] = z.mu * (1 - z.structural * z.mu * z.none) / (1 + odds_);
      // `third` is the third derivative of -log p, not one of its expectation.
      const double both = z.structural * z.counted;
      third[i] =
          y[i] > 0 ? z.mu : z.mu * (z.counted - both * z.mu * (3 + (1 - 2 * z.structural) * z.mu));
      if (eta[i] >= PoissonLikelihood::kLargest) third[i] = 0;
    }
  }
  double loss(const double* eta, const double* y, std::size_t n) const noexcept {
    const double counted = std::log1p(odds_);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += counted + (y[i] > 0 ? PoissonLikelihood::loss(eta + i, y + i, 1)
                                 : -std::log(odds_ + zero(eta[i]).none));
    }
    return sum;
  }
  static void start(const double* y, std::size_t n, double* eta) noexcept {
    PoissonLikelihood::start(y, n, eta);
  }

  // The first and the second derivative of each row's -log p by log phi, at fixed eta.
  void shape_derivatives(const double* eta, const double* y, std::size_t n, double* first,
                         double* second) const noexcept {
    for (std::size_t i = 0; i < n; ++i) {
      first[i] = structural_;
      second[i] = structural_ * (1 - structural_);
      if (y[i] > 0) continue;
      const Zero z = zero(eta[i]);
      first[i] -= z.structural;
      second[i] -= z.structural * z.counted;
    }
  }
  // The derivative by log phi of each row's first derivative of -log p by eta.
  void derivatives_by_shape(const double* eta, const double* y, std::size_t n,
                            double* derivative) const noexcept {
    for (std::size_t i = 0; i < n; ++i) {
      const Zero z = zero(eta[i]);
      derivative[i] = y[i] > 0 ? 0.0 : -z.structural * (z.counted * z.mu);
    }
  }
  // The derivative by log phi of each row's second derivative of -log p by eta.
  void curvatures_by_shape(const double* eta, const double* y, std::size_t n,
                           double* derivative) const noexcept {
    for (std::size_t i = 0; i < n; ++i) {
      const Zero z = zero(eta[i]);
      derivative[i] =
          y[i] > 0 ? 0.0 : -z.structural * (z.counted * z.mu) * (1 + (1 - 2 * z.structural) * z.mu);
    }
  }

 private:
  // A row with y = 0: the probabilities that it is a structural zero, and that it was counted.
  struct Zero {
    double mu;
    double none;  // exp(-mu)
    double structural;
    double counted;
  };
  Zero zero(double eta) const noexcept {
    const double mu = PoissonLikelihood::mean(eta);
    const double none = std::exp(-mu);
    const double both = odds_ + none;
    return {mu, none, odds_ / both, none / both};
  }

  double odds_ = 1.0;
  double structural_ = 0.5;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_ZERO_INFLATED_POISSON_H_
