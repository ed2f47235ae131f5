// What rows of many sparse columns say of the curvature, and of the prior's precision.
#include <algorithm>

#include "windhover/samplers/row_blocks/row_block_langevin.h"

namespace windhover {

// What of a step a row of this curvature allows, were there no other.
float RowBlockLangevin::longest_alone(const RowColumns& row, float curvature) const noexcept {
  const StepBlock& b = block_;
  double own = 0;
  for (std::size_t k = 0; k < row.count; ++k) own += double{b.step[k]} * b.value[k] * b.value[k];
  own *= row.weight * curvature;
  return own > CurvatureBound::kMost ? static_cast<float>(CurvatureBound::kMost / own) : 1;
}

// h of a row goes so much of the way to the newest; what it then is.
float RowBlockLangevin::follow_curvature(const RowColumns& row, std::uint32_t slot, float newest,
                                         float share) noexcept {
  const float before = kept_.curvature(slot);
  kept_.curvature(slot) += share * (newest - before);
  add_curvature(row, before, kept_.curvature(slot));  // as it is after rounding
  return kept_.curvature(slot);
}

// H of the columns of the row in the block, where h of the row was `before`.
void RowBlockLangevin::add_curvature(const RowColumns& row, double before, double after) noexcept {
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = block_.column[k];
    double& sum = sums_[column].curvature;
    const double value = block_.value[k];
    if (!weighs_rows()) {
      sum = std::max(0.0, sum + (after - before) * value * value);
      continue;
    }
    const double square = row.weight * value * value;
    sum = exact_.add_curvature(column, before * square, after * square);
  }
}

}  // namespace windhover
