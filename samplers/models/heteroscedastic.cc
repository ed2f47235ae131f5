#include "windhover/samplers/models/heteroscedastic.h"

#include <algorithm>
#include <cmath>

namespace windhover {

namespace {

// -log p of one row as a function of its log-variance s, for a given squared residual: convex in s.
struct LogVarianceLikelihood {
  static constexpr bool kHasTrials = false;
  double square;

  void derivatives(const double* s, const double*, std::size_t, double* slope) const noexcept {
    *slope = *s < HeteroscedasticModel::kLeast ? 0.0 : 0.5 - 0.5 * square * std::exp(-*s);
  }
};

}  // namespace

HeteroscedasticModel::HeteroscedasticModel(Arena& arena, const ModelConfig& config) noexcept
    : blocks_(arena, config, kBlocks),
      residuals_(arena.allocate<double>(kChunk).data()),
      log_variances_(arena.allocate<double>(kChunk).data()) {
  for (double*& slopes : slopes_) slopes = arena.allocate<double>(kChunk).data();
  for (double*& leverages : leverages_) leverages = arena.allocate<double>(kChunk).data();
}

template <class F>
void HeteroscedasticModel::for_chunks(const RowBatch& batch, F&& f) noexcept {
  for (std::size_t first = 0; first < batch.count; first += kChunk) {
    f(batch.part(first, std::min(kChunk, batch.count - first)));
  }
}

double HeteroscedasticModel::evaluate(const RowBatch& chunk, const double* theta) noexcept {
  LinearRows& rows = blocks_.rows;
  rows.set_coefficients(theta + kLogVariance * blocks_.columns());
  rows.predictors(chunk, log_variances_, rows.targets);
  rows.set_coefficients(theta + kMean * blocks_.columns(), target_);
  rows.predictors(chunk, rows.eta, rows.targets);
  if (rows.weighted()) rows.load_row_weights(chunk);
  double loss = 0;
  for (std::size_t i = 0; i < chunk.count; ++i) {
    residuals_[i] = (rows.eta[i] - rows.targets[i]) / target_.scale;
    log_variances_[i] -= rows.offset(chunk, i);  // the offset belongs to the mean
    const double s = std::max(log_variances_[i], kLeast);
    loss += 0.5 * blocks_.row_weight(i) * (s + residuals_[i] * residuals_[i] * std::exp(-s));
  }
  return loss;
}

void HeteroscedasticModel::differentiate(std::size_t rows) noexcept {
  for (std::size_t i = 0; i < rows; ++i) {
    const double precision = std::exp(-std::max(log_variances_[i], kLeast));
    const double w = blocks_.row_weight(i);
    slopes_[kMean][i] = w * residuals_[i] * precision;
    slopes_[kLogVariance][i] = log_variances_[i] < kLeast
                                   ? 0.0
                                   : w * 0.5 * (1 - residuals_[i] * residuals_[i] * precision);
  }
}

void HeteroscedasticModel::gradient_sum(const RowBatch& batch, const double* theta,
                                        double* gradient) noexcept {
  std::fill_n(gradient, blocks_.dimension(), 0.0);
  for_chunks(batch, [&](const RowBatch& chunk) {
    (void)evaluate(chunk, theta);
    differentiate(chunk.count);
    for (std::size_t b = 0; b < kBlocks; ++b) blocks_.add_vector(chunk, slopes_[b], b, gradient);
  });
}

double HeteroscedasticModel::loss_sum(const RowBatch& batch, const double* theta) noexcept {
  double loss = 0;
  for_chunks(batch, [&](const RowBatch& chunk) { loss += evaluate(chunk, theta); });
  return loss;
}

void HeteroscedasticModel::row_gradients(const RowBatch& batch, std::size_t dimension,
                                         const double* theta, double* gradients) noexcept {
  for_chunks(batch, [&](const RowBatch& chunk) {
    (void)evaluate(chunk, theta);
    differentiate(chunk.count);
    for (std::size_t b = 0; b < kBlocks; ++b) {
      blocks_.rows.scale_rows(chunk, slopes_[b], dimension, gradients + b * blocks_.columns());
    }
    gradients += chunk.count * dimension;
  });
}

void HeteroscedasticModel::add_noise(const RowBatch& batch, const double* theta,
                                     NoiseSums& sums) noexcept {
  double* products = blocks_.rows.weights;
  for_chunks(batch, [&](const RowBatch& chunk) {
    (void)evaluate(chunk, theta);
    differentiate(chunk.count);
    for (std::size_t b = 0; b < kBlocks; ++b) {
      blocks_.add_vector(chunk, slopes_[b], b, sums.gradient);
      for (std::size_t a = b; a < kBlocks; ++a) {
        for (std::size_t i = 0; i < chunk.count; ++i) products[i] = slopes_[a][i] * slopes_[b][i];
        blocks_.add_outer(chunk, products, a, b, sums.outer);
      }
    }
  });
  sums.rows += static_cast<double>(batch.count);
}

void HeteroscedasticModel::add_noise_variances(const RowBatch& batch, const double* theta,
                                               NoiseVarianceSums& sums) noexcept {
  double* squares = blocks_.rows.weights;
  for_chunks(batch, [&](const RowBatch& chunk) {
    (void)evaluate(chunk, theta);
    differentiate(chunk.count);
    for (std::size_t b = 0; b < kBlocks; ++b) {
      blocks_.add_vector(chunk, slopes_[b], b, sums.gradient);
      for (std::size_t i = 0; i < chunk.count; ++i) squares[i] = slopes_[b][i] * slopes_[b][i];
      blocks_.add_squares(chunk, squares, b, sums.squares);
    }
  });
  sums.rows += static_cast<double>(batch.count);
}

void HeteroscedasticModel::add_curvature(const RowBatch& batch, const double* anchor,
                                         const double* covariance, double weight,
                                         CurvatureSums& sums) noexcept {
  double* numbers = blocks_.rows.weights;
  for_chunks(batch, [&](const RowBatch& chunk) {
    sums.loss += weight * evaluate(chunk, anchor);
    blocks_.add_row_weights(chunk, weight, sums);
    differentiate(chunk.count);
    for (std::size_t b = 0; b < kBlocks; ++b) {
      blocks_.add_vector(chunk, slopes_[b], b, sums.gradient, weight);
    }
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const double precision = std::exp(-std::max(log_variances_[i], kLeast));
      const double square = residuals_[i] * residuals_[i] * precision;
      numbers[i] = weight * blocks_.row_weight(i) * 0.5 * std::max(1.0, square / kFar);
    }
    blocks_.add_outer(chunk, numbers, kLogVariance, kLogVariance, sums.curvature);
    for (std::size_t i = 0; i < chunk.count; ++i) {
      numbers[i] = weight * blocks_.row_weight(i) * std::exp(-std::max(log_variances_[i], kLeast));
    }
    blocks_.add_outer(chunk, numbers, kMean, kMean, sums.curvature);
    if (covariance != nullptr) add_third(chunk, covariance, weight, sums.third);
  });
  sums.rows += weight * static_cast<double>(batch.count);
}

