#include "windhover/samplers/row_blocks/weighted_slots.h"

#include <algorithm>
#include <bit>

namespace windhover {

WeightedSlots::WeightedSlots(Arena& arena, std::uint64_t slots) noexcept
    : leaves_(slots > 0 ? std::bit_ceil(slots) : 0),
      sums_(arena.allocate<std::uint64_t>(2 * leaves_).data()) {}

void WeightedSlots::reset() noexcept { std::fill_n(sums_, 2 * leaves_, 0); }

void WeightedSlots::set(std::uint32_t slot, std::uint64_t weight) noexcept {
  std::size_t node = leaves_ + slot;
  const std::uint64_t more = weight - sums_[node];  // modulo 2^64, as the sums
  for (; node > 0; node /= 2) sums_[node] += more;
}

std::uint32_t WeightedSlots::at(double u) const noexcept {
  const std::uint64_t total = sums_[1];
  auto left = std::min(static_cast<std::uint64_t>(u * static_cast<double>(total)), total - 1);
  std::size_t node = 1;
  while (node < leaves_) {
    node *= 2;
    if (left < sums_[node]) continue;
    left -= sums_[node];
    ++node;
  }
  return static_cast<std::uint32_t>(node - leaves_);
}

void WeightedSlots::visit_state(StateVisitor& visitor) noexcept {
  visitor.visit({sums_ + leaves_, leaves_});
  if (!visitor.restores()) return;
  for (std::size_t node = leaves_; node-- > 1;) {
    sums_[node] = sums_[2 * node] + sums_[2 * node + 1];
  }
}

}  // namespace windhover
