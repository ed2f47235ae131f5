// Stochastic gradient Hamiltonian Monte Carlo with noise correction: Chen, Fox and Guestrin 2014,
// eq. 13 and 15, mass = curvature.
//
//   v <- (1 - a) v - h A^-1 (gradient + e),   theta <- theta + v,
//   Cov e = (2 a T / (n h)) A - C / S
//
// With their eta, mass M, friction C and B = eta V / 2: v = eta M^-1 r, h A^-1 = n eta^2 M^-1 and a
// = eta C M^-1. theta moves by the new v (symplectic); with the old one it would be unstable at low
// friction. The minibatch's noise is taken off the injected noise, so the total is that of the
// dynamics. On a quadratic loss the stationary covariance is (T / n) A^-1 / (1 - h / (2 (2 - a))),
// exactly. Cov e must be positive, so a step beyond 0.9 x 2 a T S / (n c), c the largest eigenvalue
// of A^-1 C, is shortened to that; law() says so.
#ifndef WINDHOVER_SAMPLERS_THERMOSTATS_HAMILTONIAN_H_
#define WINDHOVER_SAMPLERS_THERMOSTATS_HAMILTONIAN_H_

#include "windhover/samplers/constant_rate/preconditioner.h"
#include "windhover/samplers/langevin/langevin.h"

namespace windhover {

// State: v. O(D^2) a step.
class Hamiltonian {
 public:
  static constexpr std::string_view kName = "sghmc";
  static constexpr bool kTempered = true;
  static Result<bool> check(const SamplerConfig& config) noexcept;
  Hamiltonian(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : dimension_(dimension),
        given_step_(config.step_size),
        friction_(config.friction > 0 ? config.friction : kFriction),
        temperature_(config),
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
  double momentum() const noexcept { return 1.0 - friction_; }
  // That of an overdamped chain, a / h, plus that of an underdamped one, 2 / a.
  double relaxation() const noexcept { return friction_ / step_size_ + 2.0 / friction_; }
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(step_size_);
    preconditioner_.visit_state(visitor);
  }

 private:
  static constexpr double kFriction = 0.1;

  std::uint32_t dimension_;
  double given_step_;
  double friction_;  // a
  Temperature temperature_;
  double step_size_ = 1;
  FullPreconditioner preconditioner_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_THERMOSTATS_HAMILTONIAN_H_
