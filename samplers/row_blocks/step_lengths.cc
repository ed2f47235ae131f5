#include "windhover/samplers/row_blocks/step_lengths.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "windhover/samplers/row_blocks/row_block_parts.h"

namespace windhover {

namespace {

// A step takes at most this share of the way to where the parameter would be if it stood alone.
constexpr float kLongestBlockStep = 0.2F;
// With weights: bounds on a column's eps_j, which uses half of what scatter allows, and on that of
// a step, which may be longer than its columns'.
constexpr double kLongestColumnStep = 0.2;
constexpr double kShortestColumnStep = 1e-12;
constexpr double kLongestRowStep = 0.5;
// Residuals also change where all chains go far together, which is no scatter. So scatter counts up
// to this many times the variance that the columns alone leave to a linear predictor.
constexpr double kMostScatter = 4;

}  // namespace

StepLengths::StepLengths(Arena& arena, std::uint32_t columns, RowBlockParts& parts) noexcept
    : parts_(parts),
      bound_(arena, columns, parts.weighs_rows() ? 1 : CurvatureBound::kMostCompared) {}

// eps_j of a column with one row, as far as scatter bounds it: each of the row's n columns may use
// the n-th part of kLargestShare.
double StepLengths::share_of(std::size_t n) const noexcept {
  return 2 * kLargestShare * parts_.recent.mean_curvature() /
         (static_cast<double>(n) * parts_.recent.change());
}

// A column counts as many rows like this one as weigh what all of its rows weigh together.
void StepLengths::work_out(const RowColumns& row, double length, double most_scatter) noexcept {
  const StepBlock& b = parts_.gathered.block();
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    const double longer = length / parts_.weights.length_of(column);
    const double relative =
        std::min(longest_step_of(row, k, most_scatter) * longer, kLongestRowStep);
    b.length[k] = static_cast<float>(relative);
    b.rows[k] = static_cast<float>(parts_.weights.weight_of(column) / length);
  }
  std::fill(b.length + row.count, b.length + StepBlock::padded(row.count), kLongestBlockStep);
}

double StepLengths::most_scatter(const RowColumns& row) const noexcept {
  if (!parts_.draws_new_columns()) return std::numeric_limits<double>::infinity();
  const StepBlock& b = parts_.gathered.block();
  double variance = 0;
  for (std::size_t k = 0; k < row.count; ++k) {
    variance += double{b.value[k]} * b.value[k] / (b.precision[k] + b.curvature[k]);
  }
  return kMostScatter * parts_.noise.dispersion().value() * variance;
}

// eps_j at scale 1 for a row whose steps are as long as its column's are.
double StepLengths::longest_step_of(const RowColumns& row, std::size_t k,
                                    double most_scatter) const noexcept {
  const StepBlock& b = parts_.gathered.block();
  const std::uint32_t column = row.column(k);
  const double weight = parts_.weights.weight_of(column);
  const double hessian = b.curvature[k] / b.value[k];
  const double scatter = std::min(weight * weight * parts_.weights.scatter_of_column(column),
                                  hessian * hessian * most_scatter);
  const double curvature = double{b.precision[k]} + b.curvature[k];
  const double share = kLargestShare * curvature * parts_.noise.dispersion().value() /
                       (static_cast<double>(row.count) * scatter);
  return std::clamp(share, kShortestColumnStep, kLongestColumnStep);
}

void StepLengths::work_out(std::size_t count) noexcept {
  const auto share = static_cast<float>(share_of(count));
  const StepBlock& b = parts_.gathered.block();
  for (std::size_t k = 0; k < StepBlock::padded(count); ++k) {
    b.length[k] = std::min(kLongestBlockStep, share / b.rows[k]);
  }
}

void StepLengths::shorten(std::size_t count, float shorter) noexcept {
  const StepBlock& b = parts_.gathered.block();
  const float root = std::sqrt(shorter);
  for (std::size_t k = 0; k < count; ++k) {
    b.step[k] *= shorter;
    b.noise_sd[k] *= root;
  }
}

float StepLengths::longest_alone(const RowColumns& row, float curvature) const noexcept {
  const StepBlock& b = parts_.gathered.block();
  double own = 0;
  for (std::size_t k = 0; k < row.count; ++k) own += double{b.step[k]} * b.value[k] * b.value[k];
  own *= row.weight * curvature;
  return own > CurvatureBound::kMost ? static_cast<float>(CurvatureBound::kMost / own) : 1;
}

void StepLengths::fetch_for_bound(const double* row) const noexcept {
  const SparseRow sparse(parts_.layout, row);
  for (const std::uint32_t column : std::span(sparse.indices, sparse.count)) {
    parts_.columns.fetch(column);
    bound_.fetch(column);
  }
}

void StepLengths::follow_bound(const double* row_in_place, std::uint32_t slot) noexcept {
  if (parts_.kept.is_aside(slot)) return;
  const RowColumns row = parts_.columns_of(row_in_place);
  parts_.gathered.load(row);
  const StepBlock& b = parts_.gathered.block();
  if (parts_.weighs_rows()) {
    const double most = most_scatter(row);
    for (std::size_t k = 0; k < row.count; ++k) {
      b.length[k] = static_cast<float>(longest_step_of(row, k, most));
    }
  } else {
    work_out(row.count);
  }
  for (std::size_t k = 0; k < row.count; ++k) {
    b.step[k] = b.length[k] / (b.precision[k] + b.curvature[k]);
  }
  const double curvature = row.weight * parts_.kept.curvature(slot);
  bound_.add(row, curvature, b.step, b.precision, parts_.rows.count);
}

}  // namespace windhover
