// The posterior of the newest rows, about, followed a few rows at a time.
#ifndef WINDHOVER_RUNTIME_LEARNING_MEMORY_FILTER_H_
#define WINDHOVER_RUNTIME_LEARNING_MEMORY_FILTER_H_

#include <cstddef>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/learning/estimator.h"
#include "windhover/runtime/learning/filtered_posterior.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// An extended Kalman filter that forgets (Kulhavy and Zarrop 1993: exponential forgetting): rows
// count exp(-2 age / rows), the prior always once. They are worth `rows` equal ones. With
// `counts_as_many` the posterior is as wide as that of so many, otherwise the newest row counts
// once (FilteredPosterior).
//
// Invariant: between calls P lacks at most D / 2 rows, unless it had no factor. One thread. Memory
// 2 D^2 doubles. Time a row about 4 D^2.
class MemoryFilter {
 public:
  MemoryFilter(Arena& arena, const EngineConfig& config, const Estimator& estimator,
               FilterScratch& scratch, std::uint64_t rows, bool counts_as_many) noexcept;

  const FilteredPosterior& posterior() const noexcept { return posterior_; }

  void reset() noexcept;
  // Goes on from the estimator's posterior, of so many rows.
  void start(std::uint64_t rows) noexcept;
  // Learns from at most FilteredPosterior::kMostRows rows, by one step; `weight`: what they count
  // as.
  void learn(const RowBatch& batch, double weight, Model& model) noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  void refresh() noexcept;
  // Makes a step, and returns the batch's loss, at dispersion 1, at the new centre. `loss` is that
  // at the old centre, whose gradient is in the scratch. The prior has faded with the rows, and its
  // share `fresh` is added again. `told`: whether the batch is in P already.
  double move(const RowBatch& batch, double fresh, double loss, bool told, Model& model) noexcept;

  const Estimator& estimator_;
  FilterScratch& scratch_;
  std::uint32_t dimension_;
  std::size_t width_;
  FilteredPosterior posterior_;
  double* curvature_;        // width x width: sum of the rows' curvatures, dispersion 1
  std::uint64_t stale_ = 0;  // rows that are not in P
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_MEMORY_FILTER_H_
