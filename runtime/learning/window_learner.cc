// The round: how rows come in, chains move, and answers go out.
#include "windhover/runtime/learning/window_learner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/runtime/diagnostics/judgement.h"
#include "windhover/runtime/diagnostics/misfit.h"

namespace windhover {

WindowLearner::WindowLearner(Arena& arena, const EngineConfig& config, Window& window,
                             std::span<Model* const> models, AnySampler* sampler,
                             Snapshots<Posterior>& snapshots, Clock& clock,
                             Counters<RuntimeCounter>& counters) noexcept
    : config_(config),
      counters_(counters),
      models_(models),
      workers_(arena.make_array<LearnerWorker>(config.learner_threads, arena, config)),
      cursor_(window, AgeWeights(config)),
      estimator_(arena, config),
      sums_(arena, config, cursor_, estimator_),
      scan_(config_),
      cold_start_(arena, config_, cursor_, estimator_, sums_.pass(), scan_, counters),
      ensemble_(arena, config_, cursor_, estimator_, workers_, sampler, counters),
      run_(arena, config_, cursor_, estimator_, ensemble_, counters),
      clock_(clock),
      row_times_(config_),
      schedule_(config_, cursor_, sums_, estimator_, ensemble_, run_),
      publisher_(arena, config_, snapshots, clock, counters),
      team_(
          [](void* learner, int task, int worker) noexcept {
            auto& self = *static_cast<WindowLearner*>(learner);
            self.do_task(task, self.workers_[static_cast<std::size_t>(worker)]);
          },
          this),
      noise_at_(arena.allocate<double>(config.model.dimension()).data()) {
  if (config.horizon == Horizon::kAdaptive) {
    memory_choice_ = arena.make<MemoryChoice>(arena, config_, estimator_);
  }
  if (config.surprising_rows != SurprisingRows::kKeep) {
    surprise_limit_ = arena.make<SurpriseLimit>(config_, counters);
  }
}

void WindowLearner::reset() noexcept {
  estimator_.reset(config_);
  estimator_.set_target_scale(models_[0]->target().scale);
  sums_.reset();
  ensemble_.reset();
  run_.reset();
  if (memory_choice_ != nullptr) memory_choice_->reset();
  if (surprise_limit_ != nullptr) surprise_limit_->reset();
  row_times_.reset();
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    workers_[w].model = models_[w];
    workers_[w].gradient =
        GradientSource(models_[w], config_.model.dimension(), estimator_.prior().values());
  }
  RowScan::share_transform(workers_);
  cold_start_.reset(models_[0]);
  // With no rows A is Lambda / 1: the prior. Prior precisions are positive, so this cannot fail.
  if (ok(estimator_.refresh(1.0, 1.0))) {
    ensemble_.chains().refill(estimator_);
    publish();
  }
}

// One round: every chain moves on a minibatch of its own while some rows of the window are summed,
// the newest rows join the sums, and sums become estimates. false: there is nothing to do.
bool WindowLearner::do_round() noexcept {
  if (run_.phase() == Phase::kWarmingUp) return cold_start_round();
  ensemble_.mover().begin_round(round_);
  const bool resting = run_.rests();
  if (!sums_.pass().running() && schedule_.pass_due()) begin_pass();
  const std::uint64_t interval = schedule_.sweep_interval(resting);
  const bool sweeping = sums_.pass().running() && round_ % interval == 0;
  // A pass that gains on the stream ends with the newest row, not with the newest when it began.
  if (sweeping && cursor_.fresh() <= schedule_.rows_of_a_tenth_move()) sums_.pass().extend();
  const bool joined = sums_.join(schedule_.rows_to_join(resting), leader());
  if (resting && !sweeping && !joined && !schedule_.refresh_is_worth_it()) return false;
  if (sweeping) begin_sweep(resting, interval);
  ensemble_.mover().rows().set_joining(sums_.exact());
  share_out(!resting, sweeping);
  if (!resting) dirty_ = run_.end_move() || dirty_;
  if (sweeping && sums_.pass().end_sweep()) complete_pass();
  if (schedule_.refresh_due(resting)) follow_sums();
  ++round_;
  return true;
}

