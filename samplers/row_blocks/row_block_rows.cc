// Rows as they are looked at, and as they come and go.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>

#include "windhover/samplers/row_blocks/chain_kernels.h"
#include "windhover/samplers/row_blocks/row_block_langevin.h"

namespace windhover {

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
    if (!past_.kept()) continue;
    __builtin_prefetch(&past_.of(column), 1);
    memory_.fetch(column);
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
  if (!past_.kept()) return;
  for (std::size_t k = 0; k < row.sparse.count; ++k) {
    b.precision[k] += past_.of(row.column(k)).precision;
  }
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
  if (past_.kept()) {
    past_.add_row();
    const bool other = memory_.take(row, precision_.value(), intercept_precision_);
    if (other) past_.remember(memory_.rows());
  }
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    const bool is_new = std::isnan(*theta_of(column));
    if (past_.kept() && !is_new) age(column);
    if (sums_[column].rows > 0 || (past_.kept() && !is_new)) continue;
    if (is_new) met_[met_count_++] = column;
    draw_prior(column, {moves_ * columns_ + column, 0, Purpose::kInitialState});
  }
  const double fresh = draws_new_columns() ? draw_new_columns(row) : 0;
  load(row);
  predict(row);
  if (columns_have_few_rows()) learn_precision(row);
  float* residuals = residuals_of(slot);
  double curvature = 0;
  if (!weighs_rows()) work_out_transport(row);
  for (std::uint32_t c = 0; c < chains_; ++c) {
    const double eta = block_.eta[c];
    const RowAt at = weighs_rows() ? likelihood_.at(eta, row.target) : logistic_at(eta, row.target);
    residuals[c] = at.residual;
    curvature += at.curvature;
  }
  curvature_[slot] = static_cast<float>(curvature / chains_);
  if (weighs_rows()) work_out_translation(row, slot, -1, fresh);
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
  if (past_.kept()) return condense(row, slot);
  load(row);
  if (weighs_rows()) {
    work_out_translation(row, slot, 1, 0);
  } else {
    work_out_return(row, slot);
  }
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
