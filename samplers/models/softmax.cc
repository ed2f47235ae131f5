#include "windhover/samplers/models/softmax.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace windhover {

SoftmaxModel::SoftmaxModel(Arena& arena, const ModelConfig& config) noexcept
    : blocks_(arena, config, config.classes - 1),
      rows_(blocks_.rows),
      outputs_(config.classes - 1),
      columns_(config.columns()),
      dimension_(dimension(config)) {
  probabilities_ = arena.allocate<double>(outputs_ * kChunk).data();
  leverages_ = arena.allocate<double>(outputs_ * (outputs_ + 1) / 2 * kChunk).data();
  spread_ = arena.allocate<double>(2 * outputs_).data();
}

Status SoftmaxModel::check_target(double y) const noexcept {
  const auto classes = static_cast<std::uint32_t>(outputs_ + 1);
  return in_domain(Response::kCategorical, classes, y) ? Status::kOk : Status::kTargetOutOfDomain;
}

void SoftmaxModel::load_predictors(const RowBatch& chunk, const double* theta) noexcept {
  for (std::size_t c = 0; c < outputs_; ++c) {
    rows_.set_coefficients(theta + c * columns_);
    rows_.predictors(chunk, probability(c), rows_.targets);
  }
  if (rows_.weighted()) rows_.load_row_weights(chunk);
}

double SoftmaxModel::classify_row(std::size_t i) noexcept {
  double largest = 0;  // class 0's linear predictor
  for (std::size_t c = 0; c < outputs_; ++c) largest = std::max(largest, probability(c)[i]);
  const auto y = static_cast<std::size_t>(rows_.targets[i]);
  const double chosen = y == 0 ? 0.0 : probability(y - 1)[i];
  double total = std::exp(-largest);
  for (std::size_t c = 0; c < outputs_; ++c) {
    double& p = probability(c)[i];
    p = std::exp(p - largest);
    total += p;
  }
  for (std::size_t c = 0; c < outputs_; ++c) probability(c)[i] /= total;
  return blocks_.row_weight(i) * (largest + std::log(total) - chosen);
}

double SoftmaxModel::classify(const RowBatch& chunk, const double* theta) noexcept {
  load_predictors(chunk, theta);
  double loss = 0;
  for (std::size_t i = 0; i < chunk.count; ++i) loss += classify_row(i);
  return loss;
}

void SoftmaxModel::subtract_targets(std::size_t rows) noexcept {
  for (std::size_t i = 0; i < rows; ++i) {
    const auto y = static_cast<std::size_t>(rows_.targets[i]);
    if (y > 0) probability(y - 1)[i] -= 1.0;
  }
  if (!rows_.weighted()) return;
  for (std::size_t c = 0; c < outputs_; ++c) {
    for (std::size_t i = 0; i < rows; ++i) probability(c)[i] *= rows_.row_weights[i];
  }
}

void SoftmaxModel::gradient_sum(const RowBatch& batch, const double* theta,
                                double* gradient) noexcept {
  std::fill_n(gradient, dimension_, 0.0);
  for (std::size_t first = 0; first < batch.count; first += kChunk) {
    const RowBatch chunk = batch.part(first, std::min(kChunk, batch.count - first));
    (void)classify(chunk, theta);
    subtract_targets(chunk.count);
    for (std::size_t c = 0; c < outputs_; ++c) {
      blocks_.add_vector(chunk, probability(c), c, gradient);
    }
  }
}

double SoftmaxModel::loss_sum(const RowBatch& batch, const double* theta) noexcept {
  double loss = 0;
  for (std::size_t first = 0; first < batch.count; first += kChunk) {
    loss += classify(batch.part(first, std::min(kChunk, batch.count - first)), theta);
  }
  return loss;
}

void SoftmaxModel::row_gradients(const RowBatch& batch, std::size_t dimension, const double* theta,
                                 double* gradients) noexcept {
  for (std::size_t first = 0; first < batch.count; first += kChunk) {
    const RowBatch chunk = batch.part(first, std::min(kChunk, batch.count - first));
    (void)classify(chunk, theta);
    subtract_targets(chunk.count);
    double* out = gradients + first * dimension;
    for (std::size_t c = 0; c < outputs_; ++c) {
      rows_.scale_rows(chunk, probability(c), dimension, out + c * columns_);
    }
  }
}

void SoftmaxModel::add_noise(const RowBatch& batch, const double* theta, NoiseSums& sums) noexcept {
  for (std::size_t first = 0; first < batch.count; first += kChunk) {
    const RowBatch chunk = batch.part(first, std::min(kChunk, batch.count - first));
    (void)classify(chunk, theta);
    subtract_targets(chunk.count);
    for (std::size_t b = 0; b < outputs_; ++b) {
      blocks_.add_vector(chunk, probability(b), b, sums.gradient);
      for (std::size_t a = b; a < outputs_; ++a) {
        for (std::size_t i = 0; i < chunk.count; ++i) {
          rows_.weights[i] = probability(a)[i] * probability(b)[i];
        }
        blocks_.add_outer(chunk, rows_.weights, a, b, sums.outer);
      }
    }
  }
  sums.rows += static_cast<double>(batch.count);
}

void SoftmaxModel::add_noise_variances(const RowBatch& batch, const double* theta,
                                       NoiseVarianceSums& sums) noexcept {
  for (std::size_t first = 0; first < batch.count; first += kChunk) {
    const RowBatch chunk = batch.part(first, std::min(kChunk, batch.count - first));
    (void)classify(chunk, theta);
    subtract_targets(chunk.count);
    for (std::size_t c = 0; c < outputs_; ++c) {
      blocks_.add_vector(chunk, probability(c), c, sums.gradient);
      for (std::size_t i = 0; i < chunk.count; ++i) {
        rows_.weights[i] = probability(c)[i] * probability(c)[i];
      }
      blocks_.add_squares(chunk, rows_.weights, c, sums.squares);
    }
  }
  sums.rows += static_cast<double>(batch.count);
}

