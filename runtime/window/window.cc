#include "windhover/runtime/window/window.h"

#include <algorithm>

namespace windhover {

// Numbers in a sparse row's slot beyond its count are of older rows, and left out.
void Window::visit_row(StateVisitor& visitor, double* row) noexcept {
  if (!layout_.sparse()) return visitor.visit(row, layout_.stride());
  visitor.visit(row, RowLayout::kValuesIndex);
  const auto count = std::min(static_cast<std::size_t>(row[RowLayout::kCountIndex]),
                              std::size_t{layout_.max_nonzeros()});
  visitor.visit(row + RowLayout::kValuesIndex, count);
  auto* indices = reinterpret_cast<std::uint32_t*>(row + layout_.indices_index());
  visitor.visit(std::span<std::uint32_t>(indices, count));
  if (layout_.held_extras() > 0) {
    visitor.visit(row + layout_.extras_index(), layout_.held_extras());
  }
}

void Window::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("window");
  std::uint64_t head = head_.load(std::memory_order_acquire);
  std::uint64_t lease = lease_.load(std::memory_order_acquire);
  visitor.values(head, lease);
  for (std::uint64_t row = lease > size_ ? lease - size_ : 0; row < head; ++row) {
    visit_row(visitor, slot_of(row));
  }
  if (visitor.restores()) restore(head, lease);
}

void Window::restore(std::uint64_t head, std::uint64_t lease) noexcept {
  for (RowLease& other : leases_) {
    if (other.rows.load(std::memory_order_relaxed) != RowLease::kNone) other.rows.store(lease);
  }
  head_.store(head, std::memory_order_release);
  lease_.store(lease, std::memory_order_release);
  writer_limit_ = lease + slack_;
}

}  // namespace windhover
