// The default: constant-rate SGD calibrated exactly in discrete time.
//
//   H = 2 [(1 + tau) A + (n/S) C]^-1, and noise of covariance (tau / n) A added to the gradient.
//
// The stationary covariance is A^-1 / n exactly, for every A and C: Sigma = A^-1 / n solves Sigma =
// (I - HA) Sigma (I - AH) + H (C/S + tau A / n) H. The eigenvalues of HA are at most 2 / (1 + tau),
// so a direction without gradient noise (a category never seen, a collinear column) relaxes and
// keeps its prior spread. Where the minibatches alone bring that much noise in every direction,
// (n/S) C > tau A, none is injected. The law and the bound on HA are the same, chains relax sooner
// by up to a fraction tau / (n/S), and a step takes two thirds of the work. tau = injected_noise; 0
// is the bare optimum, H = 2 [A + (n/S) C]^-1.
#ifndef WINDHOVER_SAMPLERS_CONSTANT_RATE_CALIBRATED_H_
#define WINDHOVER_SAMPLERS_CONSTANT_RATE_CALIBRATED_H_

#include "windhover/samplers/constant_rate/preconditioner.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

class Calibrated {
 public:
  static constexpr std::string_view kName = "calibrated";
  static Result<bool> check(const SamplerConfig& config) noexcept;
  Calibrated(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : injected_noise_(config.injected_noise), preconditioner_(arena, dimension) {}
  Status refresh(const Estimates& estimates) noexcept;
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept {
    return preconditioner_.step(chain, gradient, rng);
  }
  double relaxation() const noexcept { return relaxation_; }
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(relaxation_);
    preconditioner_.visit_state(visitor);
  }
  void law(double* h, double* injected) const noexcept { preconditioner_.law(h, injected); }
  void apply_law(double* vector, double* noise, double* room) const noexcept {
    preconditioner_.apply_law(vector, noise, room);
  }

  // tau, or 0 where (n/S) C - tau A is positive definite. Overwrites the scratch. O(D^3).
  static double noise_to_inject(double tau, const Estimates& estimates,
                                FullPreconditioner& preconditioner) noexcept;

 private:
  double injected_noise_;  // tau
  FullPreconditioner preconditioner_;
  double relaxation_ = 1;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_CONSTANT_RATE_CALIBRATED_H_
