// The learner's cold start: Newton's method over the rows so far, one pass an iteration, until
// there are enough of them for chains.
#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/runtime/learner.h"

namespace windhover {

namespace {

constexpr std::uint64_t kScanRows = 65'536;  // rows looked at for location and scale
// Passes, those of halved steps included: outlying rows take hundreds.
constexpr int kMaxNewtonIterations = 400;
constexpr int kMaxDescentIterations = 200;  // where the posterior is not log-concave
constexpr int kMostHalvings = 40;           // of a step
constexpr double kColdStartPasses = 10;
constexpr double kNear = 1e-2;  // of the squared way to the mode, in posterior standard deviations
constexpr double kPriorSettled = 1e-3;  // of the logarithm of a learned prior precision
constexpr double kFollowed = 0.1;       // of that, and of the dispersion's, what chains can follow
constexpr double kUnknownSlope = -std::numeric_limits<double>::infinity();

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
    if (head_ < newton_due_) return false;
    begin_newton();
  }
  ++round_;
  begin_sweep(kWarmUpRows);
  sum_curvature(leader());
  if (!end_sweep()) return true;
  const bool starting = starting_newton();
  estimator_.end_pass();
  ++newton_iterations_;
  if (newton_went_too_far() || !newton_step()) {
    shorten_newton_step();
    return true;
  }
  // What the targets suggest is no objective of theta's to compare with.
  newton_slope_ = starting ? kUnknownSlope : -estimator_.newton_decrement();
  newton_halvings_ = 0;
  std::copy_n(estimator_.done().anchor(), dimension_, newton_previous_);
  if (estimator_.newton_decrement() < kNear) newton_near_ = true;
  // Of rows that leave there is no mode to come to, only one to follow.
  const bool left = first_row() != newton_first_;
  newton_first_ = first_row();
  const int most = model_->log_concave() ? kMaxNewtonIterations : kMaxDescentIterations;
  const bool near = at_mode() || (left && near_mode_of_a_stream());
  const bool found =
      near && !starting && rows_in_sums() >= static_cast<double>(newton_rows_wanted());
  if (found || model_->quadratic() || newton_iterations_ >= most) {
    end_newton(found);
  } else {
    begin_pass();
  }
  return true;
}

// The estimates of the rows that were summed, and the mode that they lead to.
bool Learner::newton_step() noexcept {
  const double n_before = estimator_.n();
  factor_before_.copy_from(estimator_.factor());
  refresh_failed_ = !ok(estimator_.refresh(estimator_.done().rows(), target_variance_));
  if (refresh_failed_) {
    counters_.add(RuntimeCounter::kFactorizationFailures);
    estimator_.restore(n_before, factor_before_);
  }
  return !refresh_failed_;
}

// Half-way back from the anchor to where the last step began; where that is no way out the run is
// over.
void Learner::shorten_newton_step() noexcept {
  if (newton_iterations_ == 1 || newton_halvings_ >= kMostHalvings) {
    newton_running_ = false;
    newton_due_ = pass_end_ + 1;
    return;
  }
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    scratch_[j] = 0.5 * (estimator_.done().anchor()[j] + newton_previous_[j]);
  }
  estimator_.set_mode(scratch_);
  newton_slope_ *= 0.5;
  ++newton_halvings_;
  begin_pass();
}

// Gauss-Newton steps close in by a factor each, where Newton's square the distance.
bool Learner::at_mode() const noexcept {
  const double near = model_->log_concave() ? 1e-10 : 1e-4;
  return estimator_.newton_decrement() < near &&
         estimator_.dispersion_step() < std::sqrt(0.01 * near) &&
         estimator_.prior().moved() < kPriorSettled;
}

// As near as the mode of other rows is to that of these: about 2 D off when all are others.
bool Learner::near_mode_of_a_stream() const noexcept {
  const bool near = !anchor_far() || estimator_.newton_decrement() < 2.0 * dimension_;
  return model_->log_concave() && near && estimator_.step_is_trusted() &&
         estimator_.dispersion_step() < kFollowed && estimator_.prior().moved() < kFollowed;
}

void Learner::end_newton(bool found) noexcept {
  // Far from the mode chains would lose their way. The point where the last step was to begin is
  // the best there is; other rows may do better.
  const bool stuck = !found && model_->log_concave() && !estimator_.steps_are_safe() &&
                     estimator_.newton_decrement() >= kNear;
  if (stuck) estimator_.set_mode(newton_previous_);
  newton_running_ = false;
  newton_due_ = pass_end_ + (stuck ? rows_seen() / 64 : 0) + 1;
  if (single_pass()) newton_due_ = std::min(newton_due_, cold_start_rows());
  refreshed_position_ = tail_position_ = pass_end_;
  refreshed_n_ = estimator_.n();
  draws_.fill_gaussian(estimator_.factor(), config_.seed);
  dirty_ = true;
  const bool ready = estimator_.done().rows() >= static_cast<double>(cold_start_rows());
  if (!ready || (stuck && !single_pass())) return;
  // Without a window the chains start from all the rows that wait for them, and none come before
  // they have.
  if (stuck) lost_until_ = relaxations_ + 1;
  start_chains();
}

void Learner::begin_newton() noexcept {
  if (dirty_) publish();  // what the last run came to; from here on the mode is on its way
  newton_running_ = true;
  newton_iterations_ = 0;
  newton_halvings_ = 0;
  newton_near_ = false;
  newton_end_ = head_;
  newton_rows_ = rows_seen();
  newton_first_ = first_row();
  scan_rows();
  if (!model_->quadratic()) {
    // Not from the mode of fewer rows: it lies far off where categories had one outcome among them,
    // and where a network has units that do nothing the way back is flat.
    std::fill_n(scratch_, dimension_, 0.0);
    if (!model_->log_concave()) model_->initial(config_.seed, scratch_);
    estimator_.set_mode(scratch_);
  }
  begin_pass();
}

// Newton's method keeps to the rows it started with until too few of them are left to start chains
// from.
std::uint64_t Learner::newton_last() const noexcept {
  return newton_end_ >= first_row() + newton_rows_wanted() ? newton_end_ : head_;
}

std::uint64_t Learner::newton_rows_wanted() const noexcept {
  return std::min(newton_rows_, cold_start_rows());
}

// Whether the last step, or what is left of it, has passed the lowest point on its way by far: the
// second condition of Wolfe's on a line search. It asks for the gradient of these rows alone, so
// rows may have come and gone since the step began; if they are all others, halving comes to an
// end.
bool Learner::newton_went_too_far() const noexcept {
  constexpr double kSlope = 0.3;
  return newton_iterations_ > 1 && newton_halvings_ < kMostHalvings &&
         !estimator_.steps_are_safe() &&
         estimator_.slope(newton_previous_) > -kSlope * newton_slope_;
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
