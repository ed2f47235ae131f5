#include "windhover/samplers/thermostats/hamiltonian.h"

#include <algorithm>

namespace windhover {

using Eigen::Index;

Result<bool> Hamiltonian::check(const SamplerConfig& c) noexcept {
  if (const auto r = check_friction(c); !r.ok()) return r;
  return check_langevin(c);
}

void Hamiltonian::start(Chain& chain, Rng&) const noexcept {
  std::fill_n(chain.state, dimension_, 0.0);
}

Status Hamiltonian::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound() || !preconditioner_.is_positive_definite(e.curvature)) {
    return Status::kNotPositiveDefinite;
  }
  const Index d = dimension_;
  const double noise = e.n / e.minibatch_size * preconditioner_.largest_ratio(e.noise_covariance);
  const double temperature = temperature_.last();
  double h = given_step_;
  // Solves 1 / (1 - h / (2 (2 - a))) = 1 + kStepBias.
  if (h == 0) h = 2.0 * (2.0 - friction_) * kStepBias / (1.0 + kStepBias);
  Status status = Status::kOk;
  if (temperature > 0) {
    h = std::min(h, 0.9 * 2.0 * friction_ * temperature / std::max(noise, 1e-300));
    MatrixMap covariance(preconditioner_.scratch(), d, d);
    covariance = (2.0 * friction_ * temperature / (e.n * h)) * ConstMatrixMap(e.curvature, d, d);
    covariance -= (1.0 / e.minibatch_size) * ConstMatrixMap(e.noise_covariance, d, d);
    status = preconditioner_.set_noise(preconditioner_.scratch(), 1.0);
  } else {
    status = preconditioner_.set_noise(nullptr, 0.0);
  }
  if (!ok(status)) return status;
  step_size_ = h;
  return preconditioner_.set_inverse(e.curvature, h);
}

Status Hamiltonian::step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept {
  VectorMap velocity(chain.state, dimension_);
  velocity *= 1.0 - friction_;
  preconditioner_.displace(chain, gradient, rng, chain.state);
  VectorMap(chain.theta, dimension_) += velocity;
  return finite_or_diverged(chain.theta, dimension_);
}

}  // namespace windhover
