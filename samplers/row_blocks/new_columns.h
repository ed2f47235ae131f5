// Where the chains of a column begin.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_NEW_COLUMNS_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_NEW_COLUMNS_H_

#include <cstdint>

#include "windhover/platform/random.h"
#include "windhover/samplers/row_blocks/row_columns.h"

namespace windhover {

struct RowBlockParts;

// The chains of a column begin at its first row, as draws from the prior. Where y is a number such
// a draw may be a thousand times too far off, so they begin as draws from the posterior of this row
// alone, given all other columns. In directions that the rows say nothing about, chains keep the
// prior's law for ever; until they have settled they spread too much, never too little.
//
// Invariant: chains of columns that have rows stay where they are. One thread.
class NewColumns {
 public:
  // The parts outlive it.
  explicit NewColumns(RowBlockParts& parts) noexcept : parts_(parts) {}

  // Draws all chains of a column without rows from the prior.
  void draw_prior(std::uint32_t column, const RandomPosition& position) noexcept;
  // For columns that no other row has: replaces each chain's draw from the prior by one from the
  // posterior of the row, given all other columns. Returns the prior variance of these columns'
  // part of the linear predictor, over the dispersion; 0 where there are no such columns.
  double draw_from(const RowColumns& row) noexcept;

 private:
  double new_part(const RowColumns& row, double others, double drawn,
                  double variance) const noexcept;

  RowBlockParts& parts_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_NEW_COLUMNS_H_
