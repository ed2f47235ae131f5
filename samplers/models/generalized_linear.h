// A generalized linear model over dense or sparse rows, for any likelihood of models/likelihoods.h.
//
// Rows stay in the window as they came. The transforms (x - shift) / scale and (y - shift) / scale
// are folded into the coefficients before a pass over rows, and into the sums after it, so that
// standardising costs O(D) a minibatch and rewrites nothing. The likelihood thus sees linear
// predictors, targets and a dispersion in units of the rows' own y, or of log y; what leaves this
// class is in units of the transformed y.
#ifndef WINDHOVER_SAMPLERS_MODELS_GENERALIZED_LINEAR_H_
#define WINDHOVER_SAMPLERS_MODELS_GENERALIZED_LINEAR_H_

#include <algorithm>

#include "windhover/platform/arena.h"
#include "windhover/samplers/models/likelihood_rows.h"
#include "windhover/samplers/models/likelihoods.h"
#include "windhover/samplers/models/model.h"
#include "windhover/samplers/models/predictive_loss.h"
#include "windhover/samplers/models/row_distance.h"
#include "windhover/samplers/models/row_effect.h"

namespace windhover {

template <class Likelihood>
class GeneralizedLinearModel final : public Model {
 public:
  GeneralizedLinearModel(Arena& arena, const ModelConfig& config) noexcept : rows_(arena, config) {}
  void reset() noexcept { rows_.reset(); }

  std::string_view name() const noexcept override { return Likelihood::kName; }
  Response response() const noexcept override { return Likelihood::kResponse; }
  bool quadratic() const noexcept override { return Likelihood::kQuadratic; }
  Curvature curvature() const noexcept override { return Likelihood::kCurvature; }
  void set_dispersion(double dispersion) noexcept override {
    rows_.likelihood.set_dispersion(dispersion * target_.scale * target_.scale);
  }
  double mean(double eta) const noexcept override { return rows_.likelihood.mean(eta); }
  Status check_target(double y) const noexcept override {
    return in_domain(Likelihood::kResponse, 0, y) ? Status::kOk : Status::kTargetOutOfDomain;
  }
  FeatureTransform& transform() noexcept override { return rows_.transform(); }

  void gradient_sum(const RowBatch& batch, const double* theta,
                    double* gradient) noexcept override {
    rows_.set_coefficients(theta, target_);
    rows_.clear_sum();
    // Each row is read twice, the second time from the innermost cache.
    const auto add = [&](const RowBatch& chunk) {
      rows_.load_residuals(chunk);
      rows_.add_weighted(chunk, rows_.residuals);
    };
    const std::size_t at_a_time = rows_.rows_in_cache();
    for (std::size_t i = 0; i < batch.count; i += at_a_time) {
      add(batch.part(i, std::min(at_a_time, batch.count - i)));
    }
    rows_.finish_sum(gradient, false, 1 / target_.scale);
  }

  double loss_sum(const RowBatch& batch, const double* theta) noexcept override {
    rows_.set_coefficients(theta, target_);
    double loss = 0;
    for_chunks(batch, [&](const RowBatch& chunk) {
      rows_.load(chunk);
      loss += rows_.loss(chunk);
    });
    return loss / (target_.scale * target_.scale);
  }

  void row_gradients(const RowBatch& batch, std::size_t dimension, const double* theta,
                     double* gradients) noexcept override {
    rows_.set_coefficients(theta, target_);
    for_chunks(batch, [&](const RowBatch& chunk) {
      load_residuals(chunk);
      rows_.scale_rows(chunk, rows_.residuals, dimension, gradients);
      gradients += chunk.count * dimension;
    });
  }

  void add_noise(const RowBatch& batch, const double* theta, NoiseSums& sums) noexcept override {
    rows_.set_coefficients(theta, target_);
    rows_.clear_sum();
    for_chunks(batch, [&](const RowBatch& chunk) {
      load_squared_residuals(chunk);
      rows_.add_weighted(chunk, rows_.residuals);
      rows_.add_outer(chunk, rows_.weights, sums.outer);
    });
    rows_.finish_sum(sums.gradient, true);
    sums.rows += static_cast<double>(batch.count);
  }