bool WindowLearner::cold_start_round() noexcept {
  if (!cold_start_.running()) {
    if (!cold_start_.due()) return false;
    if (dirty_) publish();  // what the last run came to; from here on the mode is on its way
    cold_start_.begin(workers_);
  }
  ++round_;
  ensemble_.mover().begin_round(round_);
  const ColdStart::Outcome outcome = cold_start_.advance(leader());
  if (outcome == ColdStart::Outcome::kGoesOn || outcome == ColdStart::Outcome::kGaveUp) return true;
  sums_.begin_after_cold_start();
  refreshed_position_ = sums_.joined();
  ensemble_.mover().rows().set(cursor_.first(), sums_.joined());
  schedule_.end_cold_start();
  ensemble_.chains().refill(estimator_);
  dirty_ = true;
  if (outcome != ColdStart::Outcome::kCameNear || !cold_start_.enough_rows()) return true;
  if (surprise_limit_ != nullptr &&
      surprise_limit_->judge_all(*leader().model, estimator_, cursor_, leader().indices)) {
    cold_start_.start_over();  // some rows weigh something else than when the mode was found
    return true;
  }
  start_chains();
  return true;
}

void WindowLearner::take_head(std::uint64_t head) noexcept {
  if (head == cursor_.head()) return cursor_.advance(head);
  tell_head(head);
  if (row_times_.due(head)) row_times_.note(head, clock_.wall_ns());
  if (surprise_limit_ != nullptr && run_.phase() != Phase::kWarmingUp) {
    surprise_limit_->judge(*leader().model, estimator_, cursor_, cursor_.head(), head,
                           leader().indices);
  }
  if (memory_choice_ != nullptr && run_.phase() != Phase::kWarmingUp) choose_memory(head);
  const std::uint64_t fresh = head - cursor_.head();
  sums_.stream_went_on();
  run_.before_rows(fresh);
  if (run_.phase() == Phase::kWarmingUp) {
    sums_.skip_leaving(head);
  } else if (sums_.remove_leaving(
                 head, run_.rests() ? kWarmUpRows : schedule_.rows_of_a_tenth_move(), leader())) {
    ensemble_.mover().damping().begin_pass();
  }
  cursor_.advance(head);
  run_.after_rows(static_cast<double>(fresh));
}

// Where the chosen memory changes, the posterior stands on other rows from here on, and their sums
// are made anew.
void WindowLearner::choose_memory(std::uint64_t head) noexcept {
  if (!memory_choice_->take(cursor_, cursor_.head(), head, leader())) return;
  counters_.add(RuntimeCounter::kResizes);
  cursor_.weigh_by(memory_choice_->ages());
  sums_.give_up();
  sums_.pass().forget_scores();
  begin_pass();
  run_.take_other_rows();
}

// The pieces are the two sums of the sweep, which take longest, then the chains in groups of
// neighbours. None touches what another does.
void WindowLearner::share_out(bool moving, bool sweeping) noexcept {
  sums_in_round_ = sweeping ? 2 : 0;
  const int tasks = sums_in_round_ + (moving ? static_cast<int>(ensemble_.groups()) : 0);
  if (workers_.size() > 1) return team_.run(tasks);
  for (int task = 0; task < tasks; ++task) do_task(task, leader());
}

void WindowLearner::do_task(int task, LearnerWorker& worker) noexcept {
  if (task >= sums_in_round_) {
    ensemble_.move(static_cast<std::size_t>(task - sums_in_round_), worker);
  } else if (task == 0) {
    const bool third = !worker.model->quadratic() && run_.knows_rows();
    sums_.pass().sum_curvature(third ? WindowPass::Terms::kThird : WindowPass::Terms::kSecond,
                               worker);
  } else {
    sums_.pass().sum_noise(noise_at_, worker);
  }
}

void WindowLearner::begin_pass() noexcept {
  sums_.begin_pass();
  ensemble_.mover().damping().begin_pass();
}

// C is summed where one chain stands before it moves, another for every piece of the pass.
void WindowLearner::begin_sweep(bool resting, std::uint64_t interval) noexcept {
  sums_.pass().begin_sweep(schedule_.sweep_rows(resting));
  std::copy_n(ensemble_.noise_anchor(round_ / interval), config_.model.dimension(), noise_at_);
}

