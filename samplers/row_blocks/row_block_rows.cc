// Rows as they are looked at, and as they come and go.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>

#include "windhover/samplers/row_blocks/chain_kernels.h"
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

void RowBlockLangevin::fetch(const double* row) const noexcept {
  constexpr std::size_t kMostNumbers = 128;  // the rest comes by itself
  const std::size_t numbers = std::min(layout_.stride(), kMostNumbers);
  for (std::size_t i = 0; i < numbers; i += 8) __builtin_prefetch(row + i);
}

void RowBlockLangevin::fetch_columns(const double* row) const noexcept {
  constexpr std::size_t kLine = 64;
  const SparseRow sparse(layout_, row);
  const std::span indices(sparse.indices, sparse.count);
  for (const std::uint32_t column : indices) {
    const auto* chains = reinterpret_cast<const std::byte*>(theta_of(column));
    for (std::size_t i = 0; i < 2 * sizeof(float) * chains_; i += kLine) {
      __builtin_prefetch(chains + i, 1);
    }
    __builtin_prefetch(sums_ + column, 1);
  }
  if (!weighs_rows()) return;
  for (const std::uint32_t column : indices) {
    const auto* force = reinterpret_cast<const std::byte*>(exact_force_of(column));
    for (std::size_t i = 0; i < sizeof(Quanta) * chains_; i += kLine) {
      __builtin_prefetch(force + i, 1);
    }
    weights_.prefetch(column);
  }
}

// The row's columns into the block.
void RowBlockLangevin::load(const RowColumns& row) noexcept {
  const StepBlock& b = block_;
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    b.theta[k] = theta_of(column);
    b.value[k] = static_cast<float>(row.value(k));
    b.rows[k] = static_cast<float>(sums_[column].rows);
    b.curvature[k] = static_cast<float>(sums_[column].curvature);
    b.precision[k] = static_cast<float>(precision_.value() * dispersion_.value());
  }
  if (has_intercept_) b.precision[row.count - 1] = static_cast<float>(pull_of(columns_ - 1));
}

// eta of each chain.
void RowBlockLangevin::predict(const RowColumns& row) noexcept {
  const StepBlock& b = block_;
  std::fill_n(b.eta, chains_, row.offset);
  chain_kernels().predictors(b.theta, b.value, row.count, chains_, b.eta);
}

// Whether what the row has leaves digits to sums.
bool RowBlockLangevin::in_range(const RowColumns& row) const noexcept {
  for (std::size_t k = 0; k < row.count; ++k) {
    if (!(std::abs(row.value(k)) <= kLargestValue)) return false;
  }
  return likelihood_.in_range(row.target);
}

bool RowBlockLangevin::enter(const double* row_in_place, std::uint32_t slot) noexcept {
  const RowColumns row = columns_of_row(row_in_place);
  curvature_[slot] = 0;
  if (!in_range(row)) {
    ++aside_;
    if (weighs_rows()) weights_.enter_aside();
    return false;
  }
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    if (sums_[column].rows > 0) continue;
    if (std::isnan(*theta_of(column))) met_[met_count_++] = column;
    draw_prior(column, {moves_ * columns_ + column, 0, Purpose::kInitialState});
  }
  const double fresh = draws_new_columns() ? draw_new_columns(row) : 0;
  load(row);
  predict(row);
  float* residuals = residuals_of(slot);
  double curvature = 0;
  for (std::uint32_t c = 0; c < chains_; ++c) {
    const double eta = block_.eta[c];
    const RowAt at = weighs_rows() ? likelihood_.at(eta, row.target) : logistic_at(eta, row.target);
    residuals[c] = at.residual;
    curvature += at.curvature;
  }
  curvature_[slot] = static_cast<float>(curvature / chains_);
  work_out_translation(row, slot, -1, fresh);
  keep_noise(row, residuals, 1);
  ++rows_;
  nonzeros_ += row.count;
  if (weighs_rows()) weights_.enter(row, slot, spread_of(residuals));
  for (std::size_t k = 0; k < row.count; ++k) {
    ++sums_[row.column(k)].rows;
    unsettle(row, k, row.weight * curvature_[slot]);
  }
  translate(row, residuals);
  if (weighs_rows()) add_exactly(row, residuals, 1);
  add_curvature(row, 0, curvature_[slot]);
  return true;
}

