#include "windhover/runtime/learning/sampling_run.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

constexpr double kColdStartPasses = 10;
constexpr double kForgettingTime = 2;  // relaxations

// Whether the pass that ended led to a posterior other than the one its scores and C were measured
// under: an outlier that leaves takes the noise variance with it, and the width of the chains.
bool posterior_moved(const Estimator& estimator) noexcept {
  constexpr double kDispersionMoved = 0.1;
  return estimator.laplace().loss().is_summary() &&
         (estimator.laplace().anchor_is_far() ||
          std::abs(estimator.dispersion().change(estimator.done())) > kDispersionMoved);
}

// Whether the newest refresh changed a precision by a factor of e or more.
bool prior_jumped(const Estimator& estimator) noexcept { return estimator.prior().moved() > 1; }

}  // namespace

SamplingRun::SamplingRun(Arena& arena, const EngineConfig& config, const WindowCursor& cursor,
                         const Estimator& estimator, Ensemble& ensemble,
                         Counters<RuntimeCounter>& counters) noexcept
    : config_(config),
      cursor_(cursor),
      estimator_(estimator),
      counters_(counters),
      ensemble_(ensemble),
      record_(arena, config, config.sampler.chains),
      budget_(config, config.sampler.chains),
      // These moves are made by the old law. Nothing is compared or retained; a chain that is lost
      // by them is found in the next round.
      background_moves_(
          [](void* self) noexcept {
            auto& run = *static_cast<SamplingRun*>(self);
            const std::size_t chain = run.ensemble_.move_aside();
            run.count_moves(chain, chain + 1);
          },
          this) {}

void SamplingRun::reset() noexcept {
  record_.reset();
  budget_.ask(0, 0);
}

bool SamplingRun::rests() const noexcept {
  const ChainMover& mover = ensemble_.mover();
  if (!budget_.spent(mover.minibatch_size())) return false;
  if (phase() == Phase::kApproach || budget_.exhausted(mover.longest_relaxation())) return true;
  return sampling() && !budget_.pending(record_.relaxations()) && record_.can_be_judged();
}

void SamplingRun::before_rows(std::uint64_t fresh) noexcept {
  ensemble_.add_rows(fresh);
  budget_.stream_went_on();
}

void SamplingRun::after_rows(double fresh) noexcept { budget_.grant(fresh, cursor_.worth()); }

// Does what concerns all chains, in a fixed order, on one thread.
bool SamplingRun::end_move() noexcept {
  recover(ChainMover::Lost::kMoveFailed);
  count_moves(0, ensemble_.chains().size());
  background_moves_.restart();
  budget_.count_move();
  ensemble_.end_move();
  if (sampling()) return record_draws();
  if (phase() == Phase::kBurnIn && phase_.burn(1.0 / ensemble_.mover().relaxation())) {
    record_.begin();
    ask_for_draws(0);
  }
  return false;
}

// Counts one move of each of the chains [first, last). Pending draws may be made without credit.
void SamplingRun::count_moves(std::size_t first, std::size_t last) noexcept {
  ChainMover& mover = ensemble_.mover();
  mover.count_moves(ensemble_.chains(), first, last, sampling());
  const double rows = mover.minibatch_size() * static_cast<double>(last - first) /
                      static_cast<double>(ensemble_.chains().size());  // a chain
  budget_.spend(rows);
  replay_ratio_.drew(rows);
}

