#include "windhover/samplers/thermostats/nose_hoover.h"

#include <algorithm>
#include <numeric>

#include "windhover/samplers/linear_algebra/lanczos.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

namespace {

constexpr double kFriction = kStepBias;  // a; the minibatch's noise may add as much
// The largest h times the largest curvature. A thermostat fluctuates by sqrt(h), which must stay
// below alpha, or energy leaks between modes: on a logistic posterior variances were 22 % off at h
// = 0.01, and 5 % at 0.001.
constexpr double kLongestStep = 0.001;

}  // namespace

Result<bool> NoseHoover::check(const SamplerConfig& c) noexcept {
  if (const auto r = check_friction(c); !r.ok()) return r;
  if (c.temperature == 0) {
    return Error{Status::kInvalidConfig,
                 "sampler.temperature must be positive: a thermostat has nothing to settle at", 0};
  }
  return check_langevin(c);
}

NoseHoover::NoseHoover(Arena& arena, const SamplerConfig& config, std::uint32_t dimension,
                       bool one_for_all) noexcept
    : dimension_(dimension),
      one_for_all_(one_for_all),
      given_step_(config.step_size),
      friction_(config.friction > 0 ? config.friction : kFriction),
      temperature_(config),
      variance_(arena.allocate<double>(dimension).data()),
      expected_(arena.allocate<double>(dimension).data()),
      work_(arena.allocate<double>(4 * std::size_t{dimension}).data()) {}

// Draws velocities from the stationary law, and sets thermostats to the friction that all noise
// needs.
void NoseHoover::start(Chain& chain, Rng& rng) const noexcept {
  double* v = chain.state;
  double* alpha = v + dimension_;
  rng.fill_normals({v, dimension_});
  const double scale = step_size_ * temperature_.last() / n_;
  for (std::uint32_t j = 0; j < dimension_; ++j) v[j] *= std::sqrt(scale * variance_[j]);
  if (one_for_all_) {
    *alpha = std::accumulate(expected_, expected_ + dimension_, 0.0) / dimension_;
  } else {
    std::copy_n(expected_, dimension_, alpha);
  }
}

Status NoseHoover::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  n_ = e.n;
  for (std::size_t j = 0; j < dimension_; ++j) {
    variance_[j] = 1.0 / e.curvature[j * (dimension_ + 1)];
  }
  const double curvature = largest_scaled_eigenvalue(variance_, e.curvature, dimension_, work_);
  const double noise = e.n / e.minibatch_size *
                       largest_scaled_eigenvalue(variance_, e.noise_covariance, dimension_, work_);
  const double longest = 2.0 * kStepBias * temperature_.for_steps() / std::max(noise, 1e-300);
  step_size_ = given_step_ > 0 ? given_step_ : std::min(kLongestStep / curvature, longest);
  for (std::size_t j = 0; j < dimension_; ++j) {
    const double c = e.noise_covariance[j * (dimension_ + 1)] * e.n / e.minibatch_size;
    expected_[j] = friction_ + 0.5 * step_size_ * variance_[j] * c / temperature_.for_steps();
  }
  const double alpha = friction_ + 0.5 * step_size_ * noise / temperature_.for_steps();
  const double least = slowest_scaled_rate(variance_, e.curvature, dimension_, work_);
  // Overdamped alpha / (h least), plus underdamped 2 / a.
  relaxation_ = alpha / (step_size_ * std::max(least, 1e-12 * curvature)) + 2.0 / friction_;
  return Status::kOk;
}

// alpha follows the kinetic energy.
void NoseHoover::heat(const double* v, double* alpha) const noexcept {
  const double target = step_size_ * temperature_.last();
  if (!one_for_all_) {
    for (std::uint32_t j = 0; j < dimension_; ++j) {
      alpha[j] += n_ * v[j] * v[j] / variance_[j] - target;
    }
    return;
  }
  double energy = 0;
  for (std::uint32_t j = 0; j < dimension_; ++j) energy += v[j] * v[j] / variance_[j];
  *alpha += n_ * energy / dimension_ - target;
}

Status NoseHoover::step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept {
  double* g = chain.work;
  double* normals = chain.work + dimension_;
  double* v = chain.state;
  double* alpha = v + dimension_;
  gradient(chain.theta, g);
  heat(v, alpha);
  rng.fill_normals({normals, dimension_});
  const double noise = 2.0 * friction_ * step_size_ * temperature_.last() / n_;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    v[j] = (1.0 - alpha[one_for_all_ ? 0 : j]) * v[j] - step_size_ * variance_[j] * g[j] +
           std::sqrt(noise * variance_[j]) * normals[j];
    chain.theta[j] += v[j];
  }
  return finite_or_diverged(chain.theta, dimension_);
}

}  // namespace windhover
