// The round: how rows come in, chains move, and answers go out.
#include "windhover/runtime/learning/window_learner.h"

#include <algorithm>
#include <cmath>

#include "windhover/runtime/diagnostics/judgement.h"
#include "windhover/runtime/diagnostics/misfit.h"

namespace windhover {

namespace {

constexpr std::uint64_t kTailRows = 256;  // newest rows that join the sums in a round at rest

}  // namespace

WindowLearner::WindowLearner(Arena& arena, const EngineConfig& config, Window& window,
                             std::span<Model* const> models, AnySampler* sampler,
                             Snapshots<Posterior>& snapshots, Clock& clock,
                             Counters<RuntimeCounter>& counters) noexcept
    : config_(config),
      counters_(counters),
      models_(models),
      workers_(arena.make_array<LearnerWorker>(config.learner_threads, arena, config)),
      cursor_(window),
      estimator_(arena, config),
      sums_(arena, config, cursor_, estimator_),
      scan_(config_),
      cold_start_(arena, config, cursor_, estimator_, sums_.pass(), scan_, counters),
      ensemble_(arena, config_, cursor_, estimator_, workers_, sampler, counters),
      publisher_(arena, config_, snapshots, clock, counters),
      team_(
          [](void* learner, int task, int worker) noexcept {
            auto& self = *static_cast<WindowLearner*>(learner);
            self.do_task(task, self.workers_[static_cast<std::size_t>(worker)]);
          },
          this),
      noise_at_(arena.allocate<double>(config.model.dimension()).data()) {}

void WindowLearner::reset() noexcept {
  estimator_.reset(config_);
  estimator_.set_target_scale(models_[0]->target().scale);
  sums_.reset();
  ensemble_.reset();
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
  if (phase() == Phase::kWarmingUp) return cold_start_round();
  ensemble_.begin_round(round_);
  const bool resting = ensemble_.rests();
  if (!sums_.pass().running() && pass_due(resting)) begin_pass();
  const std::uint64_t interval = sweep_interval(resting);
  const bool sweeping = sums_.pass().running() && round_ % interval == 0;
  // A pass that gains on the stream ends with the newest row, not with the newest when it began.
  if (sweeping && cursor_.fresh() <= rows_of_a_tenth_move()) sums_.pass().extend();
  const bool joined = sums_.join(resting ? kTailRows : rows_of_a_tenth_move(), leader());
  if (resting && !sweeping && !joined && sums_.tail_rows() == refreshed_.tail_rows) return false;
  if (sweeping) begin_sweep(resting, interval);
  share_out(!resting, sweeping);
  if (!resting) dirty_ = ensemble_.end_move() || dirty_;
  if (sweeping && sums_.pass().end_sweep()) complete_pass();
  if (refresh_due(resting)) follow_sums();
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
  ensemble_.begin_round(round_);
  const ColdStart::Outcome outcome = cold_start_.advance(leader());
  if (outcome == ColdStart::Outcome::kGoesOn || outcome == ColdStart::Outcome::kGaveUp) return true;
  sums_.begin_after_cold_start();
  refreshed_.position = sums_.joined();
  refreshed_.n = estimator_.n();
  ensemble_.chains().refill(estimator_);
  dirty_ = true;
  if (outcome == ColdStart::Outcome::kCameNear && cold_start_.enough_rows()) start_chains();
  return true;
}

// While chains move, a frame of many rows is taken in by as many a round as the sums can follow. A
// stream that has more waiting than a few frames outruns them, until the next pass ends: then it is
// better to draw from the newest rows.
std::uint64_t WindowLearner::next_head() noexcept {
  const std::uint64_t head = cursor_.published();
  if (!ensemble_.sampling() || ensemble_.rests()) return head;
  const std::uint64_t rows = cursor_.rows();
  const std::uint64_t most =
      std::min({cursor_.slack() / 2, rows / 4, std::max(kWarmUpRows, rows / 32)});
  outpaced_ = outpaced_ || head - cursor_.head() > most;
  return outpaced_ ? head : std::min(head, cursor_.head() + rows_of_a_tenth_move());
}

void WindowLearner::take_head(std::uint64_t head) noexcept {
  if (head == cursor_.head()) return cursor_.advance(head);
  tell_head(head);
  const double fresh = static_cast<double>(head - cursor_.head());
  sums_.stream_went_on();
  ensemble_.before_rows(fresh);
  if (phase() == Phase::kWarmingUp) {
    sums_.skip_leaving(head);
  } else if (sums_.remove_leaving(head, ensemble_.rests() ? kWarmUpRows : rows_of_a_tenth_move(),
                                  leader())) {
    ensemble_.begin_pass();
  }
  cursor_.advance(head);
  ensemble_.after_rows(fresh);
}

// The two sums of the sweep, which take longest, then the chains in groups of neighbours: pieces
// that touch nothing of one another's.
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
    const bool third = !worker.model->quadratic();
    sums_.pass().sum_curvature(third ? WindowPass::Terms::kThird : WindowPass::Terms::kSecond,
                               worker);
  } else {
    sums_.pass().sum_noise(noise_at_, worker);
  }
}

void WindowLearner::publish() noexcept {
  const WindowPass& pass = sums_.pass();
  Posterior& posterior =
      publisher_.begin(estimator_, ensemble_.chains().draws(), *models_[0], pass.scores());
  Evidence e;
  ensemble_.describe(posterior, e);
  Provenance& p = posterior.provenance;
  p.sequence = refreshed_.position;
  p.n_seen = cursor_.head();
  p.n_eff = std::min(cursor_.rows(), static_cast<std::uint64_t>(std::lround(estimator_.n())));
  p.repeated_rows = pass.repeats().share();
  e.drifting = pass.scores().drifting();
  e.dependent_rows = pass.scores().autocorrelated();
  e.not_definite = estimator_.refresh_failed();
  e.prior_conflict = p.prior_conflict;
  e.misfit = misfits(p.misspecification_index, estimator_.n());
  const Judgement judgement = judge(e);
  p.status = judgement.status;
  p.reason = judgement.reason;
  p.ou_ratio = judgement.spread_ratio;
  if (e.network) describe_by_draws(posterior);
  publisher_.end(posterior, estimator_, *models_[0]);
  dirty_ = false;
}

}  // namespace windhover
