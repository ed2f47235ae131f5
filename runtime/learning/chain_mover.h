// Moves the chains on minibatches of the window, by a sampler's law.
#ifndef WINDHOVER_RUNTIME_LEARNING_CHAIN_MOVER_H_
#define WINDHOVER_RUNTIME_LEARNING_CHAIN_MOVER_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/counters.h"
#include "windhover/runtime/counter_ids.h"
#include "windhover/runtime/learning/chain_set.h"
#include "windhover/runtime/learning/known_rows.h"
#include "windhover/runtime/learning/learner_worker.h"
#include "windhover/runtime/window/window_cursor.h"
#include "windhover/samplers/registry.h"

namespace windhover {

// How much shorter steps are because chains have been lost: each round with a loss halves them,
// down to 1 / 1024; each pass without a loss doubles them again.
class StepDamping {
 public:
  double factor() const noexcept { return factor_; }
  bool active() const noexcept { return factor_ != 1; }
  bool lost_in_pass() const noexcept { return lost_in_pass_; }

  void chains_lost() noexcept {
    lost_in_pass_ = true;
    factor_ = std::max(0.5 * factor_, 1.0 / 1024);
  }
  void begin_pass() noexcept { lost_in_pass_ = false; }
  void end_pass() noexcept {
    if (!lost_in_pass_) factor_ = std::min(1.0, 2 * factor_);
  }
  void forget() noexcept { factor_ = 1; }

  void visit_factor(StateVisitor& visitor) noexcept { visitor.value(factor_); }
  void visit_pass(StateVisitor& visitor) noexcept { visitor.value(lost_in_pass_); }

 private:
  double factor_ = 1;
  bool lost_in_pass_ = false;
};

// Each chain draws a minibatch of its own, with replacement, rows in proportion to what they count
// for by their age. Invariant: the sampler's law is that of the last refresh that succeeded, its
// steps shortened by what damping() was then. One thread, but for move() of different chains.
class ChainMover {
 public:
  // Which chains count as lost: those whose last move failed, or those that have diverged.
  enum class Lost : std::uint8_t { kMoveFailed, kTooFar };

  ChainMover(Arena& arena, const EngineConfig& config, const WindowCursor& cursor,
             AnySampler* sampler, Counters<RuntimeCounter>& counters) noexcept;
  void reset() noexcept;

  // S for the rows that the window holds now.
  double minibatch_size() const noexcept {
    return static_cast<double>(minibatch_rows(config_, cursor_.worth_rows()));
  }
  // Whether the law is for minibatches of about that size: it is not while many rows that made it
  // larger are still joining the sums.
  bool law_is_of_minibatch() const noexcept {
    const auto rows = static_cast<std::uint64_t>(std::lround(law_n_));
    const auto size = static_cast<double>(minibatch_rows(config_, rows));
    return std::abs(size - minibatch_size()) <= 0.1 * minibatch_size();
  }
  // The moves of one relaxation: the sampler's, but at least those in which a chain draws as many
  // rows as the window is worth, and at most longest_relaxation().
  double relaxation() const noexcept;
  // Chains that take longer to forget are not waited for: their draws are too few, and the status
  // says so.
  double longest_relaxation() const noexcept;
  const AnySampler& sampler() const noexcept { return *sampler_; }

  // Takes new estimates into the sampler's law; `noise_known`: C has been measured. false: the old
  // law stays.
  bool refresh(const Estimator& estimator, bool noise_known, Interlude* interlude) noexcept;
  // Writes H and the injected covariance; false: the law is not that of a linear recursion.
  bool law(double* preconditioner, double* injected) const noexcept {
    if (first_order_) sampler_->law(preconditioner, injected);
    return first_order_;
  }
  bool posterior_is_target() const noexcept { return posterior_is_target_; }

  // The rows that minibatches are drawn from.
  KnownRows& rows() noexcept { return rows_; }
  // Whether a chain takes longer to forget where it was than two passes over the window.
  bool forgets_slowly() const noexcept {
    return sampler_->relaxation() > 2 * (cursor_.worth() / minibatch_size());
  }

  // Gives the moves from here on the random numbers of this round.
  void begin_round(std::uint64_t round) noexcept {
    round_ = round;
    asides_ = 0;
  }
  // Moves the chains [begin, end), with a worker's model and scratch.
  void move(ChainSet& chains, Estimator& estimator, std::size_t begin, std::size_t end,
            LearnerWorker& worker) noexcept;
  // Moves the next chain in turn, beside the round's own moves. Returns which one it was.
  std::size_t move_aside(ChainSet& chains, Estimator& estimator, LearnerWorker& worker) noexcept;
  // After move() of these chains: shows and counts them.
  void count_moves(const ChainSet& chains, std::size_t first, std::size_t last,
                   bool traced) noexcept;

  // Puts the chain at a draw of N(mean, T P), and sets what the sampler keeps for a chain that
  // begins there.
  void start(ChainSet& chains, Chain& chain, const Estimator& estimator,
             std::uint64_t number) noexcept;
  // The same with a number that no other round and chain has.
  void start_fresh(ChainSet& chains, Chain& chain, const Estimator& estimator) noexcept {
    start(chains, chain, estimator, (round_ << 16) + chain.index + 1);
  }
  // Lost chains start again as fresh draws and all steps are halved. Returns whether there was one.
  bool recover(ChainSet& chains, const Estimator& estimator, Lost which, bool noise_known) noexcept;
  // Whether the chain is farther from the mean than a draw ever is: 10 posterior sd in a parameter
  // where the law is to be the posterior, otherwise ChainSet::kDivergedDeviations.
  bool far_off(const ChainSet& chains, const Chain& chain,
               const Estimator& estimator) const noexcept;

  StepDamping& damping() noexcept { return damping_; }
  const StepDamping& damping() const noexcept { return damping_; }

  // Call it between rounds: moves beside a round's own are counted from 0 in each round.
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.section("sampler");
    damping_.visit_factor(visitor);
    visitor.value(law_n_);
    rows_.visit_state(visitor);
    damping_.visit_pass(visitor);
    visitor.value(has_law_);
    if (has_law_) sampler_->visit_state(visitor);
  }

 private:
  std::uint64_t move_number() const noexcept { return round_ + (asides_ << 40); }
  void draw_minibatch(const Chain& chain, std::span<std::uint32_t> slots,
                      LearnerWorker& worker) const noexcept;
  Status move_chain(ChainSet& chains, Chain& chain, Estimator& estimator, const RowBatch& minibatch,
                    LearnerWorker& worker) noexcept;

  const EngineConfig& config_;
  const WindowCursor& cursor_;
  AnySampler* sampler_;
  Counters<RuntimeCounter>& counters_;
  bool first_order_ = false;          // the sampler has a law, without momentum
  bool posterior_is_target_ = false;  // whether that law is to be the posterior
  StepDamping damping_;
  double law_n_ = 1;      // n of the estimates behind the law
  KnownRows rows_;        // the rows of those estimates
  bool has_law_ = false;  // a refresh has succeeded
  std::uint64_t round_ = 0;
  std::uint64_t asides_ = 0;
  std::span<Status> moved_;  // of each chain
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_CHAIN_MOVER_H_
