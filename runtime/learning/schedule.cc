#include "windhover/runtime/learning/schedule.h"

#include <algorithm>
#include <cmath>

namespace windhover {

namespace {

constexpr std::uint64_t kMostRowsAMove = 256;
constexpr std::uint64_t kTailRows = 256;  // newest rows that join the sums in a round at rest

}  // namespace

std::uint64_t Schedule::rows_of_a_tenth_move() const noexcept {
  const double examples =
      ensemble_.mover().minibatch_size() * static_cast<double>(ensemble_.chains().size());
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(examples / 16), 8, kMostRowsAMove);
}

// While chains move, a large frame is taken in over several rounds, by as many rows as the sums can
// follow. Where more rows wait than a few frames, all are taken at once, until the next pass ends:
// then it is better to draw from the newest rows than to keep the sums exact.
std::uint64_t Schedule::next_head() noexcept {
  const std::uint64_t head = cursor_.published();
  if (!run_.sampling() || run_.rests()) return head;
  const std::uint64_t rows = cursor_.worth_rows();
  const std::uint64_t most =
      std::min({cursor_.slack() / 2, rows / 4, std::max(kWarmUpRows, rows / 32)});
  outpaced_ = outpaced_ || head - cursor_.head() > most;
  return outpaced_ ? head : std::min(head, cursor_.head() + rows_of_a_tenth_move());
}

std::uint64_t Schedule::rows_to_join(bool resting) const noexcept {
  return resting ? kTailRows : rows_of_a_tenth_move();
}

// A learned prior precision goes on to its fixed point whether rows come or not: the last steps of
// a group that rows hardly determine are many and short.
bool Schedule::prior_goes_on() const noexcept {
  constexpr std::uint64_t kMostForPrior = 64;
  const PriorPrecision& prior = estimator_.prior();
  const bool quadratic = estimator_.laplace().loss().quadratic;
  return (!prior.converged() || (!quadratic && prior.sums_are_of_others())) &&
         quiet_refreshes_ < kMostForPrior;
}

bool Schedule::prior_goes_on_without_pass() const noexcept {
  return estimator_.laplace().loss().quadratic && sums_.exact() && sums_.filled() &&
         prior_goes_on();
}

bool Schedule::pass_due() const noexcept {
  using Phase = Learner::Phase;
  const bool law_moved = run_.law_moved();
  if (config_.draws_per_observation == 0 || sums_.unusable()) return true;
  if (run_.phase() == Phase::kApproach || (run_.phase() == Phase::kBurnIn && law_moved))
    return true;
  if (ensemble_.mover().damping().active()) return true;
  if (!sums_.exact() || law_moved || estimator_.far_from_mode()) return true;
  if (!estimator_.laplace().loss().quadratic && prior_goes_on()) return true;
  const double fresh = static_cast<double>(cursor_.head() - sums_.pass().end());
  return fresh >= std::max(1.0, 0.01 * cursor_.worth());
}

// Passes over rows that stay the same tell ever less: they only measure C where chains stand now.
std::uint64_t Schedule::sweep_interval(bool resting) const noexcept {
  constexpr std::uint64_t kMost = 4;
  constexpr double kPriorRests = 1e-6;
  const bool moving = estimator_.far_from_mode() || estimator_.prior().moved() > kPriorRests;
  if (resting || moving || !run_.sampling()) return 1;
  return std::min(1 + sums_.quiet_passes(), kMost);
}

// While chains move, a pass takes about a third of their time: the statistics of a row cost as much
// as 16 + D / 3 rows of a minibatch. Where a stream lets the pass gain on it, it takes what that
// needs, up to some four times the chains' time, and less again on a faster stream. While chains
// rest it takes all.
std::uint64_t Schedule::sweep_rows(bool resting) const noexcept {
  if (resting) return kWarmUpRows;
  const double size = ensemble_.mover().minibatch_size();
  if (!run_.sampling()) return std::max<std::uint64_t>(static_cast<std::uint64_t>(size), 64);
  const double examples = size * static_cast<double>(ensemble_.chains().size());
  const auto share = static_cast<std::uint64_t>(examples / (48.0 + config_.model.dimension()));
  const std::uint64_t most = rows_of_a_tenth_move();
  const std::uint64_t fresh = cursor_.fresh();
  const std::uint64_t gaining = fresh <= most ? 3 * fresh : 3 * most * most / fresh;
  return std::max({share, gaining, std::uint64_t{16}});
}

// Rows in the sums come into the estimates when the chains rest, and before that where a refresh
// costs little beside the moves since the last one. Otherwise, with a stream that lets no chain
// rest, answers, and what the draws are compared with, would be up to a pass old.
bool Schedule::refresh_due(bool resting) const noexcept {
  // The moves must have taken kLeastWork times the products of a refresh: 4 D^3 at most (1.5 D^3
  // were counted at D = 1000), and D^2 a retained draw. With few parameters a refresh takes about
  // as long as a move, so there must be kFewestMoves, too.
  constexpr double kLeastWork = 10;
  constexpr double kFewestMoves = 8;
  if (!sums_.exact() || !sums_.filled()) return false;
  if (sums_.worth() >= 1.02 * refreshed_n_) return true;
  if (!refresh_is_worth_it()) return false;
  if (resting) return true;
  if (!run_.sampling() || !estimator_.laplace().loss().is_summary()) return false;
  const double d = config_.model.dimension();
  const double row = config_.model.max_nonzeros > 0 ? config_.model.max_nonzeros : d;
  // A move reads each row twice, and the preconditioner's matrix.
  const double moved = (2 * row * ensemble_.mover().minibatch_size() + d * d) *
                       static_cast<double>(ensemble_.chains().size());
  const double tail = sums_.tail_rows() - refreshed_tail_rows_;
  const bool news = tail >= WindowSums::kFewRows * cursor_.worth() || prior_goes_on_without_pass();
  return news && ensemble_.moves() >= kFewestMoves &&
         ensemble_.moves() * moved >= kLeastWork * (4 * d + config_.retained_draws) * d * d;
}

// While rows stay, Newton's method comes to their mode in a few passes, or goes in circles around
// it, as it can where classes are all but separable. After kEnough passes its steps are halved, and
// again after as many more.
double Schedule::longest_in_circles() const noexcept {
  constexpr std::uint64_t kEnough = 12;
  constexpr std::uint64_t kMostHalvings = 10;
  const std::uint64_t halvings = std::min(sums_.quiet_passes() / kEnough, kMostHalvings);
  if (halvings == 0 || !estimator_.far_from_mode()) return 1e300;
  return std::ldexp(estimator_.laplace().newton_decrement(), -2 * static_cast<int>(halvings));
}

}  // namespace windhover
