// The round: how rows come in, chains move, and answers go out.
#include "windhover/runtime/learning/window_learner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/runtime/diagnostics/judgement.h"
#include "windhover/runtime/diagnostics/misfit.h"

namespace windhover {

namespace {

constexpr std::uint64_t kTailRows = 256;  // newest rows that join the sums in a round at rest
constexpr std::size_t kGroupsAThread = 4;
// Products of two numbers that take some microseconds: less is not worth handing to a thread.
constexpr double kGroupWork = 8192;
// How far the logarithm of a learned prior precision may go while the chains forget once, and at a
// time: the law that the chains move by must change slower than they follow.
constexpr double kPriorMove = 0.1;
constexpr double kLongestPriorMove = 0.5;

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
      chains_(
          arena, config,
          find_sampler(config.sampler.name)->state_size(config.sampler, config.model.dimension())),
      mover_(arena, config_, cursor_, sampler, counters),
      record_(arena, config, config.sampler.chains),
      budget_(config, config.sampler.chains),
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
  chains_.reset();
  mover_.reset();
  record_.reset();
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    workers_[w].model = models_[w];
    workers_[w].gradient =
        GradientSource(models_[w], config_.model.dimension(), estimator_.prior().values());
  }
  RowScan::share_transform(workers_);
  cold_start_.reset(models_[0]);
  budget_.ask(0, 0);
  // With no rows A is Lambda / 1: the prior. Prior precisions are positive, so this cannot fail.
  if (ok(estimator_.refresh(1.0, 1.0))) {
    chains_.refill(estimator_);
    publish();
  }
}

int WindowLearner::poll(int max_work) noexcept {
  int done = 0;
  while (done < max_work) {
    take_head(next_head());
    if (!do_round()) break;
    ++done;
  }
  const bool idle = done < max_work || max_work == 0;
  if (dirty_ && (idle || publisher_.due())) publish();
  return done;
}

int WindowLearner::replay(std::uint64_t head, int max_work) noexcept {
  int done = 0;
  while (done < max_work) {
    take_head(head);
    if (!do_round()) break;
    ++done;
  }
  if (dirty_) publish();
  return done;
}

// One round: every chain moves on a minibatch of its own while some rows of the window are summed,
// the newest rows join the sums, and sums become estimates. false: there is nothing to do.
bool WindowLearner::do_round() noexcept {
  if (phase_ == Phase::kWarmingUp) return cold_start_round();
  mover_.begin_round(round_);
  const bool resting = rests();
  if (!sums_.pass().running() && pass_due(resting)) begin_pass();
  const std::uint64_t interval = sweep_interval(resting);
  const bool sweeping = sums_.pass().running() && round_ % interval == 0;
  // A pass that gains on the stream ends with the newest row, not with the newest when it began.
  if (sweeping && cursor_.fresh() <= rows_of_a_tenth_move()) sums_.pass().extend();
  const bool joined = sums_.join(resting ? kTailRows : rows_of_a_tenth_move(), leader());
  if (resting && !sweeping && !joined && sums_.tail_rows() == refreshed_.tail_rows) return false;
  if (sweeping) begin_sweep(resting, interval);
  share_out(!resting, sweeping);
  if (!resting) end_move();
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
  mover_.begin_round(round_);
  const ColdStart::Outcome outcome = cold_start_.advance(leader());
  if (outcome == ColdStart::Outcome::kGoesOn || outcome == ColdStart::Outcome::kGaveUp) return true;
  sums_.begin_after_cold_start();
  refreshed_.position = sums_.joined();
  refreshed_.n = estimator_.n();
  chains_.refill(estimator_);
  dirty_ = true;
  if (outcome == ColdStart::Outcome::kCameNear && cold_start_.enough_rows()) start_chains();
  return true;
}

