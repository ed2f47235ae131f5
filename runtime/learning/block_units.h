// In which units a learner of many sparse columns sees y.
#ifndef WINDHOVER_RUNTIME_LEARNING_BLOCK_UNITS_H_
#define WINDHOVER_RUNTIME_LEARNING_BLOCK_UNITS_H_

#include <cstdint>

#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/window/window_cursor.h"
#include "windhover/samplers/row_blocks/row_block_langevin.h"

namespace windhover {

// The units of y: given, or location and scale of the first rows' y. Invariant: once known they
// stay so. One thread.
class BlockUnits {
 public:
  // Both outlive it.
  BlockUnits(const EngineConfig& config, const WindowCursor& cursor) noexcept
      : config_(config), cursor_(cursor) {}
  void reset() noexcept;

  bool known() const noexcept { return known_; }
  // Finds the units where there are rows enough. Returns whether they are known.
  bool find() noexcept;
  // The units by the rows that are there.
  TargetTransform of_rows() const noexcept;
  // Whether y has another scale now than that which the sampler sees it in; rows below `before`
  // were there when it was asked last.
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
