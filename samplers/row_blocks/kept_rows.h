// What the chains keep of each row that is there.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_KEPT_ROWS_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_KEPT_ROWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"

namespace windhover {

// For each row a residual r' a chain, from its last look at the row, and one curvature h
// (row_block_langevin.h). Invariant: h is greater than 0, or 0 for a row that has been set aside.
// One thread. Memory: 4 bytes a chain and row, 4 a row.
class KeptRows {
 public:
  KeptRows(Arena& arena, std::uint64_t slots, std::uint32_t chains) noexcept
      : slots_(slots),
        chains_(chains),
        residuals_(arena.allocate<float>(slots * chains).data()),
        curvature_(arena.allocate<float>(slots).data()) {}
  void reset() noexcept {
    std::fill_n(residuals_, slots_ * chains_, 0.0F);
    std::fill_n(curvature_, slots_, 0.0F);
  }

  std::uint64_t slots() const noexcept { return slots_; }
  float* residuals(std::uint32_t slot) const noexcept {
    return residuals_ + std::size_t{slot} * chains_;
  }
  float& curvature(std::uint32_t slot) noexcept { return curvature_[slot]; }
  float curvature(std::uint32_t slot) const noexcept { return curvature_[slot]; }
  bool is_aside(std::uint32_t slot) const noexcept { return curvature_[slot] == 0; }
  // A hint that a row is wanted soon.
  void fetch(std::uint32_t slot) const noexcept {
    __builtin_prefetch(residuals(slot));
    __builtin_prefetch(curvature_ + slot);
  }

  // Shows its numbers in the section that is open.
  void visit_state(StateVisitor& visitor) noexcept {
    const auto bits = [&](float* numbers, std::size_t count) {
      visitor.visit(std::span(reinterpret_cast<std::uint32_t*>(numbers), count));
    };
    bits(residuals_, slots_ * chains_);
    bits(curvature_, slots_);
  }

 private:
  std::uint64_t slots_;
  std::uint32_t chains_;
  float* residuals_;
  float* curvature_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_KEPT_ROWS_H_
