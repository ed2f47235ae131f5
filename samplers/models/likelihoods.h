// Likelihoods of generalized linear models: what the observation y says about the linear predictor
// eta = x^T theta, in units of dispersion 1. All work on arrays of one value a row.
//
// Each has: kName, kResponse, kQuadratic; check_target(y); mean(eta);
//   derivatives(eta, y, n, residual): residual = d(-log p)/d eta;
//   curvatures(eta, n, curvature, third): second and third derivative;
//   loss(eta, y, n): sum of -log p, up to a constant.
#ifndef WINDHOVER_SAMPLERS_MODELS_LIKELIHOODS_H_
#define WINDHOVER_SAMPLERS_MODELS_LIKELIHOODS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "windhover/samplers/kernels.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// y ~ N(eta, dispersion).
struct GaussianLikelihood {
  static constexpr std::string_view kName = "linear";
  static constexpr Response kResponse = Response::kGaussian;
  static constexpr bool kQuadratic = true;

  static Status check_target(double) noexcept { return Status::kOk; }
  static double mean(double eta) noexcept { return eta; }

  static void derivatives(const double* eta, const double* y, std::size_t n,
                          double* residual) noexcept {
    for (std::size_t i = 0; i < n; ++i) residual[i] = eta[i] - y[i];
  }
  static void curvatures(const double*, std::size_t n, double* curvature, double* third) noexcept {
    std::fill_n(curvature, n, 1.0);
    std::fill_n(third, n, 0.0);
  }
  static double loss(const double* eta, const double* y, std::size_t n) noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += 0.5 * (eta[i] - y[i]) * (eta[i] - y[i]);
    return sum;
  }
};

// y is 1 with probability 1 / (1 + exp(-eta)), otherwise 0.
struct BernoulliLogitLikelihood {
  static constexpr std::string_view kName = "logistic";
  static constexpr Response kResponse = Response::kBernoulli;
  static constexpr bool kQuadratic = false;

  static Status check_target(double y) noexcept {
    return y == 0.0 || y == 1.0 ? Status::kOk : Status::kTargetOutOfDomain;
  }
  static double mean(double eta) noexcept {
    return eta >= 0 ? 1.0 / (1.0 + std::exp(-eta)) : std::exp(eta) / (1.0 + std::exp(eta));
  }

  static void derivatives(const double* eta, const double* y, std::size_t n,
                          double* residual) noexcept {
    kernels().sigmoid(eta, n, residual);
    for (std::size_t i = 0; i < n; ++i) residual[i] -= y[i];
  }
  static void curvatures(const double* eta, std::size_t n, double* curvature,
                         double* third) noexcept {
    kernels().sigmoid(eta, n, third);
    for (std::size_t i = 0; i < n; ++i) {
      const double p = third[i];
      curvature[i] = p * (1 - p);
      third[i] = curvature[i] * (1 - 2 * p);
    }
  }
  static double loss(const double* eta, const double* y, std::size_t n) noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      // log(1 + exp(eta)) - y eta, without overflow.
      sum += std::max(eta[i], 0.0) + std::log1p(std::exp(-std::abs(eta[i]))) - y[i] * eta[i];
    }
    return sum;
  }
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_LIKELIHOODS_H_
