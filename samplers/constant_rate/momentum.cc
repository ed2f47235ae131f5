#include "windhover/samplers/constant_rate/momentum.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/constant_rate/calibrated.h"

namespace windhover {

Result<bool> Momentum::check(const SamplerConfig& config) noexcept {
  if (!(config.momentum >= 0 && config.momentum < 1)) {
    return Error{Status::kInvalidConfig, "momentum must be at least 0 and less than 1",
                 config.momentum};
  }
  return Calibrated::check(config);
}

void Momentum::start(Chain& chain, Rng&) const noexcept {
  std::fill_n(chain.state, dimension_, 0.0);
}

Status Momentum::refresh(const Estimates& e) noexcept {
  const double tau = Calibrated::noise_to_inject(injected_noise_, e, preconditioner_);
  // H and noise are replaced together or not at all, as in Calibrated::refresh().
  if (tau > 0 && !preconditioner_.is_positive_definite(e.curvature, e.interlude)) {
    return Status::kNotPositiveDefinite;
  }
  combine(1.0 / (1.0 + momentum_) + tau / (1.0 - momentum_), e.curvature,
          e.n / e.minibatch_size / (1.0 - momentum_), e.noise_covariance, e.dimension,
          preconditioner_.scratch(), e.interlude);
  const Status status = preconditioner_.set_inverse(preconditioner_.scratch(), 2.0, e.interlude);
  if (!ok(status)) return status;
  relaxation_ = (1.0 - momentum_) * preconditioner_.relaxation(e.curvature, e.interlude) +
                2.0 / (1.0 - momentum_);
  return preconditioner_.set_noise(e.curvature, std::sqrt(tau / e.n), e.interlude);
}

Status Momentum::step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept {
  VectorMap velocity(chain.state, dimension_);
  velocity *= momentum_;
  preconditioner_.displace(chain, gradient, rng, chain.state);
  VectorMap(chain.theta, dimension_) += velocity;
  return finite_or_diverged(chain.theta, dimension_);
}

}  // namespace windhover
