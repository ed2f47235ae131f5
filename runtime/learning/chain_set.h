// The chains: where they stand, what their sampler keeps for them, and the draws they have left.
#ifndef WINDHOVER_RUNTIME_LEARNING_CHAIN_SET_H_
#define WINDHOVER_RUNTIME_LEARNING_CHAIN_SET_H_

#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/runtime/learning/estimator.h"
#include "windhover/runtime/learning/learner.h"
#include "windhover/runtime/posterior/retained_draws.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

// Invariant: chain c keeps its numbers in row c of iterates() and its sampler's in row c of the
// states. One thread, but for moves of different chains.
class ChainSet {
 public:
  ChainSet(Arena& arena, const EngineConfig& config, std::size_t state_size) noexcept;
  void reset() noexcept;

  std::span<Chain> all() noexcept { return chains_; }
  std::span<const Chain> all() const noexcept { return chains_; }
  std::size_t size() const noexcept { return chains_.size(); }
  // chains x dimension
  std::span<const double> iterates() const noexcept {
    return {thetas_, chains_.size() * dimension_};
  }
  RetainedDraws& draws() noexcept { return draws_; }
  const RetainedDraws& draws() const noexcept { return draws_; }
  // Whether the sampler keeps a state of its own for each chain, momentum say.
  bool keep_state() const noexcept { return state_size_ > 0; }

  // Puts the chain at draw `number` of N(mean, T P); what its sampler keeps is as it was.
  void place(Chain& chain, const Estimator& estimator, std::uint64_t number) noexcept;
  // Fills the ring of retained draws with independent draws from N(0, T A^-1).
  void refill(const Estimator& estimator) noexcept {
    draws_.fill_gaussian(estimator.laplace().factor(), seed_);
  }
  // Retains the chain's iterate as a draw to serve, in place of the oldest.
  void retain(const Chain& chain, const Estimator& estimator) noexcept {
    draws_.retain(chain.theta, estimator.laplace().mean(), estimator.laplace().n());
  }

  // The posterior has changed: every chain and every retained draw goes to the point of the new
  // Gaussian that answers to where it stood in the one before the estimator's newest refresh. The
  // chains have gone the share `followed` of the way between the two means by themselves. Left to
  // themselves they would need a relaxation to follow: off centre under drift, and far too wide
  // where the first rows of a new category have come in. O((chains + draws) x D^2).
  void transport(const Estimator& estimator, double followed, Interlude* interlude) noexcept;
  // Transports the draws alone: a chain with a state of its sampler's cannot be moved without
  // starting that state anew, so it follows by itself.
  void transport_draws(const Estimator& estimator, Interlude* interlude) noexcept {
    draws_.transport(estimator.laplace().before().factor, estimator.laplace().factor(), interlude);
  }

  // Whether a parameter of the chain is more than so many posterior sd (at temperature T, or 1 if T
  // is less) from the mean, or is not a number.
  bool beyond(const Chain& chain, const Estimator& estimator, double deviations) const noexcept;
  // Whether the chain has left for good: beyond() by kDivergedDeviations.
  bool diverged(const Chain& chain, const Estimator& estimator) const noexcept {
    return beyond(chain, estimator, kDivergedDeviations);
  }

  void visit_state(StateVisitor& visitor) noexcept {
    visitor.section("chains");
    visitor.visit(thetas_, chains_.size() * dimension_);
    visitor.section("what the sampler keeps for each chain");
    visitor.visit(states_, chains_.size() * state_size_);
    for (Chain& chain : chains_) visitor.value(chain.is_draw);
    visitor.section("retained draws");
    draws_.visit_state(visitor);
  }

  void set_trace(TraceFunction trace, void* context) noexcept {
    trace_ = trace;
    trace_context_ = context;
  }
  void show(const Chain& chain) const noexcept {
    if (trace_ != nullptr) trace_(trace_context_, chain.index, chain.theta);
  }

  static constexpr double kDivergedDeviations = 1e3;

 private:
  void transport_some(std::span<Chain> chains, const Estimator& estimator,
                      const double* mean_before) noexcept;

  std::uint32_t dimension_;
  std::uint64_t seed_;
  double temperature_;
  std::size_t state_size_;  // numbers that the sampler keeps a chain
  RetainedDraws draws_;
  double* thetas_;      // chains x dimension
  double* states_;      // chains x state_size_
  double* deviations_;  // kAtATime x dimension: scratch
  double* centre_;      // dimension: scratch
  std::span<Chain> chains_;
  TraceFunction trace_ = nullptr;
  void* trace_context_ = nullptr;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_CHAIN_SET_H_
