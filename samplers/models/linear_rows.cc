#include "windhover/samplers/models/linear_rows.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

void expand_features(const RowLayout& layout, const FeatureTransform& transform, const double* row,
                     double* out) noexcept {
  const std::uint32_t features = layout.features();
  const double* shift = transform.shift.data();
  const double* inverse_scale = transform.inverse_scale.data();
  if (!layout.sparse()) {
    for (std::uint32_t j = 0; j < features; ++j) out[j] = (row[j] - shift[j]) * inverse_scale[j];
    return;
  }
  const SparseRow sparse(layout, row);
  for (std::uint32_t j = 0; j < features; ++j) out[j] = -shift[j] * inverse_scale[j];
  for (std::size_t k = 0; k < sparse.count; ++k) {
    out[sparse.indices[k]] += sparse.values[k] * inverse_scale[sparse.indices[k]];
  }
}

ChunkScratch::ChunkScratch(Arena& arena, std::size_t rows, const RowLayout& layout) noexcept
    : eta(arena.allocate<double>(rows).data()),
      targets(arena.allocate<double>(rows).data()),
      residuals(arena.allocate<double>(rows).data()),
      weights(arena.allocate<double>(rows).data()),
      third(arena.allocate<double>(rows).data()),
      row_weights(arena.allocate<double>(layout.has_weight() ? rows : 0).data()),
      trials(arena.allocate<double>(layout.has_trials() ? rows : 0).data()) {}

LinearRows::LinearRows(Arena& arena, const ModelConfig& config) noexcept
    : ChunkScratch(arena, kChunk, RowLayout(config)),
      layout_(config),
      intercept_(config.intercept),
      dimension_(config.columns()),
      width_(matrix_width(config.columns())),
      rows_(arena.allocate<double>(kChunk * width_).data()),
      scaled_(arena.allocate<double>(kChunk * width_).data()),
      single_(scaled_, scaled_ + width_, dimension_) {
  const std::size_t raw = layout_.sparse() ? layout_.features() : layout_.stride();
  // It is as long as a row, so that kernels need no tail; beyond the features it stays 0.
  shift_ = arena.allocate<double>(raw).data();
  transform_.shift = {shift_, layout_.features()};
  transform_.inverse_scale = arena.allocate<double>(layout_.features());
  coefficients_ = arena.allocate<double>(raw).data();
  sum_ = arena.allocate<double>(raw).data();
  squares_ = arena.allocate<double>(raw).data();
}

void LinearRows::reset() noexcept {
  const std::size_t raw = layout_.sparse() ? layout_.features() : layout_.stride();
  std::fill_n(coefficients_, raw, 0.0);
  std::fill_n(sum_, raw, 0.0);
  std::fill_n(squares_, raw, 0.0);
  std::fill_n(rows_, kChunk * width_, 0.0);
  std::fill_n(shift_, raw, 0.0);
  std::ranges::fill(transform_.inverse_scale, 1.0);
  // A dense row's offset is one more feature, whose coefficient is known.
  if (!layout_.sparse() && layout_.has_offset()) coefficients_[layout_.offset_index()] = 1.0;
}

std::size_t LinearRows::rows_in_cache() const noexcept {
  constexpr std::size_t kBytes = 20 << 10;
  const std::size_t rows = kBytes / (layout_.stride() * sizeof(double)) / 4 * 4;
  return std::clamp<std::size_t>(rows, 4, kChunk);
}

void LinearRows::set_coefficients(const double* theta, const TargetTransform& target) noexcept {
  const std::uint32_t features = layout_.features();
  double constant = intercept_ ? theta[features] : 0.0;
  for (std::uint32_t j = 0; j < features; ++j) {
    const double coefficient = theta[j] * transform_.inverse_scale[j];
    constant -= coefficient * transform_.shift[j];
    coefficients_[j] = target.scale * coefficient;
  }
  constant_ = target.scale * constant + target.shift;
}

void LinearRows::predictors(const RowBatch& chunk, double* eta_out, double* targets_out) noexcept {
  if (!layout_.sparse()) {
    kernels().gather_dot(chunk.base, layout_.stride(), chunk.slots, chunk.count, chunk.following,
                         coefficients_, constant_, layout_.target_index(), eta_out, targets_out);
    return;
  }
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const SparseRow row(layout_, chunk.base + chunk.slots[i] * layout_.stride());
    double eta_i = constant_;
    for (std::size_t k = 0; k < row.count; ++k) {
      eta_i += coefficients_[row.indices[k]] * row.values[k];
    }
    eta_out[i] = eta_i;
    targets_out[i] = row.target;
  }
  if (!layout_.has_offset()) return;
  for (std::size_t i = 0; i < chunk.count; ++i) eta_out[i] += offset(chunk, i);
}

