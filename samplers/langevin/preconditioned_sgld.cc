#include "windhover/samplers/langevin/preconditioned_sgld.h"

namespace windhover {

Status PreconditionedSgld::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound() || !preconditioner_.is_positive_definite(e.curvature)) {
    return Status::kNotPositiveDefinite;
  }
  // The factor is now that of A.
  const double noise = e.n / e.minibatch_size * preconditioner_.largest_ratio(e.noise_covariance);
  step_size_ = given_step_ > 0 ? given_step_ : langevin_step(1.0, noise, temperature_.for_steps());
  const double injected = 2.0 * temperature_.last() / (e.n * step_size_);
  const Status status = preconditioner_.set_inverse(e.curvature, step_size_);
  return ok(status) ? preconditioner_.set_noise(e.curvature, std::sqrt(injected)) : status;
}

}  // namespace windhover
