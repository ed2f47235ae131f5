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

// In so many pieces what belongs to a row's columns is fetched.
constexpr std::size_t kPieces = 8;

// To be written.
void fetch_lines(const void* numbers, std::size_t bytes) noexcept {
  constexpr std::size_t kLine = 64;
  const auto* first = static_cast<const std::byte*>(numbers);
  for (std::size_t i = 0; i < bytes; i += kLine) __builtin_prefetch(first + i, 1);
}

}  // namespace

void RowBlockLangevin::fetch(const double* row, std::uint32_t slot) const noexcept {
  kept_.fetch(slot);
  constexpr std::size_t kMostNumbers = 128;  // the rest comes by itself
  const std::size_t numbers = std::min(layout_.stride(), kMostNumbers);
  for (std::size_t i = 0; i < numbers; i += 8) __builtin_prefetch(row + i);
}

void RowBlockLangevin::fetch_for_bound(const double* row) const noexcept {
  const SparseRow sparse(layout_, row);
  for (const std::uint32_t column : std::span(sparse.indices, sparse.count)) {
    __builtin_prefetch(sums_ + column);
    bound_.fetch(column);
  }
}

void RowBlockLangevin::fetch_columns(const double* row) noexcept {
  fetch_some(ahead_.size());
  const SparseRow sparse(layout_, row);
  ahead_ = {sparse.indices, sparse.count};
  fetched_together_ = (sparse.count + kPieces - 1) / kPieces;
}

// The next columns of those that are wanted soon. A core waits for some dozen lines at a time: what
// is asked for beyond that holds up all else.
void RowBlockLangevin::fetch_some(std::size_t count) noexcept {
  const auto columns = ahead_.first(std::min(count, ahead_.size()));
  ahead_ = ahead_.subspan(columns.size());
  const std::size_t bytes = 2 * sizeof(float) * chains_;
  for (const std::uint32_t column : columns) {
    fetch_lines(positions_.theta(column), bytes);
    __builtin_prefetch(sums_ + column, 1);
  }
  if (past_.kept()) {
    for (const std::uint32_t column : columns) {
      __builtin_prefetch(&past_.of(column), 1);
      memory_.fetch(column);
    }
  }
  if (!weighs_rows()) return;
  for (const std::uint32_t column : columns) {
    fetch_lines(exact_.force_of(column), sizeof(Quanta) * chains_);
    weights_.prefetch(column);
  }
}

// The row into the block.
void RowBlockLangevin::unpack(const RowColumns& row) noexcept {
  const StepBlock& b = block_;
  std::copy_n(row.sparse.indices, row.sparse.count, b.column);
  for (std::size_t k = 0; k < row.sparse.count; ++k) {
    b.value[k] = static_cast<float>(row.sparse.values[k]);
  }
  if (!positions_.has_intercept()) return;
  b.column[row.count - 1] = row.intercept;
  b.value[row.count - 1] = 1;
}

// And what is known of its columns.
void RowBlockLangevin::load(const RowColumns& row) noexcept {
  unpack(row);
  const StepBlock& b = block_;
  const std::size_t n = row.count;
  const auto precision = static_cast<float>(precision_.value() * dispersion_.value());
  for (std::size_t k = 0; k < n; ++k) {
    const ColumnSums& sums = sums_[b.column[k]];
    b.theta[k] = positions_.theta(b.column[k]);
    b.rows[k] = static_cast<float>(sums.rows);
    b.curvature[k] = static_cast<float>(sums.curvature);
    b.precision[k] = precision * sums.relevance;
  }
  fetch_some();
  const std::size_t padded = StepBlock::padded(n);
  std::fill(b.value + n, b.value + padded, 0.0F);
  std::fill(b.precision + n, b.precision + padded, 1.0F);
  std::fill(b.rows + n, b.rows + padded, 1.0F);
  std::fill(b.curvature + n, b.curvature + padded, 0.0F);
  if (positions_.has_intercept())
    b.precision[n - 1] = static_cast<float>(pull_of(positions_.intercept()));
  if (!past_.kept()) return;
  for (std::size_t k = 0; k < row.sparse.count; ++k) {
    b.precision[k] += past_.of(row.column(k)).precision;
  }
}

