// Constant-rate SGD with momentum, calibrated exactly in discrete time.
//
//   v <- beta v - H (gradient + noise),  theta <- theta + v,
//   H = 2 [(1 / (1 + beta) + tau / (1 - beta)) A + (n/S) / (1 - beta) C]^-1,
//   noise of covariance (tau / n) A.
//
// The stationary covariance of theta is A^-1 / n exactly, for every A and C, whether they commute
// or not. To see this put Sigma = A^-1 / n, V = Cov v and K = C/S + tau A / n into the joint law.
// Stationarity of theta asks for Cov(theta, v) + Cov(v, theta) = V after a move. The rest becomes
//   2 (1 - beta) H^-1 / n = (1 - beta) / (1 + beta) A / n + K,
// which H above solves. beta = momentum; beta = 0 is samplers/constant_rate/calibrated.h. The
// eigenvalues of HA stay below 2 (1 + beta), where the move becomes unstable. As there, tau is
// injected_noise or 0, and keeps directions without gradient noise alive.
#ifndef WINDHOVER_SAMPLERS_CONSTANT_RATE_MOMENTUM_H_
#define WINDHOVER_SAMPLERS_CONSTANT_RATE_MOMENTUM_H_

#include "windhover/samplers/constant_rate/preconditioner.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

// State: v. O(D^2) a step.
class Momentum {
 public:
  static constexpr std::string_view kName = "momentum";
  static Result<bool> check(const SamplerConfig& config) noexcept;
  Momentum(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : dimension_(dimension),
        momentum_(config.momentum),
        injected_noise_(config.injected_noise),
        preconditioner_(arena, dimension) {}
  static std::size_t state_size(const SamplerConfig&, std::uint32_t dimension) noexcept {
    return dimension;
  }
  void start(Chain& chain, Rng& rng) const noexcept;  // at rest
  Status refresh(const Estimates& estimates) noexcept;
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept;
  void law(double* h, double* injected) const noexcept { preconditioner_.law(h, injected); }
  void apply_law(double* vector, double* noise, double* room) const noexcept {
    preconditioner_.apply_law(vector, noise, room);
  }
  double momentum() const noexcept { return momentum_; }
  // Moves in which a chain forgets: the slowest direction's (1 - beta) / eig(HA), plus 2 / (1 -
  // beta).
  double relaxation() const noexcept { return relaxation_; }
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(relaxation_);
    preconditioner_.visit_state(visitor);
  }

 private:
  std::uint32_t dimension_;
  double momentum_;  // beta
  double relaxation_ = 1;
  double injected_noise_;  // tau
  FullPreconditioner preconditioner_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_CONSTANT_RATE_MOMENTUM_H_
