// Constant-rate SGD with the rate that minimises KL(posterior || q) over scalar rates: Mandt,
// Hoffman and Blei 2017, Appendix C, eq. 41: H = (2 S / (n D)) Tr(C^-1) I.
//
// Derived for A and C that commute. It depends most on the direction with the least noise, and
// Theorem 1 on the one with the most, so this rate is the longer one and its q the wider one. Where
// the rate is not stable it is one over the largest eigenvalue of A instead.
#ifndef WINDHOVER_SAMPLERS_CONSTANT_RATE_REVERSE_KL_SGD_H_
#define WINDHOVER_SAMPLERS_CONSTANT_RATE_REVERSE_KL_SGD_H_

#include "windhover/samplers/constant_rate/preconditioner.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

class ReverseKlSgd {
 public:
  static constexpr std::string_view kName = "sgd-reverse-kl";
  static Result<bool> check(const SamplerConfig& config) noexcept;
  ReverseKlSgd(Arena& arena, const SamplerConfig&, std::uint32_t dimension) noexcept
      : column_(arena.allocate<double>(dimension).data()),
        factor_(arena, dimension),
        preconditioner_(arena, dimension) {}
  // Computes the rate. Complexity O(D^3).
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
  double* column_;
  Factor factor_;  // of C
  DiagonalPreconditioner preconditioner_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_CONSTANT_RATE_REVERSE_KL_SGD_H_
