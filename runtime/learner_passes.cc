// The part of the learner that passes over the window, in the order of the stream, and sums its
// rows for the shared estimates.
#include <algorithm>
#include <cmath>

#include "windhover/runtime/learner.h"

namespace windhover {

namespace {

constexpr double kFewRows = 1.0 / 32;  // of the window

}  // namespace

bool Learner::pass_due() const noexcept {
  if (config_.draws_per_observation == 0 || phase_ == Phase::kApproach) return true;
  const double fresh = static_cast<double>(head_ - pass_end_);
  if (sums_lost_) return true;
  const bool law_due = law_moved_ || damping_ != 1;
  if (damping_ != 1 || (phase_ == Phase::kSettling && law_moved_)) return true;
  if (rested() && (!exact_ || law_due || far_from_mode())) return true;
  return fresh >= std::max(1.0, 0.01 * static_cast<double>(rows_seen()));
}

void Learner::begin_pass() noexcept {
  estimator_.begin_pass();
  scores_.begin_pass(rows_seen());
  repeats_.begin_pass();
  pass_position_ = first_row();
  pass_exact_ = true;
  chains_lost_ = false;
  pass_end_ = newton_running_ ? newton_last() : head_;
}

// While chains move, a pass costs about a third of what they do (the statistics of a row cost as
// much as 16 + D / 3 rows of a minibatch), or what it takes to gain on a stream that lets it (up to
// some four times what they do), less and less on a faster one; while they rest it goes ahead.
std::uint64_t Learner::sweep_rows(bool rested) const noexcept {
  if (rested) return kWarmUpRows;
  const double size = minibatch_size();
  if (phase_ != Phase::kSampling)
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(size), 64);
  const double examples = size * static_cast<double>(chains_.size());
  const auto share = static_cast<std::uint64_t>(examples / (48.0 + dimension_));
  const std::uint64_t most = move_cost_rows();
  const std::uint64_t gaining = fresh_ <= most ? 3 * fresh_ : 3 * most * most / fresh_;
  return std::max({share, gaining, std::uint64_t{16}});
}

// Passes over rows that stay the same tell ever less: C at other places of the same chains.
std::uint64_t Learner::sweep_interval(bool rested) const noexcept {
  constexpr std::uint64_t kMost = 4;
  constexpr double kPriorRests = 1e-6;
  const bool moving = far_from_mode() || estimator_.prior().moved() > kPriorRests;
  if (rested || moving || phase_ != Phase::kSampling) return 1;
  return std::min(1 + quiet_passes_, kMost);
}

// Rows that left the window before their turn are passed over; a pass that was overtaken whole goes
// on with the rows of now.
void Learner::begin_sweep(std::uint64_t rows) noexcept {
  if (pass_end_ <= first_row()) pass_end_ = head_;
  pass_position_ = std::max(pass_position_, first_row());
  sweep_end_ = std::min(pass_end_, pass_position_ + rows);
}

void Learner::sum_curvature(LearnerWorker& worker) noexcept {
  // The third-order sums are for the mean; far from the mode Newton's method can do without.
  const bool third = !model_->quadratic() && (phase_ != Phase::kWarmingUp || newton_near_);
  for (std::uint64_t at = pass_position_; at < sweep_end_; at += kWarmUpRows) {
    const RowBatch batch = rows_between(at, std::min(sweep_end_, at + kWarmUpRows), worker);
    if (starting_newton()) {
      estimator_.pass().add_start(*worker.model, batch);
    } else {
      estimator_.pass().add(*worker.model, batch, third ? estimator_.covariance() : nullptr);
    }
    repeats_.add(window_.layout(), batch);
  }
}

void Learner::sum_noise(LearnerWorker& worker) noexcept {
  for (std::uint64_t at = pass_position_; at < sweep_end_; at += kWarmUpRows) {
    const std::uint64_t last = std::min(sweep_end_, at + kWarmUpRows);
    const RowBatch batch = rows_between(at, last, worker);
    if (model_->log_concave()) {
      worker.model->set_dispersion(estimator_.pass().dispersion());
      scores_.add(*worker.model, batch, estimator_.pass().anchor(), estimator_.covariance(),
                  estimator_.n(), estimator_.dispersion(), pass_end_ - last);
    }
    if (config_.sampler.noise_estimator == NoiseEstimator::kWindowSweep) {
      worker.model->set_dispersion(estimator_.dispersion());
      estimator_.noise().add_rows(*worker.model, batch, noise_at_);
    }
  }
}

bool Learner::end_sweep() noexcept {
  pass_position_ = sweep_end_;
  const bool whole_window = estimator_.pass().rows() >= static_cast<double>(rows_seen());
  if (whole_window) pass_end_ = pass_position_;
  return pass_position_ == pass_end_;
}

