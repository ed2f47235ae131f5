// What becomes of a row that leaves where its past is kept.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_CONDENSER_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_CONDENSER_H_

#include <cstdint>

#include "windhover/samplers/row_blocks/row_columns.h"

namespace windhover {

struct RowBlockParts;

// The row's loss goes into the prior, expanded to second order about the chains' centre theta'.
// With the curvature h of the loss in eta, and the other columns as unknown as they are, each
// column gets
//   d_j = h x_j^2 / (1 + h (v - v_j)),  v = sum of v_j,  v_j = x_j^2 / (lambda_j + p_j + H_j),
//   p_j += d_j,  and m_j such that the prior's pull at theta' grows by the row's own, x_j r.
// The posterior's centre stays. How columns depend on one another along the row is lost. Answers
// along such rows become wider, by the root of their number of non-zeros at most; columns that only
// ever come together each seem better known than they are.
//
// Invariant: G and the chains follow whatever goes into the past or fades from it. One thread.
class RowCondenser {
 public:
  // The parts outlive it.
  explicit RowCondenser(RowBlockParts& parts) noexcept : parts_(parts) {}

  // Fades the past of a column up to now.
  void age(std::uint32_t column) noexcept;
  // Condenses a row that is no longer counted and is in the block; G still has the row's r'.
  void condense(const RowColumns& row, std::uint32_t slot) noexcept;
  // Copies the chains of a column without rows, spread as its past is known now.
  void copy(std::uint32_t column, float* out) const noexcept;

 private:
  void leave(std::uint32_t column) noexcept;

  RowBlockParts& parts_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_CONDENSER_H_
