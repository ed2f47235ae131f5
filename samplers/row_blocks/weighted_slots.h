// Slots of rows, drawn in proportion to what each weighs.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_WEIGHTED_SLOTS_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_WEIGHTED_SLOTS_H_

#include <cstddef>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"

namespace windhover {

// A binary tree whose nodes are the sums of their two children. They are whole numbers, so that a
// slot that is set to 0 leaves nothing in any sum. REQUIRES: the sum of all weights is below 2^63.
// Memory: 16 bytes for each slot, rounded up to a power of two.
class WeightedSlots {
 public:
  // With 0 `slots` it takes no memory, and only reset() and total() may be called.
  WeightedSlots(Arena& arena, std::uint64_t slots) noexcept;
  void reset() noexcept;  // all weigh 0

  // O(log slots).
  void set(std::uint32_t slot, std::uint64_t weight) noexcept;
  std::uint64_t weight(std::uint32_t slot) const noexcept { return sums_[leaves_ + slot]; }
  std::uint64_t total() const noexcept { return leaves_ > 0 ? sums_[1] : 0; }

  // The slot at the share `u` of all weight; its weight is not 0. O(log slots). REQUIRES: 0 <= u <
  // 1, total() > 0.
  std::uint32_t at(double u) const noexcept;

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  std::size_t leaves_;
  std::uint64_t* sums_;  // of node n, whose children are 2 n and 2 n + 1; leaves come last
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_WEIGHTED_SLOTS_H_
