// The learner's cold start: Newton's method over the rows so far, one pass an iteration, until
// there are enough of them for chains.
#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/runtime/learner.h"

namespace windhover {

namespace {

constexpr std::uint64_t kScanRows = 65'536;  // rows looked at for location and scale
// Passes, those of halved steps included: outlying rows, or categories of few, take hundreds.
constexpr int kMaxNewtonIterations = 400;
constexpr int kMaxDescentIterations = 200;  // where the posterior is not log-concave
constexpr double kColdStartPasses = 10;
constexpr double kNear = 1e-2;  // of the squared way to the mode, in posterior standard deviations
constexpr double kPriorSettled = 1e-3;  // of the logarithm of a learned prior precision
constexpr double kFollowed = 0.1;       // of that, and of the dispersion's, what chains can follow

// Mean and variance of value(s) over s = first, first + stride, ... below last.
struct Spread {
  double mean = 0;
  double variance = 0;
};
template <class Value>
Spread spread(std::uint64_t first, std::uint64_t last, std::uint64_t stride,
              Value&& value) noexcept {
  double count = 0;
  double mean = 0;
  double squares = 0;
  for (std::uint64_t s = first; s < last; s += stride) {
    const double x = value(s);
    count += 1;
    const double delta = x - mean;
    mean += delta / count;
    squares += delta * (x - mean);
  }
  return {mean, count > 0 ? squares / count : 0.0};
}

}  // namespace

bool Learner::warm_up() noexcept {
  if (!newton_running_) {
    if (head_ == warm_head_) return false;
    begin_newton();
  }
  ++round_;
  begin_sweep(kWarmUpRows);
  sum_curvature(leader());
  if (!end_sweep()) return true;
  const bool starting = starting_newton();
  estimator_.end_pass();
  ++newton_iterations_;
  const int most = model_->log_concave() ? kMaxNewtonIterations : kMaxDescentIterations;
  if (newton_iterations_ > 1 && newton_went_up()) {
    std::copy_n(estimator_.done().anchor(), dimension_, scratch_);
    estimator_.set_mode(scratch_);
    estimator_.halve_towards(newton_previous_);
    begin_pass();
    return true;
  }
  // Rows of the sums, or some of those before, have left the window: the next ones will be others.
  const bool left = first_row() != newton_first_;
  newton_first_ = first_row();
  const double rows = estimator_.done().rows();
  last_loss_ =
      starting || left ? std::numeric_limits<double>::infinity() : estimator_.done().sums().loss;
  const double n_before = estimator_.n();
  factor_before_.copy_from(estimator_.factor());
  const bool unchecked = left && !newton_steps_are_safe();
  const double longest = unchecked ? estimator_.trusted_step(rows) : 1e300;
  refresh_failed_ = !ok(estimator_.refresh(rows, target_variance_, longest));
  if (refresh_failed_) {
    counters_.add(RuntimeCounter::kFactorizationFailures);
    estimator_.restore(n_before, factor_before_);
    newton_running_ = false;
    warm_head_ = head_;
    return true;
  }
  std::copy_n(estimator_.done().anchor(), dimension_, newton_previous_);
  if (estimator_.newton_decrement() < kNear) newton_near_ = true;
  // Gauss-Newton steps close in by a factor each, where Newton's square the distance.
  const double near = model_->log_concave() ? 1e-10 : 1e-4;
  const bool at_mode = !starting && estimator_.newton_decrement() < near &&
                       newton_settled(std::sqrt(0.01 * near), kPriorSettled);
  // Of rows that leave there is no mode to come to, only one to follow.
  const bool following =
      left && model_->log_concave() && !anchor_far() && newton_settled(kFollowed, kFollowed);
  if (at_mode || following || model_->quadratic() || newton_iterations_ >= most) {
    end_newton(at_mode, rows);
  } else {
    begin_pass();
  }
  return true;
}

void Learner::end_newton(bool at_mode, double rows) noexcept {
  // No step that was not looked at, and none that leads far: other rows may do better.
  const bool stuck = !at_mode && model_->log_concave() && !estimator_.step_is_trusted();
  if (stuck) estimator_.set_mode(estimator_.done().anchor());
  newton_running_ = false;
  warm_head_ = pass_end_;
  refreshed_position_ = tail_position_ = pass_end_;
  refreshed_n_ = estimator_.n();
  draws_.fill_gaussian(estimator_.factor(), config_.seed);
  dirty_ = true;
  // Without a window the chains start from all the rows that wait for them, and none come before
  // they have.
  const bool ready = rows >= static_cast<double>(cold_start_rows());
  if (ready && (!stuck || single_pass())) start_chains();
}

void Learner::begin_newton() noexcept {
  if (dirty_) publish();  // what the last run came to; from here on the mode is on its way
  newton_running_ = true;
  newton_iterations_ = 0;
  newton_near_ = false;
  newton_end_ = head_;
  newton_first_ = first_row();
  scan_rows();
  if (!model_->quadratic()) {
    // Not from the mode of fewer rows: it lies far off where categories had one outcome among them.
    std::fill_n(scratch_, dimension_, 0.0);
    estimator_.set_mode(scratch_);
  }
  if (!model_->log_concave()) {
    // Always from the random start: the mode of the first few rows has units that do nothing, and
    // the way back from there is flat.
    model_->initial(config_.seed, scratch_);
    estimator_.set_mode(scratch_);
  }
  begin_pass();
}

// Whether dispersion and prior have moved by less than this in a pass, in logarithms.
bool Learner::newton_settled(double dispersion, double prior) const noexcept {
  return estimator_.dispersion_step() < dispersion && estimator_.prior().moved() < prior;
}

// A step never raises a quadratic loss, nor that of Student's t (likelihoods.h), which would have
// to be summed again at another dispersion.
bool Learner::newton_steps_are_safe() const noexcept {
  return model_->quadratic() || model_->response() == Response::kStudent;
}

// Whether the objective is higher than where the last step began, of the same rows and at the
// dispersion and the prior that step was made with.
bool Learner::newton_went_up() const noexcept {
  if (newton_steps_are_safe() || first_row() != newton_first_) return false;
  const AnchorSums& done = estimator_.done();
  const double dispersion = estimator_.dispersion();
  const double now = done.sums().loss / dispersion + estimator_.prior_loss(done.anchor());
  const double before = last_loss_ / dispersion + estimator_.prior_loss(newton_previous_);
  return now > before + 1e-9 * std::abs(before);
}

// The spread of the targets, and for Standardize::kColdStart location and scale of the features,
// over at most kScanRows rows spread over what has been seen.
void Learner::scan_rows() noexcept {
  const RowLayout& layout = window_.layout();
  const std::uint64_t stride = std::max<std::uint64_t>(1, rows_seen() / kScanRows);
  const bool standardize = config_.standardize == Standardize::kColdStart && !standardized_;
  const std::uint32_t features = standardize ? layout.features() : 0;
  FeatureTransform& transform = model_->transform();
  const auto column = [&](std::uint32_t j, const double* row) {
    if (!layout.sparse()) return row[j];
    const SparseRow sparse(layout, row);
    const std::uint32_t* end = sparse.indices + sparse.count;
    const std::uint32_t* at = std::lower_bound(sparse.indices, end, j);
    return at != end && *at == j ? sparse.values[at - sparse.indices] : 0.0;
  };
  for (std::uint32_t j = 0; j <= features; ++j) {
    const bool target = j == features;
    const auto [mean, variance] = spread(first_row(), head_, stride, [&](std::uint64_t at) {
      const double* row = window_.slot_of(at);
      return target ? row[layout.target_index()] : column(j, row);
    });
    if (target) {
      target_variance_ = variance > 0 ? variance : std::max(mean * mean, 1e-12);
      estimator_.set_target_variance(target_variance_);
    } else {
      // A column that has not varied yet says nothing about its scale.
      const bool constant = !(variance > 1e-24 * mean * mean);
      transform.inverse_scale[j] = constant ? 1.0 : 1.0 / std::sqrt(variance);
      transform.shift[j] = layout.sparse() ? 0.0 : mean;
    }
  }
  share_transform();
}

// The leader's transform of the features, to all.
void Learner::share_transform() noexcept {
  for (const LearnerWorker& worker : workers_.subspan(1)) {
    std::ranges::copy(model_->transform().shift, worker.model->transform().shift.begin());
    std::ranges::copy(model_->transform().inverse_scale,
                      worker.model->transform().inverse_scale.begin());
  }
}

// Of some rows of the window as it is now.
void Learner::scan_targets() noexcept {
  constexpr std::uint64_t kRows = 1024;
  const std::uint64_t stride = std::max<std::uint64_t>(1, rows_seen() / kRows);
  const std::size_t target = window_.layout().target_index();
  const auto [mean, variance] = spread(
      first_row(), head_, stride, [&](std::uint64_t at) { return window_.slot_of(at)[target]; });
  estimator_.set_target_variance(variance > 0 ? variance : mean * mean);
}

void Learner::start_chains() noexcept {
  // A step that is given and too long: there is no law to move by. Laplace's answers go on.
  sampler_refused_ = !single_pass() && !refresh_sampler();
  if (sampler_refused_) return;
  counters_.add(RuntimeCounter::kColdStarts);
  phase_ = Phase::kApproach;
  standardized_ = true;
  passes_ = 0;
  previous_pass_end_ = pass_end_;
  // Enough to measure C, to settle and to retain draws, even if no further row ever comes.
  credit_ =
      std::max(config_.draws_per_observation, kColdStartPasses) * static_cast<double>(rows_seen());
  pace_head_ = head_;
  pace_fresh_ = static_cast<double>(rows_seen());
  pace_drawn_ = drawn_rows_ = 0;
  if (single_pass()) return begin_single_pass();
  for (Chain& chain : chains_) start_chain(chain, chain.index + config_.retained_draws);
  begin_pass();
}

}  // namespace windhover
