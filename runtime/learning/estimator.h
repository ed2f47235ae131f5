// The shared estimates of one posterior: mode, mean, curvature A, noise covariance C, dispersion,
// prior. The learner feeds it rows; samplers and snapshots read it.
#ifndef WINDHOVER_RUNTIME_LEARNING_ESTIMATOR_H_
#define WINDHOVER_RUNTIME_LEARNING_ESTIMATOR_H_

#include <cstdint>
#include <utility>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/learning/dispersion.h"
#include "windhover/runtime/learning/laplace_approximation.h"
#include "windhover/runtime/learning/model_checks.h"
#include "windhover/runtime/learning/noise_estimate.h"
#include "windhover/runtime/learning/prior_precision.h"
#include "windhover/samplers/estimates/curvature.h"
#include "windhover/samplers/estimates/estimates.h"

namespace windhover {

// Two sets of anchor sums: `done` is the last complete pass over the window plus the rows that came
// since (the tail), so the summary is current; `pass` is the one being summed at a newer anchor.
// Invariant: outside refresh() its parts are of the last one that succeeded. One thread. Memory
// about 8.5 D^2 doubles; 5.5 D^2 with NoiseStructure::kDiagonal; D^2 more of rows with weights in a
// window.
class Estimator {
 public:
  Estimator(Arena& arena, const EngineConfig& config) noexcept;
  void reset(const EngineConfig& config) noexcept;
  // Forgets all rows.
  void start_over() noexcept;
  // See Dispersion. The mode starts again with the scale.
  void set_target_scale(double scale) noexcept;
  void set_target_variance(double variance) noexcept { dispersion_.set_target_variance(variance); }
  void set_mode(const double* mode) noexcept { laplace_.set_mode(mode); }

  AnchorSums& pass() noexcept { return pass_; }
  const AnchorSums& pass() const noexcept { return pass_; }
  AnchorSums& done() noexcept { return done_; }
  const AnchorSums& done() const noexcept { return done_; }
  NoiseEstimate& noise() noexcept { return noise_; }
  const NoiseEstimate& noise() const noexcept { return noise_; }
  const PriorPrecision& prior() const noexcept { return prior_; }
  const Dispersion& dispersion() const noexcept { return dispersion_; }
  const LaplaceApproximation& laplace() const noexcept { return laplace_; }
  const ModelChecks& checks() const noexcept { return checks_; }

  // Anchor of the next pass: the current mode.
  void begin_pass() noexcept {
    pass_.begin(laplace_.mode(), dispersion_.value());
    noise_.measured().begin_pass();
  }
  void end_pass() noexcept { std::swap(done_, pass_); }

  // Recomputes everything from done(), noise() and n observations. `target_variance` is that of the
  // rows seen so far and only steadies a learned dispersion while n is small.
  // kNotPositiveDefinite, when a number is not finite, leaves everything as it was, but for
  // rounding in A. Complexity O(D^3). A Newton step longer than `longest` (squared, in posterior
  // standard deviations) is shortened. A learned prior precision moves by a factor of at most
  // exp(prior_move), and by one step of its fixed point unless it is free to go all the way. An
  // interlude must leave alone all that refresh() changes, and may read the mean, the mode, the
  // dispersion and the prior as they happen to be.
  Status refresh(double n, double target_variance, double longest = 1e300,
                 double prior_move = PriorPrecision::kFree,
                 Interlude* interlude = nullptr) noexcept;
  // Without a window, of a loss that is not quadratic: `rows`, which keep_sums() came before, join
  // done() at the mode that they lead to themselves, and refresh(). Where they would move the mode
  // beyond what their parabolas at the old one are good for this is what an iterated extended
  // Kalman filter does (Bell and Cathey 1993), by Newton's method with halved steps. Where there is
  // no factor the rows are left out. Complexity O(D^3) an iteration, a dozen mostly.
  Status refresh_at_mode(Model& model, const RowBatch& rows, double n,
                         double target_variance) noexcept;
  // Equal rows that an average over the rows is as certain as: (sum w)^2 / sum w^2.
  double effective_rows() const noexcept { return laplace_.weight() * checks_.noise_scale(); }
  // Whether A is known to be the Hessian at the mode. Where it is its expectation over y, the two
  // are as far apart as so many equal rows are from what they are drawn from: `least` are enough.
  // And where rows that say something of a shape say it of theta too, whether P, which takes the
  // shape as known, is within 1.3 of what it is along any direction when the shape is not.
  bool curvature_is_known(const Model& model, double least) const noexcept;
  // What sums over rows, done() or pass(), are multiplied with to be those of n equal ones: 1 where
  // rows do not fade with their age.
  double row_scale(const AnchorSums& rows) const noexcept {
    return rows.aged() && rows.rows() > 0 ? laplace_.n() / rows.rows() : 1.0;
  }
  double way_from_before() noexcept { return laplace_.way_from_before(); }
  // pass() is done() as it stands, for refresh_at_mode() to go back to.
  void keep_sums() noexcept { pass_.copy_from(done_); }
  // Whether the newest refresh() failed, so that the one before it stands.
  bool refresh_failed() const noexcept { return refresh_failed_; }
  // One Newton step from the anchor leaves an error that shows. For a quadratic loss none does.
  bool far_from_mode() const noexcept;

  // Estimates for the samplers; before a noise covariance is there A stands for C, what a model
  // that holds would give, in a window divided by AnchorSums::weight_ratio().
  Estimates estimates(double minibatch_size, bool noise_known) const noexcept;

  // Between refreshes; what LaplaceApproximation::before() gives is read right after one, and left
  // out.
  void visit_state(StateVisitor& visitor) noexcept;

 private:
  ShapeCoupling shape_coupling() noexcept;
  Status compute(double target_variance, double longest, double prior_move,
                 Interlude* interlude) noexcept;
  Status find_mode(Model& model, const RowBatch& rows) noexcept;
  void assume_noise(Interlude* interlude) noexcept;
  void sum_at(const double* anchor, Model& model, const RowBatch& rows) noexcept;
  Status update_hyperparameters(double target_variance, double longest, double prior_move,
                                Interlude* interlude) noexcept;
  LaplaceApproximation::Input input(Interlude* interlude) const noexcept {
    return {done_, dispersion_.divisor(), prior_.values(), interlude};
  }

  double temperature_;
  AnchorSums pass_;
  AnchorSums done_;
  NoiseEstimate noise_;
  PriorPrecision prior_;
  Dispersion dispersion_;
  LaplaceApproximation laplace_;
  ModelChecks checks_;
  bool refresh_failed_ = false;
  double* assumed_noise_ = nullptr;  // of rows with weights in a window: C before it is known
  double* begin_ = nullptr;          // dimension, without a window: scratch
  double* at_ = nullptr;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_ESTIMATOR_H_
