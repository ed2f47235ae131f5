#include "windhover/runtime/learning/ensemble.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/runtime/posterior/publisher.h"

namespace windhover {

namespace {

constexpr std::size_t kGroupsAThread = 4;
// Products of two numbers that take some microseconds: less is not worth handing to a thread.
constexpr double kGroupWork = 8192;
// How far the logarithm of a learned prior precision may go while the chains forget once, and at a
// time: the law that the chains move by must change slower than they follow.
constexpr double kPriorMove = 0.1;
constexpr double kLongestPriorMove = 0.5;
constexpr double kColdStartPasses = 10;
constexpr double kForgettingTime = 2;  // relaxations

}  // namespace

Ensemble::Ensemble(Arena& arena, const EngineConfig& config, const WindowCursor& cursor,
                   Estimator& estimator, std::span<LearnerWorker> workers, AnySampler* sampler,
                   Counters<RuntimeCounter>& counters) noexcept
    : config_(config),
      cursor_(cursor),
      estimator_(estimator),
      workers_(workers),
      counters_(counters),
      chains_(
          arena, config,
          find_sampler(config.sampler.name)->state_size(config.sampler, config.model.dimension())),
      mover_(arena, config, cursor, sampler, counters),
      record_(arena, config, config.sampler.chains),
      budget_(config, config.sampler.chains) {}

void Ensemble::reset() noexcept {
  chains_.reset();
  mover_.reset();
  record_.reset();
  budget_.ask(0, 0);
}

bool Ensemble::rests() const noexcept {
  if (!budget_.spent(mover_.minibatch_size())) return false;
  if (phase_ == Phase::kApproach || budget_.exhausted(mover_.longest_relaxation())) return true;
  return sampling() && !budget_.pending(record_.relaxations()) && record_.settled();
}

void Ensemble::before_rows(double fresh) noexcept {
  lag_.add(fresh);
  budget_.stream_went_on();
}

// Where the work is worth it more than there are threads, so that none waits long for another's
// last.
std::size_t Ensemble::groups() const noexcept {
  const std::size_t threads = workers_.size();
  if (threads == 1) return 1;
  const double chains = static_cast<double>(chains_.size());
  const double work = mover_.minibatch_size() * chains * config_.model.dimension();
  return std::min(chains_.size(), std::clamp(static_cast<std::size_t>(work / kGroupWork), threads,
                                             kGroupsAThread * threads));
}

void Ensemble::move(std::size_t group, LearnerWorker& worker) noexcept {
  mover_.move(chains_, estimator_, group * chains_.size() / groups(),
              (group + 1) * chains_.size() / groups(), worker);
}

// What the chains share, in their order.
bool Ensemble::end_move() noexcept {
  recover(ChainMover::Lost::kMoveFailed);
  count_moves(0, chains_.size());
  background_moves_.restart();
  budget_.count_move();
  moves_ += 1;
  // A sampler that does not know how slow it is says 0.
  const double known = mover_.sampler().relaxation();
  const double relaxation = mover_.relaxation();
  lag_.forget(known > 0 ? std::max(1.0, known) : relaxation);
  prior_move_ = std::min(kLongestPriorMove, prior_move_ + kPriorMove / relaxation);
  if (sampling()) return record_draws();
  if (phase_ == Phase::kSettling && (settling_ -= 1.0 / relaxation) <= 0) {
    phase_ = Phase::kSampling;
    record_.begin();
    ask_for_draws(0);
  }
  return false;
}

// Of the chains `first` to `last`, once each. Pending draws cost no credit.
void Ensemble::count_moves(std::size_t first, std::size_t last) noexcept {
  mover_.count_moves(chains_, first, last, sampling());
  const double rows = mover_.minibatch_size() * static_cast<double>(last - first) /
                      static_cast<double>(chains_.size());  // a chain
  budget_.spend(rows);
  replay_ratio_.drew(rows);
}

// Diagnostics at eight times the rate at which a chain forgets, retained draws at that rate.
bool Ensemble::record_draws() noexcept {
  const ChainRecord::Step step = record_.advance(1.0 / mover_.relaxation());
  const bool all_draws = std::ranges::all_of(chains_.all(), &Chain::is_draw);
  const bool recorded = all_draws && step.passed(8, 0);
  if (all_draws) record_.count_draws();
  if (recorded) {
    recover(ChainMover::Lost::kTooFar);
    record_.add_iterates(chains_.all(), estimator_);
  }
  bool retained = false;
  for (const Chain& chain : chains_.all()) {
    const double offset = chain.index / static_cast<double>(chains_.size());
    if (!chain.is_draw || !step.passed(1, offset)) continue;
    chains_.retain(chain, estimator_);
    retained = true;
  }
  // Chains may move between its pieces: what they left is recorded by now.
  if (recorded) follow_law();
  return retained;
}

void Ensemble::follow_law() noexcept {
  const auto* sampler = find_sampler(config_.sampler.name)->has_law ? &mover_.sampler() : nullptr;
  record_.follow_law({sampler, estimator_.curvature(), estimator_.noise_covariance().data(),
                      estimator_.covariance(), mover_.minibatch_size(), estimator_.n(),
                      config_.sampler.temperature, counters_.get(RuntimeCounter::kRefreshes)},
                     background_moves());
}

const double* Ensemble::noise_anchor(std::uint64_t turn) const noexcept {
  const Chain& chain = chains_.all()[turn % chains_.size()];
  return mover_.far_off(chains_, chain, estimator_) ? estimator_.mean() : chain.theta;
}

Interlude* Ensemble::background_moves() noexcept {
  const bool moves =
      sampling() && !rests() && config_.sampler.noise_estimator == NoiseEstimator::kWindowSweep;
  return moves ? &background_moves_ : nullptr;
}

// By the law of before. Nothing is compared or retained; a chain that diverges is found to have
// done so in the next round.
void Ensemble::move_in_background() noexcept {
  const std::size_t chain = mover_.move_aside(chains_, estimator_, workers_[0]);
  count_moves(chain, chain + 1);
}

void Ensemble::follow(std::uint64_t waiting_rows, Interlude* background_moves) noexcept {
  prior_move_ = 0;
  moves_ = 0;
  if (model().log_concave() && !chains_.keep_state()) {
    chains_.transport(estimator_, lag_.followed(), background_moves);
  } else if (model().log_concave()) {
    chains_.transport_draws(estimator_, background_moves);
  }
  lag_.keep(static_cast<double>(waiting_rows));
  mover_.refresh(estimator_, noise_known(), background_moves);
}

Ensemble::PassEnd Ensemble::end_pass(bool noise_known) noexcept {
  PassEnd end;
  end.noise_known = noise_known;
  passes_ = noise_known || phase_ != Phase::kApproach ? passes_ + 1 : 0;
  end.approached = phase_ == Phase::kApproach && passes_ >= 2;
  if (end.approached) phase_ = Phase::kSettling;
  end.damped = mover_.damped();
  if (end.damped) record_.compare_soon();
  mover_.end_pass();
  end.relaxation = mover_.sampler().relaxation();
  return end;
}

void Ensemble::follow_pass(const PassEnd& end, bool refreshed, bool outrun) noexcept {
  law_moved_ = (refreshed && posterior_moved()) || !end.noise_known;
  if (end.approached) begin_settling();
  if (!sampling()) return;
  // The posterior was another one, chains were wider by a law that knew less noise and now forget
  // slowly, or steps were too short for its width.
  constexpr double kSlower = 2;
  constexpr double kOther = 1;
  const double window_moves = static_cast<double>(cursor_.rows()) / mover_.minibatch_size();
  if (recover(ChainMover::Lost::kTooFar)) law_moved_ = true;
  if (outrun && catch_up()) law_moved_ = true;
  const bool slower =
      mover_.sampler().relaxation() > kSlower * std::max(end.relaxation, window_moves);
  const bool other = refreshed && std::abs(estimator_.dispersion_change()) > kOther;
  if (slower && mover_.posterior_is_target()) start_anew();
  if (slower || other || (end.damped && !mover_.damped())) {
    ask_again(DrawBudget::Cause::kOtherLaw, kForgettingTime);
  }
}

// Whether scores and C of the pass that ended are those of the posterior it led to: an outlier that
// has left takes the noise variance with it, and the width of the chains.
bool Ensemble::posterior_moved() const noexcept {
  constexpr double kDispersionMoved = 0.1;
  return model().log_concave() && (estimator_.anchor_is_far() ||
                                   std::abs(estimator_.dispersion_change()) > kDispersionMoved);
}

bool Ensemble::start() noexcept {
  law_refused_ = !mover_.refresh(estimator_, false, nullptr);
  if (law_refused_) return false;
  phase_ = Phase::kApproach;
  passes_ = 0;
  // Enough to measure C, to settle and to retain draws, even if no further row ever comes.
  const double rows = static_cast<double>(cursor_.rows());
  budget_.set_credit(std::max(budget_.target(), kColdStartPasses) * rows);
  replay_ratio_.begin(cursor_.head(), rows, 0);
  for (Chain& chain : chains_.all()) {
    mover_.start(chains_, chain, estimator_, chain.index + config_.retained_draws);
  }
  return true;
}

// Draws of Laplace's take the place of chains and of what they have left.
void Ensemble::start_anew() noexcept {
  for (Chain& chain : chains_.all()) mover_.start_fresh(chains_, chain, estimator_);
  chains_.refill(estimator_);
  record_.forget_ratio();
}

// The chains came here by the law for C = A: where C is larger they are too wide, and forget
// slowly.
void Ensemble::begin_settling() noexcept {
  if (mover_.posterior_is_target()) start_anew();
  settling_ = 2;
  const double rows = static_cast<double>(cursor_.rows());
  law_moved_ = mover_.sampler().relaxation() > 2 * (rows / mover_.minibatch_size());
  // The window may have grown a lot since the chains began: enough for settling and for draws.
  budget_.grant_at_least(6 * rows);
}

// Chains that forget, and those too far off to come home in that time start again as fresh draws,
// where it is the posterior they draw from. Whether a chain was put elsewhere.
bool Ensemble::catch_up() noexcept {
  bool any = false;
  for (Chain& chain : chains_.all()) {
    if (!mover_.posterior_is_target() || !mover_.far_off(chains_, chain, estimator_)) continue;
    mover_.start_fresh(chains_, chain, estimator_);
    any = true;
  }
  ask_for_draws(kForgettingTime);
  return any;
}

bool Ensemble::recover(ChainMover::Lost which) noexcept {
  if (!mover_.recover(chains_, estimator_, which, noise_known())) return false;
  ask_again(DrawBudget::Cause::kDivergence, 0);
  return true;
}

// The draws to serve and to judge are those from now on, when chains have forgotten where they are.
void Ensemble::ask_for_draws(double forgetting) noexcept {
  budget_.ask(record_.relaxations(), forgetting);
  record_.restart_spread();
}

void Ensemble::ask_again(DrawBudget::Cause cause, double forgetting) noexcept {
  if (budget_.ask_again(cause, record_.relaxations(), forgetting)) record_.restart_spread();
}

void Ensemble::describe(Posterior& posterior, Evidence& e) noexcept {
  const double size = mover_.minibatch_size();
  record_.summarize(chains_.size(), posterior);
  describe_worst(posterior);
  record_.compare(estimator_, size, config_.sampler.temperature,
                  [this](double* h, double* injected) { return mover_.law(h, injected); });
  replay_ratio_.update(cursor_.head(), cursor_.rows(), budget_.due(size));
  const Consistency::Ratio& ratio = record_.ratio();
  Provenance& p = posterior.provenance;
  p.draws_per_observation = replay_ratio_.value();
  e.network = !model().log_concave();
  e.step_given = config_.sampler.step_size > 0;
  const bool swallowed = std::isinf(ratio.law()) && !e.step_given;
  p.law_ratio = law_refused_             ? std::numeric_limits<double>::infinity()
                : e.network || swallowed ? std::numeric_limits<double>::quiet_NaN()
                                         : ratio.law();
  e.sampling = sampling();
  e.chains_lost = mover_.damped();
  e.law_refused = law_refused_;
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
}

}  // namespace windhover
