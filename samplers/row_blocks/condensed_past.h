// What rows that are not there any more have said of many columns.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_CONDENSED_PAST_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_CONDENSED_PAST_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"

namespace windhover {

// A normal density for each column, which turns the prior N(0, 1 / lambda) into N(m_j, 1 / (lambda
// + p_j)): assumed density filtering (Opper 1998) with a diagonal covariance. A row that leaves
// adds to p_j and moves m_j (row_condenser.h has the equations). p_j fades by exp(-1 / memory) with
// each row of the stream, m_j stays: a column without rows becomes less and less known, around
// where it was last.
//
// Invariant: p_j >= 0. One thread. Memory: 16 bytes a column.
class CondensedPast {
 public:
  struct Column {
    float centre;         // m_j
    float precision;      // p_j as of ...
    std::uint64_t as_of;  // ... this many rows of the stream
  };

  // `columns`: 0 where nothing is kept.
  CondensedPast(Arena& arena, std::uint32_t columns) noexcept;
  void reset() noexcept;

  bool kept() const noexcept { return count_ > 0; }
  Column& of(std::uint32_t column) noexcept { return columns_[column]; }
  const Column& of(std::uint32_t column) const noexcept { return columns_[column]; }

  void remember(double rows) noexcept { memory_ = rows; }
  // Counts a row of the stream that has come.
  void add_row() noexcept { ++rows_; }
  std::uint64_t rows() const noexcept { return rows_; }
  // The present p_j.
  float faded(const Column& column) const noexcept;

  // Counts a row that has left.
  void add_to_worth() noexcept;
  // How many rows all that has left is worth.
  double worth() const noexcept { return worth_; }

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  std::uint32_t count_;
  Column* columns_;
  double memory_ = 1;
  double worth_ = 0;
  std::uint64_t rows_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_CONDENSED_PAST_H_
