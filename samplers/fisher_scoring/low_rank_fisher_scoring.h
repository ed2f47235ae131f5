// Stochastic gradient Fisher scoring with a diagonal plus a low-rank matrix for the metric, in
// O(D r) a step.
//
// Let M = A + (n/S) C. (Algorithm 1 of Ahn, Korattikara and Welling 2012 has gamma n C, where the 1
// in gamma stands for A = C.) With F ~ M its factor analysis of rank r (factor_analysis.h),
//   H = 2 / (1 + alpha^2) F^-1, and noise of covariance (alpha^2 / n) F added to the gradient.
// The law is the posterior where F = M, whatever A and C are, and for large alpha whatever F is.
// alpha = noise_scale. H is applied by Woodbury's identity; the noise takes D + r normals.
#ifndef WINDHOVER_SAMPLERS_FISHER_SCORING_LOW_RANK_FISHER_SCORING_H_
#define WINDHOVER_SAMPLERS_FISHER_SCORING_LOW_RANK_FISHER_SCORING_H_

#include "windhover/samplers/constant_rate/preconditioner.h"
#include "windhover/samplers/estimates/factor_analysis.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

class LowRankFisherScoring {
 public:
  static constexpr std::string_view kName = "sgfs-lr";
  static Result<bool> check(const SamplerConfig& config) noexcept;
  LowRankFisherScoring(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept;
  // Complexity that of the fit, O(D^2 r) some hundred times.
  Status refresh(const Estimates& estimates) noexcept;
  // Complexity O(D r).
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept;
  void law(double* h, double* injected) const noexcept;
  void apply_law(double* vector, double* noise, double* room) const noexcept;
  double relaxation() const noexcept { return relaxation_; }
  void visit_state(StateVisitor& visitor) noexcept {
    const auto d = static_cast<std::size_t>(dimension_);
    const auto loadings = static_cast<std::size_t>(dimension_ * rank_);
    visitor.values(noisy_, relaxation_);
    visitor.visit(diagonal_, d);
    visitor.visit(corrections_, loadings);
    visitor.visit(noise_deviation_, d);
    visitor.visit(noise_loadings_, loadings);
  }

 private:
  // vector <- H vector; `room` holds r numbers.
  void apply(double* vector, double* room) const noexcept;

  Eigen::Index dimension_;
  Eigen::Index rank_;
  double noise_scale_;
  bool noisy_ = false;
  double relaxation_ = 1;
  FactorAnalysis analysis_;
  Factor factor_;     // of I + W^T diag(1/u) W, r x r
  double* scratch_;   // D x D
  double* diagonal_;  // H = diag(diagonal) - corrections corrections^T
  double* corrections_;
  double* noise_deviation_;  // noise of covariance diag(deviation^2) + loadings loadings^T
  double* noise_loadings_;
  double* work_;     // 4 D
  double* normals_;  // D + r
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_FISHER_SCORING_LOW_RANK_FISHER_SCORING_H_
