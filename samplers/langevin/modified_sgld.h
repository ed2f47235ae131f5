// SGLD that takes the minibatch's noise off the noise it injects: mSGLD of Vollmer, Zygalakis and
// Teh 2016. Their injected covariance 2 eta (I - (eta / 2) V), V = n^2 C / S, is in our scale
//
//   theta <- theta - h (gradient + e),   Cov e = (2 T / (n h)) I - C / S.
//
// The total noise is then that of Langevin dynamics. What is left of the bias is the step's own: a
// variance is too large by the factor 1 / (1 - h a / 2), a being the curvature. Cov e must be
// positive, so a step beyond 0.9 x 2 T S / (n c), c the largest eigenvalue of C, is shortened to
// that; law() says so.
#ifndef WINDHOVER_SAMPLERS_LANGEVIN_MODIFIED_SGLD_H_
#define WINDHOVER_SAMPLERS_LANGEVIN_MODIFIED_SGLD_H_

#include "windhover/samplers/constant_rate/preconditioner.h"
#include "windhover/samplers/langevin/langevin.h"

namespace windhover {

class ModifiedSgld {
 public:
  static constexpr std::string_view kName = "msgld";
  static constexpr bool kTempered = true;
  static Result<bool> check(const SamplerConfig& config) noexcept { return check_langevin(config); }
  ModifiedSgld(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : dimension_(dimension),
        given_step_(config.step_size),
        temperature_(config),
        preconditioner_(arena, dimension) {}
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
  std::uint32_t dimension_;
  double given_step_;
  Temperature temperature_;
  double relaxation_ = 1;
  FullPreconditioner preconditioner_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_LANGEVIN_MODIFIED_SGLD_H_
