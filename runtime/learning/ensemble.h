// The chains as a whole: where they stand, how they move, and how they follow the estimates.
#ifndef WINDHOVER_RUNTIME_LEARNING_ENSEMBLE_H_
#define WINDHOVER_RUNTIME_LEARNING_ENSEMBLE_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "windhover/platform/arena.h"
#include "windhover/runtime/learning/chain_mover.h"
#include "windhover/runtime/learning/chain_set.h"

namespace windhover {

// Invariant: it changes neither rows nor estimates, but for the noise covariance that some
// configurations measure on the chains' minibatches. One thread, but for move() of different
// groups.
class Ensemble {
 public:
  Ensemble(Arena& arena, const EngineConfig& config, const WindowCursor& cursor,
           Estimator& estimator, std::span<LearnerWorker> workers, AnySampler* sampler,
           Counters<RuntimeCounter>& counters) noexcept;
  void reset() noexcept;

  ChainSet& chains() noexcept { return chains_; }
  const ChainSet& chains() const noexcept { return chains_; }
  ChainMover& mover() noexcept { return mover_; }
  const ChainMover& mover() const noexcept { return mover_; }

  // Rows are about to be taken over by the cursor.
  void add_rows(std::uint64_t fresh) noexcept;

  // Whether C is to be measured anew once chains have left Laplace's law: it is where the loss is
  // convex and not quadratic. Laplace's law may have draws where the posterior has none, with
  // gradients that would make C too large, and the chains slow, for long. Where the loss is not
  // convex chains may go where C is larger still.
  bool leaves_laplace() const noexcept {
    return !estimator_.laplace().loss().quadratic &&
           workers_[0].model->curvature() == Curvature::kHessian;
  }

  // A round of moves is made in groups of neighbours that different threads may do.
  std::size_t groups() const noexcept;
  void move(std::size_t group, LearnerWorker& worker) noexcept;
  // All groups have moved.
  void end_move() noexcept;
  // Moves the next chain in turn, beside the round's own moves. Returns which one it was.
  std::size_t move_aside() noexcept { return mover_.move_aside(chains_, estimator_, workers_[0]); }
  // How many moves each chain has made since follow().
  double moves() const noexcept { return moves_; }

  // Where C is to be summed (D numbers): where the chain whose turn it is stands, or the mean if
  // the chain is far off.
  const double* noise_anchor(std::uint64_t turn) const noexcept;

  // Follows new estimates, from the rows of the window below `end`. The chains are transported,
  // unless they keep a state of the sampler's or the loss is not convex. Where the sampler takes
  // the estimates its law is theirs, and minibatches are drawn from their rows. `noise_known`: C
  // has been measured; `new_anchor`: the rows were summed anew.
  void follow(std::uint64_t end, bool noise_known, bool new_anchor,
              Interlude* background_moves) noexcept;

  // All chains begin as Laplace draws. false: the given step is too long, and there is no law.
  bool start() noexcept;
  // The same with C as it has been measured. false: under that C there is no law.
  bool go_on() noexcept;
  // Laplace draws replace the chains, and the retained draws.
  void start_anew() noexcept;
  // Whether chains, or else draws, are improbably far from the mean. It looks once for each cause
  // there is: Newton's method has come to the mode after steps that were too long, whose rest
  // chains may have followed by themselves or not; or minibatches had rows that the law does not
  // know. kNone where the law is not to be the posterior. O((chains + draws) x D).
  enum class Misplaced : std::uint8_t { kNone, kDraws, kChains };
  Misplaced take_misplaced() noexcept;
  // Starts chains that are far off again, where the law is to be the posterior. Returns whether
  // there was one.
  bool restart_far() noexcept;
  // See ChainMover::recover().
  bool recover(ChainMover::Lost which, bool noise_known) noexcept {
    return mover_.recover(chains_, estimator_, which, noise_known);
  }

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  // How far behind the rows the chains are.
  struct Lag {
    double arrived = 0;      // rows since the refresh, or before it and not yet in the sums
    double unfollowed = 0;   // the part of them that chains have not followed yet
    double left = 0;         // rows that left since the refresh
    double unforgotten = 0;  // the part of them that chains have not forgotten yet
    void add(double rows, double leaving) noexcept {
      arrived += rows;
      unfollowed += rows;
      left += leaving;
      unforgotten += leaving;
    }
    void forget(double relaxation, bool newest) noexcept {
      if (newest) unfollowed -= unfollowed / relaxation;
      unforgotten -= unforgotten / relaxation;
    }
    // What share of the way to the new mean chains have gone by themselves; and how much more it is
    // where rows differ by chance alone, as chains forget rows that left as well.
    double followed() const noexcept { return arrived > 0 ? 1 - unfollowed / arrived : 0.0; }
    double followed_by_chance() const noexcept {
      if (left == 0) return 0;
      const double gone = 1 - unforgotten / left;
      return std::max(0.0, gone - followed()) * left / (arrived + left);
    }
    // After a refresh: `waiting` rows are not in the sums yet and will move the mean when they are;
    // rows that left have moved it.
    void keep(double waiting) noexcept {
      const double kept = arrived > 0 ? std::min(1.0, waiting / arrived) : 0.0;
      arrived *= kept;
      unfollowed *= kept;
      left = unforgotten = 0;
    }
  };

  bool misplaced(double squares, double count, std::size_t parameter) const noexcept;
  // What share of the way to the new mean the chains have gone by themselves.
  double followed(bool new_anchor) noexcept;

  const EngineConfig& config_;
  const WindowCursor& cursor_;
  Estimator& estimator_;
  std::span<LearnerWorker> workers_;
  ChainSet chains_;
  ChainMover mover_;
  Lag lag_;
  bool correcting_ = false;         // the newest Newton step has left something to the next one
  double uncorrected_ = 1;          // the share of it that chains have not followed yet
  bool perhaps_misplaced_ = false;  // there is a cause for take_misplaced() to look
  double moves_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_ENSEMBLE_H_
