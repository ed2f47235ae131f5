// Constant-rate SGD whose stationary law is the sandwich A^-1 C A^-1 / n: the covariance of the
// estimate over repetitions of the data, right even where the model is not. It is not the
// posterior.
//
//   H = k A^-1, and noise of covariance (2 / (k n) - 1 / n - 1 / S) C added to the gradient.
//
// Sigma = A^-1 C A^-1 / n solves Sigma = (1 - k)^2 Sigma + H (C/S + noise) H, in discrete time, for
// every A and C. k = step_size in (0, 2 S / (n + S)]; step_size = 0 takes the largest k, which
// needs no noise. Beyond it the noise would need a negative variance, and refresh() refuses.
#ifndef WINDHOVER_SAMPLERS_CONSTANT_RATE_SANDWICH_H_
#define WINDHOVER_SAMPLERS_CONSTANT_RATE_SANDWICH_H_

#include "windhover/samplers/constant_rate/preconditioner.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

class Sandwich {
 public:
  static constexpr std::string_view kName = "sandwich";
  static constexpr bool kTargetsSandwich = true;
  static Result<bool> check(const SamplerConfig& config) noexcept;
  Sandwich(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : step_size_(config.step_size), preconditioner_(arena, dimension) {}
  Status refresh(const Estimates& estimates) noexcept;
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept {
    return preconditioner_.step(chain, gradient, rng);
  }
  void law(double* h, double* injected) const noexcept { preconditioner_.law(h, injected); }
  void apply_law(double* vector, double* noise, double* room) const noexcept {
    preconditioner_.apply_law(vector, noise, room);
  }
  double relaxation() const noexcept { return relaxation_; }
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(relaxation_);
    preconditioner_.visit_state(visitor);
  }

 private:
  double step_size_;  // k
  double relaxation_ = 1;
  FullPreconditioner preconditioner_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_CONSTANT_RATE_SANDWICH_H_
