#include "windhover/runtime/learning/single_pass_learner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/runtime/diagnostics/judgement.h"
#include "windhover/runtime/diagnostics/misfit.h"

namespace windhover {

namespace {

constexpr double kRefreshShare = 0.02;  // of what all rows count for: fresh rows until a refresh
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Each chain is one draw, independent of the others; none while they are not sampling. Split R-hat
// and autocorrelation compare a chain with its own past, which says nothing here.
void summarize(Posterior& posterior, double draws) noexcept {
  const std::uint32_t dimension = posterior.dimension;
  std::fill_n(posterior.parameters.ess_bulk, dimension, draws);
  std::fill_n(posterior.parameters.ess_tail, dimension, draws);
  std::fill_n(posterior.parameters.r_hat, dimension, kUnknown);
  std::fill_n(posterior.parameters.autocorrelation_time, dimension, kUnknown);
  for (std::uint32_t j = 0; j < dimension; ++j) {
    posterior.parameters.mcse_mean[j] =
        draws > 0 ? posterior.parameters.sd[j] / std::sqrt(draws) : kUnknown;
  }
}

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

// A minibatch at a time; the rows that a cold start waits for, and none until the chains have
// begun.
void SinglePassLearner::take_head(std::uint64_t head) noexcept {
  const std::uint64_t wanted =
      phase_ == Phase::kWarmingUp  ? cold_start_rows(config_) - cursor_.head()
      : phase_ == Phase::kApproach ? 0
                                   : static_cast<std::uint64_t>(minibatch_size());
  head = std::min(head, cursor_.head() + wanted);
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

// The rows of the cold start are still in memory: each chain is given its Newton step from their
// mode under weights of its own. Chains start even where no mode was found: none of the rows that
// come later would be taken before they have.
void SinglePassLearner::start_chains(bool from_mode) noexcept {
  if (!from_mode) note_loss();
  counters_.add(RuntimeCounter::kColdStarts);
  phase_ = Phase::kApproach;
  scan_.freeze();
  estimator_.set_target_variance(0);  // of the rows to come nothing is known
  const double rows = static_cast<double>(cursor_.head());
  replay_ratio_.begin(cursor_.head(), rows, rows);
  mover_.refresh(minibatch_size(), false);
  mover_.start(rows, round_);
  seeded_ = 0;
}

bool SinglePassLearner::seed_chains() noexcept {
  const std::uint64_t last = std::min(cursor_.head(), seeded_ + kWarmUpRows);
  const RowBatch rows = cursor_.between(seeded_, last, worker().indices);
  estimator_.noise().measured().add_rows(*model_, rows, estimator_.laplace().mode());
  mover_.seed(rows, round_, worker());
  seeded_ = last;
  if (last == cursor_.head()) complete_seeding();
  ++round_;
  return true;
}

void SinglePassLearner::complete_seeding() noexcept {
  refresh();
  mover_.seed_noise(round_);
  phase_ = Phase::kSampling;
  compare_spread();
  retain_chains();
}

void SinglePassLearner::take_in_rows() noexcept {
  const std::uint64_t fresh = cursor_.fresh();
  const double rows = static_cast<double>(fresh);
  const RowBatch batch = cursor_.between(cursor_.head() - fresh, cursor_.head(), worker().indices);
  const double keep = mover_.weights().add(rows);
  if (keep < 1) running_.fade(keep);
  estimator_.done().add(*model_, batch,
                        model_->quadratic() ? nullptr : estimator_.laplace().covariance());
  estimator_.noise().measured().add_rows(*model_, batch, estimator_.laplace().mean());
  unrefreshed_rows_ += rows;
  if (!running_.outgrown()) {
    if (mover_.move(batch, keep, round_, worker())) note_loss();
  } else if (refresh()) {
    // Rows that say much where next to nothing was known: a first row of a category, the end of a
    // collinearity. A step with the A of before would overshoot there, and one with the new A under
    // a weight of 0 would leave a chain as wide as the prior. The chains go to the points of the
    // new posterior that answer to where they stood instead, for all that these rows say.
    chains_.transport(estimator_, 0, nullptr);
  }
  replay_ratio_.drew(rows);
  counters_.add(RuntimeCounter::kSteps, chains_.size());
  counters_.add(RuntimeCounter::kExamples, chains_.size() * fresh);
  if (record_.advance(rows / mover_.weights().effective()).passed(8, 0)) compare_spread();
  dirty_ = true;
}

bool SinglePassLearner::refresh() noexcept {
  unrefreshed_rows_ = 0;
  dirty_ = true;
  counters_.add(RuntimeCounter::kRefreshes);
  if (!ok(running_.refresh(mover_.weights().effective(), scan_.target_variance()))) {
    counters_.add(RuntimeCounter::kFactorizationFailures);
    return false;
  }
  refreshed_position_ = cursor_.head();
  mover_.refresh(minibatch_size(), true);
  return true;
}

void SinglePassLearner::recover_chains() noexcept {
  if (mover_.recover(round_)) note_loss();
}

void SinglePassLearner::retain_chains() noexcept {
  recover_chains();
  for (const Chain& chain : chains_.all()) chains_.retain(chain, estimator_);
}

// Eight times in n rows.
void SinglePassLearner::compare_spread() noexcept {
  recover_chains();
  for (Chain& chain : chains_.all()) record_.add_spread(chain, estimator_);
  const double size = minibatch_size();
  record_.compare(estimator_, size, 1.0, [this, size](double* h, double* e) {
    mover_.law(size, h, e);
    return true;
  });
}

void SinglePassLearner::publish() noexcept {
  const bool sampling = phase_ == Phase::kSampling;
  Posterior& posterior = publisher_.begin(estimator_, chains_.draws(), *model_, pass_.scores());
  summarize(posterior, sampling ? static_cast<double>(chains_.size()) : 0.0);
  describe_worst(posterior);
  replay_ratio_.update(cursor_.head(), cursor_.rows(), 0);
  const Consistency::Ratio& ratio = record_.ratio();
  Provenance& p = posterior.provenance;
  p.sequence = refreshed_position_;
  p.n_seen = cursor_.head();
  const auto n = static_cast<std::uint64_t>(std::lround(estimator_.laplace().n()));
  p.n_eff = sampling ? static_cast<std::uint64_t>(std::lround(mover_.weights().effective()))
                     : std::min(cursor_.rows(), n);
  p.draws_per_observation = replay_ratio_.value();
  p.law_ratio = ratio.law();
  Evidence e;
  e.sampling = sampling;
  e.drifting = pass_.scores().drifting();
  e.dependent_rows = pass_.scores().autocorrelated();
  e.not_definite = estimator_.refresh_failed();
  e.chains_lost = record_.relaxations() < lost_until_;
  e.law_smallest = ratio.law_smallest;
  e.law_largest = ratio.law_largest;
  e.spread_smallest = ratio.smallest;
  e.spread_largest = ratio.largest;
  // An ensemble starts as independent draws and is compared at later times too.
  e.compared_draws = p.ess_bulk * (1 + record_.observed_relaxations());
  e.band = record_.band(e.compared_draws);
  e.replay_is_target = config_.draws_per_observation != 0;
  e.replay_ratio = replay_ratio_.value();
  e.prior_conflict = p.prior_conflict;
  e.misfit = misfits(p.misspecification_index, estimator_.laplace().n());
  const Judgement judgement = judge(e);
  p.status = judgement.status;
  p.reason = judgement.reason;
  p.ou_ratio = judgement.spread_ratio;
  publisher_.end(posterior, estimator_, *model_);
  dirty_ = false;
}

}  // namespace windhover
