// Stochastic gradient Langevin dynamics: Welling and Teh 2011.
//
//   theta <- theta - h_t gradient + N(0, 2 h_t T_t / n),   h_t = h (1 + t / b)^-gamma,
//
// which is their a (b + t)^-gamma with a = h b^gamma. gamma = step_decay = 0 is the constant step
// (Ahn, Korattikara and Welling 2012, eq. 1, with their epsilon = 2 h / n and preconditioner I).
// The minibatch's noise adds to the injected one; samplers/langevin/modified_sgld.h takes it off.
#ifndef WINDHOVER_SAMPLERS_LANGEVIN_SGLD_H_
#define WINDHOVER_SAMPLERS_LANGEVIN_SGLD_H_

#include "windhover/samplers/langevin/langevin.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

// State: the number of moves, where step or temperature depend on it. O(D) a step.
class Sgld {
 public:
  static constexpr std::string_view kName = "sgld";
  static constexpr bool kTempered = true;
  static Result<bool> check(const SamplerConfig& config) noexcept;
  Sgld(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept;
  static std::size_t state_size(const SamplerConfig& config, std::uint32_t dimension) noexcept;
  void start(Chain& chain, Rng& rng) const noexcept;
  Status refresh(const Estimates& estimates) noexcept;
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept;
  double relaxation() const noexcept { return relaxation_; }
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(step_size_, inverse_n_, relaxation_);
  }
  // Both give the law at the first step and the last temperature.
  void law(double* h, double* injected) const noexcept;
  void apply_law(double* vector, double* noise, double* room) const noexcept;

 private:
  static bool counts(const SamplerConfig& config) noexcept;

  std::uint32_t dimension_;
  double given_step_;
  double decay_;   // gamma
  double offset_;  // b
  Temperature temperature_;
  bool counts_;
  double step_size_ = 0;
  double inverse_n_ = 0;
  double relaxation_ = 1;
  double* work_;  // scratch of refresh(), 4 D
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_LANGEVIN_SGLD_H_
