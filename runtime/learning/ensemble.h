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

// Invariant: between rounds chains and draws stand around the centre of the estimates that follow()
// last took up. It reads rows and estimates and changes neither, but for the noise covariance that
// some configurations measure on the chains' minibatches. One thread, but for move() of different
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

  // Whether C changes as chains leave Laplace's law. That law may have draws where the posterior
  // has none, with gradients that would slow the chains down for long: so C is taken where the
  // chains have come to. Where the loss is not convex they may come to where C is larger still.
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
  // How many moves each chain has made since follow(), and how far the logarithm of a learned prior
  // precision may go at the next refresh: the law that the chains move by must change slower than
  // they follow.
  double moves() const noexcept { return moves_; }
  double prior_move() const noexcept { return prior_move_; }

  // dimension: where the chain whose turn it is stands, or the centre where that is far off.
  const double* noise_anchor(std::uint64_t turn) const noexcept;

  // The estimates are new, from the rows of the window below `end`: the chains are transported, the
  // law is that of the estimates, and so are the rows that minibatches are drawn from.
  // `noise_known`: C has been measured; `new_anchor`: the rows were summed anew.
  void follow(std::uint64_t end, bool noise_known, bool new_anchor,
              Interlude* background_moves) noexcept;

  // All chains begin as Laplace draws. false: the given step is too long, and there is no law.
  bool start() noexcept;
  // Laplace draws replace the chains, and the draws that they have left.
  void start_anew() noexcept;
  // What is not about the mean, once there is a cause: Newton's method has come to the mode after
  // steps that left something, and chains were carried as though they had followed nothing of it,
  // or all; or chains moved by rows that the law does not know, which may have thrown them. Draws
  // may be of the time before. Once a cause. O(chains x D).
  enum class Misplaced : std::uint8_t { kNone, kDraws, kChains };
  Misplaced take_misplaced() noexcept;
  // Starts chains that are far off again, where it is the posterior they draw from. Returns whether
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
    double arrived = 0;     // rows since the refresh, or before it and not yet in the sums
    double unfollowed = 0;  // of them, less what chains have forgotten since they came
    double left = 0;        // rows since the refresh
    double unforgotten = 0;
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
    // What share of the way to the new mean chains have gone, and how much more it is where rows
    // differ by chance alone: those that left are gone, too, for chains that draw from what is
    // left.
    double followed() const noexcept { return arrived > 0 ? 1 - unfollowed / arrived : 0.0; }
    double followed_by_chance() const noexcept {
      if (left == 0) return 0;
      const double gone = 1 - unforgotten / left;
      return std::max(0.0, gone - followed()) * left / (arrived + left);
    }
    // Rows that are not in the sums yet will move the mean when they are; those that left have.
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
  // Whether the newest Newton step has left something to the next one, the share of it that chains
  // have not yet followed, and whether there is a cause for take_misplaced() to look.
  bool correcting_ = false;
  double uncorrected_ = 1;
  bool perhaps_misplaced_ = false;
  double moves_ = 0;
  double prior_move_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_ENSEMBLE_H_
