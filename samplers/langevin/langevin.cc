#include "windhover/samplers/langevin/langevin.h"

#include "windhover/samplers/sampler.h"

namespace windhover {

namespace {

Error invalid(const char* sentence, double number) noexcept {
  return {Status::kInvalidConfig, sentence, number};
}
bool at_least_zero(double x) noexcept { return x >= 0 && std::isfinite(x); }
bool positive(double x) noexcept { return x > 0 && std::isfinite(x); }

}  // namespace

Result<bool> check_langevin(const SamplerConfig& c) noexcept {
  if (!at_least_zero(c.step_size)) {
    return invalid("sampler.step_size must be a finite number of at least 0 (0: computed)",
                   c.step_size);
  }
  if (!at_least_zero(c.temperature)) {
    return invalid("sampler.temperature must be a finite number of at least 0 (1: the posterior)",
                   c.temperature);
  }
  if (c.initial_temperature != 0) {
    return invalid("sampler.initial_temperature must be 0: this sampler does not anneal",
                   c.initial_temperature);
  }
  return check_noise_is_full(c);
}

Result<bool> check_annealed_langevin(const SamplerConfig& c) noexcept {
  if (!at_least_zero(c.initial_temperature)) {
    return invalid(
        "sampler.initial_temperature must be a finite number of at least 0 (0: no annealing)",
        c.initial_temperature);
  }
  if (!positive(c.annealing_steps)) {
    return invalid("sampler.annealing_steps must be a positive number", c.annealing_steps);
  }
  if (!at_least_zero(c.annealing_exponent)) {
    return invalid("sampler.annealing_exponent must be a finite number of at least 0",
                   c.annealing_exponent);
  }
  SamplerConfig constant = c;
  constant.initial_temperature = 0;
  return check_langevin(constant);
}

Result<bool> check_friction(const SamplerConfig& c) noexcept {
  if (!(c.friction >= 0 && c.friction <= 1)) {
    return invalid("sampler.friction must be at least 0 and at most 1 (0: chosen)", c.friction);
  }
  return true;
}

Result<bool> check_adaptation(const SamplerConfig& c) noexcept {
  if (!(c.smoothing >= 0 && c.smoothing < 1)) {
    return invalid("sampler.smoothing must be at least 0 and below 1", c.smoothing);
  }
  if (!positive(c.preconditioner_floor)) {
    return invalid("sampler.preconditioner_floor must be a positive number",
                   c.preconditioner_floor);
  }
  return true;
}

}  // namespace windhover
