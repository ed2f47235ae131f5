// Likelihoods of generalized linear models: what the observation y says about the linear predictor
// eta = x^T theta, in units of dispersion 1. All work on arrays of one value a row.
//
// Each is made from the configuration and has: kName, kResponse, kCurvature, kQuadratic, kHasStart;
//   mean(eta);
//   derivatives(eta, y, n, residual): residual = d(-log p)/d eta;
//   curvatures(eta, y, n, curvature, third): second (or what kCurvature says) and third derivative;
//   loss(eta, y, n): sum of -log p, up to a constant;
//   squares(eta, y, n): sum of weighted squared residuals where there is a dispersion, otherwise 0;
//   start(y, n, eta), with kHasStart: linear predictors near the best ones.
// kHasShape: it has shape_derivatives() and curvatures_by_shape() (negative_binomial.h), and where
// that shape_crosses() derivatives_by_shape() (zero_inflated_poisson.h). kHeavyTailed: a row moves
// little however far off it is; without it -log p is convex in eta. kLogarithmic: y is log y.
// kHasTrials: all but squares() and mean() take the rows' numbers of trials after y.
#ifndef WINDHOVER_SAMPLERS_MODELS_LIKELIHOODS_H_
#define WINDHOVER_SAMPLERS_MODELS_LIKELIHOODS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// Defaults: the Hessian as curvature, no dispersion, no start.
struct PlainLikelihood {
  static constexpr Curvature kCurvature = Curvature::kHessian;
  static constexpr bool kQuadratic = false;
  static constexpr bool kHasStart = false;
  static constexpr bool kHasShape = false;
  static constexpr bool kHeavyTailed = false;
  static constexpr bool kLogarithmic = false;
  static constexpr bool kHasTrials = false;

  explicit PlainLikelihood(const ModelConfig&) noexcept {}
  void set_dispersion(double) noexcept {}
  static double squares(const double*, const double*, std::size_t) noexcept { return 0.0; }
};

// y ~ N(eta, dispersion).
struct GaussianLikelihood : PlainLikelihood {
  using PlainLikelihood::PlainLikelihood;
  static constexpr std::string_view kName = "linear";
  static constexpr Response kResponse = Response::kGaussian;
  static constexpr bool kQuadratic = true;

  static double mean(double eta) noexcept { return eta; }

  static void derivatives(const double* eta, const double* y, std::size_t n,
                          double* residual) noexcept {
    for (std::size_t i = 0; i < n; ++i) residual[i] = eta[i] - y[i];
  }
  static void curvatures(const double*, const double*, std::size_t n, double* curvature,
                         double* third) noexcept {
    std::fill_n(curvature, n, 1.0);
    std::fill_n(third, n, 0.0);
  }
  static double loss(const double* eta, const double* y, std::size_t n) noexcept {
    return 0.5 * squares(eta, y, n);
  }
  static double squares(const double* eta, const double* y, std::size_t n) noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += (eta[i] - y[i]) * (eta[i] - y[i]);
    return sum;
  }
};

// log y ~ N(eta, dispersion). -log p leaves out log y, which does not depend on theta.
struct LogNormalLikelihood : GaussianLikelihood {
  using GaussianLikelihood::GaussianLikelihood;
  static constexpr std::string_view kName = "log-normal";
  static constexpr Response kResponse = Response::kLogNormal;
  static constexpr bool kLogarithmic = true;
  static constexpr double kMostLogMean = 690.0;

  void set_dispersion(double dispersion) noexcept { dispersion_ = dispersion; }
  double mean(double eta) const noexcept {
    return std::exp(std::min(eta + 0.5 * dispersion_, kMostLogMean));
  }

 private:
  double dispersion_ = 1.0;
};

// y is 1 with probability 1 / (1 + exp(-eta)), otherwise 0.
struct BernoulliLogitLikelihood : PlainLikelihood {
  using PlainLikelihood::PlainLikelihood;
  static constexpr std::string_view kName = "logistic";
  static constexpr Response kResponse = Response::kBernoulli;

  static double mean(double eta) noexcept {
    return eta >= 0 ? 1.0 / (1.0 + std::exp(-eta)) : std::exp(eta) / (1.0 + std::exp(eta));
  }

  static void derivatives(const double* eta, const double* y, std::size_t n,
                          double* residual) noexcept {
    kernels().sigmoid(eta, n, residual);
    for (std::size_t i = 0; i < n; ++i) residual[i] -= y[i];
  }
  static void curvatures(const double* eta, const double*, std::size_t n, double* curvature,
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

// y of a row's trials succeed, each with the probability 1 / (1 + exp(-eta)).
struct BinomialLogitLikelihood : PlainLikelihood {
  using PlainLikelihood::PlainLikelihood;
  static constexpr std::string_view kName = "binomial";
  static constexpr Response kResponse = Response::kBinomial;
  static constexpr bool kHasStart = true;
  static constexpr bool kHasTrials = true;

  static double mean(double eta) noexcept { return BernoulliLogitLikelihood::mean(eta); }

  static void derivatives(const double* eta, const double* y, const double* trials, std::size_t n,
                          double* residual) noexcept {
    kernels().sigmoid(eta, n, residual);
    for (std::size_t i = 0; i < n; ++i) residual[i] = trials[i] * residual[i] - y[i];
  }
  static void curvatures(const double* eta, const double* y, const double* trials, std::size_t n,
                         double* curvature, double* third) noexcept {
    BernoulliLogitLikelihood::curvatures(eta, y, n, curvature, third);
    for (std::size_t i = 0; i < n; ++i) {
      curvature[i] *= trials[i];
      third[i] *= trials[i];
    }
  }
  static double loss(const double* eta, const double* y, const double* trials,
                     std::size_t n) noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double spread = std::log1p(std::exp(-std::abs(eta[i])));
      // trials log(1 + exp(eta)) - y eta, without overflow and without cancellation.
      sum += trials[i] * spread + (eta[i] > 0 ? (trials[i] - y[i]) * eta[i] : -y[i] * eta[i]);
    }
    return sum;
  }
  static void start(const double* y, const double* trials, std::size_t n, double* eta) noexcept {
    for (std::size_t i = 0; i < n; ++i) {
      eta[i] = std::log((y[i] + 0.5) / (trials[i] - y[i] + 0.5));
    }
  }
};

