// What the rows that are there say of each of many columns.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_COLUMN_TABLE_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_COLUMN_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/row_blocks/exact_columns.h"
#include "windhover/samplers/row_blocks/row_columns.h"
#include "windhover/samplers/row_blocks/step_block.h"

namespace windhover {

// What rows say of one column. A curvature h_i is that of -log p in the linear predictor.
struct alignas(32) ColumnSums {
  double curvature = 0;    // H_j, sum of w_i h_i x_ij^2
  std::uint32_t rows = 0;  // with a non-zero
  // The part of the way that rows have taken the column from its prior which the prior has not
  // answered yet: see ChainSurvey::unsettled.
  float unsettled = 0;
  float relevance = 1;  // lambda_j over lambda
};

// Invariant: each column's rows and curvature are those of the rows that have entered and not left;
// a column without rows has curvature and unsettled 0. One thread. Memory: 32 bytes a column.
class ColumnTable {
 public:
  ColumnTable(Arena& arena, std::uint32_t columns) noexcept;
  void reset() noexcept;

  const ColumnSums& of(std::uint32_t column) const noexcept { return sums_[column]; }
  void set_relevance(std::uint32_t column, float relevance) noexcept {
    sums_[column].relevance = relevance;
  }
  // A hint that a column is wanted soon.
  void fetch(std::uint32_t column) const noexcept { __builtin_prefetch(sums_ + column); }

  // A row of `count` columns comes, which are in the block with what is known of them; its
  // `curvature`, w h, lowers the prior's share of its columns, lambda_j / (lambda_j + H_j). H
  // itself follows by add_curvature().
  void enter(const StepBlock& block, std::size_t count, double curvature) noexcept;
  // Such a row goes, after add_curvature(). Where a column has no row left its relevance is 1
  // again, unless it is kept.
  void leave(const StepBlock& block, std::size_t count, bool keeps_relevance) noexcept;
  // h of a row was `before` and is `after`; its columns are in the block. `exact` holds H to the
  // bit where rows are weighed; otherwise it is null.
  void add_curvature(const StepBlock& block, const RowColumns& row, double before, double after,
                     ExactColumns* exact) noexcept;
  // Lets `moves` moves like the one in the block bring its columns back towards where their prior
  // has them.
  void settle(const StepBlock& block, std::size_t count, float moves) noexcept;

  // Shows its numbers in the section that is open.
  void visit_state(StateVisitor& visitor) noexcept;

 private:
  std::uint32_t count_;
  ColumnSums* sums_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_COLUMN_TABLE_H_
