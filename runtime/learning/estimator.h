// The shared estimates of one posterior: mode, mean, curvature A, noise covariance C, dispersion.
// The learner feeds it rows; samplers and snapshots read it.
#ifndef WINDHOVER_RUNTIME_LEARNING_ESTIMATOR_H_
#define WINDHOVER_RUNTIME_LEARNING_ESTIMATOR_H_

#include <cstdint>
#include <span>
#include <utility>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/learning/prior_precision.h"
#include "windhover/samplers/estimates/curvature.h"
#include "windhover/samplers/estimates/estimates.h"
#include "windhover/samplers/estimates/noise_covariance.h"
#include "windhover/samplers/linear_algebra/inverse_factor.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

// Variances of one linear function of the parameters at temperature 1: the posterior's, and that of
// the sandwich (see Estimator::sandwich_sd).
struct DirectionVariance {
  double posterior;
  double sandwich;
};

// One thread. Memory about 8.5 D^2 doubles; 5.5 D^2 with NoiseStructure::kDiagonal.
//
// Of the posterior itself, at temperature 1, but for the mean, which is that of what is drawn from.
//
// Of a network (Model::log_concave() false) A is Gauss-Newton's at one mode, plus a tenth of its
// mean eigenvalue on the diagonal, as Levenberg and Marquardt would: a guide for steps, no summary.
//
// Two sets of anchor sums: `done` is the last complete pass over the window plus the rows that came
// since (the tail), so the summary is current; `pass` is the one being summed at a newer anchor.
class Estimator {
 public:
  Estimator(Arena& arena, const EngineConfig& config) noexcept;
  void reset(const EngineConfig& config) noexcept;
  // Forgets all rows.
  void start_over() noexcept;
  // y is seen in this unit from here on: a noise variance that is given is in units of the rows'
  // y^2. The mode and a learned noise variance start again.
  void set_target_scale(double scale) noexcept;

  AnchorSums& pass() noexcept { return pass_; }
  AnchorSums& done() noexcept { return done_; }
  const AnchorSums& done() const noexcept { return done_; }
  NoiseCovariance& noise() noexcept { return noise_; }
  const NoiseCovariance& noise() const noexcept { return noise_; }

  // Anchor of the next pass: the current mode.
  void begin_pass() noexcept {
    pass_.begin(mode_, dispersion_);
    noise_.begin_pass();
  }
  void end_pass() noexcept { std::swap(done_, pass_); }
  // After end_pass(), when the pass summed noise too: see NoiseCovariance::end_pass. false: what it
  // summed is not finite.
  bool end_noise_pass(double weight_floor, Interlude* interlude = nullptr) noexcept;
  // A learned dispersion is no less: below 1e-12 of the targets' variance the prior is lost beside
  // the data where features depend on each other.
  void set_target_variance(double variance) noexcept { least_dispersion_ = 1e-12 * variance; }

  // For rows that are seen once: what is in done() and noise() counts for `keep` of what it did.
  void fade(double keep) noexcept {
    done_.fade(keep);
    noise_.fade(keep);
  }
  // refresh() from sums that go on: C from noise() as it stands, and the anchor follows the mode.
  Status refresh_running(double n, double target_variance) noexcept;
  // After refresh_running(): whether the rows since then have so much curvature in some direction
  // that a step with the A of then would overshoot there. Complexity O(D^2).
  bool outgrown() const noexcept;

  // Recomputes everything below from done(), noise() and n observations. `target_variance` is that
  // of the rows seen so far and only steadies a learned dispersion while n is small.
  // kNotPositiveDefinite, when a number is not finite, leaves n, the mode, the mean, P and A's
  // factor as they were. Complexity O(D^3). A Newton step longer than `longest`
  // (squared, in posterior standard deviations) is shortened. A learned prior precision moves by a
  // factor of at most exp(prior_move), and by one step of its fixed point unless it is free to go
  // all the way. An interlude must leave alone all that refresh() changes, and may read the mean,
  // the mode, the dispersion and the prior as they happen to be.
  Status refresh(double n, double target_variance, double longest = 1e300,
                 double prior_move = PriorPrecision::kFree,
                 Interlude* interlude = nullptr) noexcept;

  // The Gaussian that the newest refresh() took the place of, or tried to.
  struct Before {
    double n;
    const double* mean;
    const Factor& factor;  // of A
  };
  Before before() const noexcept { return {n_before_, mean_before_, factor_before_}; }
  // Whether the newest refresh() failed, so that the one before it stands.
  bool refresh_failed() const noexcept { return refresh_failed_; }

  // Derivative of -log posterior of the rows in done() at their anchor, along the way there.
  double slope(const double* from) const noexcept;
  // Squared length of the last Newton step, in posterior standard deviations.
  double newton_decrement() const noexcept { return newton_decrement_; }
  // A step never raises a quadratic loss, nor that of Student's t (samplers/models/likelihoods.h).
  bool steps_are_safe() const noexcept { return !damped_ && has_dispersion_; }
  // The longest step, in the same measure, that stays where the loss of n rows looks quadratic.
  double trusted_step(double n) const noexcept;
  bool step_is_trusted() const noexcept { return newton_decrement_ <= trusted_step(n_); }
  // By more than a tenth of the noise in the linear predictors, mean square.
  bool anchor_is_far() const noexcept { return newton_decrement_ >= 0.01 * n_; }
  // One Newton step from the anchor leaves an error that shows. For a quadratic loss none does.
  bool far_from_mode() const noexcept {
    return !quadratic_ && !damped_ &&
           (newton_decrement_ > 0.01 || dispersion_step_ > 0.1 * dispersion_relative_sd());
  }
  // |log ratio| of the dispersion to that of the refresh before; 0 when it is given.
  double dispersion_step() const noexcept { return dispersion_step_; }
  // log ratio of the dispersion to what it was where the sums of done() began.
  double dispersion_change() const noexcept;
  const PriorPrecision& prior() const noexcept { return prior_; }
  void set_mode(const double* mode) noexcept;

