// What the Langevin samplers share: their fields of the configuration, the temperature, and the
// longest step whose bias is small.
//
// Everything is on the scale of the mean loss L = U / n, U = -log posterior. The papers' step eta
// for U is h = n eta here, and their noise N(0, 2 eta) is N(0, 2 h / n).
#ifndef WINDHOVER_SAMPLERS_LANGEVIN_LANGEVIN_H_
#define WINDHOVER_SAMPLERS_LANGEVIN_LANGEVIN_H_

#include <cmath>

#include "windhover/platform/result.h"
#include "windhover/samplers/config.h"

namespace windhover {

// A computed step is the longest for which no variance is off by more than this share.
inline constexpr double kStepBias = 0.05;

// Samplers draw from exp(-U / T): the whole posterior is tempered, prior included. T starts at
// initial_temperature; its excess over `temperature` falls as (1 + move /
// annealing_steps)^-annealing_exponent.
class Temperature {
 public:
  explicit Temperature(const SamplerConfig& config) noexcept
      : last_(config.temperature),
        excess_(config.initial_temperature > 0 ? config.initial_temperature - last_ : 0.0),
        steps_(config.annealing_steps),
        exponent_(config.annealing_exponent) {}

  bool constant() const noexcept { return excess_ == 0; }
  double last() const noexcept { return last_; }
  double at(double move) const noexcept {
    return constant() ? last_ : last_ + excess_ * std::pow(1.0 + move / steps_, -exponent_);
  }
  // The temperature that step sizes are computed for. At 0 there is no variance to be wrong, so it
  // is 1.
  double for_steps() const noexcept { return last_ > 0 ? last_ : 1.0; }

 private:
  double last_;
  double excess_;
  double steps_;
  double exponent_;
};

// Checks the fields that most Langevin samplers read, step_size and temperature. Refuses annealing.
Result<bool> check_langevin(const SamplerConfig& config) noexcept;
// The same for a sampler that anneals: initial_temperature, annealing_steps and annealing_exponent
// are checked too.
Result<bool> check_annealed_langevin(const SamplerConfig& config) noexcept;
// Checks friction: 0 for computed, otherwise in (0, 1].
Result<bool> check_friction(const SamplerConfig& config) noexcept;
// Checks that smoothing is in [0, 1) and preconditioner_floor > 0.
Result<bool> check_adaptation(const SamplerConfig& config) noexcept;

// The h of theta <- theta - h P (gradient + injected), with injected noise of covariance 2 T / (n
// h) P^-1, for which the stationary variances exceed the tempered posterior's by at most kStepBias.
// They are bounded by (T / n) A^-1 (1 + h noise / (2 T)) / (1 - h curvature / 2), where curvature
// is the largest eigenvalue of PA, and noise is n / S times that of PC.
inline double langevin_step(double curvature, double noise, double temperature) noexcept {
  return 2.0 * kStepBias * temperature / (noise + (1.0 + kStepBias) * temperature * curvature);
}

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_LANGEVIN_LANGEVIN_H_