// While chains move, a frame of many rows is taken in by as many a round as the sums can follow. A
// stream that has more waiting than a few frames outruns them, until the next pass ends: then it is
// better to draw from the newest rows.
std::uint64_t WindowLearner::next_head() noexcept {
  const std::uint64_t head = cursor_.published();
  if (phase_ != Phase::kSampling || rests()) return head;
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
  lag_.add(fresh);
  sums_.stream_went_on();
  budget_.stream_went_on();
  if (phase_ == Phase::kWarmingUp) {
    sums_.skip_leaving(head);
  } else if (sums_.remove_leaving(head, rests() ? kWarmUpRows : rows_of_a_tenth_move(), leader())) {
    mover_.begin_pass();
  }
  cursor_.advance(head);
  budget_.grant(fresh, static_cast<double>(cursor_.rows()));
}

bool WindowLearner::rests() const noexcept {
  if (!budget_.spent(minibatch_size())) return false;
  if (phase_ == Phase::kApproach || budget_.exhausted(mover_.longest_relaxation())) return true;
  return phase_ == Phase::kSampling && !budget_.pending(record_.relaxations()) && record_.settled();
}

// The two sums of the sweep, which take longest, then the chains in groups of neighbours: pieces
// that touch nothing of one another's.
void WindowLearner::share_out(bool moving, bool sweeping) noexcept {
  sums_in_round_ = sweeping ? 2 : 0;
  const int tasks = sums_in_round_ + (moving ? static_cast<int>(groups()) : 0);
  if (workers_.size() > 1) return team_.run(tasks);
  for (int task = 0; task < tasks; ++task) do_task(task, leader());
}

void WindowLearner::do_task(int task, LearnerWorker& worker) noexcept {
  if (task >= sums_in_round_) {
    const auto group = static_cast<std::size_t>(task - sums_in_round_);
    mover_.move(chains_, estimator_, group * chains_.size() / groups(),
                (group + 1) * chains_.size() / groups(), worker);
  } else if (task == 0) {
    const bool third = !worker.model->quadratic();
    sums_.pass().sum_curvature(third ? WindowPass::Terms::kThird : WindowPass::Terms::kSecond,
                               worker);
  } else {
    sums_.pass().sum_noise(noise_at_, worker);
  }
}

// Where the work is worth it more than there are threads, so that none waits long for another's
// last.
std::size_t WindowLearner::groups() const noexcept {
  const std::size_t threads = workers_.size();
  if (threads == 1) return 1;
  const double chains = static_cast<double>(chains_.size());
  const double work = minibatch_size() * chains * config_.model.dimension();
  return std::min(chains_.size(), std::clamp(static_cast<std::size_t>(work / kGroupWork), threads,
                                             kGroupsAThread * threads));
}

// What the chains share, in their order.
void WindowLearner::end_move() noexcept {
  recover(ChainMover::Lost::kMoveFailed);
  count_moves(0, chains_.size());
  background_moves_.restart();
  budget_.count_move();
  refreshed_.moves += 1;
  // A sampler that does not know how slow it is says 0.
  const double known = mover_.sampler().relaxation();
  const double relaxation = mover_.relaxation();
  lag_.forget(known > 0 ? std::max(1.0, known) : relaxation);
  prior_move_ = std::min(kLongestPriorMove, prior_move_ + kPriorMove / relaxation);
  if (phase_ == Phase::kSampling) {
    record_draws();
  } else if (phase_ == Phase::kSettling && (settling_ -= 1.0 / relaxation) <= 0) {
    begin_sampling();
  }
}

// Of the chains `first` to `last`, once each. Pending draws cost no credit.
void WindowLearner::count_moves(std::size_t first, std::size_t last) noexcept {
  mover_.count_moves(chains_, first, last, phase_ == Phase::kSampling);
  const double rows = minibatch_size() * static_cast<double>(last - first) /
                      static_cast<double>(chains_.size());  // a chain
  budget_.spend(rows);
  replay_ratio_.drew(rows);
}