void LinearRows::load_extras(const RowBatch& chunk, std::size_t index, double* out) const noexcept {
  const double* extra = chunk.base + index;
  for (std::size_t i = 0; i < chunk.count; ++i) out[i] = extra[chunk.slots[i] * layout_.stride()];
}

void LinearRows::load_row_weights(const RowBatch& chunk) noexcept {
  load_extras(chunk, layout_.weight_index(), row_weights);
}

void LinearRows::load_trials(const RowBatch& chunk) noexcept {
  load_extras(chunk, layout_.trials_index(), trials);
}

void LinearRows::clear_sum() noexcept {
  std::fill_n(sum_, layout_.sparse() ? layout_.features() : layout_.stride(), 0.0);
  weight_sum_ = 0;
}

void LinearRows::add_weighted(const RowBatch& chunk, const double* w) noexcept {
  weight_sum_ += ConstVectorMap(w, static_cast<Eigen::Index>(chunk.count)).sum();
  if (!layout_.sparse()) {
    kernels().gather_axpy(chunk.base, layout_.stride(), chunk.slots, chunk.count, w, sum_);
    return;
  }
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const SparseRow row(layout_, chunk.base + chunk.slots[i] * layout_.stride());
    for (std::size_t k = 0; k < row.count; ++k) sum_[row.indices[k]] += w[i] * row.values[k];
  }
}

void LinearRows::finish_sum(double* sum, bool accumulate, double scale) noexcept {
  const std::uint32_t features = layout_.features();
  if (!accumulate) std::fill_n(sum, dimension_, 0.0);
  for (std::uint32_t j = 0; j < features; ++j) {
    sum[j] += scale * ((sum_[j] - transform_.shift[j] * weight_sum_) * transform_.inverse_scale[j]);
  }
  if (intercept_) sum[features] += scale * weight_sum_;
}

void LinearRows::clear_squares() noexcept {
  std::fill_n(squares_, layout_.sparse() ? layout_.features() : layout_.stride(), 0.0);
  square_weight_sum_ = 0;
}

void LinearRows::add_squares(const RowBatch& chunk, const double* w) noexcept {
  for (std::size_t i = 0; i < chunk.count; ++i) square_weight_sum_ += w[i];
  if (!layout_.sparse()) {
    kernels().gather_squares(chunk.base, layout_.stride(), chunk.slots, chunk.count, w, shift_,
                             squares_);
    return;
  }
  // A sparse transform never shifts (check() refuses it), so zeros add nothing.
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const SparseRow row(layout_, chunk.base + chunk.slots[i] * layout_.stride());
    for (std::size_t k = 0; k < row.count; ++k) {
      squares_[row.indices[k]] += w[i] * row.values[k] * row.values[k];
    }
  }
}

void LinearRows::finish_squares(double* squares) noexcept {
  const std::uint32_t features = layout_.features();
  for (std::uint32_t j = 0; j < features; ++j) {
    squares[j] += squares_[j] * transform_.inverse_scale[j] * transform_.inverse_scale[j];
  }
  if (intercept_) squares[features] += square_weight_sum_;
}

void LinearRows::expand(const double* row, double* out) const noexcept {
  expand_features(layout_, transform_, row, out);
  if (intercept_) out[layout_.features()] = 1.0;
}

void LinearRows::gather(const RowBatch& chunk) noexcept {
  if (layout_.sparse()) return;
  for (std::size_t i = 0; i < chunk.count; ++i) {
    expand(chunk.base + chunk.slots[i] * layout_.stride(), rows_ + i * width_);
  }
}

