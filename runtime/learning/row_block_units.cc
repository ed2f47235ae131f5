// In which units a learner of many sparse columns sees y.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "windhover/runtime/learning/row_block_learner.h"
#include "windhover/runtime/window/row_scan.h"
#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

// Location and scale are those of so many rows, or of a quarter of a small window.
constexpr std::uint64_t kUnitsRows = 100;
constexpr std::uint64_t kLeastUnitsRows = 4;
// Rows of which half must be no farther from the location than so many scales, and, unless the
// scale is still much like that, no nearer than so many.
constexpr std::size_t kLookedAt = 255;
constexpr double kFarthest = 8;
constexpr double kNearest = 1.0 / 32;
constexpr double kUnlike = 8;

}  // namespace

// Of y, once there are rows enough to tell.
void RowBlockLearner::find_units() noexcept {
  const std::uint64_t wanted = std::clamp(config_.window_size / 4, kLeastUnitsRows, kUnitsRows);
  if (cursor_.rows() < wanted) return;
  units_known_ = true;
  sampler_.set_units(RowScan::target_units(config_, cursor_));
}

// Whether the first rows said something else of the scale of y than all do now. They are looked at
// whenever there are twice as many, until the first of them leaves.
bool RowBlockLearner::units_are_off(std::uint64_t before) const noexcept {
  const bool looks = config_.standardize_target == Standardize::kColdStart &&
                     is_number(find_model(config_.model.name)->response);
  const std::uint64_t head = cursor_.head();
  if (!looks || cursor_.first() > 0 || std::bit_width(before) == std::bit_width(head)) return false;
  std::array<double, kLookedAt> distances;
  const std::size_t count = std::min<std::size_t>(head, kLookedAt);
  for (std::size_t i = 0; i < count; ++i) {
    distances[i] = std::abs(sampler_.distance_of(cursor_.row(i * head / count)));
  }
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(distances.begin(), middle,
                   distances.begin() + static_cast<std::ptrdiff_t>(count));
  if (*middle > kFarthest) return true;
  return *middle < kNearest &&
         kUnlike * RowScan::target_units(config_, cursor_).scale < sampler_.units().scale;
}

// In the units of the rows that are there, as if all had come now.
void RowBlockLearner::start_over() noexcept {
  sampler_.reset();
  sampler_.set_units(RowScan::target_units(config_, cursor_));
  phase_ = Phase::kWarmingUp;
  groups_ = newest_moves_ = 0;
  enter_rows(cursor_.first());
}

}  // namespace windhover
