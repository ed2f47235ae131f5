// In which units a learner of many sparse columns sees y.
#ifndef WINDHOVER_RUNTIME_LEARNING_BLOCK_UNITS_H_
#define WINDHOVER_RUNTIME_LEARNING_BLOCK_UNITS_H_

#include <cstdint>

#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/window/window_cursor.h"
#include "windhover/samplers/row_blocks/row_block_langevin.h"

namespace windhover {

// The units of y: given, or location and scale of the y of rows in the window. Invariant: once the
// units are known they stay so until reset(). One thread.
class BlockUnits {
 public:
  // Both arguments outlive it.
  BlockUnits(const EngineConfig& config, const WindowCursor& cursor) noexcept
      : config_(config), cursor_(cursor) {}
  void reset() noexcept;

  bool known() const noexcept { return known_; }
  // Takes the units for known once there are 100 rows, or a quarter of a window of fewer than 400.
  // Returns whether they are known.
  bool find() noexcept;
  // The units that the rows of the window lead to.
  TargetTransform of_rows() const noexcept;
  // Whether the y of the window's rows no longer fit the units that the sampler sees y in. Looks
  // only when the head has gone far enough from `before`, the head of the last call; otherwise
  // false. Always false where units are given and for classes.
  bool are_off(const RowBlockLangevin& sampler, std::uint64_t before) const noexcept;

  // Shows its numbers in the section that is open.
  void visit_state(StateVisitor& visitor) noexcept {
    if (config_.standardize_target == Standardize::kColdStart) visitor.value(known_);
  }

 private:
  const EngineConfig& config_;
  const WindowCursor& cursor_;
  bool known_ = true;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_BLOCK_UNITS_H_
