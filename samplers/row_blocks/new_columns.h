// Where the chains of a column begin.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_NEW_COLUMNS_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_NEW_COLUMNS_H_

#include <cstdint>

#include "windhover/platform/random.h"
#include "windhover/samplers/row_blocks/row_columns.h"

namespace windhover {

struct RowBlockParts;

// The chains of a column begin as draws from the prior, at its first row; but of numbers, of which
// such a draw may be a thousand times too far off, as draws from what that row then leaves of it,
// all other columns as they are. Directions that the rows say nothing about keep its law for ever,
// and what has not been reached yet is too wide, not too narrow.
//
// Invariant: of columns that have rows no chain goes anywhere. One thread.
class NewColumns {
 public:
  // The parts outlive it.
  explicit NewColumns(RowBlockParts& parts) noexcept : parts_(parts) {}

  // All chains of a column without rows, from the prior.
  void draw_prior(std::uint32_t column, const RandomPosition& position) noexcept;
  // Columns that no other row is of: of each chain their draw from the prior becomes one from what
  // the row leaves of it where all others stay. The variance that their part of it had, over the
  // dispersion; 0 where there are none.
  double draw_from(const RowColumns& row) noexcept;

 private:
  double new_part(const RowColumns& row, double others, double drawn,
                  double variance) const noexcept;

  RowBlockParts& parts_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_NEW_COLUMNS_H_
