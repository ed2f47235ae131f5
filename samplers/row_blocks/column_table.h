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
  // How far rows have moved the column from its prior without the prior's answer, as a share: see
  // ChainSurvey::unsettled.
  float unsettled = 0;
  float relevance = 1;  // lambda_j / lambda
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

  // A row of `count` columns comes; the block holds them and what is known of them. Its
  // `curvature`, w h, lowers the prior's share of each, lambda_j / (lambda_j + H_j), which adds to
  // `unsettled`. H itself changes by add_curvature().
  void enter(const StepBlock& block, std::size_t count, double curvature) noexcept;
  // Such a row goes, after add_curvature(). A column without rows gets relevance 1 again, unless
  // `keeps_relevance`.
  void leave(const StepBlock& block, std::size_t count, bool keeps_relevance) noexcept;
  // h of a row changes from `before` to `after`; its columns are in the block. With weighted rows H
  // is the sum in `exact`; otherwise `exact` is null.
  void add_curvature(const StepBlock& block, const RowColumns& row, double before, double after,
                     ExactColumns* exact) noexcept;
  // Lowers `unsettled` of the block's columns by what `moves` moves like the one in the block
  // settle.
  void settle(const StepBlock& block, std::size_t count, float moves) noexcept;

  // Shows its numbers in the section that is open.
  void visit_state(StateVisitor& visitor) noexcept;

 private:
  std::uint32_t count_;
  ColumnSums* sums_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_COLUMN_TABLE_H_
