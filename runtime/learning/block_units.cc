#include "windhover/runtime/learning/block_units.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>

#include "windhover/runtime/learning/row_scan.h"
#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

// Location and scale are those of so many rows, or of a quarter of a small window.
constexpr std::uint64_t kUnitsRows = 100;
constexpr std::uint64_t kLeastUnitsRows = 4;
// So many rows are looked at. The units are off where the median of their y is more than kFarthest
// scales from 0 or the median distance from that median is; or where that distance is below
// kNearest and the scale of the window's rows is less than 1 / kUnlike of the sampler's.
constexpr std::size_t kLookedAt = 255;
constexpr double kFarthest = 8;
constexpr double kNearest = 1.0 / 32;
constexpr double kUnlike = 8;

// The median of the numbers, which it reorders.
double median(std::span<double> numbers) noexcept {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

}  // namespace

void BlockUnits::reset() noexcept {
  known_ = config_.standardize_target != Standardize::kColdStart;
}

bool BlockUnits::find() noexcept {
  const std::uint64_t wanted = std::clamp(config_.window_size / 4, kLeastUnitsRows, kUnitsRows);
  known_ = cursor_.rows() >= wanted;
  return known_;
}

TargetTransform BlockUnits::of_rows() const noexcept {
  return RowScan::target_units(config_, cursor_);
}

// The units are looked at when the number of rows passes a power of two, and once rows have left,
// with every quarter of a window.
bool BlockUnits::are_off(const RowBlockLangevin& sampler, std::uint64_t before) const noexcept {
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
    numbers[i] = sampler.distance_of(cursor_.row(first + i * rows / numbers.size()));
  }
  const double middle = median(numbers);
  for (double& number : numbers) number = std::abs(number - middle);
  const double spread = median(numbers);
  if (std::max(std::abs(middle), spread) > kFarthest) return true;
  return spread < kNearest &&
         kUnlike * of_rows().scale < sampler.noise().likelihood().units().scale;
}

}  // namespace windhover
