// Several linear predictors of the same row: theta is a block of coefficients for each.
#ifndef WINDHOVER_SAMPLERS_MODELS_PREDICTOR_BLOCKS_H_
#define WINDHOVER_SAMPLERS_MODELS_PREDICTOR_BLOCKS_H_

#include <cstddef>

#include "windhover/platform/arena.h"
#include "windhover/samplers/models/linear_rows.h"

namespace windhover {

// Sums over rows that go into one block of a vector, or into a pair of blocks of a matrix. A block
// is one coefficient a column: the features, then the intercept. Memory: a matrix of one block. One
// thread.
class PredictorBlocks {
 public:
  PredictorBlocks(Arena& arena, const ModelConfig& config, std::size_t blocks) noexcept;
  void reset() noexcept { rows.reset(); }

  std::size_t blocks() const noexcept { return blocks_; }
  std::size_t columns() const noexcept { return columns_; }
  std::size_t dimension() const noexcept { return blocks_ * columns_; }

  // sum += scale x sum_i weights[i] x_i, in block `block`.
  void add_vector(const RowBatch& chunk, const double* weights, std::size_t block, double* sum,
                  double scale = 1) noexcept;
  // The same for block (a, b), a >= b, of a dimension x dimension matrix: sum += sum_i weights[i]
  // x_i x_i^T, only its lower triangle where a = b.
  void add_outer(const RowBatch& chunk, const double* weights, std::size_t a, std::size_t b,
                 double* matrix) noexcept;
  // The diagonal of that triangle for one block: squares += sum_i weights[i] x_ij^2.
  void add_squares(const RowBatch& chunk, const double* weights, std::size_t block,
                   double* squares) noexcept;
  // leverage[i] = x_i^T P_ab x_i, a >= b, for the chunk that add_outer() was given last.
  void leverages(const RowBatch& chunk, const double* covariance, std::size_t a, std::size_t b,
                 double* leverage) noexcept;
  // Adds the weights of the chunk's rows, times `weight`, to the two sums of weights.
  void add_row_weights(const RowBatch& chunk, double weight, CurvatureSums& sums) const noexcept;
  // The weight of row i of the chunk that LinearRows::load_row_weights() was given last; 1 without
  // weights.
  double row_weight(std::size_t i) const noexcept {
    return rows.weighted() ? rows.row_weights[i] : 1.0;
  }

  LinearRows rows;

 private:
  std::size_t blocks_;
  std::size_t columns_;
  double* block_;  // one block, with the width of LinearRows
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_PREDICTOR_BLOCKS_H_
