// Stochastic gradient Fisher scoring: Ahn, Korattikara and Welling 2012, Algorithm 1.
//
// With gamma = (S + n) / S, I_n = n C, and the free noise matrix B = gamma I_n (alpha = 2 /
// sqrt(epsilon)):
//   theta <- theta + 2 [(1 + alpha^2) gamma I_n]^-1 (grad log posterior + eta),
//   eta ~ N(0, alpha^2 gamma I_n).
// On the mean-loss scale this is H = 2 / ((1 + alpha^2) gamma) C^-1, with injected noise of
// covariance alpha^2 gamma C / n; alpha = noise_scale. Exact when A = C; the prior is missing.
//
// With step_size_max = h_max > 0 the noise is instead the least that keeps every H_kk <= h_max:
// E_kk = max(0, 2 / (h_max n) - C_kk / S), H = (2 / n) (C / S + E)^-1 (Mandt et al. 2017, eq. 26,
// with a correction of their h_max rule: it is a bound, not one rate for all). For the full matrix
// E = 2 / (h_max n) I, which bounds H whatever C is.
//
// Where gradient noise is too small for a stable step, a full C gets (S/n) A added (with
// step_size_max twice that), and a C_kk or scalar C below that of (S/n) A is raised to it.
#ifndef WINDHOVER_SAMPLERS_FISHER_SCORING_FISHER_SCORING_H_
#define WINDHOVER_SAMPLERS_FISHER_SCORING_FISHER_SCORING_H_

#include "windhover/samplers/constant_rate/preconditioner.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

// Checks what all of this family read: noise_scale and step_size_max.
Result<bool> check_fisher_scoring(const SamplerConfig& config) noexcept;

// One rate and one noise for all: C in the rules above is Tr(C)/D I (Mandt et al. 2017, Corollary
// 6, scalar). The larger alpha, the nearer to the posterior and the slower.
class ScalarFisherScoring {
 public:
  static constexpr std::string_view kName = "sgfs";
  static Result<bool> check(const SamplerConfig& config) noexcept;
  ScalarFisherScoring(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : noise_scale_(config.noise_scale),
        step_size_max_(config.step_size_max),
        preconditioner_(arena, dimension) {}
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
  double noise_scale_;
  double step_size_max_;
  DiagonalPreconditioner preconditioner_;
};

class DiagonalFisherScoring {
 public:
  static constexpr std::string_view kName = "sgfs-d";
  static Result<bool> check(const SamplerConfig& config) noexcept;
  DiagonalFisherScoring(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : noise_scale_(config.noise_scale),
        step_size_max_(config.step_size_max),
        preconditioner_(arena, dimension) {}
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
  double noise_scale_;
  double step_size_max_;
  DiagonalPreconditioner preconditioner_;
};

class FullFisherScoring {
 public:
  static constexpr std::string_view kName = "sgfs-f";
  static Result<bool> check(const SamplerConfig& config) noexcept;
  FullFisherScoring(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept
      : noise_scale_(config.noise_scale),
        step_size_max_(config.step_size_max),
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
  Status refresh_bounded(const Estimates& estimates) noexcept;
  Status refresh_scaled(const Estimates& estimates) noexcept;

  double noise_scale_;
  double step_size_max_;
  double relaxation_ = 1;
  FullPreconditioner preconditioner_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_FISHER_SCORING_FISHER_SCORING_H_
