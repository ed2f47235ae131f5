#include "windhover/samplers/calibrated.h"

#include <cmath>

namespace windhover {

using Eigen::Index;

Result<bool> Calibrated::check(const SamplerConfig& config) noexcept {
  if (!(config.injected_noise >= 0) || !std::isfinite(config.injected_noise)) {
    return Error{Status::kInvalidConfig, "injected_noise must be a finite number of at least 0",
                 config.injected_noise};
  }
  return check_noise_is_full(config);
}

double Calibrated::noise_to_inject(double tau, const Estimates& e,
                                   FullPreconditioner& preconditioner) noexcept {
  if (tau == 0) return 0;
  const Index d = e.dimension;
  MatrixMap excess(preconditioner.scratch(), d, d);
  excess = (e.n / e.minibatch_size) * ConstMatrixMap(e.noise_covariance, d, d);
  excess -= tau * ConstMatrixMap(e.curvature, d, d);
  return preconditioner.is_positive_definite(preconditioner.scratch()) ? 0.0 : tau;
}

Status Calibrated::refresh(const Estimates& e) noexcept {
  const Index d = e.dimension;
  const double tau = noise_to_inject(injected_noise_, e, preconditioner_);
  // H and its noise or neither: alone each would have another law. C adds a positive semi-definite
  // matrix, so that what passes here seldom fails below.
  if (tau > 0 && !preconditioner_.is_positive_definite(e.curvature)) {
    return Status::kNotPositiveDefinite;
  }
  MatrixMap metric(preconditioner_.scratch(), d, d);
  metric = (1.0 + tau) * ConstMatrixMap(e.curvature, d, d);
  metric += (e.n / e.minibatch_size) * ConstMatrixMap(e.noise_covariance, d, d);
  const Status status = preconditioner_.set_inverse(preconditioner_.scratch(), 2.0);
  if (!ok(status)) return status;
  return preconditioner_.set_noise(e.curvature, std::sqrt(tau / e.n));
}

}  // namespace windhover