// Records diagnostics eight times a relaxation, and retains each chain once a relaxation, one after
// the other.
bool SamplingRun::record_draws() noexcept {
  ChainSet& chains = ensemble_.chains();
  const ChainMover& mover = ensemble_.mover();
  const ChainRecord::Step step = record_.advance(1.0 / mover.relaxation());
  const bool all_draws = std::ranges::all_of(chains.all(), &Chain::is_draw);
  const bool recorded = all_draws && step.passed(8, 0);
  if (all_draws) record_.count_draws();
  if (recorded) {
    recover(ChainMover::Lost::kTooFar);
    record_.add_iterates(chains.all(), estimator_);
  }
  bool retained = false;
  for (const Chain& chain : chains.all()) {
    const double offset = chain.index / static_cast<double>(chains.size());
    if (!chain.is_draw || !step.passed(1, offset)) continue;
    chains.retain(chain, estimator_);
    retained = true;
  }
  if (!recorded) return retained;
  // Chains may move between the pieces of what follows: what they left is recorded by now.
  const auto* sampler = find_sampler(config_.sampler.name)->has_law ? &mover.sampler() : nullptr;
  record_.follow_law(
      {sampler, estimator_.laplace().curvature(), estimator_.noise().values().data(),
       estimator_.laplace().covariance(), mover.minibatch_size(), estimator_.laplace().n(),
       config_.sampler.temperature, counters_.get(RuntimeCounter::kRefreshes)},
      background_moves());
  compare();
  return retained;
}

// Where draws do not spread as they should, new ones are asked for and compared, as the cause may
// be over, or be a C averaged over passes of other rows, which the next pass measures anew. This is
// done four times, and again each time a sixteenth of the window is new.
void SamplingRun::compare() noexcept {
  constexpr int kMostTimes = 4;
  constexpr double kNews = 1.0 / 16;
  const ChainMover& mover = ensemble_.mover();
  if (passes_to_make_ > 0 || !mover.law_is_of_minibatch()) return;
  const double fresh = static_cast<double>(cursor_.head() - judged_.head);
  const bool news = fresh >= kNews * cursor_.worth();
  if (news && record_.spread_is_off()) record_.compare_soon();
  if (!record_.comparison_due(cursor_.worth_rows())) return;
  record_.compare(estimator_, mover.minibatch_size(), config_.sampler.temperature,
                  [&mover](double* h, double* injected) { return mover.law(h, injected); });
  behind_ = false;
  if (!record_.spread_is_off() || !estimator_.laplace().loss().is_summary()) return;
  if (news) judged_ = {cursor_.head(), 0};
  if (judged_.times >= kMostTimes) return;
  ++judged_.times;
  law_moved_ = law_moved_ || record_.spread_is_narrow();
  ask_for_draws(kForgettingTime);
}

Interlude* SamplingRun::background_moves() noexcept {
  const bool moves =
      sampling() && !rests() && config_.sampler.noise_estimator == NoiseEstimator::kWindowSweep;
  return moves ? &background_moves_ : nullptr;
}

SamplingRun::PassEnd SamplingRun::end_pass(bool noise_known) noexcept {
  ChainMover& mover = ensemble_.mover();
  PassEnd end;
  end.noise_known = noise_known;
  end.approached = phase_.end_pass(noise_known);
  end.damped = mover.damping().active();
  if (end.damped) record_.compare_soon();
  mover.damping().end_pass();
  end.relaxation = mover.sampler().relaxation();
  return end;
}

void SamplingRun::follow_pass(const PassEnd& end, bool refreshed, bool outrun) noexcept {
  const bool resized = passes_to_make_ > 0 && --passes_to_make_ == 0;
  law_moved_ =
      (refreshed && posterior_moved(estimator_)) || !end.noise_known || passes_to_make_ > 0;
  if (end.approached) {
    begin_burn_in();
  } else if (phase() == Phase::kBurnIn && ensemble_.leaves_laplace()) {
    law_moved_ = law_moved_ || (ensemble_.mover().forgets_slowly() && !rests());
  }
  if (!sampling()) return;
  // Draws are asked for again where the posterior was another one (`other`, `resized`), where a law
  // that knew less noise left the chains too wide and they now forget slowly (`slower`), or where
  // steps had been shortened and are whole again.
  constexpr double kSlower = 2;
  constexpr double kOther = 1;
  const ChainMover& mover = ensemble_.mover();
  const double window_moves = cursor_.worth() / mover.minibatch_size();
  if (recover(ChainMover::Lost::kTooFar)) law_moved_ = true;
  if (outrun) {
    // Chains too far off to return in the time that the others need to forget start again.
    if (ensemble_.restart_far()) law_moved_ = true;
    ask_for_draws(kForgettingTime);
  }
  // Draws that have not been compared yet are not begun anew, or none ever would be.
  const Ensemble::Misplaced misplaced = ensemble_.take_misplaced();
  if (misplaced == Ensemble::Misplaced::kChains) ensemble_.restart_far();
  if (misplaced != Ensemble::Misplaced::kNone && record_.is_compared()) {
    ask_for_draws(kForgettingTime);
  }
  const bool slower =
      mover.sampler().relaxation() > kSlower * std::max(end.relaxation, window_moves);
  const bool other =
      refreshed && (std::abs(estimator_.dispersion().change(estimator_.done())) > kOther ||
                    prior_jumped(estimator_));
  const bool anew = slower && mover.posterior_is_target();
  if (anew) ensemble_.start_anew();
  if (slower || other || resized || (end.damped && !mover.damping().active())) {
    const bool asked = ask_again(DrawBudget::Cause::kOtherLaw, kForgettingTime);
    // Draws of the replaced chains say nothing of the new ones, which move until they are compared.
    if (anew && !asked) record_.forget_ratio();
  }
}

