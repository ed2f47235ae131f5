#include "windhover/samplers/row_blocks/condensed_past.h"

#include <cmath>
#include <memory>
#include <span>

namespace windhover {

CondensedPast::CondensedPast(Arena& arena, std::uint32_t columns) noexcept
    : count_(columns), columns_(arena.allocate<Column>(columns).data()) {}

void CondensedPast::reset() noexcept {
  std::uninitialized_fill_n(columns_, count_, Column{0, 0, 0});
  worth_ = 0;
  rows_ = 0;
}

float CondensedPast::faded(const Column& column) const noexcept {
  const auto gone = static_cast<float>(rows_ - column.as_of);
  return column.precision * std::exp(-gone / static_cast<float>(memory_));
}

void CondensedPast::add_to_worth() noexcept { worth_ = 1 + worth_ * std::exp(-1 / memory_); }

void CondensedPast::visit_state(StateVisitor& visitor) noexcept {
  static_assert(sizeof(Column) == 2 * sizeof(std::uint64_t));
  visitor.section("condensed past");
  visitor.values(memory_, worth_, rows_);
  visitor.visit(std::span(reinterpret_cast<std::uint64_t*>(columns_), std::size_t{2} * count_));
}

}  // namespace windhover