// With u = eta - y and q = exp(-s) the third derivatives of -log p are -q (twice in the mean, once
// in s), u q (once in the mean, twice in s) and -u^2 q / 2 (three times in s).
void HeteroscedasticModel::add_third(const RowBatch& chunk, const double* covariance, double weight,
                                     double* third) noexcept {
  const auto [of_variance, between, of_mean] = leverages_;
  blocks_.leverages(chunk, covariance, kLogVariance, kLogVariance, of_variance);
  blocks_.leverages(chunk, covariance, kMean, kLogVariance, between);
  blocks_.leverages(chunk, covariance, kMean, kMean, of_mean);
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const double u = residuals_[i];
    const double q = log_variances_[i] < kLeast
                         ? 0.0
                         : weight * blocks_.row_weight(i) * std::exp(-log_variances_[i]);
    slopes_[kMean][i] = q * (u * of_variance[i] - 2 * between[i]);
    slopes_[kLogVariance][i] = q * (2 * u * between[i] - of_mean[i] - 0.5 * u * u * of_variance[i]);
  }
  for (std::size_t b = 0; b < kBlocks; ++b) blocks_.add_vector(chunk, slopes_[b], b, third);
}

// The loss of row i, counted once, in one predictor, with the other fixed. REQUIRES: evaluate().
RowAtMode HeteroscedasticModel::row_at_mode(std::size_t i, Block block) const noexcept {
  const double precision = std::exp(-std::max(log_variances_[i], kLeast));
  const double pull = residuals_[i] * precision;
  if (block == kMean) return {blocks_.rows.eta[i], blocks_.rows.targets[i], pull, precision};
  const double square = residuals_[i] * pull;
  return {log_variances_[i], 0, 0.5 - 0.5 * square, std::max(0.5, 0.5 * square)};
}

