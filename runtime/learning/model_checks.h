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

// Reads what a refresh has come to. Invariant: its numbers are of the newest refresh() here. One
// thread.
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

  // For rows with weights C is here that of as many equal rows (AnchorSums::weight_ratio()): sums
  // of w_i^2 g_i g_i' times sum w / sum w^2. It makes weights of 2 what two equal rows are, leaves
  // 1 for a model that holds whatever the weights, and is exact where w_i and g_i g_i' are
  // uncorrelated.
  //
  // Tr(A^-1 C) / D: 1 when the model holds; NaN without the full C.
  double misspecification_index() const noexcept { return misspecification_index_; }
  // How far the rows' own mode lies from what the prior expects, over the most that chance makes of
  // it: above 1 they contradict each other (runtime/diagnostics/prior_conflict.h). 0 for networks.
  double prior_conflict() const noexcept { return prior_conflict_; }
  // What the prior adds to the sandwich's variance of parameter j when it counts as further
  // observations would: (P Lambda P)_jj. Without it sd_robust would be 0 where rows say nothing.
  double prior_influence_variance(std::uint32_t j) const noexcept { return prior_influence_[j]; }

  // sqrt diag of the sandwich A^-1 (C + Lambda / n) A^-1 / n; NaN without the full C. Complexity
  // O(D^3).
  void sandwich_sd(double* sd) const noexcept;
  // How many equal rows make an average as certain as these rows do: (sum w)^2 / sum w^2.
  double effective_rows() const noexcept { return laplace_.weight() * noise_scale_; }
  // Whether A of `rows` is known to be the Hessian at the mode. Where it is its expectation over y,
  // the two are as far apart as so many equal rows are from what they are drawn from: `least` are
  // enough. And where rows that say something of a shape say it of theta too, whether P, which
  // takes the shape as known, is within 1.3 of what it is along any direction when the shape is
  // not.
  bool curvature_is_known(const AnchorSums& rows, Curvature curvature, double least) const noexcept;
  // What a variance of rows times their weights is multiplied by, to be that of as many equal rows.
  double noise_scale() const noexcept { return noise_scale_; }
  // The variances of direction' theta; the sandwich's is NaN without the full C, the posterior's
  // before there is any. Complexity O(D^2).
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
