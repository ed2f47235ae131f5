#include "windhover/samplers/row_blocks/column_table.h"

#include <algorithm>
#include <memory>
#include <span>

namespace windhover {

ColumnTable::ColumnTable(Arena& arena, std::uint32_t columns) noexcept
    : count_(columns), sums_(arena.allocate<ColumnSums>(columns).data()) {}

void ColumnTable::reset() noexcept { std::uninitialized_fill_n(sums_, count_, ColumnSums{}); }

void ColumnTable::enter(const StepBlock& block, std::size_t count, double curvature) noexcept {
  const StepBlock& b = block;
  const auto more = static_cast<float>(curvature);
  for (std::size_t k = 0; k < StepBlock::padded(count); ++k) {
    const float before = b.precision[k] + b.curvature[k];
    const float own = more * b.value[k] * b.value[k];
    b.taken_away[k] = b.precision[k] / before * (own / (before + own));
  }
  for (std::size_t k = 0; k < count; ++k) {
    ColumnSums& sums = sums_[b.column[k]];
    ++sums.rows;
    sums.unsettled = std::min(1.0F, sums.unsettled + b.taken_away[k]);
  }
}

void ColumnTable::leave(const StepBlock& block, std::size_t count, bool keeps_relevance) noexcept {
  for (std::size_t k = 0; k < count; ++k) {
    ColumnSums& sums = sums_[block.column[k]];
    if (--sums.rows > 0) continue;
    sums.unsettled = 0;
    sums.curvature = 0;  // what rounding has left would stay for ever
    if (!keeps_relevance) sums.relevance = 1;
  }
}

void ColumnTable::add_curvature(const StepBlock& block, const RowColumns& row, double before,
                                double after, ExactColumns* exact) noexcept {
  if (exact == nullptr) {
    const double change = after - before;
    for (std::size_t k = 0; k < row.count; ++k) {
      double& sum = sums_[block.column[k]].curvature;
      const double value = block.value[k];
      sum = std::max(0.0, sum + change * value * value);
    }
    return;
  }
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = block.column[k];
    const double value = block.value[k];
    const double square = row.weight * value * value;
    sums_[column].curvature = exact->add_curvature(column, before * square, after * square);
  }
}

void ColumnTable::settle(const StepBlock& block, std::size_t count, float moves) noexcept {
  for (std::size_t k = 0; k < count; ++k) {
    sums_[block.column[k]].unsettled /= 1 + moves * block.step[k] * block.precision[k];
  }
}

void ColumnTable::visit_state(StateVisitor& visitor) noexcept {
  static_assert(sizeof(ColumnSums) == 4 * sizeof(std::uint64_t));
  visitor.visit(std::span(reinterpret_cast<std::uint64_t*>(sums_), std::size_t{4} * count_));
}

}  // namespace windhover
