// Where the chains of a column begin.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_NEW_COLUMNS_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_NEW_COLUMNS_H_

#include <cstdint>

#include "windhover/platform/random.h"
#include "windhover/samplers/row_blocks/row_columns.h"

namespace windhover {

struct RowBlockParts;

// The chains of a column begin as draws from the prior, at its first row. Where y is a number such
// a draw may be a thousand times too far off: there they begin as draws from what that row leaves
// of the prior, all other columns as they are. Directions that the rows say nothing about keep its
// law for ever, and what has not been reached yet is too wide, not too narrow.
//
// Invariant: chains of columns that have rows stay where they are. One thread.
class NewColumns {
 public:
  // The parts outlive it.
  explicit NewColumns(RowBlockParts& parts) noexcept : parts_(parts) {}

  // Draws all chains of a column without rows from the prior.
  void draw_prior(std::uint32_t column, const RandomPosition& position) noexcept;
  // For columns that no other row has: turns each chain's draw from the prior into one from what
  // the row leaves of the prior while all other columns stay. Returns the variance that their part
  // of the linear predictor had, over the dispersion; 0 where there are no such columns.
  double draw_from(const RowColumns& row) noexcept;

 private:
  double new_part(const RowColumns& row, double others, double drawn,
                  double variance) const noexcept;

  RowBlockParts& parts_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_NEW_COLUMNS_H_
