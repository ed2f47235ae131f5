#include "windhover/samplers/langevin/control_variate_sgld.h"

#include <algorithm>

#include "windhover/samplers/linear_algebra/lanczos.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

Status ControlVariateSgld::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  const double temperature = temperature_.for_steps();
  const double curvature = largest_eigenvalue(e.curvature, dimension_, work_);
  const double least = least_curvature(e.curvature, dimension_, work_);
  if (!(least > 0)) return Status::kNotPositiveDefinite;
  double noise = e.n / e.minibatch_size * largest_eigenvalue(e.noise_covariance, dimension_, work_);
  anchored_ = e.anchor != nullptr;
  if (anchored_) {
    std::copy_n(e.anchor, dimension_, anchor_);
    std::copy_n(e.anchor_gradient, dimension_, anchor_gradient_);
    // For rows of Gaussian features, E[x x^T Sigma x x^T] - A Sigma A = (D + 1) (T / n) A around a
    // draw from the posterior. Twice that is used, because features have longer tails.
    noise = std::min(noise, 2.0 * (dimension_ + 1) * temperature / e.minibatch_size * curvature);
  }
  inverse_n_ = 1.0 / e.n;
  step_size_ = given_step_ > 0 ? given_step_ : langevin_step(curvature, noise, temperature);
  relaxation_ = 1.0 / (step_size_ * least);
  return Status::kOk;
}

Status ControlVariateSgld::step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept {
  double* g = chain.work;
  double* at_anchor = chain.work + dimension_;
  double* normals = chain.work + 2 * std::size_t{dimension_};
  gradient(chain.theta, g);
  if (anchored_) {
    gradient(anchor_, at_anchor);
    for (std::uint32_t j = 0; j < dimension_; ++j) g[j] += anchor_gradient_[j] - at_anchor[j];
  }
  rng.fill_normals({normals, dimension_});
  const double deviation = std::sqrt(2.0 * step_size_ * temperature_.last() * inverse_n_);
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    chain.theta[j] += deviation * normals[j] - step_size_ * g[j];
  }
  return finite_or_diverged(chain.theta, dimension_);
}

}  // namespace windhover
