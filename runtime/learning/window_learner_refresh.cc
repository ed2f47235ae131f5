// Passes over the window, and what follows when sums become estimates.
#include <algorithm>
#include <cmath>

#include "windhover/runtime/learning/window_learner.h"

namespace windhover {

namespace {

constexpr std::uint64_t kMostRowsAMove = 256;
constexpr double kColdStartPasses = 10;
constexpr double kForgettingTime = 2;  // relaxations

}  // namespace

void WindowLearner::Lag::keep(double waiting) noexcept {
  const double kept = arrived > 0 ? std::min(1.0, waiting / arrived) : 0.0;
  arrived *= kept;
  unfollowed *= kept;
}

// Rows whose statistics cost about a tenth of moving all chains once.
std::uint64_t WindowLearner::rows_of_a_tenth_move() const noexcept {
  const double examples = minibatch_size() * static_cast<double>(chains_.size());
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(examples / 16), 8, kMostRowsAMove);
}

bool WindowLearner::pass_due(bool resting) const noexcept {
  if (budget_.unlimited() || phase_ == Phase::kApproach || sums_.unusable()) return true;
  if (mover_.damped() || (phase_ == Phase::kSettling && law_moved_)) return true;
  if (resting && (!sums_.exact() || law_moved_ || estimator_.far_from_mode())) return true;
  const double fresh = static_cast<double>(cursor_.head() - sums_.pass().end());
  return fresh >= std::max(1.0, 0.01 * static_cast<double>(cursor_.rows()));
}

void WindowLearner::begin_pass() noexcept {
  sums_.begin_pass();
  mover_.begin_pass();
}

// Rounds from one piece of the pass to the next. Passes over rows that stay the same tell ever
// less: C at other places of the same chains.
std::uint64_t WindowLearner::sweep_interval(bool resting) const noexcept {
  constexpr std::uint64_t kMost = 4;
  constexpr double kPriorRests = 1e-6;
  const bool moving = estimator_.far_from_mode() || estimator_.prior().moved() > kPriorRests;
  if (resting || moving || phase_ != Phase::kSampling) return 1;
  return std::min(1 + sums_.quiet_passes(), kMost);
}

// C is summed where one chain stands before it moves, another for every piece of the pass.
void WindowLearner::begin_sweep(bool resting, std::uint64_t interval) noexcept {
  sums_.pass().begin_sweep(sweep_rows(resting));
  const Chain& chain = chains_.all()[round_ / interval % chains_.size()];
  const bool off = mover_.far_off(chains_, chain, estimator_);
  std::copy_n(off ? estimator_.mean() : chain.theta, config_.model.dimension(), noise_at_);
}

// While chains move, a pass costs about a third of what they do (the statistics of a row cost as
// much as 16 + D / 3 rows of a minibatch), or what it takes to gain on a stream that lets it (up to
// some four times what they do), less and less on a faster one; while they rest it goes ahead.
std::uint64_t WindowLearner::sweep_rows(bool resting) const noexcept {
  if (resting) return kWarmUpRows;
  const double size = minibatch_size();
  if (phase_ != Phase::kSampling)
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(size), 64);
  const double examples = size * static_cast<double>(chains_.size());
  const auto share = static_cast<std::uint64_t>(examples / (48.0 + config_.model.dimension()));
  const std::uint64_t most = rows_of_a_tenth_move();
  const std::uint64_t fresh = cursor_.fresh();
  const std::uint64_t gaining = fresh <= most ? 3 * fresh : 3 * most * most / fresh;
  return std::max({share, gaining, std::uint64_t{16}});
}

