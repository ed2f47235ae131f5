// Passes over the window, and what follows when sums become estimates.
#include <algorithm>
#include <cmath>

#include "windhover/runtime/learning/window_learner.h"

namespace windhover {

namespace {

constexpr std::uint64_t kMostRowsAMove = 256;

}  // namespace

// Rows whose statistics cost about a tenth of moving all chains once.
std::uint64_t WindowLearner::rows_of_a_tenth_move() const noexcept {
  const double examples = minibatch_size() * static_cast<double>(ensemble_.chains().size());
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(examples / 16), 8, kMostRowsAMove);
}

bool WindowLearner::pass_due(bool resting) const noexcept {
  const bool law_moved = ensemble_.law_moved();
  if (config_.draws_per_observation == 0 || sums_.unusable()) return true;
  if (phase() == Phase::kApproach || (phase() == Phase::kSettling && law_moved)) return true;
  if (ensemble_.damped()) return true;
  if (resting && (!sums_.exact() || law_moved || estimator_.far_from_mode())) return true;
  const double fresh = static_cast<double>(cursor_.head() - sums_.pass().end());
  return fresh >= std::max(1.0, 0.01 * static_cast<double>(cursor_.rows()));
}

void WindowLearner::begin_pass() noexcept {
  sums_.begin_pass();
  ensemble_.begin_pass();
}

// Rounds from one piece of the pass to the next. Passes over rows that stay the same tell ever
// less: C at other places of the same chains.
std::uint64_t WindowLearner::sweep_interval(bool resting) const noexcept {
  constexpr std::uint64_t kMost = 4;
  constexpr double kPriorRests = 1e-6;
  const bool moving = estimator_.far_from_mode() || estimator_.prior().moved() > kPriorRests;
  if (resting || moving || !ensemble_.sampling()) return 1;
  return std::min(1 + sums_.quiet_passes(), kMost);
}

// C is summed where one chain stands before it moves, another for every piece of the pass.
void WindowLearner::begin_sweep(bool resting, std::uint64_t interval) noexcept {
  sums_.pass().begin_sweep(sweep_rows(resting));
  std::copy_n(ensemble_.noise_anchor(round_ / interval), config_.model.dimension(), noise_at_);
}

// While chains move, a pass costs about a third of what they do (the statistics of a row cost as
// much as 16 + D / 3 rows of a minibatch), or what it takes to gain on a stream that lets it (up to
// some four times what they do), less and less on a faster one; while they rest it goes ahead.
std::uint64_t WindowLearner::sweep_rows(bool resting) const noexcept {
  if (resting) return kWarmUpRows;
  const double size = minibatch_size();
  if (!ensemble_.sampling()) return std::max<std::uint64_t>(static_cast<std::uint64_t>(size), 64);
  const double examples = size * static_cast<double>(ensemble_.chains().size());
  const auto share = static_cast<std::uint64_t>(examples / (48.0 + config_.model.dimension()));
  const std::uint64_t most = rows_of_a_tenth_move();
  const std::uint64_t fresh = cursor_.fresh();
  const std::uint64_t gaining = fresh <= most ? 3 * fresh : 3 * most * most / fresh;
  return std::max({share, gaining, std::uint64_t{16}});
}

// The sums of the pass become estimates, and the chains follow.
void WindowLearner::complete_pass() noexcept {
  const PassResult pass = sums_.complete_pass(ensemble_.sampling());
  Interlude* const background = ensemble_.background_moves();
  const double replaced = ensemble_.law_moved() ? 1.0 : pass.replaced;
  const bool noise_known =
      !ensemble_.lost_in_pass() && estimator_.end_noise_pass(replaced, background);
  counters_.add(RuntimeCounter::kPasses);
  outpaced_ = false;
  const Ensemble::PassEnd end = ensemble_.end_pass(noise_known);
  scan_.scan_targets(cursor_, *models_[0], estimator_);
  const bool refreshed = refresh(background);
  ensemble_.follow_pass(end, refreshed, pass.outrun);
  sums_.pass().repeats().end_pass();
  // Scores at an anchor far off are mostly what the parameters have moved since; of a quadratic
  // loss they still tell drift from none.
  if (model().quadratic() || !estimator_.anchor_is_far()) sums_.pass().scores().end_pass();
  if (scan_.target_units_due()) return start_over();
  start_over_if_lost();
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
  if (!ensemble_.sampling() || !sums_.exact() || !model().log_concave()) return false;
  const double d = config_.model.dimension();
  const double row = config_.model.max_nonzeros > 0 ? config_.model.max_nonzeros : d;
  // Each row twice, and the preconditioner's matrix.
  const double moved =
      (2 * row * minibatch_size() + d * d) * static_cast<double>(ensemble_.chains().size());
  const double tail = sums_.tail_rows() - refreshed_.tail_rows;
  return tail >= WindowSums::kFewRows * static_cast<double>(cursor_.rows()) &&
         ensemble_.moves() >= kFewestMoves &&
         ensemble_.moves() * moved >= kLeastWork * (4 * d + config_.retained_draws) * d * d;
}

// Where the sums cannot be used the next pass makes new ones.
void WindowLearner::follow_sums() noexcept {
  if (!refresh(ensemble_.background_moves())) return sums_.give_up();
  start_over_if_lost();
}

bool WindowLearner::refresh(Interlude* background_moves) noexcept {
  const double n = sums_.rows();
  refreshed_.n = n;
  refreshed_.tail_rows = sums_.tail_rows();
  dirty_ = true;
  // Where the loss is not convex a step may not be trusted further than the posterior is wide.
  const double longest = model().log_concave() ? 1e300 : 1.0;
  if (!ok(estimator_.refresh(n, scan_.target_variance(), longest, ensemble_.prior_move(),
                             background_moves))) {
    counters_.add(RuntimeCounter::kFactorizationFailures);
    return false;
  }
  refreshed_.position = sums_.joined();
  ensemble_.follow(cursor_.head() - sums_.joined(), background_moves);
  return true;
}

// Where no chain can move by the step that is given, Laplace's answers go on.
void WindowLearner::start_chains() noexcept {
  if (!ensemble_.start()) return;
  counters_.add(RuntimeCounter::kColdStarts);
  scan_.freeze();
  sums_.mark_previous_end();
  begin_pass();
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
  ensemble_.start_over();
  cold_start_.start_over();
  publisher_.withdraw();
  dirty_ = false;
}

}  // namespace windhover
