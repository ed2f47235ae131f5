#include "windhover/samplers/constant_sgd.h"

#include <algorithm>

namespace windhover {

using Eigen::Index;

Result<bool> ScalarConstantSgd::check(const SamplerConfig&) noexcept { return true; }
Result<bool> DiagonalConstantSgd::check(const SamplerConfig&) noexcept { return true; }
Result<bool> FullConstantSgd::check(const SamplerConfig& config) noexcept {
  return check_noise_is_full(config);
}

Status ScalarConstantSgd::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  const Index d = e.dimension;
  double noise_trace = 0;
  double curvature_trace = 0;
  for (std::size_t j = 0; j < e.dimension; ++j) {
    noise_trace += e.noise_variance_of(j);
    curvature_trace += e.curvature_of(j);
  }
  const double optimum =
      2.0 * static_cast<double>(d) * e.minibatch_size / (e.n * std::max(noise_trace, 1e-300));
  // Tr A bounds the largest eigenvalue of A, and a rate below 2 over that is stable.
  std::fill_n(preconditioner_.step_size(), d, std::min(optimum, 1.0 / curvature_trace));
  std::fill_n(preconditioner_.noise_deviation(), d, 0.0);
  preconditioner_.finish();
  return Status::kOk;
}

Status DiagonalConstantSgd::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  for (std::size_t j = 0; j < e.dimension; ++j) {
    const double c = std::max(e.noise_variance_of(j), 1e-300);
    const double optimum = 2.0 * e.minibatch_size / (e.n * c);
    preconditioner_.step_size()[j] = std::min(optimum, 1.0 / e.curvature_of(j));
    preconditioner_.noise_deviation()[j] = 0;
  }
  preconditioner_.stabilize(e.curvature);
  preconditioner_.finish();
  return Status::kOk;
}

Status FullConstantSgd::refresh(const Estimates& e) noexcept {
  const Index d = e.dimension;
  const double ratio = e.minibatch_size / e.n;
  const ConstMatrixMap noise(e.noise_covariance, d, d);
  const ConstMatrixMap curvature(e.curvature, d, d);
  MatrixMap metric(preconditioner_.scratch(), d, d);
  // eig(HA) < 2 if and only if C - (S/n) A is positive definite. Whether C itself is cannot be told
  // when it is singular up to rounding.
  metric = noise;
  metric -= ratio * curvature;
  const bool stable = preconditioner_.is_positive_definite(preconditioner_.scratch());
  metric = noise;
  if (!stable) metric += ratio * curvature;
  return preconditioner_.set_inverse(preconditioner_.scratch(), 2.0 * ratio);
}

}  // namespace windhover