// The sums of the pass become estimates, and the chains follow.
void WindowLearner::complete_pass() noexcept {
  const PassResult pass = sums_.complete_pass(phase_ == Phase::kSampling);
  Interlude* const background = background_moves();
  const bool known = !mover_.lost_in_pass() &&
                     estimator_.end_noise_pass(law_moved_ ? 1.0 : pass.replaced, background);
  passes_ = known || phase_ != Phase::kApproach ? passes_ + 1 : 0;
  counters_.add(RuntimeCounter::kPasses);
  outpaced_ = false;
  const bool approached = phase_ == Phase::kApproach && passes_ >= 2;
  if (approached) phase_ = Phase::kSettling;
  const bool damped = mover_.damped();
  if (damped) record_.compare_soon();
  mover_.end_pass();
  scan_.scan_targets(cursor_, *models_[0], estimator_);
  const double relaxation_before = mover_.sampler().relaxation();
  const bool refreshed = refresh(background);
  law_moved_ = (refreshed && law_moved()) || !known;
  if (approached) begin_settling();
  if (phase_ == Phase::kSampling) {
    // The posterior was another one, chains were wider by a law that knew less noise and now forget
    // slowly, or steps were too short for its width.
    constexpr double kSlower = 2;
    constexpr double kOther = 1;
    const double window_moves = static_cast<double>(cursor_.rows()) / minibatch_size();
    if (recover(ChainMover::Lost::kTooFar)) law_moved_ = true;
    if (pass.outrun && catch_up()) law_moved_ = true;
    const bool slower =
        mover_.sampler().relaxation() > kSlower * std::max(relaxation_before, window_moves);
    const bool other = refreshed && std::abs(estimator_.dispersion_change()) > kOther;
    if (slower && mover_.posterior_is_target()) start_anew();
    if (slower || other || (damped && !mover_.damped())) {
      ask_again(DrawBudget::Cause::kOtherLaw, kForgettingTime);
    }
  }
  sums_.pass().repeats().end_pass();
  // Scores at an anchor far off are mostly what the parameters have moved since; of a quadratic
  // loss they still tell drift from none.
  if (model().quadratic() || !estimator_.anchor_is_far()) sums_.pass().scores().end_pass();
  if (scan_.target_units_due()) return start_over();
  start_over_if_lost();
}

// Whether scores and C of the pass that ended are those of the posterior it led to: an outlier that
// has left takes the noise variance with it, and the width of the chains.
bool WindowLearner::law_moved() const noexcept {
  constexpr double kDispersionMoved = 0.1;
  return model().log_concave() && (estimator_.anchor_is_far() ||
                                   std::abs(estimator_.dispersion_change()) > kDispersionMoved);
}

// Rows that are in the sums come into the estimates when the chains rest, and before that where a
// refresh costs little beside the moves since the last one: a stream that lets no chain rest would
// have its answers, and what the draws are compared with, up to a pass old.
bool WindowLearner::refresh_due(bool resting) const noexcept {
  // In refreshes, of 4 D^3 products at the most (1.5 D^3 were counted at D = 1000) and D^2 a
  // retained draw; one of few parameters takes about as long as a move.
  constexpr double kLeastWork = 10;
  constexpr double kFewestMoves = 8;
  if (sums_.unusable() || !sums_.filled()) return false;
  if (sums_.rows() >= 1.02 * refreshed_.n) return true;
  if (sums_.tail_rows() == refreshed_.tail_rows) return false;
  if (resting) return true;
  if (phase_ != Phase::kSampling || !sums_.exact() || !model().log_concave()) return false;
  const double d = config_.model.dimension();
  const double row = config_.model.max_nonzeros > 0 ? config_.model.max_nonzeros : d;
  // Each row twice, and the preconditioner's matrix.
  const double moved = (2 * row * minibatch_size() + d * d) * static_cast<double>(chains_.size());
  const double tail = sums_.tail_rows() - refreshed_.tail_rows;
  return tail >= WindowSums::kFewRows * static_cast<double>(cursor_.rows()) &&
         refreshed_.moves >= kFewestMoves &&
         refreshed_.moves * moved >= kLeastWork * (4 * d + config_.retained_draws) * d * d;
}

// Where the sums cannot be used the next pass makes new ones.
void WindowLearner::follow_sums() noexcept {
  if (!refresh(background_moves())) return sums_.give_up();
  start_over_if_lost();
}

bool WindowLearner::refresh(Interlude* background_moves) noexcept {
  const double n = sums_.rows();
  refreshed_.n = n;
  refreshed_.tail_rows = sums_.tail_rows();
  dirty_ = true;
  // Where the loss is not convex a step may not be trusted further than the posterior is wide.
  const double longest = model().log_concave() ? 1e300 : 1.0;
  if (!ok(estimator_.refresh(n, scan_.target_variance(), longest, prior_move_, background_moves))) {
    counters_.add(RuntimeCounter::kFactorizationFailures);
    return false;
  }
  prior_move_ = 0;
  refreshed_.position = sums_.joined();
  refreshed_.moves = 0;
  if (model().log_concave() && !chains_.keep_state()) {
    chains_.transport(estimator_, lag_.followed(), background_moves);
  } else if (model().log_concave()) {
    chains_.transport_draws(estimator_, background_moves);
  }
  lag_.keep(static_cast<double>(cursor_.head() - sums_.joined()));
  mover_.refresh(estimator_, noise_known(), background_moves);
  return true;
}

