// Moves the chains on rows that are seen once, each under weights or with noise of its own.
#ifndef WINDHOVER_RUNTIME_LEARNING_SINGLE_PASS_MOVER_H_
#define WINDHOVER_RUNTIME_LEARNING_SINGLE_PASS_MOVER_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/counters.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/counter_ids.h"
#include "windhover/runtime/learning/chain_set.h"
#include "windhover/runtime/learning/learner_worker.h"
#include "windhover/samplers/single_pass.h"

namespace windhover {

// Each `round` has random numbers of its own. Invariant: the law is that of the last refresh(). One
// thread.
class SinglePassMover {
 public:
  SinglePassMover(Arena& arena, const EngineConfig& config, ChainSet& chains,
                  const Estimator& estimator, Counters<RuntimeCounter>& counters) noexcept;

  RowWeights& weights() noexcept { return weights_; }
  const RowWeights& weights() const noexcept { return weights_; }

  // Takes new estimates into the law; `noise_known`: C has been measured.
  void refresh(double minibatch_size, bool noise_known) noexcept;
  // H and noise of the constant-rate chain with the same stationary covariance.
  void law(double minibatch_size, double* preconditioner, double* injected) const noexcept {
    law_.law(minibatch_size, preconditioner, injected);
  }

  // Every chain begins at the mode of `rows` rows. Its Newton step from there is made by seed() on
  // these rows, part by part, and seed_noise() at the end.
  void start(double rows, std::uint64_t round) noexcept;
  void seed(const RowBatch& rows, std::uint64_t round, LearnerWorker& worker) noexcept;
  void seed_noise(std::uint64_t round) noexcept;

  // Makes one move of every chain on fresh rows, which weights().add() has counted; `keep` is what
  // it returned. Chains that are not finite start again as fresh draws; returns whether there were
  // any.
  bool move(const RowBatch& rows, double keep, std::uint64_t round, LearnerWorker& worker) noexcept;
  // Chains follow rows that alone have made the posterior another, in place of move(): a first row
  // of a category, the end of a collinearity. A step with the old A would overshoot there, and one
  // with the new A under a weight of 0 would leave a chain as wide as the prior. So the chains are
  // transported to the new posterior, and reweigh() then moves them. Where the rows refute the old
  // posterior, nothing in it answers to the new one, and the chains become draws of the new one.
  // `way`: Estimator::way_from_before(). Returns whether the rows refuted it.
  bool follow(const RowBatch& rows, double way, std::uint64_t round,
              LearnerWorker& worker) noexcept;
  // For chains around the mode of all rows, these among them: adds what the random weights of these
  // rows, or the noise in their place, would have done.
  void reweigh(const RowBatch& rows, std::uint64_t round, LearnerWorker& worker) noexcept;
  // Chains that have diverged start again as fresh draws. Returns whether there was one.
  bool recover(std::uint64_t round) noexcept;

  void visit_law(StateVisitor& visitor, double minibatch_size) noexcept;

 private:
  // The variance of the chains' random weights, v r.
  double weight_variance() const noexcept;
  SinglePass::WeighedRows choose_rows(const RowBatch& rows, double weight_variance,
                                      const Chain& chain, std::uint64_t round,
                                      LearnerWorker& worker) const noexcept;
  void start_again(Chain& chain, std::uint64_t round) noexcept;

  std::uint64_t seed_;
  ChainSet& chains_;
  const Estimator& estimator_;
  Counters<RuntimeCounter>& counters_;
  SinglePass law_;
  RowWeights weights_;  // of the rows seen
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_SINGLE_PASS_MOVER_H_
