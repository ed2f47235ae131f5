#include "windhover/samplers/langevin/rmsprop_sgld.h"

#include <algorithm>

#include "windhover/samplers/linear_algebra/lanczos.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

Result<bool> RmspropSgld::check(const SamplerConfig& c) noexcept {
  if (const auto r = check_adaptation(c); !r.ok()) return r;
  return check_langevin(c);
}

void RmspropSgld::start(Chain& chain, Rng&) const noexcept {
  std::copy_n(square_, dimension_, chain.state);
}

Status RmspropSgld::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  inverse_n_ = 1.0 / e.n;
  double* g = work_;
  for (std::size_t j = 0; j < dimension_; ++j) {
    const std::size_t jj = j * (dimension_ + 1);
    square_[j] = e.noise_covariance[jj] / e.minibatch_size + e.curvature[jj] * inverse_n_;
    g[j] = 1.0 / (floor_ + std::sqrt(square_[j]));
  }
  double* room = work_ + dimension_;
  const double curvature = largest_scaled_eigenvalue(g, e.curvature, dimension_, room);
  const double least = slowest_scaled_rate(g, e.curvature, dimension_, room);
  const double noise = largest_scaled_eigenvalue(g, e.noise_covariance, dimension_, room);
  step_size_ = given_step_ > 0 ? given_step_
                               : langevin_step(curvature, e.n / e.minibatch_size * noise,
                                               temperature_.for_steps());
  relaxation_ = 1.0 / (step_size_ * std::max(least, 1e-12 * curvature));
  return Status::kOk;
}

Status RmspropSgld::step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept {
  double* g = chain.work;
  double* normals = chain.work + dimension_;
  double* v = chain.state;
  gradient(chain.theta, g);
  rng.fill_normals({normals, dimension_});
  const double scale = 2.0 * step_size_ * temperature_.last() * inverse_n_;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    v[j] = smoothing_ * v[j] + (1.0 - smoothing_) * g[j] * g[j];
    const double precondition = 1.0 / (floor_ + std::sqrt(v[j]));
    chain.theta[j] +=
        std::sqrt(scale * precondition) * normals[j] - step_size_ * precondition * g[j];
  }
  return finite_or_diverged(chain.theta, dimension_);
}

}  // namespace windhover