bool HeteroscedasticModel::row_effects(const RowBatch& batch, const RowJudge& judge,
                                       RowEffect* effects) noexcept {
  const std::size_t columns = blocks_.columns();
  const std::size_t dimension = blocks_.dimension();
  LinearRows& rows = blocks_.rows;
  double* moved = slopes_[0];  // an upper bound for each row
  double* informed = slopes_[1];
  for_chunks(batch, [&](const RowBatch& chunk) {
    (void)evaluate(chunk, judge.mode);
    std::fill_n(moved, chunk.count, 0.0);
    std::fill_n(informed, chunk.count, 0.0);
    std::fill_n(effects, chunk.count, RowEffect{});
    for (const Block b : {kLogVariance, kMean}) {
      rows.single().judge(judge.covariance + b * columns * (dimension + 1), dimension);
      for (std::size_t i = 0; i < chunk.count; ++i) {
        rows.expand_row(chunk, i);
        const RowAtMode row = row_at_mode(i, b);
        const double most = rows.single().largest_variance();
        moved[i] += most * row.residual * row.residual;
        informed[i] = std::max(informed[i], most * std::max(row.curvature, 1.0));
      }
    }
    for (std::size_t i = 0; i < chunk.count; ++i) {
      if (moved[i] <= judge.least_moved && informed[i] <= judge.least_information) continue;
      rows.expand_row(chunk, i);
      for (const Block b : {kLogVariance, kMean}) {
        const double* covariance = judge.covariance + b * columns * (dimension + 1);
        add_effect(i, b, rows.single().variance(covariance, dimension),
                   rows.single().prior_variance(judge.prior_precision + b * columns), effects[i]);
      }
    }
    effects += chunk.count;
  });
  return true;
}

// `variance` and `prior_variance` are those of the predictor under the posterior and the prior.
void HeteroscedasticModel::add_effect(std::size_t i, Block block, double variance,
                                      double prior_variance, RowEffect& effect) const noexcept {
  if (!(variance > 0)) return;
  const RowAtMode row = row_at_mode(i, block);
  double way = variance * row.residual / (1 + variance * row.curvature);
  double information = row.curvature;
  if (block == kLogVariance) {
    const double square = residuals_[i] * residuals_[i];
    const double s = mode_of_row(LogVarianceLikelihood{square}, row, 1 / variance);
    way = s - row.eta;
    information = 0.5 * square * std::exp(-std::max(s, kLeast));
    effect.doubt = variance;
  }
  effect.moved += way * way / variance;
  effect.information = std::max(effect.information, information * variance);
  effect.known = std::min(effect.known, variance / prior_variance);
}

}  // namespace windhover