// y is Poisson with mean exp(eta). Beyond eta = kLargest, where no accepted count lies, the loss
// goes on as the quadratic that agrees with it there: it stays convex, and finite wherever Newton's
// method may look.
struct PoissonLikelihood : PlainLikelihood {
  using PlainLikelihood::PlainLikelihood;
  static constexpr std::string_view kName = "poisson";
  static constexpr Response kResponse = Response::kCount;
  static constexpr bool kHasStart = true;
  static constexpr double kLargest = 50.0;  // of the linear predictor

  static double mean(double eta) noexcept { return std::exp(std::min(eta, kLargest)); }

  static void derivatives(const double* eta, const double* y, std::size_t n,
                          double* residual) noexcept {
    for (std::size_t i = 0; i < n; ++i) {
      residual[i] = mean(eta[i]) * (1.0 + std::max(eta[i] - kLargest, 0.0)) - y[i];
    }
  }
  static void curvatures(const double* eta, const double*, std::size_t n, double* curvature,
                         double* third) noexcept {
    for (std::size_t i = 0; i < n; ++i) {
      curvature[i] = mean(eta[i]);
      third[i] = eta[i] < kLargest ? curvature[i] : 0.0;
    }
  }
  static double loss(const double* eta, const double* y, std::size_t n) noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double beyond = std::max(eta[i] - kLargest, 0.0);
      sum += mean(eta[i]) * (1.0 + beyond * (1.0 + 0.5 * beyond)) - y[i] * eta[i];
    }
    return sum;
  }
  static void start(const double* y, std::size_t n, double* eta) noexcept {
    for (std::size_t i = 0; i < n; ++i) eta[i] = std::log(y[i] + 0.1);
  }
};

// (y - eta) / sqrt(dispersion) is Student's t. The Hessian is negative for outlying rows, so the
// curvature is the Fisher information (Lange, Little and Taylor 1989, appendix B). A Newton step
// with it never raises the loss where nu >= 3: the Hessian is at most (nu + 3) / nu times as large.
struct StudentLikelihood {
  static constexpr std::string_view kName = "student-t";
  static constexpr Response kResponse = Response::kStudent;
  static constexpr Curvature kCurvature = Curvature::kFisher;
  static constexpr bool kQuadratic = false;
  static constexpr bool kHasStart = true;
  static constexpr bool kHasShape = false;
  static constexpr bool kHeavyTailed = true;
  static constexpr bool kLogarithmic = false;
  static constexpr bool kHasTrials = false;

  explicit StudentLikelihood(const ModelConfig& config) noexcept : nu_(config.degrees_of_freedom) {}
  void set_dispersion(double dispersion) noexcept { inverse_ = 1.0 / dispersion; }

  static double mean(double eta) noexcept { return eta; }

  void derivatives(const double* eta, const double* y, std::size_t n,
                   double* residual) const noexcept {
    for (std::size_t i = 0; i < n; ++i) residual[i] = weight(eta[i] - y[i]) * (eta[i] - y[i]);
  }
  void curvatures(const double* eta, const double* y, std::size_t n, double* curvature,
                  double* third) const noexcept {
    std::fill_n(curvature, n, (nu_ + 1) / (nu_ + 3));
    for (std::size_t i = 0; i < n; ++i) {
      const double r = eta[i] - y[i];
      const double square = r * r * inverse_;
      const double scale = 1.0 / (nu_ + square);
      third[i] = 2 * (nu_ + 1) * inverse_ * (r * scale) * ((square - 3 * nu_) * scale) * scale;
    }
  }
  double loss(const double* eta, const double* y, std::size_t n) const noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += std::log1p((eta[i] - y[i]) * (eta[i] - y[i]) * inverse_ / nu_);
    }
    return 0.5 * (nu_ + 1) * sum / inverse_;
  }
  double squares(const double* eta, const double* y, std::size_t n) const noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += weight(eta[i] - y[i]) * (eta[i] - y[i]) * (eta[i] - y[i]);
    }
    return sum;
  }
  static void start(const double* y, std::size_t n, double* eta) noexcept {
    std::copy_n(y, n, eta);
  }

 private:
  double weight(double residual) const noexcept {
    return (nu_ + 1) / (nu_ + residual * residual * inverse_);
  }

  double nu_;
  double inverse_ = 1.0;  // 1 / dispersion
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_LIKELIHOODS_H_