  // Estimates for the samplers; before a noise covariance is there C stands for A, what a model
  // that holds would give.
  Estimates estimates(double minibatch_size, bool noise_known) const noexcept;

  double n() const noexcept { return n_; }
  double dispersion() const noexcept { return dispersion_; }
  bool dispersion_learned() const noexcept { return learn_dispersion_; }
  // sd(log dispersion) of the posterior; 0 when it is given.
  double dispersion_relative_sd() const noexcept;
  const double* mode() const noexcept { return mode_; }
  const double* mean() const noexcept { return mean_; }
  const double* curvature() const noexcept { return curvature_; }
  // C: D x D, or with NoiseStructure::kDiagonal its D variances.
  std::span<const double> noise_covariance() const noexcept {
    return {noise_covariance_, noise_numbers()};
  }
  bool noise_is_full() const noexcept { return noise_.structure() == NoiseStructure::kFull; }
  const double* covariance() const noexcept { return covariance_; }  // P
  const Factor& factor() const noexcept { return factor_; }          // of A
  // Of A, and like P that of the last refresh that succeeded.
  const InverseFactor& inverse_factor() const noexcept { return inverse_factor_; }

  // What the prior adds to the sandwich's variance of parameter j when it counts as further
  // observations would: (P Lambda P)_jj. Without it sd_robust would be 0 where rows say nothing.
  double prior_influence_variance(std::uint32_t j) const noexcept { return prior_influence_[j]; }
  // sqrt diag of the sandwich A^-1 (C + Lambda / n) A^-1 / n; NaN without the full C. Complexity
  // O(D^3).
  void sandwich_sd(double* sd) const noexcept;
  // Of direction' theta; the sandwich's is NaN without the full C, the posterior's before there is
  // any. Complexity O(D^2).
  DirectionVariance variance_along(const double* direction) noexcept;
  // False of a network: A is a guide for steps.
  bool is_summary() const noexcept { return !damped_; }
  // How far the rows' own mode lies from what the prior expects, over the most that chance makes of
  // it: above 1 they contradict each other (runtime/diagnostics/prior_conflict.h). 0 for networks.
  double prior_conflict() const noexcept { return prior_conflict_; }
  // Tr(A^-1 C) / D: 1 when the model holds; NaN without the full C.
  double misspecification_index() const noexcept { return misspecification_index_; }

  // Between refreshes; what before() gives is read right after one, and left out.
  void visit_state(StateVisitor& visitor) noexcept;

 private:
  Status compute(double target_variance, double longest, double prior_move) noexcept;
  std::size_t noise_numbers() const noexcept {
    return noise_is_full() ? std::size_t{dimension_} * dimension_ : dimension_;
  }
  Status compute_curvature() noexcept;
  void compute_noise_covariance() noexcept;
  double data_curvature(std::uint32_t j) const noexcept;
  double leverage() const noexcept;
  Status update_hyperparameters(double target_variance, double longest, double prior_move) noexcept;
  void update_dispersion(double target_variance) noexcept;
  void compute_variances() noexcept;
  void compute_centre(double longest, double temperature) noexcept;
  void compute_misfit() noexcept;
  void compute_prior_conflict() noexcept;

  std::uint32_t dimension_;
  std::size_t width_;
  bool has_dispersion_;
  bool learn_dispersion_ = false;
  bool damped_;
  bool quadratic_;
  double temperature_;
  double given_variance_ = 0;
  double initial_dispersion_ = 1;
  double leverage_ = 0;  // at the last refresh_running()
  double dispersion_ = 1;
  double least_dispersion_ = 0;
  double n_ = 0;
  double newton_decrement_ = 0;
  double dispersion_step_ = 0;
  double dispersion_information_ = 0;  // of one row about log dispersion
  AnchorSums pass_;
  AnchorSums done_;
  NoiseCovariance noise_;
  PriorPrecision prior_;
  double* mode_;
  double* mean_;
  double* step_;
  double* anchor_gradient_;   // of L at the anchor of done(), prior included
  double* curvature_;         // A
  double* noise_covariance_;  // C, or its diagonal
  double* noise_reference_;   // data curvature A_jj averaged as C is, dispersion 1
  bool noise_reference_known_ = false;
  double* covariance_;  // P
  double* variances_;   // its diagonal, while hyper-parameters are learned
  double* prior_influence_;
  double misspecification_index_ = 0;
  double prior_conflict_ = 0;
  double* conflict_;  // 4 D: scratch of compute_prior_conflict()
  double* scratch_;
  Interlude* interlude_ = nullptr;  // of the refresh under way
  Factor factor_;
  InverseFactor inverse_factor_;
  bool refresh_failed_ = false;
  double n_before_ = 0;
  double* mean_before_;
  Factor factor_before_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_ESTIMATOR_H_
