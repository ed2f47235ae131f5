#include "windhover/samplers/constant_rate/calibrated.h"

#include <cmath>

namespace windhover {

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
  combine(e.n / e.minibatch_size, e.noise_covariance, -tau, e.curvature, e.dimension,
          preconditioner.scratch(), e.interlude);
  return preconditioner.is_positive_definite(preconditioner.scratch(), e.interlude) ? 0.0 : tau;
}

Status Calibrated::refresh(const Estimates& e) noexcept {
  const double tau = noise_to_inject(injected_noise_, e, preconditioner_);
  // H and its noise are replaced together or not at all, because either alone has another law. C
  // adds a positive semi-definite matrix, so what passes here seldom fails below.
  if (tau > 0 && !preconditioner_.is_positive_definite(e.curvature, e.interlude)) {
    return Status::kNotPositiveDefinite;
  }
  combine(1.0 + tau, e.curvature, e.n / e.minibatch_size, e.noise_covariance, e.dimension,
          preconditioner_.scratch(), e.interlude);
  const Status status = preconditioner_.set_inverse(preconditioner_.scratch(), 2.0, e.interlude);
  if (!ok(status)) return status;
  // The relaxation is about n / S moves, times half of the largest ratio of C to A over directions.
  relaxation_ = preconditioner_.relaxation(e.curvature, e.interlude);
  return preconditioner_.set_noise(e.curvature, std::sqrt(tau / e.n), e.interlude);
}

}  // namespace windhover
