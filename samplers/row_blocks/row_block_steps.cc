// How long steps are.
#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/samplers/row_blocks/row_block_langevin.h"

namespace windhover {

namespace {

// A step takes at most this share of the way to where the parameter would be if it stood alone.
constexpr float kLongestBlockStep = 0.2F;
// With weights a step is as long as its row says, and up to so many times longer than that of its
// column is; columns then get half of what scatter allows.
constexpr double kLongestColumnStep = 0.2;
constexpr double kShortestColumnStep = 1e-12;
constexpr double kLongestRowStep = 0.5;
// What residuals change by where all chains go far together is no scatter: of that a linear
// predictor has so many times its variance at most, its columns alone.
constexpr double kMostScatter = 4;

}  // namespace

// eps_j of a column with one row, in a row of n columns, as far as scatter bounds it: each column
// may get the n-th part of kLargestShare from it.
double RowBlockLangevin::share_of(std::size_t n) const noexcept {
  return 2 * kLargestShare * recent_.mean_curvature() / (static_cast<double>(n) * recent_.change());
}

// eps_j at scale 1 and N_j of a row with a weight, of length `length` (BlockWeights): a column has
// as many rows such as this as weigh what all of its rows do together.
void RowBlockLangevin::work_out_lengths(const RowColumns& row, double length,
                                        double most_scatter) noexcept {
  const StepBlock& b = block_;
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    const double longer = length / weights_.length_of(column);
    const double relative =
        std::min(longest_step_of(row, k, most_scatter) * longer, kLongestRowStep);
    b.length[k] = static_cast<float>(relative);
    b.rows[k] = static_cast<float>(weights_.weight_of(column) / length);
  }
  std::fill(b.length + row.count, b.length + StepBlock::padded(row.count), kLongestBlockStep);
}

// Of linear predictors such as the row's, or infinity.
double RowBlockLangevin::most_scatter(const RowColumns& row) const noexcept {
  if (!draws_new_columns()) return std::numeric_limits<double>::infinity();
  const StepBlock& b = block_;
  double variance = 0;
  for (std::size_t k = 0; k < row.count; ++k) {
    variance += double{b.value[k]} * b.value[k] / (b.precision[k] + b.curvature[k]);
  }
  return kMostScatter * dispersion_.value() * variance;
}

// eps_j at scale 1 of a row that is as long as its column's are.
double RowBlockLangevin::longest_step_of(const RowColumns& row, std::size_t k,
                                         double most_scatter) const noexcept {
  const std::uint32_t column = row.column(k);
  const double weight = weights_.weight_of(column);
  const double hessian = block_.curvature[k] / block_.value[k];
  const double scatter = std::min(weight * weight * weights_.scatter_of_column(column),
                                  hessian * hessian * most_scatter);
  const double curvature = double{block_.precision[k]} + block_.curvature[k];
  const double share =
      kLargestShare * curvature * dispersion_.value() / (static_cast<double>(row.count) * scatter);
  return std::clamp(share, kShortestColumnStep, kLongestColumnStep);
}

// Of a row without a weight.
void RowBlockLangevin::work_out_lengths(std::size_t count) noexcept {
  const auto share = static_cast<float>(share_of(count));
  const StepBlock& b = block_;
  for (std::size_t k = 0; k < StepBlock::padded(count); ++k) {
    b.length[k] = std::min(kLongestBlockStep, share / b.rows[k]);
  }
}

void RowBlockLangevin::shorten(std::size_t count, float shorter) noexcept {
  const float root = std::sqrt(shorter);
  for (std::size_t k = 0; k < count; ++k) {
    block_.step[k] *= shorter;
    block_.noise_sd[k] *= root;
  }
}

void RowBlockLangevin::follow_bound(const double* row_in_place, std::uint32_t slot) noexcept {
  if (kept_.is_aside(slot)) return;
  const RowColumns row = columns_of_row(row_in_place);
  load(row);
  if (weighs_rows()) {
    const double most = most_scatter(row);
    for (std::size_t k = 0; k < row.count; ++k) {
      block_.length[k] = static_cast<float>(longest_step_of(row, k, most));
    }
  } else {
    work_out_lengths(row.count);
  }
  for (std::size_t k = 0; k < row.count; ++k) {
    block_.step[k] = block_.length[k] / (block_.precision[k] + block_.curvature[k]);
  }
  const double curvature = row.weight * kept_.curvature(slot);
  bound_.add(row, curvature, block_.step, block_.precision, rows_);
}

}  // namespace windhover
