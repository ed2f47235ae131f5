// Rows that come and go.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "windhover/samplers/row_blocks/row_at.h"
#include "windhover/samplers/row_blocks/row_block_langevin.h"

namespace windhover {

namespace {

// A row that goes with more of the curvature than this many times what it leaves takes chains no
// farther than the rows that stay pull them: what it said when a chain last looked may be far from
// what it says where the others have brought the chains since.
constexpr float kLargestOwn = 1;

// What of `change` is on the way to `target`.
float within(float change, float target) noexcept {
  return change > 0 ? std::clamp(target, 0.0F, change) : std::clamp(target, change, 0.0F);
}

}  // namespace

bool RowBlockLangevin::enter(const double* row_in_place, std::uint32_t slot) noexcept {
  const RowColumns row(layout_, has_intercept_, row_in_place);
  curvature_[slot] = 0;
  for (std::size_t k = 0; k < row.count; ++k) {
    if (std::abs(row.value(k)) <= kLargestValue) continue;
    ++aside_;
    if (has_weights()) weights_.enter_aside();
    return false;
  }
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    if (!std::isnan(*theta_of(column))) continue;
    draw_prior(column, {column, 0, Purpose::kInitialState});
    met_[met_count_++] = column;
  }
  prefetch(0, row);
  float* residuals = residuals_ + std::size_t{slot} * chains_;
  double curvature = 0;
  for (std::uint32_t c = 0; c < chains_; ++c) {
    double eta = row.offset;
    for (std::size_t k = 0; k < row.count; ++k) eta += row.value(k) * theta_of(row.column(k))[c];
    const RowAt at =
        has_weights() ? row_at_of_weight(eta, row.sparse.target) : row_at(eta, row.sparse.target);
    residuals[c] = at.residual;
    curvature += at.curvature;
  }
  curvature_[slot] = static_cast<float>(curvature / chains_);
  translate(row, slot, -1);
  ++rows_;
  nonzeros_ += row.count;
  if (has_weights()) weights_.enter(row, slot, spread_of(residuals));
  for (std::size_t k = 0; k < row.count; ++k) {
    ++sums_[row.column(k)].rows;
    unsettle(row, k, row.weight * curvature_[slot]);
    add_force(row, k, residuals, 1);
  }
  add_curvature(row, 0, curvature_[slot]);
  return true;
}

void RowBlockLangevin::leave(const double* row_in_place, std::uint32_t slot) noexcept {
  if (curvature_[slot] == 0) {
    --aside_;
    if (has_weights()) weights_.leave_aside();
    return;
  }
  const RowColumns row(layout_, has_intercept_, row_in_place);
  prefetch(0, row);
  const float* residuals = residuals_ + std::size_t{slot} * chains_;
  --rows_;
  nonzeros_ -= row.count;
  if (has_weights()) weights_.leave(row, slot);
  add_curvature(row, curvature_[slot], 0);
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    ColumnSums& sums = sums_[column];
    add_force(row, k, residuals, -1);
    if (--sums.rows > 0) continue;
    sums.unsettled = 0;
    sums.curvature = 0;  // what rounding has left would stay for ever
    std::fill_n(force_of(column), chains_, 0.0F);
    if (is_intercept(column)) std::fill_n(intercept_force_, chains_, 0.0);
  }
  translate(row, slot, 1);
}

// A row of this curvature, w h, takes what its k-th column has of the prior from here to there.
void RowBlockLangevin::unsettle(const RowColumns& row, std::size_t k, double curvature) noexcept {
  ColumnSums& sums = sums_[row.column(k)];
  const double precision = precision_of(row.column(k));
  const double before = precision + sums.curvature;
  const double after = before + curvature * row.value(k) * row.value(k);
  const double taken = precision / before - precision / after;
  sums.unsettled = static_cast<float>(std::min(1.0, sums.unsettled + taken));
}

// Variance of what the chains have, each a number.
float RowBlockLangevin::spread_of(const float* numbers) const noexcept {
  const double count = chains_;
  const double mean = std::accumulate(numbers, numbers + chains_, 0.0) / count;
  double squares = 0;
  for (std::uint32_t c = 0; c < chains_; ++c) squares += (numbers[c] - mean) * (numbers[c] - mean);
  return static_cast<float>(squares / count);
}

// Newton's step for a row that is not among the columns' rows, at the mean of the chains'
// residuals, with lambda_j + H_j in place of the curvature. `sign`: -1 where the row comes, 1 where
// it has gone.
void RowBlockLangevin::translate(const RowColumns& row, std::uint32_t slot, float sign) noexcept {
  const float* residuals = residuals_ + std::size_t{slot} * chains_;
  const float mean =
      std::accumulate(residuals, residuals + chains_, 0.0F) / static_cast<float>(chains_);
  float along = 0;
  for (std::size_t k = 0; k < row.count; ++k) {
    const auto precision = static_cast<float>(precision_of(row.column(k)));
    block_.value[k] = static_cast<float>(row.value(k));
    block_.step[k] = 1 / (precision + static_cast<float>(sums_[row.column(k)].curvature));
    along += block_.value[k] * block_.value[k] * block_.step[k];
  }
  const auto weight = static_cast<float>(row.weight);
  const float own = weight * curvature_[slot] * along;
  // Without weights a row that goes is one of many.
  const bool whole = has_weights() && sign > 0;
  const float factor = sign * weight * mean / (whole ? 1 : 1 + own);
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    float change = factor * block_.value[k] * block_.step[k];
    if (whole && own > kLargestOwn)
      change = within(
          change, -static_cast<float>(mean_force(column, precision_of(column))) * block_.step[k]);
    float* theta = theta_of(column);
    for (std::uint32_t c = 0; c < chains_; ++c) theta[c] += change;
  }
}

// To G of all chains what the row says of its k-th column, or, with sign -1, from it.
void RowBlockLangevin::add_force(const RowColumns& row, std::size_t k, const float* residuals,
                                 int sign) noexcept {
  const std::uint32_t column = row.column(k);
  float* force = force_of(column);
  if (has_weights()) {
    Quanta* exact = exact_force_of(column);
    for (std::uint32_t c = 0; c < chains_; ++c) {
      exact[c] += sign * quanta_of_force(row, k, residuals[c]);
      force[c] = force_of_quanta(exact[c]);
    }
    return;
  }
  const auto value = static_cast<float>(sign * row.value(k));
  if (!is_intercept(column)) {
    for (std::uint32_t c = 0; c < chains_; ++c) force[c] += value * residuals[c];
    return;
  }
  for (std::uint32_t c = 0; c < chains_; ++c) {
    intercept_force_[c] += double{value} * residuals[c];
    force[c] = static_cast<float>(intercept_force_[c]);
  }
}

}  // namespace windhover
