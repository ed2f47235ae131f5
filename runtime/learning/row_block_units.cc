// In which units a learner of many sparse columns sees y.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>

#include "windhover/runtime/learning/row_block_learner.h"
#include "windhover/runtime/window/row_scan.h"
#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

// Location and scale are those of so many rows, or of a quarter of a small window.
constexpr std::uint64_t kUnitsRows = 100;
constexpr std::uint64_t kLeastUnitsRows = 4;
// Rows whose median must be no farther from the location than so many scales, nor half of them from
// it, and these, unless the scale is still much like that, no nearer than so many.
constexpr std::size_t kLookedAt = 255;
constexpr double kFarthest = 8;
constexpr double kNearest = 1.0 / 32;
constexpr double kUnlike = 8;

// Of some, which are put into another order.
double median(std::span<double> numbers) noexcept {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

}  // namespace

// Of y, once there are rows enough to tell.
void RowBlockLearner::find_units() noexcept {
  const std::uint64_t wanted = std::clamp(config_.window_size / 4, kLeastUnitsRows, kUnitsRows);
  if (cursor_.rows() < wanted) return;
  units_known_ = true;
  sampler_.set_units(RowScan::target_units(config_, cursor_));
}

// Whether y has another scale now than the rows said that its units are of. Looked at whenever
// there are twice as many rows, and once the first has left four times a window.
bool RowBlockLearner::units_are_off(std::uint64_t before) const noexcept {
  const bool looks = config_.standardize_target == Standardize::kColdStart &&
                     is_number(find_model(config_.model.name)->response);
  const std::uint64_t head = cursor_.head();
  const std::uint64_t first = cursor_.first();
  const std::uint64_t quarter = std::max<std::uint64_t>(config_.window_size / 4, 1);
  const bool due = first > 0 ? before / quarter != head / quarter
                             : std::bit_width(before) != std::bit_width(head);
  if (!looks || !due) return false;
  std::array<double, kLookedAt> looked_at{};
  const std::uint64_t rows = cursor_.rows();
  const auto numbers = std::span(looked_at).first(std::min<std::size_t>(rows, kLookedAt));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = sampler_.distance_of(cursor_.row(first + i * rows / numbers.size()));
  }
  const double middle = median(numbers);
  for (double& number : numbers) number = std::abs(number - middle);
  const double spread = median(numbers);
  if (std::max(std::abs(middle), spread) > kFarthest) return true;
  return spread < kNearest && kUnlike * RowScan::target_units(config_, cursor_).scale <
                                  sampler_.noise().likelihood().units().scale;
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
