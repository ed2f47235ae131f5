#include "windhover/samplers/row_blocks/gathered_row.h"

#include <algorithm>

#include "windhover/samplers/row_blocks/chain_kernels.h"
#include "windhover/samplers/row_blocks/row_block_parts.h"

namespace windhover {

GatheredRow::GatheredRow(Arena& arena, std::size_t most_columns, RowBlockParts& parts) noexcept
    : parts_(parts), block_(arena, most_columns, parts.chains) {}

void GatheredRow::reset() noexcept { block_.reset(parts_.chains); }

void GatheredRow::unpack(const RowColumns& row) noexcept {
  const StepBlock& b = block_;
  std::copy_n(row.sparse.indices, row.sparse.count, b.column);
  for (std::size_t k = 0; k < row.sparse.count; ++k) {
    b.value[k] = static_cast<float>(row.sparse.values[k]);
  }
  if (!parts_.positions.has_intercept()) return;
  b.column[row.count - 1] = row.intercept;
  b.value[row.count - 1] = 1;
}

void GatheredRow::load(const RowColumns& row) noexcept {
  unpack(row);
  const StepBlock& b = block_;
  const std::size_t n = row.count;
  const ColumnPrior& prior = parts_.prior;
  const auto precision =
      static_cast<float>(prior.precision().value() * parts_.noise.dispersion().value());
  for (std::size_t k = 0; k < n; ++k) {
    const ColumnSums& sums = parts_.columns.of(b.column[k]);
    b.theta[k] = parts_.positions.theta(b.column[k]);
    b.rows[k] = static_cast<float>(sums.rows);
    b.curvature[k] = static_cast<float>(sums.curvature);
    b.precision[k] = precision * sums.relevance;
  }
  parts_.ahead.fetch_some();
  const std::size_t padded = StepBlock::padded(n);
  std::fill(b.value + n, b.value + padded, 0.0F);
  std::fill(b.precision + n, b.precision + padded, 1.0F);
  std::fill(b.rows + n, b.rows + padded, 1.0F);
  std::fill(b.curvature + n, b.curvature + padded, 0.0F);
  if (parts_.positions.has_intercept()) {
    b.precision[n - 1] = static_cast<float>(prior.pull(parts_.positions.intercept()));
  }
  if (!prior.past().kept()) return;
  for (std::size_t k = 0; k < row.sparse.count; ++k) {
    b.precision[k] += prior.past().of(row.column(k)).precision;
  }
}

void GatheredRow::predict(const RowColumns& row) noexcept {
  const StepBlock& b = block_;
  std::fill_n(b.eta, parts_.chains, row.offset);
  parts_.ahead.fetch_some();
  chain_kernels().predictors(b.theta, b.value, row.count, parts_.chains, b.eta);
}

RowAt GatheredRow::respond(const RowColumns& row, double more, float* residuals,
                           float* curvatures) noexcept {
  parts_.ahead.fetch_some();
  const auto chains = static_cast<float>(parts_.chains);
  if (!parts_.weighs_rows()) {
    const float sign = row.target > 0.5 ? -1 : 1;
    const ChainResponses all =
        chain_kernels().logistic(block_.eta, more, sign, parts_.chains, residuals, curvatures);
    return {all.residual / chains, all.curvature / chains};
  }
  RowAt mean{0, 0};
  for (std::uint32_t c = 0; c < parts_.chains; ++c) {
    const RowAt at = parts_.noise.likelihood().at(block_.eta[c] + more, row.target);
    residuals[c] = at.residual;
    curvatures[c] = at.curvature;
    mean.residual += at.residual / chains;
    mean.curvature += at.curvature / chains;
  }
  return mean;
}

GatheredRow::Looked GatheredRow::look(const RowColumns& row, std::uint32_t slot) noexcept {
  const StepBlock& b = block_;
  float* kept = parts_.kept.residuals(slot);
  Looked looked{0, respond(row, 0, b.after, b.bent).curvature, 0};
  float squares = 0;
  for (std::uint32_t c = 0; c < parts_.chains; ++c) {
    b.before[c] = kept[c];
    b.change[c] = b.after[c] - kept[c];
    kept[c] = b.after[c];
    squares += b.change[c] * b.change[c];
    looked.largest = std::max(looked.largest, b.bent[c]);
  }
  looked.square = squares / static_cast<float>(parts_.chains);
  return looked;
}

double GatheredRow::direction(const RowColumns& row) noexcept {
  const StepBlock& b = block_;
  parts_.ahead.fetch_some();
  return chain_kernels().direction(b.value, b.precision, b.curvature, StepBlock::padded(row.count),
                                   b.step);
}

}  // namespace windhover
