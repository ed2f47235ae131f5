// What the estimates are worth: the sandwich, the misspecification index, and whether prior and
// rows contradict each other.
#ifndef WINDHOVER_RUNTIME_LEARNING_MODEL_CHECKS_H_
#define WINDHOVER_RUNTIME_LEARNING_MODEL_CHECKS_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/learning/dispersion.h"
#include "windhover/runtime/learning/laplace_approximation.h"
#include "windhover/runtime/learning/noise_estimate.h"
#include "windhover/runtime/learning/prior_precision.h"

namespace windhover {

// Variances of one linear function of the parameters at temperature 1: the posterior's, and that of
// the sandwich (see ModelChecks::sandwich_sd).
struct DirectionVariance {
  double posterior;
  double sandwich;
};

// Reads what a refresh has come to. Invariant: what it keeps is of the newest refresh() here; the
// rest is worked out when asked. One thread.
class ModelChecks {
 public:
  // All arguments outlive it.
  ModelChecks(Arena& arena, const LaplaceApproximation& laplace, const NoiseEstimate& noise,
              const PriorPrecision& prior, const Dispersion& dispersion,
              const ModelConfig& model) noexcept;
  void start_over() noexcept { prior_conflict_ = 0; }

  // Call it once a refresh, not with every snapshot: with many parameters P and C lie beyond the
  // caches. O(D^2).
  void refresh(const AnchorSums& rows, Interlude* interlude) noexcept;

  // Tr(A^-1 C) / D: 1 when the model holds; NaN without the full C.
  //
  // For rows with weights C is here, and in the sandwich, that of as many equal rows: the sum of
  // w_i^2 g_i g_i' times sum w / sum w^2 (AnchorSums::weight_ratio()). So a weight of 2 is the same
  // as two equal rows, and the index of a model that holds is 1 whatever the weights. This is exact
  // where w_i and g_i g_i' are uncorrelated.
  double misspecification_index() const noexcept { return misspecification_index_; }
  // How far the rows' own mode lies from what the prior expects, over the most that chance
  // explains: above 1 they contradict each other (runtime/diagnostics/prior_conflict.h). 0 for
  // networks.
  double prior_conflict() const noexcept { return prior_conflict_; }
  // (P Lambda P)_jj: what the prior adds to the sandwich's variance of parameter j, as if it were
  // further observations. Without it sd_robust would be 0 where rows say nothing.
  double prior_influence_variance(std::uint32_t j) const noexcept { return prior_influence_[j]; }

  // sqrt diag of the sandwich A^-1 (C + Lambda / n) A^-1 / n; NaN without the full C. Complexity
  // O(D^3).
  void sandwich_sd(double* sd) const noexcept;
  // How many equal rows make an average as certain as these rows do: (sum w)^2 / sum w^2.
  double effective_rows() const noexcept { return laplace_.weight() * noise_scale_; }
  // Whether A of `rows` is near enough to the Hessian at the mode. Where A is the Hessian's
  // expectation over y (kFisher) it is so for rows without weights, and for rows with weights that
  // are worth `least` equal ones. Besides, where a shape and theta depend on each other, P, which
  // takes the shape as known, must be within a factor of 1.3, along any direction, of what it is
  // when the shape is not known.
  bool curvature_is_known(const AnchorSums& rows, Curvature curvature, double least) const noexcept;
  // AnchorSums::weight_ratio() of the newest refresh: the factor that makes the variance of
  // weighted rows that of as many equal rows.
  double noise_scale() const noexcept { return noise_scale_; }
  // The variances of direction' theta. The sandwich's is NaN without the full C, and the
  // posterior's until C has been measured. O(D^2).
  DirectionVariance variance_along(const double* direction) const noexcept;

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.section("model checks");
    visitor.values(misspecification_index_, prior_conflict_);
    if (weighted_) visitor.value(noise_scale_);
    visitor.visit(prior_influence_, dimension_);
  }

 private:
  double noise_rows() const noexcept;
  void compute_misfit(Interlude* interlude) noexcept;
  void compute_prior_conflict(const AnchorSums& rows, Interlude* interlude) noexcept;

  const LaplaceApproximation& laplace_;
  const NoiseEstimate& noise_;
  const PriorPrecision& prior_;
  const Dispersion& dispersion_;
  std::uint32_t dimension_;
  bool weighted_;
  double noise_scale_ = 1;
  double misspecification_index_ = 0;
  double prior_conflict_ = 0;
  double* prior_influence_;
  double* scratch_;  // 4 x dimension
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_MODEL_CHECKS_H_
