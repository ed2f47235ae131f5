// How long the steps of row blocks are.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_STEP_LENGTHS_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_STEP_LENGTHS_H_

#include <cstddef>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/row_blocks/curvature_bound.h"
#include "windhover/samplers/row_blocks/row_columns.h"

namespace windhover {

struct RowBlockParts;

// eps_j of row_block_langevin.h, bounded by the scatter of residuals and by how far columns depend
// on one another. Results go into the block of the gathered row.
//
// Invariant: a row has the same length at scale 1 for a step and for the bound. One thread.
class StepLengths {
 public:
  // The largest share of a block's noise that the scatter of its gradient may replace.
  static constexpr float kLargestShare = 0.9F;

  // The parts outlive it.
  StepLengths(Arena& arena, std::uint32_t columns, RowBlockParts& parts) noexcept;
  void reset() noexcept { bound_.reset(); }

  // The variance that bounds the scatter of linear predictors such as the row's, or infinity.
  double most_scatter(const RowColumns& row) const noexcept;
  // Computes eps_j at scale 1 and N_ij for a row with a weight; `length`:
  // BlockWeights::length_of().
  void work_out(const RowColumns& row, double length, double most_scatter) noexcept;
  // Computes eps_j at scale 1 for a row without a weight, of `count` columns.
  void work_out(std::size_t count) noexcept;
  // The share of the block's step that a row of this curvature would allow if it were the only one.
  float longest_alone(const RowColumns& row, float curvature) const noexcept;
  // Multiplies the step in the block by `shorter`.
  void shorten(std::size_t count, float shorter) noexcept;

  const CurvatureBound& bound() const noexcept { return bound_; }
  // Goes on with the bound by one row: an iteration takes each row once.
  void follow_bound(const double* row, std::uint32_t slot) noexcept;
  // A hint that follow_bound() wants this row soon.
  void fetch_for_bound(const double* row) const noexcept;

  // Shows its numbers in the section that is open, and in one of its own.
  void visit_state(StateVisitor& visitor) noexcept { bound_.visit_state(visitor); }

 private:
  double share_of(std::size_t count) const noexcept;
  double longest_step_of(const RowColumns& row, std::size_t k, double most_scatter) const noexcept;

  RowBlockParts& parts_;
  CurvatureBound bound_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_STEP_LENGTHS_H_
