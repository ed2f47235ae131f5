// Santa, stochastic annealing thermostats with adaptive momentum: Chen, Carlson, Gan, Li and Carin
// 2016, Algorithms 1 and 2 (6 and 4 of their appendix).
//
// Thermostats as in mSGNHT, with a preconditioner g = 1 / sqrt(floor + sqrt V), V <- smoothing V +
// (1 - smoothing) f^2 / n^2, f = n gradient, and an inverse temperature beta = 1 / T_t that rises.
// After `exploration_steps` moves it refines: noise stops, alpha is frozen, and the iterates of
// this optimiser are not draws. With T = 1 and without refinement it is a preconditioned mSGNHT, a
// sampler of the posterior. The noise has variance 2 g_prev eta^1.5 / beta, as in the appendix; the
// eta^1 of Algorithms 1 and 2 does not follow from the equation and blows up. The terms (eta /
// beta) (1 - g_prev / g) / u (singular at u = 0) and G1 (Xi - G2) grad G2 are left out, as the
// authors do in practice.
#ifndef WINDHOVER_SAMPLERS_THERMOSTATS_SANTA_H_
#define WINDHOVER_SAMPLERS_THERMOSTATS_SANTA_H_

#include "windhover/samplers/langevin/langevin.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

// What the variants share. State: u, alpha, V, g and the number of moves; 4 D + 1. O(D) a step.
class Santa {
 public:
  enum class Scheme : std::uint8_t {
    kEuler,      // alpha, u, theta in turn
    kSymmetric,  // theta and alpha by halves around u: second order
    kRefine,     // Euler, refinement from the first move on, alpha still following
  };

  static Result<bool> check(const SamplerConfig& config) noexcept;
  Santa(Arena& arena, const SamplerConfig& config, std::uint32_t dimension, Scheme scheme) noexcept;
  static std::size_t state_size(const SamplerConfig&, std::uint32_t dimension) noexcept {
    return 4 * std::size_t{dimension} + 1;
  }
  void start(Chain& chain, Rng& rng) const noexcept;
  Status refresh(const Estimates& estimates) noexcept;
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept;
  double relaxation() const noexcept { return relaxation_; }
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(step_size_, n_, relaxation_);
    visitor.visit(square_, dimension_);
  }

 private:
  struct Move;
  void euler(Move& m) const noexcept;
  void symmetric(Move& m, GradientSource& gradient, Rng& rng) const noexcept;
  void adapt(Move& m) const noexcept;

  std::uint32_t dimension_;
  Scheme scheme_;
  double given_step_;
  double friction_;
  double smoothing_;
  double floor_;
  double exploration_steps_;
  Temperature temperature_;
  double step_size_ = 0;  // eta
  double n_ = 1;
  double relaxation_ = 1;
  double* square_;  // of a gradient, on average
  double* work_;    // scratch of refresh(), 5 D
};

class SymmetricSanta : public Santa {
 public:
  static constexpr std::string_view kName = "santa";
  static constexpr bool kTempered = true;
  SymmetricSanta(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : Santa(arena, config, dimension, Scheme::kSymmetric) {}
};

class EulerSanta : public Santa {
 public:
  static constexpr std::string_view kName = "santa-e";
  static constexpr bool kTempered = true;
  EulerSanta(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : Santa(arena, config, dimension, Scheme::kEuler) {}
};

class RefiningSanta : public Santa {
 public:
  static constexpr std::string_view kName = "santa-r";
  static constexpr bool kTempered = true;
  RefiningSanta(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : Santa(arena, config, dimension, Scheme::kRefine) {}
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_THERMOSTATS_SANTA_H_