void LinearRows::add_outer(const RowBatch& chunk, const double* w, double* matrix) noexcept {
  if (!layout_.sparse()) {
    gather(chunk);
    kernels().weighted_outer(rows_, width_, chunk.count, w, scaled_, matrix);
    return;
  }
  // A sparse transform never shifts (check() refuses it), so only the non-zeros meet.
  const double* inverse_scale = transform_.inverse_scale.data();
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const SparseRow row(layout_, chunk.base + chunk.slots[i] * layout_.stride());
    for (std::size_t k = 0; k < row.count; ++k) {
      const std::uint32_t column = row.indices[k];
      const double a = w[i] * row.values[k] * inverse_scale[column];
      double* out = matrix + column * width_;
      for (std::size_t l = k; l < row.count; ++l) {
        out[row.indices[l]] += a * row.values[l] * inverse_scale[row.indices[l]];
      }
      if (intercept_) out[layout_.features()] += a;
    }
    if (intercept_) matrix[layout_.features() * (width_ + 1)] += w[i];
  }
}

void LinearRows::leverages(const RowBatch& chunk, const double* covariance,
                           double* leverage) noexcept {
  const ConstMatrixMap p(covariance, dimension_, dimension_);
  if (!layout_.sparse()) {
    std::fill_n(scaled_, chunk.count * width_, 0.0);
    kernels().multiply_add(rows_, width_, 1, covariance, dimension_, scaled_, width_, chunk.count,
                           dimension_, dimension_);
    for (std::size_t i = 0; i < chunk.count; ++i) {
      leverage[i] = ConstVectorMap(scaled_ + i * width_, dimension_)
                        .dot(ConstVectorMap(rows_ + i * width_, dimension_));
    }
    return;
  }
  const double* inverse_scale = transform_.inverse_scale.data();
  const Eigen::Index last = layout_.features();
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const SparseRow row(layout_, chunk.base + chunk.slots[i] * layout_.stride());
    double total = intercept_ ? p(last, last) : 0.0;
    for (std::size_t k = 0; k < row.count; ++k) {
      const std::uint32_t column = row.indices[k];
      const double a = row.values[k] * inverse_scale[column];
      double dot = intercept_ ? 2 * p(last, column) : 0.0;
      for (std::size_t l = 0; l < row.count; ++l) {
        dot += p(row.indices[l], column) * row.values[l] * inverse_scale[row.indices[l]];
      }
      total += a * dot;
    }
    leverage[i] = total;
  }
}

void LinearRows::add_to(const RowBatch& chunk, const double* w, double* total) noexcept {
  if (!layout_.sparse()) {
    for (std::size_t i = 0; i < chunk.count; ++i) {
      VectorMap(total, dimension_) += w[i] * ConstVectorMap(rows_ + i * width_, dimension_);
    }
    return;
  }
  const double* inverse_scale = transform_.inverse_scale.data();
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const SparseRow row(layout_, chunk.base + chunk.slots[i] * layout_.stride());
    for (std::size_t k = 0; k < row.count; ++k) {
      total[row.indices[k]] += w[i] * row.values[k] * inverse_scale[row.indices[k]];
    }
    if (intercept_) total[layout_.features()] += w[i];
  }
}

void LinearRows::expand_row(const RowBatch& chunk, std::size_t i) noexcept {
  expand(chunk.base + chunk.slots[i] * layout_.stride(), single_.numbers());
}

void ExpandedRow::judge(const double* covariance, std::size_t rows) noexcept {
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    roots_[j] = std::sqrt(covariance[j * (rows + 1)]);
  }
}

double ExpandedRow::largest_variance() const noexcept {
  double sd = 0;
  for (std::uint32_t j = 0; j < dimension_; ++j) sd += std::abs(row_[j]) * roots_[j];
  return sd * sd;
}

double ExpandedRow::variance(const double* covariance, std::size_t rows) const noexcept {
  const ConstVectorMap x(row_, dimension_);
  double sum = 0;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    sum += x[j] * ConstVectorMap(covariance + j * rows, dimension_).dot(x);
  }
  return std::max(sum, 0.0);
}

double ExpandedRow::prior_variance(const double* precision) const noexcept {
  double sum = 0;
  for (std::uint32_t j = 0; j < dimension_; ++j) sum += row_[j] * row_[j] / precision[j];
  return sum;
}

void LinearRows::scale_rows(const RowBatch& chunk, const double* w, std::size_t stride,
                            double* out) const noexcept {
  for (std::size_t i = 0; i < chunk.count; ++i) {
    double* row = out + i * stride;
    expand(chunk.base + chunk.slots[i] * layout_.stride(), row);
    for (std::uint32_t j = 0; j < dimension_; ++j) row[j] *= w[i];
  }
}

}  // namespace windhover