// Diagnostics at eight times the rate at which a chain forgets, retained draws at that rate.
void WindowLearner::record_draws() noexcept {
  const ChainRecord::Step step = record_.advance(1.0 / mover_.relaxation());
  const bool all_draws = std::ranges::all_of(chains_.all(), &Chain::is_draw);
  const bool recorded = all_draws && step.passed(8, 0);
  if (all_draws) record_.count_draws();
  if (recorded) {
    recover(ChainMover::Lost::kTooFar);
    record_.add_iterates(chains_.all(), estimator_);
  }
  for (const Chain& chain : chains_.all()) {
    const double offset = chain.index / static_cast<double>(chains_.size());
    if (!chain.is_draw || !step.passed(1, offset)) continue;
    chains_.retain(chain, estimator_);
    dirty_ = true;
  }
  // Chains may move between its pieces: what they left is recorded by now.
  if (recorded) follow_law();
}

void WindowLearner::follow_law() noexcept {
  const bool has_law = find_sampler(config_.sampler.name)->has_law;
  record_.follow_law(
      {has_law ? &mover_.sampler() : nullptr, estimator_.curvature(),
       estimator_.noise_covariance().data(), estimator_.covariance(), minibatch_size(),
       estimator_.n(), config_.sampler.temperature, counters_.get(RuntimeCounter::kRefreshes)},
      background_moves());
}

void WindowLearner::publish() noexcept {
  const WindowPass& pass = sums_.pass();
  Posterior& posterior = publisher_.begin(estimator_, chains_.draws(), *models_[0], pass.scores());
  record_.summarize(chains_.size(), posterior);
  describe_worst(posterior);
  record_.compare(estimator_, minibatch_size(), config_.sampler.temperature,
                  [this](double* h, double* e) { return mover_.law(h, e); });
  replay_ratio_.update(cursor_.head(), cursor_.rows(), budget_.due(minibatch_size()));
  const bool network = !model().log_concave();
  const Consistency::Ratio& ratio = record_.ratio();
  Provenance& p = posterior.provenance;
  p.sequence = refreshed_.position;
  p.n_seen = cursor_.head();
  p.n_eff = std::min(cursor_.rows(), static_cast<std::uint64_t>(std::lround(estimator_.n())));
  p.draws_per_observation = replay_ratio_.value();
  const bool swallowed = std::isinf(ratio.law()) && config_.sampler.step_size == 0;
  p.law_ratio = law_refused_           ? std::numeric_limits<double>::infinity()
                : network || swallowed ? std::numeric_limits<double>::quiet_NaN()
                                       : ratio.law();
  p.repeated_rows = pass.repeats().share();
  Evidence e;
  e.sampling = phase_ == Phase::kSampling;
  e.network = network;
  e.drifting = pass.scores().drifting();
  e.dependent_rows = pass.scores().autocorrelated();
  e.not_definite = estimator_.refresh_failed();
  e.chains_lost = mover_.damped();
  e.law_refused = law_refused_;
  e.step_given = config_.sampler.step_size > 0;
  e.law_asked = find_sampler(config_.sampler.name)->targets_posterior;
  e.law_decided = ratio.decided;
  e.law_smallest = ratio.law_smallest;
  e.law_largest = ratio.law_largest;
  e.spread_smallest = ratio.smallest;
  e.spread_largest = ratio.largest;
  // Of the chains' draws, those that the comparison stands on count.
  e.compared_draws =
      std::min(p.ess_bulk, record_.compared_relaxations() * static_cast<double>(chains_.size()));
  e.band = record_.band(e.compared_draws);
  e.replay_is_target = !budget_.unlimited();
  e.replay_ratio = replay_ratio_.value();
  e.prior_conflict = p.prior_conflict;
  e.misfit = misfits(p.misspecification_index, estimator_.n());
  const Judgement judgement = judge(e);
  p.status = judgement.status;
  p.reason = judgement.reason;
  p.ou_ratio = judgement.spread_ratio;
  if (network) describe_by_draws(posterior);
  publisher_.end(posterior, estimator_, *models_[0]);
  dirty_ = false;
}

}  // namespace windhover