void SoftmaxModel::add_curvature(const RowBatch& batch, const double* anchor,
                                 const double* covariance, double weight,
                                 CurvatureSums& sums) noexcept {
  for (std::size_t first = 0; first < batch.count; first += kChunk) {
    const RowBatch chunk = batch.part(first, std::min(kChunk, batch.count - first));
    sums.loss += weight * classify(chunk, anchor);
    blocks_.add_row_weights(chunk, weight, sums);
    for (std::size_t b = 0; b < outputs_; ++b) {
      for (std::size_t a = b; a < outputs_; ++a) {
        for (std::size_t i = 0; i < chunk.count; ++i) {
          rows_.weights[i] =
              weight * probability(a)[i] * ((a == b ? 1.0 : 0.0) - probability(b)[i]);
        }
        for (std::size_t i = 0; rows_.weighted() && i < chunk.count; ++i) {
          rows_.weights[i] *= rows_.row_weights[i];
        }
        blocks_.add_outer(chunk, rows_.weights, a, b, sums.curvature);
      }
    }
    if (covariance != nullptr) add_third(chunk, covariance, weight, sums.third);
    subtract_targets(chunk.count);
    for (std::size_t c = 0; c < outputs_; ++c) {
      for (std::size_t i = 0; i < chunk.count; ++i) rows_.weights[i] = weight * probability(c)[i];
      blocks_.add_vector(chunk, rows_.weights, c, sums.gradient);
    }
  }
  sums.rows += weight * static_cast<double>(batch.count);
}

// The third derivative in the linear predictors is kappa, the third cumulant of the class indicator
// e. With M_bc = x^T P_bc x and q_k = (e_k - p)^T M (e_k - p),
//   sum_bc kappa_abc M_bc = p_a (q_a - E q).
void SoftmaxModel::add_third(const RowBatch& chunk, const double* covariance, double weight,
                             double* third) noexcept {
  std::size_t pair = 0;
  for (std::size_t a = 0; a < outputs_; ++a) {
    for (std::size_t b = 0; b <= a; ++b, ++pair) {
      blocks_.leverages(chunk, covariance, a, b, leverages_ + pair * kChunk);
    }
  }
  double* product = spread_;  // M p
  double* derivative = spread_ + outputs_;
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const auto leverage = [&](std::size_t a, std::size_t b) {
      const std::size_t high = std::max(a, b);
      return leverages_[(high * (high + 1) / 2 + std::min(a, b)) * kChunk + i];
    };
    double quadratic = 0;  // p^T M p, which is q of class 0
    double diagonal = 0;
    for (std::size_t a = 0; a < outputs_; ++a) {
      product[a] = 0;
      for (std::size_t b = 0; b < outputs_; ++b) product[a] += leverage(a, b) * probability(b)[i];
      quadratic += probability(a)[i] * product[a];
      diagonal += probability(a)[i] * leverage(a, a);
    }
    const double expected = diagonal - quadratic;  // E q: the trace of M times the covariance of e
    for (std::size_t a = 0; a < outputs_; ++a) {
      derivative[a] = probability(a)[i] * (leverage(a, a) - 2 * product[a] + quadratic - expected);
    }
    // M is not needed for this row any more: the result replaces it.
    const double of_row = weight * blocks_.row_weight(i);
    for (std::size_t a = 0; a < outputs_; ++a) leverages_[a * kChunk + i] = of_row * derivative[a];
  }
  for (std::size_t a = 0; a < outputs_; ++a)
    blocks_.add_vector(chunk, leverages_ + a * kChunk, a, third);
}

// Each class's log-odds against class 0 are shrunk by their uncertainty.
void SoftmaxModel::predictive_losses(const RowBatch& batch, const PredictiveJudge& judge,
                                     double* losses) noexcept {
  constexpr double kShrinkage = std::numbers::pi / 8;
  for (std::size_t first = 0; first < batch.count; first += kChunk) {
    const RowBatch chunk = batch.part(first, std::min(kChunk, batch.count - first));
    load_predictors(chunk, judge.mode);
    rows_.gather(chunk);
    for (std::size_t c = 0; c < outputs_; ++c) {
      blocks_.leverages(chunk, judge.covariance, c, c, leverages_);
      for (std::size_t i = 0; i < chunk.count; ++i) {
        probability(c)[i] /= std::sqrt(1 + kShrinkage * std::max(leverages_[i], 0.0));
      }
    }
    for (std::size_t i = 0; i < chunk.count; ++i) *losses++ = classify_row(i) / judge.divisor;
  }
}

bool SoftmaxModel::row_effects(const RowBatch& batch, const RowJudge& judge,
                               RowEffect* effects) noexcept {
  const std::size_t columns = rows_.dimension();
  const std::size_t dimension = outputs_ * columns;
  std::fill_n(effects, batch.count, RowEffect{});
  for (std::size_t output = 0; output < outputs_; ++output) {
    const double* covariance = judge.covariance + output * columns * (dimension + 1);
    rows_.single().judge(covariance, dimension);
    for (std::size_t i = 0; i < batch.count; ++i) {
      rows_.expand_row(batch, i);
      if (rows_.single().largest_variance() <= judge.least_information) continue;
      const double variance = rows_.single().variance(covariance, dimension);
      if (variance <= effects[i].doubt) continue;
      effects[i].doubt = variance;
      effects[i].known =
          variance / rows_.single().prior_variance(judge.prior_precision + output * columns);
    }
  }
  return true;
}

}  // namespace windhover
