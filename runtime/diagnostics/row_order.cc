#include "windhover/runtime/diagnostics/row_order.h"

#include <algorithm>
#include <cmath>

#include "windhover/runtime/prediction/gaussian_mixture.h"

namespace windhover {

RowOrder::RowOrder(Arena& arena, const RowLayout& layout) noexcept
    : layout_(layout),
      features_(layout.sparse() ? 0 : layout.features()),
      threshold_(normal_quantile(1 - kChance / std::max(features_, 1U))) {
  for (double** numbers : {&mean_, &distance_, &sum_, &squares_}) {
    *numbers = arena.allocate<double>(features_).data();
  }
}

void RowOrder::reset() noexcept {
  in_order_ = false;
  begin_pass();
}

void RowOrder::begin_pass() noexcept {
  rows_ = 0;
  for (double* numbers : {mean_, distance_, sum_, squares_}) std::fill_n(numbers, features_, 0.0);
}

void RowOrder::add(const RowBatch& rows) noexcept {
  for (std::size_t i = 0; i < rows.count && features_ > 0; ++i) {
    const double* const row = rows.base + std::size_t{rows.slots[i]} * layout_.stride();
    const double share = 1 / static_cast<double>(++rows_);
    for (std::uint32_t j = 0; j < features_; ++j) {
      const double distance = rows_ > 1 ? row[j] - mean_[j] : 0;
      const double product = distance * distance_[j];
      sum_[j] += product;
      squares_[j] += product * product;
      distance_[j] = distance;
      mean_[j] += (row[j] - mean_[j]) * share;
    }
  }
}

void RowOrder::conclude() noexcept {
  in_order_ = false;
  for (std::uint32_t j = 0; j < features_; ++j) {
    in_order_ = in_order_ || sum_[j] > threshold_ * std::sqrt(squares_[j]);
  }
}

void RowOrder::visit_state(StateVisitor& visitor) noexcept {
  visitor.values(in_order_, rows_);
  for (double* numbers : {mean_, distance_, sum_, squares_}) visitor.visit(numbers, features_);
}

}  // namespace windhover
