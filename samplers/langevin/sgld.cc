#include "windhover/samplers/langevin/sgld.h"

#include "windhover/samplers/linear_algebra/lanczos.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

using Eigen::Index;

Result<bool> Sgld::check(const SamplerConfig& c) noexcept {
  if (!(c.step_decay >= 0 && c.step_decay <= 1)) {
    return Error{Status::kInvalidConfig,
                 "sampler.step_decay must be at least 0 and at most 1 (0: constant step)",
                 c.step_decay};
  }
  if (!(c.step_offset > 0) || !std::isfinite(c.step_offset)) {
    return Error{Status::kInvalidConfig, "sampler.step_offset must be a positive number",
                 c.step_offset};
  }
  return check_annealed_langevin(c);
}

Sgld::Sgld(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
    : dimension_(dimension),
      given_step_(config.step_size),
      decay_(config.step_decay),
      offset_(config.step_offset),
      temperature_(config),
      counts_(counts(config)),
      work_(arena.allocate<double>(4 * std::size_t{dimension}).data()) {}

bool Sgld::counts(const SamplerConfig& config) noexcept {
  return config.step_decay > 0 || !Temperature(config).constant();
}

std::size_t Sgld::state_size(const SamplerConfig& config, std::uint32_t) noexcept {
  return counts(config) ? 1 : 0;
}

void Sgld::start(Chain& chain, Rng&) const noexcept {
  if (counts_) chain.state[0] = 0;
}

Status Sgld::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  if (e.diagonals_only()) {
    // Diagonals bound no eigenvalue, so no step can be computed, nor how long a chain remembers.
    if (!(given_step_ > 0)) return Status::kInvalidConfig;
    inverse_n_ = 1.0 / e.n;
    step_size_ = given_step_;
    relaxation_ = 0;
    return Status::kOk;
  }
  const double curvature = largest_eigenvalue(e.curvature, dimension_, work_);
  const double least = least_curvature(e.curvature, dimension_, work_);
  if (!(least > 0)) return Status::kNotPositiveDefinite;
  const double noise = largest_eigenvalue(e.noise_covariance, dimension_, work_);
  inverse_n_ = 1.0 / e.n;
  step_size_ = given_step_ > 0 ? given_step_
                               : langevin_step(curvature, e.n / e.minibatch_size * noise,
                                               temperature_.for_steps());
  relaxation_ = 1.0 / (step_size_ * least);
  return Status::kOk;
}

Status Sgld::step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept {
  double* g = chain.work;
  double* normals = chain.work + dimension_;
  gradient(chain.theta, g);
  double h = step_size_;
  double temperature = temperature_.last();
  if (counts_) {
    const double move = chain.state[0];
    chain.state[0] += 1;
    h *= std::pow(1.0 + move / offset_, -decay_);
    temperature = temperature_.at(move);
  }
  rng.fill_normals({normals, dimension_});
  const double deviation = std::sqrt(2.0 * h * temperature * inverse_n_);
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    chain.theta[j] += deviation * normals[j] - h * g[j];
  }
  return finite_or_diverged(chain.theta, dimension_);
}

void Sgld::apply_law(double* vector, double* noise, double*) const noexcept {
  const double variance = 2.0 * temperature_.last() * inverse_n_ / step_size_;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    vector[j] *= step_size_;
    noise[j] = variance * vector[j];
  }
}

void Sgld::law(double* preconditioner, double* injected) const noexcept {
  const Index d = dimension_;
  MatrixMap h(preconditioner, d, d);
  MatrixMap e(injected, d, d);
  h.setZero();
  e.setZero();
  h.diagonal().setConstant(step_size_);
  e.diagonal().setConstant(2.0 * temperature_.last() * inverse_n_ / step_size_);
}

}  // namespace windhover