void SamplingRun::follow_sums() noexcept {
  if (!sampling() || !prior_jumped(estimator_)) return;
  ask_again(DrawBudget::Cause::kOtherLaw, kForgettingTime);
}

bool SamplingRun::start() noexcept {
  if (phase_.interrupted()) {
    law_moved_ = true;  // what C has been is of another posterior
    law_refused_ = !ensemble_.go_on();
    if (!law_refused_) {
      go_on();
      return true;
    }
  }
  law_refused_ = !ensemble_.start();
  if (law_refused_) return false;
  phase_.start();
  // This is enough to measure C, for the burn-in and to retain draws, even if no further row ever
  // comes.
  const double rows = cursor_.worth();
  budget_.set_credit(std::max(budget_.target(), kColdStartPasses) * rows);
  replay_ratio_.begin(cursor_.head(), rows, 0);
  return true;
}

// What the draws before have shown of their law stands until those from here on are compared.
void SamplingRun::go_on() noexcept {
  phase_.go_on();
  take_other_rows();
  judged_ = {cursor_.head(), 0};
  behind_ = true;
  budget_.grant_at_least(kColdStartPasses * cursor_.worth());
  ask_for_draws(kForgettingTime);
}

void SamplingRun::start_over(bool interrupts) noexcept {
  phase_.start_over(interrupts && ensemble_.mover().posterior_is_target());
  behind_ = false;
  passes_to_make_ = 0;
  ensemble_.mover().damping().forget();
}

// The chains have moved by the law for C = A: where C is larger they are too wide, and forget
// slowly.
void SamplingRun::begin_burn_in() noexcept {
  const ChainMover& mover = ensemble_.mover();
  if (mover.posterior_is_target()) {
    ensemble_.start_anew();
    record_.forget_ratio();
  }
  phase_.begin_burn_in(2);
  const double rows = cursor_.worth();
  law_moved_ = mover.forgets_slowly();
  // This is enough for the burn-in and for draws, also where the window has grown a lot since the
  // chains began.
  budget_.grant_at_least(6 * rows);
}

bool SamplingRun::recover(ChainMover::Lost which) noexcept {
  if (!ensemble_.recover(which, phase_.noise_known())) return false;
  ask_again(DrawBudget::Cause::kDivergence, 0);
  return true;
}

// The draws to serve and to judge are those made from now on, once chains have forgotten where they
// are.
void SamplingRun::ask_for_draws(double forgetting) noexcept {
  budget_.ask(record_.relaxations(), forgetting);
  record_.restart_spread(forgetting);
  record_.compare_soon();
}

bool SamplingRun::ask_again(DrawBudget::Cause cause, double forgetting) noexcept {
  if (!budget_.ask_again(cause, record_.relaxations(), forgetting)) return false;
  record_.restart_spread(forgetting);
  record_.compare_soon();
  return true;
}

}  // namespace windhover
