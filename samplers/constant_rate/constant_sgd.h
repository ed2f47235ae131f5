// Constant-rate SGD as approximate Bayesian inference: Mandt, Hoffman and Blei 2017.
//
// theta <- theta - H g, with H chosen so that the stationary law is as near to the posterior as H's
// shape allows. The published rates are unstable in a direction with (almost) no gradient noise, so
// each is kept below what the curvature allows: a larger H is scaled down until the largest
// eigenvalue of HA is 1.
#ifndef WINDHOVER_SAMPLERS_CONSTANT_RATE_CONSTANT_SGD_H_
#define WINDHOVER_SAMPLERS_CONSTANT_RATE_CONSTANT_SGD_H_

#include "windhover/samplers/constant_rate/preconditioner.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

// H = (2 D S / (n Tr C)) I: the KL-optimal scalar rate (Theorem 1, eq. 15).
class ScalarConstantSgd {
 public:
  static constexpr std::string_view kName = "sgd";
  static Result<bool> check(const SamplerConfig& config) noexcept;
  ScalarConstantSgd(Arena& arena, const SamplerConfig&, std::uint32_t dimension) noexcept
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

// H_kk = 2 S / (n C_kk) (Corollary 3). It minimises an upper bound of the KL, not the KL.
class DiagonalConstantSgd {
 public:
  static constexpr std::string_view kName = "sgd-d";
  static Result<bool> check(const SamplerConfig& config) noexcept;
  DiagonalConstantSgd(Arena& arena, const SamplerConfig&, std::uint32_t dimension) noexcept
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

// H = (2 S / n) C^-1 (Theorem 2). Exact in continuous time; in discrete time the variance is too
// large by about (S/n) A C^-1 of itself. Where the move is unstable, 2 (S/n) A is added to C.
class FullConstantSgd {
 public:
  static constexpr std::string_view kName = "sgd-f";
  static Result<bool> check(const SamplerConfig& config) noexcept;
  FullConstantSgd(Arena& arena, const SamplerConfig&, std::uint32_t dimension) noexcept
      : preconditioner_(arena, dimension) {}
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
  double relaxation_ = 1;
  FullPreconditioner preconditioner_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_CONSTANT_RATE_CONSTANT_SGD_H_
