#include "windhover/runtime/learning/single_pass_learner.h"

#include <algorithm>
#include <cmath>

namespace windhover {

namespace {

constexpr double kRefreshShare = 0.02;  // of what all rows count for: fresh rows until a refresh

}  // namespace

SinglePassLearner::SinglePassLearner(Arena& arena, const EngineConfig& config, Window& window,
                                     Model* model, Snapshots<Posterior>& snapshots, Clock& clock,
                                     Counters<RuntimeCounter>& counters) noexcept
    : config_(config),
      counters_(counters),
      model_(model),
      workers_(arena.make_array<LearnerWorker>(1, arena, config)),
      cursor_(window),
      estimator_(arena, config),
      running_(estimator_),
      pass_(arena, config, cursor_, estimator_),
      scan_(config_),
      wait_(arena, config_, cursor_),
      cold_start_(arena, config_, cursor_, estimator_, pass_, scan_, counters),
      chains_(arena, config, config.model.dimension()),
      record_(arena, config, 0),
      mover_(arena, config, chains_, estimator_, counters),
      publisher_(arena, config_, snapshots, clock, counters) {}

void SinglePassLearner::reset() noexcept {
  estimator_.reset(config_);
  estimator_.set_target_scale(model_->target().scale);
  pass_.reset();
  chains_.reset();
  record_.reset();
  gate_.reset();
  wait_.begin(cold_start_rows(config_));
  worker().model = model_;
  cold_start_.reset(model_);
  worker().gradient =
      GradientSource(model_, config_.model.dimension(), estimator_.prior().values());
  // With no rows A is Lambda / 1: the prior. Prior precisions are positive, so this cannot fail.
  if (ok(estimator_.refresh(1.0, 1.0))) {
    chains_.refill(estimator_);
    publish();
  }
}

// A minibatch at a time. During the cold start the rows that it waits for, and one more each time a
// run has ended without chains; in the approach none.
std::uint64_t SinglePassLearner::rows_wanted() const noexcept {
  if (phase_ == Phase::kApproach) return 0;
  if (phase_ != Phase::kWarmingUp) return static_cast<std::uint64_t>(minibatch_size());
  const std::uint64_t rows = cold_start_rows(config_);
  if (cursor_.head() < rows) return rows - cursor_.head();
  if (wait_.wanted() > 0) return wait_.wanted();
  return cold_start_.running() || cold_start_.due() ? 0 : 1;
}

// Takes as many rows as a round takes in; later ones are scored when their turn comes.
std::uint64_t SinglePassLearner::next_head() noexcept {
  return std::min(cursor_.published(), cursor_.head() + rows_wanted());
}

void SinglePassLearner::take_head(std::uint64_t head) noexcept {
  head = std::min(head, cursor_.head() + rows_wanted());
  if (head != cursor_.head()) tell_head(head);
  cursor_.advance(head);
}

// One round: the fresh rows join the estimates, move every chain, and are never looked at again.
// false: there is nothing to do.
bool SinglePassLearner::do_round() noexcept {
  if (phase_ == Phase::kWarmingUp) return cold_start_round();
  if (phase_ == Phase::kApproach) return seed_chains();
  const bool fresh = cursor_.fresh() > 0;
  if (!fresh && unrefreshed_rows_ == 0) return false;
  if (fresh) take_in_rows();
  if (!fresh || unrefreshed_rows_ >= kRefreshShare * mover_.weights().sum()) {
    refresh();
    retain_chains();
  }
  ++round_;
  return true;
}

bool SinglePassLearner::cold_start_round() noexcept {
  if (!cold_start_.running()) {
    if (!cold_start_.due()) return false;
    if (wait_.awaits(*model_)) {
      if (cursor_.fresh() > 0) ++round_;
      return cursor_.fresh() > 0;
    }
    if (dirty_) publish();  // what the last run came to; from here on the mode is on its way
    cold_start_.begin(workers_);
  }
  ++round_;
  const ColdStart::Outcome outcome = cold_start_.advance(worker());
  if (outcome == ColdStart::Outcome::kGoesOn || outcome == ColdStart::Outcome::kGaveUp) return true;
  refreshed_position_ = pass_.end();
  chains_.refill(estimator_);
  dirty_ = true;
  if (cold_start_.enough_rows()) start_chains(outcome == ColdStart::Outcome::kCameNear);
  return true;
}

// Chains begin at the mode of the rows in memory; seed_chains() then adds each chain's Newton step
// under weights of its own. Chains start even where no mode was found, as no further rows are taken
// before they have.
void SinglePassLearner::start_chains(bool from_mode) noexcept {
  if (!from_mode) loss_.note(record_.relaxations());
  counters_.add(RuntimeCounter::kColdStarts);
  phase_ = Phase::kApproach;
  counters_.add(RuntimeCounter::kRowsSetAside, wait_.waited());
  scan_.freeze();
  // Of the rows to come only the units are known.
  estimator_.set_target_variance(1);
  const double rows = static_cast<double>(cursor_.rows());
  replay_ratio_.begin(cursor_.head(), rows, rows);
  mover_.refresh(minibatch_size(), false);
  mover_.start(rows, round_);
  seeded_ = cursor_.first();
  // The squared residuals were summed far from the mode, where rounding may swallow what they are
  // at the mode: rows are summed again there.
  if (model_->quadratic()) estimator_.begin_pass();
}

bool SinglePassLearner::seed_chains() noexcept {
  const std::uint64_t last = std::min(cursor_.head(), seeded_ + kWarmUpRows);
  const RowBatch rows = cursor_.between(seeded_, last, worker().indices);
  estimator_.noise().measured().add_rows(*model_, rows, estimator_.laplace().mode());
  if (model_->quadratic()) estimator_.sums().pass().add(*model_, rows, nullptr);
  mover_.seed(rows, round_, worker());
  seeded_ = last;
  if (last == cursor_.head()) {
    if (model_->quadratic()) estimator_.end_pass();
    refresh();
    mover_.seed_noise(round_);
    phase_ = Phase::kSampling;
    compare_spread();
    retain_chains();
  }
  ++round_;
  return true;
}

void SinglePassLearner::take_in_rows() noexcept {
  const std::uint64_t fresh = cursor_.fresh();
  const RowBatch rows = cursor_.between(cursor_.head() - fresh, cursor_.head(), worker().indices);
  const RowBatch batch = gate_.admit(*model_, rows, worker().indices, estimator_);
  counters_.add(RuntimeCounter::kRowsSetAside, rows.count - batch.count);
  replay_ratio_.drew(static_cast<double>(fresh));
  dirty_ = true;
  if (gate_.start_over_due(mover_.weights().sum())) return start_over();
  if (batch.count > 0) take_up(batch);
  // What is served stands on all rows so far but those set aside.
  if (unrefreshed_rows_ == 0) refreshed_position_ = cursor_.head();
}

void SinglePassLearner::take_up(const RowBatch& batch) noexcept {
  const auto rows = static_cast<double>(batch.count);
  const double keep = mover_.weights().add(rows);
  if (add_to_sums(batch, keep)) {
    if (mover_.follow(batch, estimator_.way_from_before(), round_, worker())) {
      record_.restart_spread(0);
      record_.forget_ratio();
    }
    compare_spread();
    retain_chains();
  } else if (mover_.move(batch, keep, round_, worker())) {
    loss_.note(record_.relaxations());
  }
  counters_.add(RuntimeCounter::kSteps, chains_.size());
  counters_.add(RuntimeCounter::kExamples, chains_.size() * batch.count);
  if (record_.advance(rows / mover_.weights().effective()).passed(8, 0)) compare_spread();
}

// Adds the rows to the sums. Returns whether they alone have made the posterior another, by a
// refresh that has followed.
bool SinglePassLearner::add_to_sums(const RowBatch& batch, double keep) noexcept {
  if (keep < 1) {
    running_.fade(keep);
    gate_.fade(keep);
  }
  const bool quadratic = model_->quadratic();
  if (!quadratic) estimator_.sums().keep();
  estimator_.sums().done().add(*model_, batch,
                               quadratic ? nullptr : estimator_.laplace().covariance());
  const auto rows = static_cast<double>(batch.count);
  unrefreshed_rows_ += rows;
  const bool strained = !quadratic && running_.strained(rows);
  if (strained) {
    const bool done = end_refresh(running_.refresh_at_mode(
        *model_, batch, mover_.weights().effective(), scan_.target_variance()));
    if (done) {
      estimator_.noise().measured().add_rows(*model_, batch, estimator_.laplace().mean());
    }
    return done;
  }
  estimator_.noise().measured().add_rows(*model_, batch, estimator_.laplace().mean());
  if (running_.outgrown()) return refresh();
  if (config_.model.weight && running_.heavy(rows)) (void)refresh();
  return false;
}

bool SinglePassLearner::refresh() noexcept {
  return end_refresh(running_.refresh(mover_.weights().effective(), scan_.target_variance()));
}

bool SinglePassLearner::end_refresh(Status status) noexcept {
  unrefreshed_rows_ = 0;
  dirty_ = true;
  counters_.add(RuntimeCounter::kRefreshes);
  if (!ok(status)) {
    counters_.add(RuntimeCounter::kFactorizationFailures);
    return false;
  }
  refreshed_position_ = cursor_.head();
  mover_.refresh(minibatch_size(), true);
  return true;
}

// The newest rows contradict the posterior: a cold start finds that of the rows in memory. Until
// then the earlier answers are served, as those of a learner that is warming up.
void SinglePassLearner::start_over() noexcept {
  phase_ = Phase::kWarmingUp;
  wait_.begin(cursor_.head());
  gate_.reset();
  scan_.thaw();
  estimator_.start_over();
  cold_start_.start_over();
  record_.begin();
  record_.restart_spread(0);
  loss_.forget();
  unrefreshed_rows_ = 0;
  publisher_.withdraw();
  dirty_ = false;
}

void SinglePassLearner::recover_chains() noexcept {
  if (mover_.recover(round_)) loss_.note(record_.relaxations());
}

void SinglePassLearner::retain_chains() noexcept {
  recover_chains();
  for (const Chain& chain : chains_.all()) chains_.retain(chain, estimator_);
}

}  // namespace windhover
