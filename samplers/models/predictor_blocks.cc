#include "windhover/samplers/models/predictor_blocks.h"

#include <algorithm>

namespace windhover {

PredictorBlocks::PredictorBlocks(Arena& arena, const ModelConfig& config,
                                 std::size_t blocks) noexcept
    : rows(arena, config), blocks_(blocks), columns_(config.columns()) {
  const std::size_t width = matrix_width(columns_);
  block_ = arena.allocate<double>(width * width).data();
}

void PredictorBlocks::add_vector(const RowBatch& chunk, const double* weights, std::size_t block,
                                 double* sum, double scale) noexcept {
  rows.clear_sum();
  rows.add_weighted(chunk, weights);
  rows.finish_sum(sum + block * columns_, true, scale);
}

void PredictorBlocks::add_outer(const RowBatch& chunk, const double* weights, std::size_t a,
                                std::size_t b, double* matrix) noexcept {
  const std::size_t width = matrix_width(columns_);
  const std::size_t whole = matrix_width(dimension());
  std::fill_n(block_, width * width, 0.0);
  rows.add_outer(chunk, weights, block_);
  for (std::size_t j = 0; j < columns_; ++j) {
    double* out = matrix + (b * columns_ + j) * whole + a * columns_;
    for (std::size_t i = a == b ? j : 0; i < columns_; ++i) {
      out[i] += block_[std::min(i, j) * width + std::max(i, j)];
    }
  }
}

void PredictorBlocks::add_squares(const RowBatch& chunk, const double* weights, std::size_t block,
                                  double* squares) noexcept {
  rows.clear_squares();
  rows.add_squares(chunk, weights);
  rows.finish_squares(squares + block * columns_);
}

void PredictorBlocks::leverages(const RowBatch& chunk, const double* covariance, std::size_t a,
                                std::size_t b, double* leverage) noexcept {
  const double* from = covariance + b * columns_ * dimension() + a * columns_;
  // Takes its symmetric part, which is all that x^T P_ab x sees.
  for (std::size_t j = 0; j < columns_; ++j) {
    for (std::size_t i = 0; i < columns_; ++i) {
      block_[j * columns_ + i] = 0.5 * (from[j * dimension() + i] + from[i * dimension() + j]);
    }
  }
  rows.leverages(chunk, block_, leverage);
}

void PredictorBlocks::add_row_weights(const RowBatch& chunk, double weight,
                                      CurvatureSums& sums) const noexcept {
  if (!rows.weighted()) return;
  for (std::size_t i = 0; i < chunk.count; ++i) {
    sums.weight += weight * rows.row_weights[i];
    sums.squared_weight += weight * rows.row_weights[i] * rows.row_weights[i];
  }
}

}  // namespace windhover
