// The columns of one sparse row, the intercept's among them.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_COLUMNS_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_COLUMNS_H_

#include <cstddef>
#include <cstdint>

#include "windhover/samplers/row_blocks/row_likelihood.h"
#include "windhover/samplers/rows.h"

namespace windhover {

// A row in place, with a last column of 1 where there is an intercept.
struct RowColumns {
  RowColumns(const RowLayout& layout, const RowLikelihood& likelihood, bool has_intercept,
             const double* row) noexcept
      : sparse(layout, row),
        offset(likelihood.offset(layout.offset(row))),
        target(likelihood.target(sparse.target)),
        weight(layout.weight(row)),
        intercept(layout.features()),
        count(sparse.count + (has_intercept ? 1 : 0)) {}

  std::uint32_t column(std::size_t k) const noexcept {
    return k < sparse.count ? sparse.indices[k] : intercept;
  }
  double value(std::size_t k) const noexcept { return k < sparse.count ? sparse.values[k] : 1.0; }

  SparseRow sparse;
  double offset;
  double target;  // in units
  double weight;
  std::uint32_t intercept;
  std::size_t count;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_COLUMNS_H_
