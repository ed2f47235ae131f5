// Cyclical SGLD: Zhang, Li, Zhang, Chen and Wilson 2020, eq. 1 and Algorithm 1.
//
// The step falls along half a cosine and starts anew every `cycle_steps` moves,
//
//   h_t = (h / 2) (cos(pi (t mod L) / L) + 1),   L = cycle_steps.
//
// The first `exploration` of each cycle moves without injected noise, to reach another mode, and
// gives no draws (Chain::is_draw). The rest of it is SGLD.
#ifndef WINDHOVER_SAMPLERS_LANGEVIN_CYCLICAL_SGLD_H_
#define WINDHOVER_SAMPLERS_LANGEVIN_CYCLICAL_SGLD_H_

#include "windhover/samplers/langevin/langevin.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

// State: the number of moves. O(D) a step.
class CyclicalSgld {
 public:
  static constexpr std::string_view kName = "csgld";
  static constexpr bool kTempered = true;
  static Result<bool> check(const SamplerConfig& config) noexcept;
  CyclicalSgld(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : dimension_(dimension),
        given_step_(config.step_size),
        cycle_steps_(config.cycle_steps),
        exploration_(config.exploration),
        temperature_(config.temperature),
        work_(arena.allocate<double>(4 * std::size_t{dimension}).data()) {}
  static std::size_t state_size(const SamplerConfig&, std::uint32_t) noexcept { return 1; }
  void start(Chain& chain, Rng&) const noexcept { chain.state[0] = 0; }
  Status refresh(const Estimates& estimates) noexcept;
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept;
  double relaxation() const noexcept { return relaxation_; }
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(step_size_, inverse_n_, relaxation_);
  }

 private:
  std::uint32_t dimension_;
  double given_step_;
  double cycle_steps_;
  double exploration_;
  double temperature_;
  double step_size_ = 0;
  double inverse_n_ = 0;
  double relaxation_ = 1;
  double* work_;  // scratch of refresh(), 4 D
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_LANGEVIN_CYCLICAL_SGLD_H_
