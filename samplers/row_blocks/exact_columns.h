// What rows with weights say of each column, to the bit.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_EXACT_COLUMNS_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_EXACT_COLUMNS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/row_blocks/chain_positions.h"
#include "windhover/samplers/row_blocks/exact_sum.h"
#include "windhover/samplers/row_blocks/row_columns.h"

namespace windhover {

// G of each column and chain, and H of each column, as sums of whole numbers: a row that leaves
// takes out exactly what it brought, and no look at a row rounds. A quantum of G is as small as
// lets `rows` rows of any weight, value and residual sum to less than 2^124: for 100,000 rows 2^-67
// where they are logistic, 2^-34 where y is a number.
//
// Invariant: each sum is that of what has been added and not taken out again. One thread. Memory:
// 16 bytes a column and chain, and 32 a column.
class ExactColumns {
 public:
  // `columns`: 0 where rows have no weights. `most`: the largest weight x value x residual of a
  // row.
  ExactColumns(Arena& arena, std::size_t columns, std::uint32_t chains, std::uint64_t rows,
               double most) noexcept
      : columns_(columns),
        chains_(chains),
        quanta_(std::exp2(std::floor(124 - std::log2(static_cast<double>(rows) * most)))),
        quantum_(1 / quanta_),
        force_(arena.allocate<Quanta>(columns * chains).data()),
        curvature_(arena.allocate<ExactSum>(columns).data()) {}
  void reset() noexcept {
    std::fill_n(force_, columns_ * chains_, 0);
    std::uninitialized_fill_n(curvature_, columns_, ExactSum{});
  }

  // `factor` in quanta: what a row adds to G of a column is its factor, weight x value, times its
  // residual.
  double in_quanta(double factor) const noexcept { return factor * quanta_; }
  // Adds `more` to G of a chain, and returns it.
  float add(std::uint32_t column, std::uint32_t chain, Quanta more) noexcept {
    Quanta& force = force_[std::size_t{column} * chains_ + chain];
    force += more;
    return static_cast<float>(number_of(force) * quantum_);
  }
  // Adds the row's part with these residuals to G of all chains, or takes it out with sign -1.
  // Beside theta lie copies, which follow.
  void add(const RowColumns& row, const float* residuals, int sign,
           ChainPositions& copies) noexcept;
  // The same for a row whose residuals change from `before` to `after`.
  void exchange(const RowColumns& row, const float* before, const float* after,
                ChainPositions& copies) noexcept;
  // Replaces what a row adds to H of a column, `before` by `after`; returns H.
  double add_curvature(std::uint32_t column, double before, double after) noexcept {
    ExactSum& sum = curvature_[column];
    sum.add(std::min(after, ExactSum::kMost));
    sum.add(-std::min(before, ExactSum::kMost));
    return sum.value();
  }
  // Where G of a column is, for those who want it soon.
  const Quanta* force_of(std::uint32_t column) const noexcept {
    return force_ + std::size_t{column} * chains_;
  }

  // Shows its numbers in the section that is open.
  void visit_state(StateVisitor& visitor) noexcept {
    visit_quanta(visitor, force_, columns_ * chains_);
    static_assert(sizeof(ExactSum) == 2 * sizeof(Quanta));
    visit_quanta(visitor, reinterpret_cast<Quanta*>(curvature_), 2 * columns_);
  }

 private:
  std::size_t columns_;
  std::uint32_t chains_;
  double quanta_;  // quanta of G in 1
  double quantum_;
  Quanta* force_;
  ExactSum* curvature_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_EXACT_COLUMNS_H_
