#include "windhover/runtime/posterior/draw_table.h"

#include <algorithm>
#include <limits>

namespace windhover {

void DrawTable::reset() noexcept {
  std::fill(table_.begin(), table_.end(), std::numeric_limits<float>::quiet_NaN());
  served_.table = table_.data();
  served_.stride = stride();
  served_.chains = chains_;
  served_.count = count_;
  served_.seed = seed_;
  for (std::uint32_t g = 0; g < count_; ++g) served_.groups[g] = static_cast<std::uint8_t>(g);
}

void DrawTable::hold(const SharedDraws& draws) noexcept {
  for (std::uint32_t g = 0; g < draws.count; ++g) held_[draws.groups[g]] = true;
}

int DrawTable::free_group() const noexcept {
  const auto end = served_.groups.begin() + count_;
  for (std::uint32_t g = 0; g < groups(); ++g) {
    if (!held_[g] && std::find(served_.groups.begin(), end, g) == end) return static_cast<int>(g);
  }
  return -1;
}

void DrawTable::serve(std::uint32_t g, InPlaceOf leaves) noexcept {
  const auto end = served_.groups.begin() + count_;
  if (leaves == InPlaceOf::kOldest) {
    std::copy(served_.groups.begin() + 1, end, served_.groups.begin());
  }
  *(end - 1) = static_cast<std::uint8_t>(g);
}

void DrawTable::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("shared draws");
  if (visitor.restores()) reset();
  for (std::uint32_t j = 0; j < parameters_; ++j) {
    for (std::uint32_t g = 0; g < count_; ++g) {
      float* numbers = group(served_.groups[g]) + j * stride();
      visitor.visit(std::span(reinterpret_cast<std::uint32_t*>(numbers), chains_));
    }
  }
}

}  // namespace windhover
