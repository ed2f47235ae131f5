#include "windhover/samplers/langevin/cyclical_sgld.h"

#include <numbers>

#include "windhover/samplers/linear_algebra/lanczos.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

Result<bool> CyclicalSgld::check(const SamplerConfig& c) noexcept {
  if (c.cycle_steps < 2) {
    return Error{Status::kInvalidConfig, "sampler.cycle_steps must be at least 2",
                 static_cast<double>(c.cycle_steps)};
  }
  if (!(c.exploration >= 0 && c.exploration < 1)) {
    return Error{Status::kInvalidConfig, "sampler.exploration must be at least 0 and below 1",
                 c.exploration};
  }
  return check_langevin(c);
}

Status CyclicalSgld::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  const double curvature = largest_eigenvalue(e.curvature, dimension_, work_);
  const double least = least_curvature(e.curvature, dimension_, work_);
  if (!(least > 0)) return Status::kNotPositiveDefinite;
  const double noise = largest_eigenvalue(e.noise_covariance, dimension_, work_);
  inverse_n_ = 1.0 / e.n;
  // The cosine's average is a half.
  step_size_ = given_step_ > 0 ? given_step_
                               : 2.0 * langevin_step(curvature, e.n / e.minibatch_size * noise,
                                                     temperature_ > 0 ? temperature_ : 1.0);
  relaxation_ = 2.0 / (step_size_ * least);
  return Status::kOk;
}

Status CyclicalSgld::step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept {
  double* g = chain.work;
  double* normals = chain.work + dimension_;
  gradient(chain.theta, g);
  const double position = std::fmod(chain.state[0], cycle_steps_) / cycle_steps_;
  chain.state[0] += 1;
  chain.is_draw = position >= exploration_;
  const double h = 0.5 * step_size_ * (std::cos(std::numbers::pi * position) + 1.0);
  const double temperature = chain.is_draw ? temperature_ : 0.0;
  const double deviation = std::sqrt(2.0 * h * temperature * inverse_n_);
  rng.fill_normals({normals, dimension_});
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    chain.theta[j] += deviation * normals[j] - h * g[j];
  }
  return finite_or_diverged(chain.theta, dimension_);
}

}  // namespace windhover
