#include "windhover/samplers/row_blocks/exact_columns.h"

namespace windhover {

void ExactColumns::add(const RowColumns& row, const float* residuals, int sign,
                       ChainPositions& copies) noexcept {
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    float* force = copies.force(column);
    const double scale = in_quanta(row.weight * row.value(k));
    for (std::uint32_t c = 0; c < chains_; ++c) {
      force[c] = add(column, c, sign * quanta_of(scale * residuals[c]));
    }
  }
}

void ExactColumns::exchange(const RowColumns& row, const float* before, const float* after,
                            ChainPositions& copies) noexcept {
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    float* force = copies.force(column);
    const double scale = in_quanta(row.weight * row.value(k));
    for (std::uint32_t c = 0; c < chains_; ++c) {
      const Quanta more = quanta_of(scale * after[c]) - quanta_of(scale * before[c]);
      force[c] = add(column, c, more);
    }
  }
}

}  // namespace windhover
