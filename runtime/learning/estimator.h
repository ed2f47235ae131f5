// The shared estimates of one posterior: mode, mean, curvature A, noise covariance C, dispersion,
// prior. The learner feeds it rows; samplers and snapshots read it.
#ifndef WINDHOVER_RUNTIME_LEARNING_ESTIMATOR_H_
#define WINDHOVER_RUNTIME_LEARNING_ESTIMATOR_H_

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/learning/hyper_parameters.h"
#include "windhover/runtime/learning/laplace_approximation.h"
#include "windhover/runtime/learning/mode_search.h"
#include "windhover/runtime/learning/model_checks.h"
#include "windhover/runtime/learning/noise_estimate.h"
#include "windhover/runtime/learning/pass_sums.h"
#include "windhover/samplers/estimates/estimates.h"

namespace windhover {

// Invariant: outside refresh() its parts are of the last one that succeeded, but for the sums,
// which rows join and leave, and a mode that was set. One thread. Memory about 9.5 D^2 doubles; 6.5
// D^2 with NoiseStructure::kDiagonal; D^2 more for rows with weights in a window.
class Estimator {
 public:
  Estimator(Arena& arena, const EngineConfig& config) noexcept;
  void reset(const EngineConfig& config) noexcept;
  // Forgets all rows.
  void start_over() noexcept;
  // Forgets all rows but for C as it has been measured.
  void forget_mode() noexcept;
  // See Dispersion. The mode starts again with the scale.
  void set_target_scale(double scale) noexcept;
  void set_target_variance(double variance) noexcept {
    hyper_.dispersion().set_target_variance(variance);
  }
  void set_mode(const double* mode) noexcept { laplace_.set_mode(mode); }

  // Rows join these, and leave them.
  PassSums& sums() noexcept { return sums_; }
  const PassSums& sums() const noexcept { return sums_; }
  // The sums that a refresh is made from.
  const AnchorSums& done() const noexcept { return sums_.done(); }
  NoiseEstimate& noise() noexcept { return noise_; }
  const NoiseEstimate& noise() const noexcept { return noise_; }
  const PriorPrecision& prior() const noexcept { return hyper_.prior(); }
  const Dispersion& dispersion() const noexcept { return hyper_.dispersion(); }
  const LaplaceApproximation& laplace() const noexcept { return laplace_; }
  const ModelChecks& checks() const noexcept { return checks_; }

  // Begins a pass with the current mode as its anchor.
  void begin_pass() noexcept {
    sums_.pass().begin(laplace_.mode(), dispersion().value());
    hyper_.prior().begin_sums();
    noise_.measured().begin_pass();
  }
  // The sums of the pass are done() from here on.
  void end_pass() noexcept {
    sums_.end_pass();
    hyper_.prior().end_sums();
  }

  // Recomputes everything from done(), noise() and n observations. `target_variance`, of the rows
  // seen so far, only steadies a learned dispersion while n is small. A Newton step longer than
  // `longest` (squared, in posterior sd) is shortened. kNotPositiveDefinite: a matrix has no
  // factor; all is as it was, but for rounding in A (see LaplaceApproximation::restore()). O(D^3).
  // An interlude must leave alone all that refresh() changes, and may read the mean, the mode, the
  // dispersion and the prior as they happen to be.
  Status refresh(double n, double target_variance, double longest = 1e300,
                 Interlude* interlude = nullptr) noexcept;
  // Without a window, where the loss is not quadratic: `rows` join done() at the mode that they
  // themselves lead to (ModeSearch), and all is recomputed as by refresh(). REQUIRES:
  // PassSums::keep() was called before the rows were added. Where a matrix has no factor the rows
  // are left out.
  Status refresh_at_mode(Model& model, const RowBatch& rows, double n,
                         double target_variance) noexcept;
  // See LaplaceApproximation.
  double way_from_before() noexcept { return laplace_.way_from_before(); }
  double temperature() const noexcept { return temperature_; }
  // Whether the newest refresh() failed, so that the one before it stands.
  bool refresh_failed() const noexcept { return refresh_failed_; }
  // Whether the newest Newton step from the anchor leaves an error that shows, in the mode or in
  // the mean. Never for a quadratic loss or a network.
  bool far_from_mode() const noexcept;

  // Estimates for the samplers. Unless `noise_known`, A stands for C, as if the model held; for
  // rows with weights in a window it is divided by AnchorSums::weight_ratio().
  Estimates estimates(double minibatch_size, bool noise_known) const noexcept;

  // Call it between refreshes; it leaves out LaplaceApproximation::before(), which is read right
  // after one.
  void visit_state(StateVisitor& visitor) noexcept;

 private:
  Status compute(double target_variance, double longest, Interlude* interlude) noexcept;

  double temperature_;
  PassSums sums_;
  NoiseEstimate noise_;
  LaplaceApproximation laplace_;
  HyperParameters hyper_;
  ModelChecks checks_;
  ModeSearch* search_ = nullptr;  // without a window
  bool refresh_failed_ = false;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_ESTIMATOR_H_
