// Softmax regression: one of C classes, over dense or sparse rows.
//
// theta holds C - 1 blocks of one coefficient a column (features, then the intercept), for classes
// 1 to C - 1. Class 0 is the reference, whose linear predictor is 0. So a coefficient is a change
// of the log-odds against class 0, no direction of theta is redundant, and with two classes the
// model is the logistic one.
#ifndef WINDHOVER_SAMPLERS_MODELS_SOFTMAX_H_
#define WINDHOVER_SAMPLERS_MODELS_SOFTMAX_H_

#include <limits>

#include "windhover/platform/arena.h"
#include "windhover/samplers/models/model.h"
#include "windhover/samplers/models/predictor_blocks.h"

namespace windhover {

// Curvature: the Hessian, (diag(p) - p p^T) x x^T for each pair of blocks. Memory: about (C^2 / 2 +
// 2 C) chunks of rows, and two matrices of one block.
class SoftmaxModel final : public Model {
 public:
  static constexpr std::string_view kName = "softmax";
  static constexpr Response kResponse = Response::kCategorical;

  static std::uint32_t dimension(const ModelConfig& config) noexcept {
    return (config.classes - 1) * config.columns();
  }

  SoftmaxModel(Arena& arena, const ModelConfig& config) noexcept;
  void reset() noexcept { blocks_.reset(); }

  std::string_view name() const noexcept override { return kName; }
  Response response() const noexcept override { return kResponse; }
  bool quadratic() const noexcept override { return false; }
  double mean(double) const noexcept override { return std::numeric_limits<double>::quiet_NaN(); }
  Status check_target(double y) const noexcept override;
  FeatureTransform& transform() noexcept override { return rows_.transform(); }

  void gradient_sum(const RowBatch& batch, const double* theta, double* gradient) noexcept override;
  double loss_sum(const RowBatch& batch, const double* theta) noexcept override;
  void row_gradients(const RowBatch& batch, std::size_t dimension, const double* theta,
                     double* gradients) noexcept override;
  void add_noise(const RowBatch& batch, const double* theta, NoiseSums& sums) noexcept override;
  void add_noise_variances(const RowBatch& batch, const double* theta,
                           NoiseVarianceSums& sums) noexcept override;
  void add_curvature(const RowBatch& batch, const double* anchor, const double* covariance,
                     double weight, CurvatureSums& sums) noexcept override;

  void predictive_losses(const RowBatch& batch, const PredictiveJudge& judge,
                         double* losses) noexcept override;
  // Sets only `doubt` and `known`, those of the class whose log-odds are most uncertain.
  bool row_effects(const RowBatch& batch, const RowJudge& judge,
                   RowEffect* effects) noexcept override;

 private:
  static constexpr std::size_t kChunk = LinearRows::kChunk;

  double* probability(std::size_t output) noexcept { return probabilities_ + output * kChunk; }
  // Loads linear predictors of classes 1 to C - 1, targets, and the rows' weights.
  void load_predictors(const RowBatch& chunk, const double* theta) noexcept;
  // Turns the predictors of row i into probabilities; returns -log p(y) times the row's weight.
  double classify_row(std::size_t i) noexcept;
  // Loads and classifies all rows of the chunk; returns the sum.
  double classify(const RowBatch& chunk, const double* theta) noexcept;
  // Replaces probabilities by (p - [y = class]) times the row's weight.
  void subtract_targets(std::size_t rows) noexcept;
  void add_third(const RowBatch& chunk, const double* covariance, double weight,
                 double* third) noexcept;

  PredictorBlocks blocks_;
  LinearRows& rows_;     // those of blocks_
  std::size_t outputs_;  // C - 1
  std::size_t columns_;
  std::size_t dimension_;
  double* probabilities_;  // outputs x kChunk: linear predictors, then probabilities
  double* leverages_;      // outputs (outputs + 1) / 2 x kChunk
  double* spread_;         // 2 x outputs, of one row
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_SOFTMAX_H_
