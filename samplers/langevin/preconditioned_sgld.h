// SGLD preconditioned by the inverse curvature (Ahn, Korattikara and Welling 2012, eq. 1, with
// M = A^-1 and epsilon = 2 h / n): all directions move at the same rate.
//
//   theta <- theta - h A^-1 gradient + N(0, (2 h T / n) A^-1)
//
// Between two refreshes A^-1 does not depend on theta, so no correction term is due.
#ifndef WINDHOVER_SAMPLERS_LANGEVIN_PRECONDITIONED_SGLD_H_
#define WINDHOVER_SAMPLERS_LANGEVIN_PRECONDITIONED_SGLD_H_

#include "windhover/samplers/constant_rate/preconditioner.h"
#include "windhover/samplers/langevin/langevin.h"

namespace windhover {

class PreconditionedSgld {
 public:
  static constexpr std::string_view kName = "sgld-p";
  static constexpr bool kTempered = true;
  static Result<bool> check(const SamplerConfig& config) noexcept { return check_langevin(config); }
  PreconditionedSgld(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : given_step_(config.step_size), temperature_(config), preconditioner_(arena, dimension) {}
  Status refresh(const Estimates& estimates) noexcept;
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept {
    return preconditioner_.step(chain, gradient, rng);
  }
  void law(double* h, double* injected) const noexcept { preconditioner_.law(h, injected); }
  void apply_law(double* vector, double* noise, double* room) const noexcept {
    preconditioner_.apply_law(vector, noise, room);
  }
  double relaxation() const noexcept { return 1.0 / step_size_; }
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(step_size_);
    preconditioner_.visit_state(visitor);
  }

 private:
  double given_step_;
  Temperature temperature_;
  double step_size_ = 1;
  FullPreconditioner preconditioner_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_LANGEVIN_PRECONDITIONED_SGLD_H_