  void add_noise_variances(const RowBatch& batch, const double* theta,
                           NoiseVarianceSums& sums) noexcept override {
    rows_.set_coefficients(theta, target_);
    rows_.clear_sum();
    rows_.clear_squares();
    for_chunks(batch, [&](const RowBatch& chunk) {
      load_squared_residuals(chunk);
      rows_.add_weighted(chunk, rows_.residuals);
      rows_.add_squares(chunk, rows_.weights);
    });
    rows_.finish_sum(sums.gradient, true);
    rows_.finish_squares(sums.squares);
    sums.rows += static_cast<double>(batch.count);
  }

  void add_curvature(const RowBatch& batch, const double* anchor, const double* covariance,
                     double weight, CurvatureSums& sums) noexcept override {
    const double scale = target_.scale;
    const double square_weight = weight / (scale * scale);
    rows_.set_coefficients(anchor, target_);
    rows_.clear_sum();
    for_chunks(batch, [&](const RowBatch& chunk) {
      load_residuals(chunk);
      if (sums.with_loss) sums.loss += square_weight * rows_.loss(chunk);
      sums.squares += square_weight * rows_.squares(chunk);
      rows_.curvatures(chunk);
      if (rows_.weighted()) rows_.add_row_weights(chunk, weight, sums);
      for (std::size_t i = 0; i < chunk.count; ++i) {
        rows_.residuals[i] *= weight;
        rows_.weights[i] *= weight;
      }
      rows_.add_weighted(chunk, rows_.residuals);
      rows_.add_outer(chunk, rows_.weights, sums.curvature);
      if constexpr (Likelihood::kHasShape) rows_.add_shape(chunk, weight, sums);
      if (covariance == nullptr || Likelihood::kQuadratic) return;
      rows_.leverages(chunk, covariance, rows_.weights);
      if constexpr (Likelihood::kHasShape) rows_.add_shape_over_posterior(chunk, weight, sums);
      for (std::size_t i = 0; i < chunk.count; ++i) {
        rows_.third[i] *= scale * weight * rows_.weights[i];
      }
      rows_.add_to(chunk, rows_.third, sums.third);
    });
    rows_.finish_sum(sums.gradient, true);
    sums.rows += weight * static_cast<double>(batch.count);
  }

  bool row_effects(const RowBatch& batch, const RowJudge& judge,
                   RowEffect* effects) noexcept override {
    rows_.set_coefficients(judge.mode, target_);
    rows_.single().judge(judge.covariance, rows_.dimension());
    for_chunks(batch, [&](const RowBatch& chunk) {
      rows_.load(chunk);
      rows_.derivatives(chunk);
      rows_.unweighted_curvatures(chunk);
      for (std::size_t i = 0; i < chunk.count; ++i) {
        rows_.expand_row(chunk, i);
        *effects++ = row_effect(rows_.likelihood, row_at_mode(i, rows_.weights[i]), target_.scale,
                                judge, rows_.single());
      }
    });
    return true;
  }

  void row_distances(const RowBatch& batch, const DistanceJudge& judge,
                     RowDistance* distances) noexcept override {
    if constexpr (tells_distance(Likelihood::kResponse)) {
      rows_.set_coefficients(judge.mode, target_);
      for_chunks(batch, [&](const RowBatch& chunk) {
        rows_.load(chunk);
        rows_.derivatives(chunk);
        for (std::size_t i = 0; i < chunk.count; ++i) {
          const RowAtMode row = row_at_mode(i, 0);
          *distances++ = row_distance(rows_.likelihood, row, target_.scale, judge, [&] {
            rows_.expand_row(chunk, i);
            return rows_.single().variance(judge.covariance, rows_.dimension());
          });
        }
      });
    }
  }

