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
// have in common are forgotten in so many rows. Slopes fade over `rows` as MemoryFilter has it, and
// so are as good as not forgotten. Of models of a normal y, the intercept their last coefficient.
//
// Invariant: centre and P are of all rows learned, and P has so much of the level's way to come as
// look_ahead() said last; no variance is above the prior's by fading. One thread. Memory D^2
// doubles. Time a row about 3 D^2.
class LevelFilter {
 public:
  LevelFilter(Arena& arena, const EngineConfig& config, const Estimator& estimator,
              FilterScratch& scratch, std::uint64_t rows, std::uint64_t level_rows) noexcept;

  const FilteredPosterior& posterior() const noexcept { return posterior_; }
  std::uint64_t level_rows() const noexcept { return level_rows_; }

  void reset() noexcept;
  // Goes on from the estimator's posterior, of so many rows.
  void start(std::uint64_t rows) noexcept;
  // P is that of so many rows later; of 0 rows before learn().
  void look_ahead(double rows) noexcept;
  // `weight`: what the batch's rows count as. At most FilteredPosterior::kMostRows rows.
  void learn(const RowBatch& batch, double weight, Model& model) noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  // One row, by Kalman's step. Returns what it says of the dispersion.
  double take_up(const RowBatch& row, Model& model) noexcept;
  // Variance of how far the level goes in so many rows.
  double way(double rows) const noexcept;

  const Estimator& estimator_;
  FilterScratch& scratch_;
  std::uint32_t dimension_;
  std::size_t width_;
  std::uint64_t level_rows_;
  FilteredPosterior posterior_;
  double ahead_ = 0;  // look_ahead(): what P has of the level's way to come
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_LEVEL_FILTER_H_