// The sums of the pass become estimates, and the chains follow.
void WindowLearner::complete_pass() noexcept {
  const PassResult pass = sums_.complete_pass(run_.sampling());
  if (memory_choice_ != nullptr) memory_choice_->refreshed();
  Interlude* const background = run_.background_moves();
  const double replaced = run_.law_moved() ? 1.0 : pass.replaced;
  const bool noise_known = !ensemble_.mover().damping().lost_in_pass() &&
                           estimator_.noise().end_pass(estimator_.done(), replaced, background);
  counters_.add(RuntimeCounter::kPasses);
  schedule_.end_pass();
  const SamplingRun::PassEnd end = run_.end_pass(noise_known);
  scan_.scan_targets(cursor_, *models_[0], estimator_);
  const bool refreshed = refresh(true, background);
  run_.follow_pass(end, refreshed, pass.outrun);
  sums_.pass().repeats().end_pass();
  // Scores at an anchor far off mostly tell how the parameters have moved since; with a quadratic
  // loss they still tell drift from none.
  if (model().quadratic() || !estimator_.laplace().anchor_is_far()) sums_.pass().conclude_scores();
  if (scan_.target_units_due()) return start_over();
  start_over_if_lost();
}

// Where the sums cannot be used the next pass makes new ones.
void WindowLearner::follow_sums() noexcept {
  if (!refresh(false, run_.background_moves())) return sums_.give_up();
  run_.follow_sums();
  start_over_if_lost();
}

bool WindowLearner::refresh(bool new_anchor, Interlude* background_moves) noexcept {
  schedule_.begin_refresh();
  dirty_ = true;
  // Where the loss is not convex a step may not be trusted further than the posterior is wide;
  // where it is nearly so, further than a cold start would take it in one.
  const LossShape& loss = estimator_.laplace().loss();
  double longest = loss.trusted_step(estimator_.laplace().weight());
  if (!model().log_concave()) {
    longest = 1.0;
  } else if (loss.steps_are_safe) {
    longest = 1e300;
  } else if (model().curvature() == Curvature::kHessian) {
    longest = schedule_.longest_in_circles();
  }
  if (!ok(estimator_.refresh(sums_.worth(), scan_.target_variance(), longest, background_moves))) {
    counters_.add(RuntimeCounter::kFactorizationFailures);
    return false;
  }
  refreshed_position_ = sums_.joined();
  ensemble_.follow(sums_.joined(), run_.phases().noise_known(), new_anchor, background_moves);
  return true;
}

// Where no chain can move by the step that is given, Laplace's answers go on.
void WindowLearner::start_chains() noexcept {
  if (!run_.start()) return;
  counters_.add(RuntimeCounter::kColdStarts);
  scan_.freeze();
  if (memory_choice_ != nullptr) memory_choice_->start(cursor_);
  sums_.mark_previous_end();
  begin_pass();
}

// A Newton step that changes the linear predictors by more than a third of their noise is beyond
// where the loss looks quadratic. Rows from a part of the feature space not seen before can call
// for such a step when they come all at once: it would go where every probability is 0 or 1. A cold
// start from the present rows checks its steps. Until it is over the earlier numbers are served, as
// those of a learner that is warming up; then chains go on from the mode that it has found.
void WindowLearner::start_over_if_lost() noexcept {
  if (!model().log_concave() || estimator_.laplace().loss().steps_are_safe ||
      estimator_.laplace().step_is_trusted())
    return;
  start_over();
}

void WindowLearner::start_over() noexcept {
  // The units are about to change, and memories and C in the old ones are worth nothing.
  const bool other_units = scan_.target_units_due();
  if (memory_choice_ != nullptr && other_units) {
    memory_choice_->forget();
    cursor_.weigh_by(memory_choice_->ages());
  }
  if (surprise_limit_ != nullptr) surprise_limit_->start_over();
  scan_.take_up_target_units();
  run_.start_over(!other_units);
  if (run_.phases().interrupted()) {
    estimator_.forget_mode();
  } else {
    estimator_.start_over();
  }
  sums_.pass().forget_scores();
  cold_start_.start_over();
  publisher_.withdraw();
  dirty_ = false;
}

}  // namespace windhover