// For the end of a pass and for a refresh. Null where chains rest, and where none may move
// meanwhile: sums that go on with every move would change under them.
Interlude* WindowLearner::background_moves() noexcept {
  const bool moves = phase_ == Phase::kSampling && !rests() &&
                     config_.sampler.noise_estimator == NoiseEstimator::kWindowSweep;
  return moves ? &background_moves_ : nullptr;
}

// While the end of a pass or a refresh takes long the chains go on moving, one at a time, by the
// law of before. Nothing is compared or retained; a chain that diverges is found to have done so in
// the next round.
void WindowLearner::move_in_background() noexcept {
  const std::size_t chain = mover_.move_aside(chains_, estimator_, leader());
  count_moves(chain, chain + 1);
}

void WindowLearner::start_chains() noexcept {
  // A step that is given and too long: there is no law to move by. Laplace's answers go on.
  law_refused_ = !mover_.refresh(estimator_, false, nullptr);
  if (law_refused_) return;
  counters_.add(RuntimeCounter::kColdStarts);
  phase_ = Phase::kApproach;
  scan_.freeze();
  passes_ = 0;
  sums_.mark_previous_end();
  // Enough to measure C, to settle and to retain draws, even if no further row ever comes.
  const double rows = static_cast<double>(cursor_.rows());
  budget_.set_credit(std::max(budget_.target(), kColdStartPasses) * rows);
  replay_ratio_.begin(cursor_.head(), rows, 0);
  for (Chain& chain : chains_.all()) {
    mover_.start(chains_, chain, estimator_, chain.index + config_.retained_draws);
  }
  begin_pass();
}

// Draws of Laplace's take the place of chains and of what they have left.
void WindowLearner::start_anew() noexcept {
  for (Chain& chain : chains_.all()) {
    mover_.start(chains_, chain, estimator_, (round_ << 16) + chain.index + 1);
  }
  chains_.refill(estimator_);
  record_.forget_ratio();
  dirty_ = true;
}

// The chains came here by the law for C = A: where C is larger they are too wide, and forget
// slowly.
void WindowLearner::begin_settling() noexcept {
  if (mover_.posterior_is_target()) start_anew();
  settling_ = 2;
  const double rows = static_cast<double>(cursor_.rows());
  law_moved_ = mover_.sampler().relaxation() > 2 * (rows / minibatch_size());  // C is of there
  // The window may have grown a lot since the chains began: enough for settling and for draws.
  budget_.grant_at_least(6 * rows);
}

void WindowLearner::begin_sampling() noexcept {
  phase_ = Phase::kSampling;
  record_.begin();
  ask_for_draws(0);
}

// Chains that forget, and those too far off to come home in that time start again as fresh draws,
// where it is the posterior they draw from. Whether a chain was put elsewhere.
bool WindowLearner::catch_up() noexcept {
  bool any = false;
  for (Chain& chain : chains_.all()) {
    if (!mover_.posterior_is_target() || !mover_.far_off(chains_, chain, estimator_)) continue;
    mover_.start(chains_, chain, estimator_, (round_ << 16) + chain.index + 1);
    any = true;
  }
  ask_for_draws(kForgettingTime);
  return any;
}

bool WindowLearner::recover(ChainMover::Lost which) noexcept {
  if (!mover_.recover(chains_, estimator_, which, noise_known())) return false;
  ask_again(DrawBudget::Cause::kDivergence, 0);
  return true;
}

// The draws to serve and to judge are those from now on, when chains have forgotten where they are.
void WindowLearner::ask_for_draws(double forgetting) noexcept {
  budget_.ask(record_.relaxations(), forgetting);
  record_.restart_spread();
}

void WindowLearner::ask_again(DrawBudget::Cause cause, double forgetting) noexcept {
  if (budget_.ask_again(cause, record_.relaxations(), forgetting)) record_.restart_spread();
}

// A Newton step that changes the linear predictors by about one or more is beyond where the loss
// looks quadratic. Rows from a part of the feature space not seen before can call for such a step
// when they come all at once: it would leave for where every probability is 0 or 1. A cold start
// from the rows there are checks its steps. Until it is over the numbers before this are served, as
// those of a learner that is warming up.
void WindowLearner::start_over_if_lost() noexcept {
  if (!model().log_concave() || estimator_.steps_are_safe() || estimator_.step_is_trusted()) return;
  start_over();
}

void WindowLearner::start_over() noexcept {
  scan_.take_up_target_units();
  estimator_.start_over();
  sums_.pass().scores().reset();
  phase_ = Phase::kWarmingUp;
  cold_start_.start_over();
  mover_.undamp();
  publisher_.withdraw();
  dirty_ = false;
}

}  // namespace windhover
