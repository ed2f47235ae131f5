// Constant-rate SGD with the square-root preconditioner of AdaGrad: Mandt, Hoffman and Blei 2017,
// Theorem 7.
//
// H = rate x G^-1 with G = diag(C)^1/2 and the KL-optimal rate for that shape,
// 2 D S / (n Tr(C G^-1)) (eq. 47). As in constant_sgd.h, each rate is kept below what the curvature
// allows where a direction has (almost) no gradient noise.
#ifndef WINDHOVER_SAMPLERS_CONSTANT_RATE_SQUARE_ROOT_SGD_H_
#define WINDHOVER_SAMPLERS_CONSTANT_RATE_SQUARE_ROOT_SGD_H_

#include "windhover/samplers/constant_rate/preconditioner.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

class SquareRootSgd {
 public:
  static constexpr std::string_view kName = "sgd-sqrt";
  static Result<bool> check(const SamplerConfig& config) noexcept;
  SquareRootSgd(Arena& arena, const SamplerConfig&, std::uint32_t dimension) noexcept
      : preconditioner_(arena, dimension) {}
  Status refresh(const Estimates& estimates) noexcept;
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept {
    return preconditioner_.step(chain, gradient, rng);
  }
  void law(double* h, double* injected) const noexcept { preconditioner_.law(h, injected); }
  void apply_law(double* vector, double* noise, double* room) const noexcept {
    preconditioner_.apply_law(vector, noise, room);
  }
  double relaxation() const noexcept { return preconditioner_.relaxation(); }
  void visit_state(StateVisitor& visitor) noexcept { preconditioner_.visit_state(visitor); }

 private:
  DiagonalPreconditioner preconditioner_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_CONSTANT_RATE_SQUARE_ROOT_SGD_H_
