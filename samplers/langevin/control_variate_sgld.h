// SGLD with control variates at an anchor (Baker, Fearnhead, Fox and Nemeth 2019, section 2.2);
// with an anchor that is renewed now and then it is SVRG-LD (Dubey et al. 2016).
//
//   gradient <- gradient_S(theta) - gradient_S(anchor) + gradient(anchor),
//
// where S marks the minibatch, and the last gradient is over all rows. The noise of this gradient
// vanishes as theta nears the anchor. The rest is SGLD with a constant step.
#ifndef WINDHOVER_SAMPLERS_LANGEVIN_CONTROL_VARIATE_SGLD_H_
#define WINDHOVER_SAMPLERS_LANGEVIN_CONTROL_VARIATE_SGLD_H_

#include "windhover/samplers/langevin/langevin.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

// Two gradients a step. Without an anchor in the estimates it is `sgld`.
class ControlVariateSgld {
 public:
  static constexpr std::string_view kName = "sgld-cv";
  static constexpr bool kTempered = true;
  static Result<bool> check(const SamplerConfig& config) noexcept { return check_langevin(config); }
  ControlVariateSgld(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : dimension_(dimension),
        given_step_(config.step_size),
        temperature_(config),
        anchor_(arena.allocate<double>(dimension).data()),
        anchor_gradient_(arena.allocate<double>(dimension).data()),
        work_(arena.allocate<double>(4 * std::size_t{dimension}).data()) {}
  Status refresh(const Estimates& estimates) noexcept;
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept;
  double relaxation() const noexcept { return relaxation_; }
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(anchored_, step_size_, inverse_n_, relaxation_);
    if (!anchored_) return;
    visitor.visit(anchor_, dimension_);
    visitor.visit(anchor_gradient_, dimension_);
  }

 private:
  std::uint32_t dimension_;
  double given_step_;
  Temperature temperature_;
  bool anchored_ = false;
  double step_size_ = 0;
  double inverse_n_ = 0;
  double relaxation_ = 1;
  double* anchor_;
  double* anchor_gradient_;  // of the mean loss over all rows
  double* work_;             // scratch of refresh()
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_LANGEVIN_CONTROL_VARIATE_SGLD_H_
