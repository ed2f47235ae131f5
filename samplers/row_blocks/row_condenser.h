// What becomes of a row that leaves where its past is kept.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_CONDENSER_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_CONDENSER_H_

#include <cstdint>

#include "windhover/samplers/row_blocks/row_columns.h"

namespace windhover {

struct RowBlockParts;

// The row's loss, expanded to second order about the chains' centre theta', goes into the prior: of
// its curvature h what it tells of each column while the others are as unknown as they are,
//   d_j = h x_j^2 / (1 + h (v - v_j)),  v = sum of v_j,  v_j = x_j^2 / (lambda_j + p_j + H_j),
//   p_j += d_j,  m_j such that the pull of the prior at theta' grows by the row's own, x_j r.
// The centre of the posterior stays. That columns depend on one another along the row is forgotten:
// along rows such as this one answers become wider, by the root of their non-zeros at most; where
// columns only ever come together, each alone is taken for better known than it is.
//
// Invariant: whatever goes into the past, or fades from it, G and the chains go along. One thread.
class RowCondenser {
 public:
  // The parts outlive it.
  explicit RowCondenser(RowBlockParts& parts) noexcept : parts_(parts) {}

  // Fades the past of a column to what it is by now.
  void age(std::uint32_t column) noexcept;
  // Condenses a row that is not counted any more and is in the block; G of each chain still has its
  // r'.
  void condense(const RowColumns& row, std::uint32_t slot) noexcept;
  // Copies the chains of a column without rows, as far apart as its past is known now.
  void copy(std::uint32_t column, float* out) const noexcept;

 private:
  void leave(std::uint32_t column) noexcept;

  RowBlockParts& parts_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_CONDENSER_H_
