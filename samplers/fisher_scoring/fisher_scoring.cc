#include "windhover/samplers/fisher_scoring/fisher_scoring.h"

#include <algorithm>
#include <cmath>

namespace windhover {

using Eigen::Index;

Result<bool> check_fisher_scoring(const SamplerConfig& config) noexcept {
  if (!(config.noise_scale >= 0) || !std::isfinite(config.noise_scale)) {
    return Error{Status::kInvalidConfig, "noise_scale must be a finite number of at least 0",
                 config.noise_scale};
  }
  if (!(config.step_size_max >= 0) || !std::isfinite(config.step_size_max)) {
    return Error{Status::kInvalidConfig,
                 "step_size_max must be a finite number of at least 0 (0: none)",
                 config.step_size_max};
  }
  return true;
}

namespace {

// (S + n) / S: the 1 in it is the curvature term of the exact law when A = C.
double gamma(const Estimates& e) noexcept { return (e.minibatch_size + e.n) / e.minibatch_size; }

// Rate and injected variance of one parameter with noise variance c and curvature a.
struct Rate {
  double step_size;
  double injected;
};
Rate rate_of(const Estimates& e, double c, double a, double noise_scale,
             double step_size_max) noexcept {
  // A direction without gradient noise would get an infinite step.
  c = std::max(c, e.minibatch_size / e.n * a);
  if (step_size_max > 0) {
    const double injected = std::max(0.0, 2.0 / (step_size_max * e.n) - c / e.minibatch_size);
    return {2.0 / (e.n * (c / e.minibatch_size + injected)), injected};
  }
  const double alpha2 = noise_scale * noise_scale;
  return {2.0 / ((1.0 + alpha2) * gamma(e) * c), alpha2 * gamma(e) * c / e.n};
}

}  // namespace

Result<bool> ScalarFisherScoring::check(const SamplerConfig& config) noexcept {
  return check_fisher_scoring(config);
}
Result<bool> DiagonalFisherScoring::check(const SamplerConfig& config) noexcept {
  return check_fisher_scoring(config);
}
Result<bool> FullFisherScoring::check(const SamplerConfig& config) noexcept {
  const Result<bool> full = check_noise_is_full(config);
  return full.ok() ? check_fisher_scoring(config) : full;
}

Status ScalarFisherScoring::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  double noise = 0;
  double curvature = 0;
  for (std::size_t j = 0; j < e.dimension; ++j) {
    noise += e.noise_variance_of(j) / e.dimension;
    curvature += e.curvature_of(j) / e.dimension;
  }
  const Rate rate = rate_of(e, noise, curvature, noise_scale_, step_size_max_);
  std::fill_n(preconditioner_.step_size(), e.dimension, rate.step_size);
  std::fill_n(preconditioner_.noise_deviation(), e.dimension, std::sqrt(rate.injected));
  preconditioner_.finish(e.curvature);
  return Status::kOk;
}

Status DiagonalFisherScoring::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  for (std::size_t j = 0; j < e.dimension; ++j) {
    const Rate rate =
        rate_of(e, e.noise_variance_of(j), e.curvature_of(j), noise_scale_, step_size_max_);
    preconditioner_.step_size()[j] = rate.step_size;
    preconditioner_.noise_deviation()[j] = std::sqrt(rate.injected);
  }
  preconditioner_.finish(e.curvature);
  return Status::kOk;
}

Status FullFisherScoring::refresh(const Estimates& e) noexcept {
  const Status status = step_size_max_ > 0 ? refresh_bounded(e) : refresh_scaled(e);
  if (ok(status)) relaxation_ = preconditioner_.relaxation(e.curvature, e.interlude);
  return status;
}

// (C/S + E)^-1 <= E^-1, so this E bounds every H_kk whatever C is.
Status FullFisherScoring::refresh_bounded(const Estimates& e) noexcept {
  const Index d = e.dimension;
  const double injected = 2.0 / (step_size_max_ * e.n);
  const auto metric = [&](double curvature) {
    double* sum = preconditioner_.scratch();
    combine(1.0 / e.minibatch_size, e.noise_covariance, curvature, e.curvature, d, sum,
            e.interlude);
    MatrixMap(sum, d, d).diagonal().array() += injected;
    return sum;
  };
  // The eigenvalues of HA are below 2 if and only if C/S + E - A/n is positive definite. With 2 A/n
  // added a direction without noise goes to the mode in one step.
  const bool stable = preconditioner_.is_positive_definite(metric(-1.0 / e.n), e.interlude);
  const Status status =
      preconditioner_.set_inverse(metric(stable ? 0.0 : 2.0 / e.n), 2.0 / e.n, e.interlude);
  if (!ok(status)) return status;
  MatrixMap noise(preconditioner_.scratch(), d, d);
  noise.setZero();
  noise.diagonal().setConstant(injected);
  return preconditioner_.set_noise(preconditioner_.scratch(), 1.0, e.interlude);
}

Status FullFisherScoring::refresh_scaled(const Estimates& e) noexcept {
  const Index d = e.dimension;
  const auto metric = [&](double curvature) {
    double* sum = preconditioner_.scratch();
    combine(1.0, e.noise_covariance, curvature, e.curvature, d, sum, e.interlude);
    return sum;
  };
  const double alpha2 = noise_scale_ * noise_scale_;
  const double scale = 2.0 / ((1.0 + alpha2) * gamma(e));
  // As in FullConstantSgd, HA is stable if and only if this is positive definite.
  const bool stable = preconditioner_.is_positive_definite(metric(-0.5 * scale), e.interlude);
  return preconditioner_.set_inverse_and_noise(metric(stable ? 0.0 : e.minibatch_size / e.n), scale,
                                               std::sqrt(alpha2 * gamma(e) / e.n), e.interlude);
}

}  // namespace windhover
