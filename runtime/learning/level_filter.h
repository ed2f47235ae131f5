// A posterior that expects the intercept to walk, followed row by row.
#ifndef WINDHOVER_RUNTIME_LEARNING_LEVEL_FILTER_H_
#define WINDHOVER_RUNTIME_LEARNING_LEVEL_FILTER_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/learning/estimator.h"
#include "windhover/runtime/learning/filtered_posterior.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// Kalman's filter of a local level model with covariates (Harvey 1989): the level, which is the
// intercept, walks by 1 / level_rows of the noise's sd a row, so that errors that neighbouring rows
// have in common are forgotten in so many rows. Slopes fade over `rows`, as in MemoryFilter, which
// is so slow that they are hardly forgotten. For models of a normal y with an intercept, which is
// the last coefficient.
//
// Invariant: centre and P are of all rows learned, and P includes how far the level may go in the
// rows that look_ahead() was last told of. One thread. Memory D^2 doubles. Time a row about 3 D^2.
class LevelFilter {
 public:
  LevelFilter(Arena& arena, const EngineConfig& config, const Estimator& estimator,
              FilterScratch& scratch, std::uint64_t rows, std::uint64_t level_rows) noexcept;

  const FilteredPosterior& posterior() const noexcept { return posterior_; }
  std::uint64_t level_rows() const noexcept { return level_rows_; }

  void reset() noexcept;
  // Goes on from the estimator's posterior, of so many rows.
  void start(std::uint64_t rows) noexcept;
  // From here on P is that of so many rows later.
  void look_ahead(double rows) noexcept;
  // Learns from at most FilteredPosterior::kMostRows rows; `weight`: what they count as. REQUIRES:
  // look_ahead(0) came before.
  void learn(const RowBatch& batch, double weight, Model& model) noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  // Learns one row by Kalman's step. Returns the squared residual that the dispersion learns from.
  double take_up(const RowBatch& row, Model& model) noexcept;
  // The variance of how far the level goes in so many rows.
  double way(double rows) const noexcept;

  const Estimator& estimator_;
  FilterScratch& scratch_;
  std::uint32_t dimension_;
  std::size_t width_;
  std::uint64_t level_rows_;
  FilteredPosterior posterior_;
  double ahead_ = 0;  // the part of the level's variance that look_ahead() added
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_LEVEL_FILTER_H_