void Learner::complete_pass() noexcept {
  constexpr double kSlower = 2;
  constexpr double kOther = 1;
  const double window_moves = static_cast<double>(rows_seen()) / minibatch_size();
  estimator_.end_pass();
  const double replaced = static_cast<double>(pass_end_ - previous_pass_end_) /
                          static_cast<double>(std::max<std::uint64_t>(rows_seen(), 1));
  Interlude* const interlude = this->interlude();
  const bool known =
      !chains_lost_ && estimator_.end_noise_pass(law_moved_ ? 1.0 : replaced, interlude);
  passes_ = known || phase_ != Phase::kApproach ? passes_ + 1 : 0;
  if (phase_ == Phase::kSampling && pass_end_ == previous_pass_end_) ++quiet_passes_;
  previous_pass_end_ = pass_end_;
  counters_.add(RuntimeCounter::kPasses);
  // Chains that a stream outran stand, and have left draws, where rows have been that are gone.
  const bool outrun = pass_exact_ && phase_ == Phase::kSampling && 10 * outrun_rows_ > rows_seen();
  if (pass_exact_) outrun_rows_ = 0;
  outpaced_ = false;
  exact_ = pass_exact_;
  sums_lost_ = false;
  tail_position_ = pass_end_;
  tail_rows_ = 0;
  const bool approached = phase_ == Phase::kApproach && passes_ >= 2;
  if (approached) phase_ = Phase::kSettling;
  const bool damped = damping_ != 1;
  if (damped) ratio_due_ = 0;
  if (!chains_lost_) damping_ = std::min(1.0, 2 * damping_);
  scan_targets();
  const double relaxation_before = sampler_->relaxation();
  const bool refreshed = refresh(interlude);
  law_moved_ = (refreshed && law_moved()) || !known;
  if (approached) begin_settling();
  if (phase_ == Phase::kSampling) {
    if (recover_chains(true)) law_moved_ = true;
    if (outrun && catch_up()) law_moved_ = true;
    // The posterior was another one, chains were wider by a law that knew less noise and now forget
    // slowly, or steps were too short for its width.
    const bool slower =
        sampler_->relaxation() > kSlower * std::max(relaxation_before, window_moves);
    const bool other = refreshed && std::abs(dispersion_change()) > kOther;
    if (slower && posterior_is_target_) begin_anew();
    if (slower || other || (damped && damping_ == 1)) {
      owe_draws_again(kForgettingTime, owed_for_laws_);
    }
  }
  repeats_.end_pass();
  // Scores at an anchor far off are mostly what the parameters have moved since; of a quadratic
  // loss they still tell drift from none.
  if (model_->quadratic() || !anchor_far()) scores_.end_pass();
  if (astray()) start_over();
}

// By more than a tenth of the noise in the linear predictors, mean square.
bool Learner::anchor_far() const noexcept {
  return estimator_.newton_decrement() >= 0.01 * estimator_.n();
}

// Whether scores and C of the pass that ended are those of the posterior it led to: an outlier that
// has left takes the noise variance with it, and the width of the chains.
bool Learner::law_moved() const noexcept {
  constexpr double kDispersionMoved = 0.1;
  return model_->log_concave() &&
         (anchor_far() || std::abs(dispersion_change()) > kDispersionMoved);
}

double Learner::dispersion_change() const noexcept {
  return std::log(estimator_.dispersion() / estimator_.done().dispersion());
}

// The newest rows join the estimates at the anchor they stand at.
void Learner::add_tail() noexcept {
  tail_position_ = std::max(tail_position_, first_row());
  if (tail_position_ >= head_) return;
  const std::uint64_t rows = rested() ? kTailRows : move_cost_rows();
  const std::uint64_t last = std::min(head_, tail_position_ + rows);
  estimator_.done().add(*model_, rows_between(tail_position_, last),
                        model_->quadratic() ? nullptr : estimator_.covariance());
  tail_rows_ += static_cast<double>(last - tail_position_);
  tail_position_ = last;
}

double Learner::rows_in_sums() const noexcept {
  return std::min(static_cast<double>(rows_seen()), estimator_.done().rows());
}

// Rows of a large frame that are in the place of others join the sums after those have left them:
// meanwhile the sums tell of fewer rows than the estimates do.
bool Learner::sums_filled() const noexcept {
  return estimator_.done().rows() >= (1 - kFewRows) * estimator_.n();
}

// Rows that are in the sums come into the estimates when the chains rest, and before that where a
// refresh costs little beside the moves since the last one: a stream that lets no chain rest would
// have its answers, and what the draws are compared with, up to a pass old.
bool Learner::tail_due(bool rested) const noexcept {
  // In refreshes, of 4 D^3 products at the most (1.5 D^3 were counted at D = 1000) and D^2 a
  // retained draw; one of few parameters takes about as long as a move.
  constexpr double kLeastWork = 10;
  constexpr double kFewestMoves = 8;
  if (tail_rows_ == refreshed_tail_) return false;
  if (rested) return true;
  if (phase_ != Phase::kSampling || !exact_ || !model_->log_concave()) return false;
  const double d = dimension_;
  const double row = config_.model.max_nonzeros > 0 ? config_.model.max_nonzeros : d;
  // Each row twice, and the preconditioner's matrix.
  const double moved = (2 * row * minibatch_size() + d * d) * static_cast<double>(chains_.size());
  return tail_rows_ - refreshed_tail_ >= kFewRows * static_cast<double>(rows_seen()) &&
         moves_since_refresh_ >= kFewestMoves &&
         moves_since_refresh_ * moved >= kLeastWork * (4 * d + config_.retained_draws) * d * d;
}

// Where the sums cannot be used the next pass makes new ones.
void Learner::follow_tail() noexcept {
  if (!refresh(interlude())) {
    sums_lost_ = true;
  } else if (astray()) {
    start_over();
  }
}

RowBatch Learner::rows_between(std::uint64_t first, std::uint64_t last,
                               LearnerWorker& worker) const noexcept {
  const std::uint64_t capacity = window_.capacity();
  std::uint64_t slot = first % capacity;
  for (std::uint64_t i = 0; i < last - first; ++i) {
    worker.indices[i] = static_cast<std::uint32_t>(slot);
    if (++slot == capacity) slot = 0;
  }
  return {window_.rows(), worker.indices.data(), static_cast<std::size_t>(last - first)};
}

}  // namespace windhover