// eta of each chain.
void RowBlockLangevin::predict(const RowColumns& row) noexcept {
  const StepBlock& b = block_;
  std::fill_n(b.eta, chains_, row.offset);
  fetch_some();
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
  kept_.curvature(slot) = 0;
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
    if (sums_[column].rows > 0 && !past_.kept()) continue;
    const bool is_new = !positions_.is_met(column);
    if (past_.kept() && !is_new) {
      age(column);
      continue;
    }
    if (is_new) positions_.meet(column);
    draw_prior(column,
               {recent_.moves() * positions_.columns() + column, 0, Purpose::kInitialState});
  }
  const double fresh = draws_new_columns() ? draw_new_columns(row) : 0;
  load(row);
  predict(row);
  if (columns_have_few_rows()) learn_precision(row);
  float* residuals = kept_.residuals(slot);
  if (!weighs_rows()) work_out_transport(row);
  kept_.curvature(slot) = respond(row, 0, residuals, block_.bent).curvature;
  if (weighs_rows()) work_out_translation(row, slot, -1, fresh);
  keep_noise(row, residuals, 1);
  ++rows_;
  nonzeros_ += row.count;
  if (weighs_rows()) weights_.enter(row, slot, spread_of(residuals));
  fetch_some();
  unsettle(row, row.weight * kept_.curvature(slot));
  translate(row, residuals);
  if (weighs_rows()) add_exactly(row, residuals, 1);
  add_curvature(row, 0, kept_.curvature(slot));
  return true;
}

// r and h of each chain at eta of the block, and `more`; their means.
RowAt RowBlockLangevin::respond(const RowColumns& row, double more, float* residuals,
                                float* curvatures) noexcept {
  fetch_some();
  const auto chains = static_cast<float>(chains_);
  if (!weighs_rows()) {
    const float sign = row.target > 0.5 ? -1 : 1;
    const ChainResponses all =
        chain_kernels().logistic(block_.eta, more, sign, chains_, residuals, curvatures);
    return {all.residual / chains, all.curvature / chains};
  }
  RowAt mean{0, 0};
  for (std::uint32_t c = 0; c < chains_; ++c) {
    const RowAt at = likelihood_.at(block_.eta[c] + more, row.target);
    residuals[c] = at.residual;
    curvatures[c] = at.curvature;
    mean.residual += at.residual / chains;
    mean.curvature += at.curvature / chains;
  }
  return mean;
}

void RowBlockLangevin::leave(const double* row_in_place, std::uint32_t slot) noexcept {
  if (kept_.is_aside(slot)) {
    --aside_;
    if (weighs_rows()) weights_.leave_aside();
    return;
  }
  const RowColumns row = columns_of_row(row_in_place);
  const float* residuals = kept_.residuals(slot);
  keep_noise(row, residuals, -1);
  --rows_;
  nonzeros_ -= row.count;
  if (weighs_rows()) {
    weights_.leave(row, slot);
    add_exactly(row, residuals, -1);
  }
  unpack(row);
  fetch_some();
  add_curvature(row, kept_.curvature(slot), 0);
  fetch_some();
  for (std::size_t k = 0; k < row.count; ++k) {
    ColumnSums& sums = sums_[block_.column[k]];
    if (--sums.rows > 0) continue;
    sums.unsettled = 0;
    sums.curvature = 0;  // what rounding has left would stay for ever
    if (!past_.kept()) sums.relevance = 1;
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
    const std::uint32_t column = block_.column[k];
    if (sums_[column].rows > 0) continue;
    positions_.set_force(column, 0.0F);
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

// A row of this curvature, w h, comes, and takes what its columns have of the prior from
// lambda_j / (lambda_j + H_j) to what it then is.
void RowBlockLangevin::unsettle(const RowColumns& row, double curvature) noexcept {
  const StepBlock& b = block_;
  const auto more = static_cast<float>(curvature);
  for (std::size_t k = 0; k < StepBlock::padded(row.count); ++k) {
    const float before = b.precision[k] + b.curvature[k];
    const float own = more * b.value[k] * b.value[k];
    b.taken_away[k] = b.precision[k] / before * (own / (before + own));
  }
  for (std::size_t k = 0; k < row.count; ++k) {
    ColumnSums& sums = sums_[b.column[k]];
    ++sums.rows;
    sums.unsettled = std::min(1.0F, sums.unsettled + b.taken_away[k]);
  }
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
    float* force = positions_.force(column);
    const double scale = exact_.in_quanta(row.weight * row.value(k));
    for (std::uint32_t c = 0; c < chains_; ++c) {
      force[c] = exact_.add(column, c, sign * quanta_of(scale * residuals[c]));
    }
  }
}

}  // namespace windhover
