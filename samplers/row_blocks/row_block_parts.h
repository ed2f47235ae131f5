// What row blocks are made of, and what those who move chains have in common.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_BLOCK_PARTS_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_BLOCK_PARTS_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/samplers/config.h"
#include "windhover/samplers/row_blocks/block_weights.h"
#include "windhover/samplers/row_blocks/chain_positions.h"
#include "windhover/samplers/row_blocks/column_prior.h"
#include "windhover/samplers/row_blocks/column_table.h"
#include "windhover/samplers/row_blocks/columns_ahead.h"
#include "windhover/samplers/row_blocks/exact_columns.h"
#include "windhover/samplers/row_blocks/gathered_row.h"
#include "windhover/samplers/row_blocks/kept_rows.h"
#include "windhover/samplers/row_blocks/recent_moves.h"
#include "windhover/samplers/row_blocks/row_columns.h"
#include "windhover/samplers/row_blocks/row_noise.h"
#include "windhover/samplers/rows.h"

namespace windhover {

// Each part keeps an invariant of its own; RowBlockLangevin keeps the one that joins them. One
// thread.
struct RowBlockParts {
  static constexpr double kLargestValue = 1e6;

  // See RowBlockLangevin.
  RowBlockParts(Arena& arena, const ModelConfig& model, std::uint32_t chain_count,
                std::uint64_t slots, std::uint64_t random_seed, std::uint64_t past) noexcept;
  void reset() noexcept;

  RowColumns columns_of(const double* row) const noexcept {
    return RowColumns(layout, noise.likelihood(), positions.has_intercept(), row);
  }
  // Whether rows have weights, given or their own, and are drawn by them rather than all alike:
  // true of all models but the logistic one without weights.
  bool weighs_rows() const noexcept { return noise.likelihood().weighs_rows(); }
  // Whether columns begin from the posterior of their first row, not from the prior alone.
  bool draws_new_columns() const noexcept {
    return noise.likelihood().response() != Response::kBernoulli;
  }
  // Whether the row's numbers are small enough for sums to keep their digits.
  bool in_range(const RowColumns& row) const noexcept;
  // Moves h of a row, which is gathered, towards `newest` by that share of the way, and returns it.
  float follow_curvature(const RowColumns& row, std::uint32_t slot, float newest,
                         float share) noexcept;
  // Adds the change of H by such a row, whose h was `before`.
  void add_curvature(const RowColumns& row, double before, double after) noexcept {
    columns.add_curvature(gathered.block(), row, before, after, weighs_rows() ? &exact : nullptr);
  }

  RowLayout layout;
  std::uint32_t chains;
  std::uint64_t seed;
  RowNoise noise;
  ChainPositions positions;
  KeptRows kept;
  ColumnTable columns;
  BlockWeights weights;
  ExactColumns exact;  // G and H of rows with weights; those of positions and columns are copies
  ColumnPrior prior;
  RecentMoves recent;
  GatheredRow gathered;
  ColumnsAhead ahead;
  std::span<float> normals;  // scratch

  // Counts of the rows that are there.
  struct Rows {
    // Non-zeros a row, the intercept's included; at least 1.
    double mean_nonzeros() const noexcept {
      return std::max(1.0, static_cast<double>(nonzeros) /
                               static_cast<double>(std::max<std::uint64_t>(count, 1)));
    }

    std::uint64_t nonzeros = 0;  // of all rows that are not set aside
    std::uint64_t count = 0;     // how many these are
    std::uint64_t aside = 0;     // how many are set aside
  } rows;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_BLOCK_PARTS_H_