void RowBlockLangevin::leave(const double* row_in_place, std::uint32_t slot) noexcept {
  if (curvature_[slot] == 0) {
    --aside_;
    if (weighs_rows()) weights_.leave_aside();
    return;
  }
  const RowColumns row = columns_of_row(row_in_place);
  const float* residuals = residuals_of(slot);
  keep_noise(row, residuals, -1);
  --rows_;
  nonzeros_ -= row.count;
  if (weighs_rows()) {
    weights_.leave(row, slot);
    add_exactly(row, residuals, -1);
  }
  add_curvature(row, curvature_[slot], 0);
  for (std::size_t k = 0; k < row.count; ++k) {
    ColumnSums& sums = sums_[row.column(k)];
    if (--sums.rows > 0) continue;
    sums.unsettled = 0;
    sums.curvature = 0;  // what rounding has left would stay for ever
  }
  load(row);
  work_out_translation(row, slot, 1, 0);
  for (std::uint32_t c = 0; c < chains_; ++c) block_.change[c] = -residuals[c];
  translate(row, block_.change);
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    if (sums_[column].rows > 0) continue;
    std::fill_n(force_of(column), chains_, 0.0F);
    if (is_intercept(column)) std::fill_n(intercept_force_, chains_, 0.0);
  }
}

// Sum of the squares of what the chains have, each a number: the same wherever it is called.
double RowBlockLangevin::squares_of(const float* numbers) const noexcept {
  double squares = 0;
  for (std::uint32_t c = 0; c < chains_; ++c) squares += double{numbers[c]} * numbers[c];
  return squares;
}

void RowBlockLangevin::keep_noise(const RowColumns& row, const float* residuals,
                                  int sign) noexcept {
  if (!dispersion_.learned() || !is_normal(likelihood_.response())) return;
  dispersion_.keep(sign * (row.weight * squares_of(residuals)));
}

// A row of this curvature, w h, takes what its k-th column has of the prior from here to there.
void RowBlockLangevin::unsettle(const RowColumns& row, std::size_t k, double curvature) noexcept {
  ColumnSums& sums = sums_[row.column(k)];
  const double precision = pull_of(row.column(k));
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
// residuals, with lambda_j + H_j in place of the curvature: into the block's steps, of what has
// been loaded. `sign`: -1 where the row comes, 1 where it has gone. Where columns of it have just
// been drawn (draw_new_columns()), whose part of the linear predictor had the variance `fresh`, the
// others go as far as these leave it to them, and these as far as that asks of them.
void RowBlockLangevin::work_out_translation(const RowColumns& row, std::uint32_t slot, float sign,
                                            double fresh) noexcept {
  const StepBlock& b = block_;
  const float* residuals = residuals_of(slot);
  const float mean =
      std::accumulate(residuals, residuals + chains_, 0.0F) / static_cast<float>(chains_);
  const auto is_new = [&](std::size_t k) { return fresh > 0 && b.rows[k] == 0; };
  float along = 0;
  for (std::size_t k = 0; k < row.count; ++k) {
    b.step[k] = 1 / (b.precision[k] + b.curvature[k]);
    if (!is_new(k)) along += b.value[k] * b.value[k] * b.step[k];
  }
  const auto weight = static_cast<float>(row.weight);
  const float alone = weight * curvature_[slot];
  const float own = alone / (1 + alone * static_cast<float>(fresh)) * along;
  // Without weights a row that goes is one of many.
  const bool whole = weighs_rows() && sign > 0;
  const float factor = sign * weight * mean / (whole ? 1 : 1 + own);
  for (std::size_t k = 0; k < row.count; ++k) {
    float change = (is_new(k) ? -own * factor : factor) * b.value[k] * b.step[k];
    if (whole && own > kLargestOwn) {
      const std::uint32_t column = row.column(k);
      change = within(change, -static_cast<float>(mean_force(column, pull_of(column))) * b.step[k]);
    }
    b.step[k] = change;
  }
}

// Theta of all chains by the block's steps; and to G of them, where it is not known exactly, what a
// row of these residuals says.
void RowBlockLangevin::translate(const RowColumns& row, const float* residuals) noexcept {
  const StepBlock& b = block_;
  chain_kernels().translate(b.theta, b.step, b.value, weighs_rows() ? b.none : residuals, row.count,
                            chains_);
  if (weighs_rows() || !has_intercept_) return;
  float* force = force_of(columns_ - 1);
  for (std::uint32_t c = 0; c < chains_; ++c) {
    intercept_force_[c] += residuals[c];
    force[c] = static_cast<float>(intercept_force_[c]);
  }
}

// To G of all chains what a row with a weight says, or, with sign -1, from it.
void RowBlockLangevin::add_exactly(const RowColumns& row, const float* residuals,
                                   int sign) noexcept {
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    float* force = force_of(column);
    Quanta* exact = exact_force_of(column);
    for (std::uint32_t c = 0; c < chains_; ++c) {
      exact[c] += sign * quanta_of_force(row, k, residuals[c]);
      force[c] = force_of_quanta(exact[c]);
    }
  }
}

}  // namespace windhover
