#include "windhover/samplers/constant_rate/sandwich.h"

#include <cmath>

namespace windhover {

Result<bool> Sandwich::check(const SamplerConfig& config) noexcept {
  if (!(config.step_size >= 0) || !std::isfinite(config.step_size)) {
    return Error{Status::kInvalidConfig,
                 "step_size must be a finite number of at least 0 (0: chosen)", config.step_size};
  }
  return check_noise_is_full(config);
}

Status Sandwich::refresh(const Estimates& e) noexcept {
  const double largest = 2.0 * e.minibatch_size / (e.n + e.minibatch_size);
  const double k = step_size_ > 0 ? step_size_ : largest;
  const double variance = 2.0 / (k * e.n) - 1.0 / e.n - 1.0 / e.minibatch_size;
  constexpr double kRounding = 1e-12;
  if (k > largest * (1 + kRounding)) return Status::kNotPositiveDefinite;
  const bool noisy = k < largest * (1 - kRounding);
  // H and noise are replaced together or not at all: an H without its noise would have another law.
  if (noisy && !preconditioner_.is_positive_definite(e.noise_covariance)) {
    return Status::kNotPositiveDefinite;
  }
  const Status status = preconditioner_.set_inverse(e.curvature, k);
  if (!ok(status)) return status;
  relaxation_ = 1.0 / k;
  return preconditioner_.set_noise(e.noise_covariance, noisy ? std::sqrt(variance) : 0.0);
}

}  // namespace windhover