  void predictive_losses(const RowBatch& batch, const PredictiveJudge& judge,
                         double* losses) noexcept override {
    rows_.set_coefficients(judge.mode, target_);
    for_chunks(batch, [&](const RowBatch& chunk) {
      rows_.load(chunk);
      rows_.gather(chunk);
      rows_.leverages(chunk, judge.covariance, rows_.weights);
      for (std::size_t i = 0; i < chunk.count; ++i) {
        losses[i] = predictive_loss(rows_.likelihood, row_at_mode(i, 0), rows_.weights[i],
                                    target_.scale, judge.divisor);
      }
      rows_.weigh(chunk, losses);
      losses += chunk.count;
    });
  }

  void predictive_residuals(const RowBatch& batch, const PredictiveJudge& judge,
                            PredictiveResidual* residuals) noexcept override {
    if constexpr (is_normal(Likelihood::kResponse)) {
      rows_.set_coefficients(judge.mode, target_);
      for_chunks(batch, [&](const RowBatch& chunk) {
        rows_.load(chunk);
        rows_.gather(chunk);
        rows_.leverages(chunk, judge.covariance, rows_.weights);
        std::fill_n(rows_.residuals, chunk.count, 1.0);
        rows_.weigh(chunk, rows_.residuals);
        for (std::size_t i = 0; i < chunk.count; ++i) {
          const RowAtMode row = row_at_mode(i, 0);
          const double residual = (row.y - row.eta) / target_.scale;
          *residuals++ = {residual, std::max(rows_.weights[i], 0.0), rows_.residuals[i]};
        }
      });
    }
  }

  bool has_start() const noexcept override { return Likelihood::kHasStart; }
  void add_start(const RowBatch& batch, CurvatureSums& sums) noexcept override {
    if constexpr (Likelihood::kHasStart) {
      rows_.clear_sum();
      for_chunks(batch, [&](const RowBatch& chunk) {
        rows_.load(chunk);
        rows_.start(chunk);
        rows_.derivatives(chunk);
        rows_.weigh(chunk, rows_.residuals);
        rows_.curvatures(chunk);
        if (rows_.weighted()) rows_.add_row_weights(chunk, 1.0, sums);
        // At the loss's curvature there the gradient becomes that of a quadratic seen from theta =
        // 0.
        for (std::size_t i = 0; i < chunk.count; ++i) {
          const double own = rows_.eta[i] - rows_.offset(chunk, i);
          const double eta = (own - target_.shift) / target_.scale;
          rows_.residuals[i] = rows_.residuals[i] / target_.scale - rows_.weights[i] * eta;
          sums.squares += rows_.residuals[i] * rows_.residuals[i] / rows_.weights[i];
        }
        rows_.add_weighted(chunk, rows_.residuals);
        rows_.add_outer(chunk, rows_.weights, sums.curvature);
      });
      rows_.finish_sum(sums.gradient, true);
      sums.rows += static_cast<double>(batch.count);
    }
  }

 private:
  template <class F>
  void for_chunks(const RowBatch& batch, F&& f) noexcept {
    for (std::size_t i = 0; i < batch.count; i += LinearRows::kChunk) {
      f(batch.part(i, std::min(LinearRows::kChunk, batch.count - i)));
    }
  }

  // Loads residuals in units of the transformed target.
  void load_residuals(const RowBatch& chunk) noexcept {
    rows_.load_residuals(chunk);
    const double inverse_scale = 1 / target_.scale;
    for (std::size_t i = 0; i < chunk.count; ++i) rows_.residuals[i] *= inverse_scale;
  }

  // Puts the same residuals into place, and their squares into `weights`.
  void load_squared_residuals(const RowBatch& chunk) noexcept {
    load_residuals(chunk);
    for (std::size_t i = 0; i < chunk.count; ++i) {
      rows_.weights[i] = rows_.residuals[i] * rows_.residuals[i];
    }
  }

  // Row i of the chunk, whose derivatives are in the scratch.
  RowAtMode row_at_mode(std::size_t i, double curvature) const noexcept {
    RowAtMode row{rows_.eta[i], rows_.targets[i], rows_.residuals[i], curvature};
    if constexpr (Likelihood::kHasTrials) row.trials = rows_.trials[i];
    return row;
  }

  LikelihoodRows<Likelihood> rows_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_GENERALIZED_LINEAR_H_
