// pSGLD: SGLD with the RMSprop preconditioner (Li, Chen, Carlson and Carin 2016, Algorithm 1).
//
//   V <- smoothing V + (1 - smoothing) gradient^2,  G = 1 / (floor + sqrt V)   (elementwise)
//   theta <- theta - h G gradient + N(0, (2 h T / n) G)
//
// V takes the gradient of the mean loss, as published. The term Gamma that a G depending on theta
// needs is left out, as the authors do. G follows theta with a delay of 1 / (1 - smoothing) moves,
// which biases the law at every h.
#ifndef WINDHOVER_SAMPLERS_LANGEVIN_RMSPROP_SGLD_H_
#define WINDHOVER_SAMPLERS_LANGEVIN_RMSPROP_SGLD_H_

#include "windhover/samplers/langevin/langevin.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

// State: V. It starts at what the estimates say a squared gradient is, C_jj / S + A_jj / n.
class RmspropSgld {
 public:
  static constexpr std::string_view kName = "psgld";
  static constexpr bool kTempered = true;
  static Result<bool> check(const SamplerConfig& config) noexcept;
  RmspropSgld(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : dimension_(dimension),
        given_step_(config.step_size),
        smoothing_(config.smoothing),
        floor_(config.preconditioner_floor),
        temperature_(config),
        square_(arena.allocate<double>(dimension).data()),
        work_(arena.allocate<double>(5 * std::size_t{dimension}).data()) {}
  static std::size_t state_size(const SamplerConfig&, std::uint32_t dimension) noexcept {
    return dimension;
  }
  void start(Chain& chain, Rng&) const noexcept;
  Status refresh(const Estimates& estimates) noexcept;
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept;
  double relaxation() const noexcept { return relaxation_; }
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(step_size_, inverse_n_, relaxation_);
    visitor.visit(square_, dimension_);
  }

 private:
  std::uint32_t dimension_;
  double given_step_;
  double smoothing_;
  double floor_;
  Temperature temperature_;
  double step_size_ = 0;
  double inverse_n_ = 0;
  double relaxation_ = 1;
  double* square_;  // of a gradient, on average
  double* work_;    // scratch of refresh(), 5 D
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_LANGEVIN_RMSPROP_SGLD_H_
