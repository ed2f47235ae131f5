#include "windhover/samplers/constant_rate/constant_sgd.h"

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
  const double size = static_cast<double>(d);
  const double optimum = 2.0 * size * e.minibatch_size / (e.n * std::max(noise_trace, 1e-300));
  // The largest eigenvalue of A is at least Tr A / D: no longer rate is stable.
  std::fill_n(preconditioner_.step_size(), d, std::min(optimum, 2.0 * size / curvature_trace));
  std::fill_n(preconditioner_.noise_deviation(), d, 0.0);
  preconditioner_.finish(e.curvature);
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
  preconditioner_.finish(e.curvature);
  return Status::kOk;
}

Status FullConstantSgd::refresh(const Estimates& e) noexcept {
  const double ratio = e.minibatch_size / e.n;
  const auto metric = [&](double curvature) {
    double* sum = preconditioner_.scratch();
    combine(1.0, e.noise_covariance, curvature, e.curvature, e.dimension, sum, e.interlude);
    return sum;
  };
  // The eigenvalues of HA are below 2 if and only if C - (S/n) A is positive definite. C itself
  // cannot be tested: where it is singular up to rounding, it may pass or fail.
  const bool stable = preconditioner_.is_positive_definite(metric(-ratio), e.interlude);
  // With 2 (S/n) A added, a direction without noise goes to the mode in one step; with (S/n) A it
  // would be thrown from side to side for ever.
  const Status status =
      preconditioner_.set_inverse(metric(stable ? 0.0 : 2.0 * ratio), 2.0 * ratio, e.interlude);
  if (ok(status)) relaxation_ = preconditioner_.relaxation(e.curvature, e.interlude);
  return status;
}

}  // namespace windhover
