// The part of a generalized linear model that is the same for all likelihoods: it turns rows, dense
// or sparse, into linear predictors and into weighted sums.
#ifndef WINDHOVER_SAMPLERS_MODELS_LINEAR_ROWS_H_
#define WINDHOVER_SAMPLERS_MODELS_LINEAR_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// out[j] = transformed feature j of a row.
void expand_features(const RowLayout& layout, const FeatureTransform& transform, const double* row,
                     double* out) noexcept;

// Scratch: arrays of one number for each row of a chunk.
struct ChunkScratch {
  // Takes memory for `rows` rows; for row_weights and trials only where rows have them.
  ChunkScratch(Arena& arena, std::size_t rows, const RowLayout& layout) noexcept;

  double* eta;
  double* targets;
  double* residuals;
  double* weights;
  double* third;
  double* row_weights;
  double* trials;
};

// One row, transformed, and the uncertainty of its linear predictor. Invariant: the roots are those
// of the P that judge() was given last. One thread.
class ExpandedRow {
 public:
  // `row` and `roots` have room for `dimension` numbers each.
  ExpandedRow(double* row, double* roots, std::uint32_t dimension) noexcept
      : row_(row), roots_(roots), dimension_(dimension) {}

  // P is a block of a matrix of `rows` rows.
  void judge(const double* covariance, std::size_t rows) noexcept;
  double* numbers() noexcept { return row_; }
  std::uint32_t dimension() const noexcept { return dimension_; }
  // x^T P x; an upper bound of it, in O(D); and the variance under the prior.
  double variance(const double* covariance, std::size_t rows) const noexcept;
  double largest_variance() const noexcept;
  double prior_variance(const double* precision) const noexcept;

 private:
  double* row_;
  double* roots_;  // of P's diagonal
  std::uint32_t dimension_;
};

// Linear predictors, weighted sums and outer products. Invariant: coefficients and sums belong to
// the current transform. One thread.
class LinearRows : public ChunkScratch {
 public:
  static constexpr std::size_t kChunk = 128;  // rows handled at a time; they stay in cache

  LinearRows(Arena& arena, const ModelConfig& config) noexcept;
  void reset() noexcept;
  // How many rows fit into the innermost cache: at least 4, at most kChunk.
  std::size_t rows_in_cache() const noexcept;

  // Folds theta and the transforms into coefficients of the raw features, for the raw target.
  void set_coefficients(const double* theta, const TargetTransform& target = {}) noexcept;
  // The linear predictors, offsets included, and targets of at most kChunk rows.
  void predictors(const RowBatch& chunk, double* eta, double* targets) noexcept;
  double offset(const RowBatch& chunk, std::size_t i) const noexcept {
    return layout_.offset(chunk.base + chunk.slots[i] * layout_.stride());
  }
  bool weighted() const noexcept { return layout_.has_weight(); }
  // Puts the weights of the chunk's rows into `row_weights`. REQUIRES: weighted().
  void load_row_weights(const RowBatch& chunk) noexcept;
  // Puts the rows' numbers of trials into `trials`. REQUIRES: a layout with trials.
  void load_trials(const RowBatch& chunk) noexcept;
  // These three start, add to and finish sum_i weights[i] x_i in transformed features, times
  // `scale`.
  void clear_sum() noexcept;
  void add_weighted(const RowBatch& chunk, const double* weights) noexcept;
  void finish_sum(double* sum, bool accumulate, double scale = 1) noexcept;
  // The same for sum_i weights[i] x_ij^2; finish_squares() adds it to `squares`.
  void clear_squares() noexcept;
  void add_squares(const RowBatch& chunk, const double* weights) noexcept;
  void finish_squares(double* squares) noexcept;
  // matrix += sum_i weights[i] x_i x_i^T.
  void add_outer(const RowBatch& chunk, const double* weights, double* matrix) noexcept;
  // Both use the chunk that add_outer() was given last: leverage[i] = x_i^T P x_i, P symmetric,
  // dimension x dimension; and total += sum_i weights[i] x_i.
  void leverages(const RowBatch& chunk, const double* covariance, double* leverage) noexcept;
  void add_to(const RowBatch& chunk, const double* weights, double* total) noexcept;
  // Prepares leverages() and add_to() for a chunk that add_outer() was not given.
  void gather(const RowBatch& chunk) noexcept;
  // out + i x stride <- weights[i] x_i, dimension numbers.
  void scale_rows(const RowBatch& chunk, const double* weights, std::size_t stride,
                  double* out) const noexcept;

  // single() becomes row i of the chunk, until add_outer() or another use of its memory. REQUIRES:
  // judge().
  void expand_row(const RowBatch& chunk, std::size_t i) noexcept;
  ExpandedRow& single() noexcept { return single_; }

  FeatureTransform& transform() noexcept { return transform_; }
  std::uint32_t dimension() const noexcept { return dimension_; }

 private:
  void load_extras(const RowBatch& chunk, std::size_t index, double* out) const noexcept;
  void expand(const double* row, double* out) const noexcept;

  RowLayout layout_;
  bool intercept_;
  std::uint32_t dimension_;
  std::size_t width_;
  FeatureTransform transform_;
  double* shift_;         // of the transform, padded to a row
  double* coefficients_;  // stride (dense) or features (sparse)
  double* sum_;
  double* squares_;      // likewise
  double constant_ = 0;  // of the raw features' linear predictor
  double weight_sum_ = 0;
  double square_weight_sum_ = 0;
  double* rows_;        // kChunk x width, transformed, intercept included
  double* scaled_;      // likewise, scratch
  ExpandedRow single_;  // uses its memory
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_LINEAR_ROWS_H_
