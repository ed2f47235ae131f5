// Stochastic gradient Riemannian Langevin dynamics: Patterson and Teh 2013, in the form of Ma, Chen
// and Fox 2015 (Theorem 1 with D = G^-1, Q = 0).
//
//   theta <- theta - h G^-1 gradient + (h T / n) div G^-1 + N(0, (2 h T / n) G^-1),
//   (div G^-1)_i = sum_j d (G^-1)_ij / d theta_j.
//
// The metric is the host's (SamplerConfig::metric); without one it is the curvature A, for which
// the sampler is `sgld-p`.
#ifndef WINDHOVER_SAMPLERS_LANGEVIN_RIEMANNIAN_SGLD_H_
#define WINDHOVER_SAMPLERS_LANGEVIN_RIEMANNIAN_SGLD_H_

#include "windhover/samplers/langevin/langevin.h"
#include "windhover/samplers/langevin/metric.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

// A step costs O(D^2) besides the metric's own cost.
class RiemannianSgld {
 public:
  static constexpr std::string_view kName = "rsgld";
  static constexpr bool kTempered = true;
  static Result<bool> check(const SamplerConfig& config) noexcept;
  RiemannianSgld(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept;
  Status refresh(const Estimates& estimates) noexcept;
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept;
  double relaxation() const noexcept { return metric_ != nullptr ? 0.0 : 1.0 / step_size_; }
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(step_size_, inverse_n_);
    if (metric_ != nullptr) return;  // evaluated before every step
    visitor.visit(root_, std::size_t{dimension_} * dimension_);
    visitor.visit(divergence_, dimension_);
  }

 private:
  std::uint32_t dimension_;
  const Metric* metric_;
  double given_step_;
  Temperature temperature_;
  double step_size_ = 0;
  double inverse_n_ = 0;
  double* root_;        // R
  double* divergence_;  // of G^-1
  double* work_;        // scratch of refresh(), 2 D
  Factor factor_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_LANGEVIN_RIEMANNIAN_SGLD_H_
