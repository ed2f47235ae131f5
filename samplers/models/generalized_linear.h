// A generalized linear model over dense or sparse rows, for any likelihood of models/likelihoods.h.
//
// Rows stay in the window as they came; the transforms (x - shift) / scale and (y - shift) / scale
// are folded into the coefficients before a pass over rows and into the sums after it, so
// standardising costs O(D) a minibatch and rewrites nothing. The likelihood thus sees linear
// predictors, targets and a dispersion in units of the rows' own y, or of log y; what leaves this
// class is in units of the transformed one.
#ifndef WINDHOVER_SAMPLERS_MODELS_GENERALIZED_LINEAR_H_
#define WINDHOVER_SAMPLERS_MODELS_GENERALIZED_LINEAR_H_

#include <algorithm>
#include <cmath>

#include "windhover/platform/arena.h"
#include "windhover/samplers/models/likelihoods.h"
#include "windhover/samplers/models/linear_rows.h"
#include "windhover/samplers/models/model.h"
#include "windhover/samplers/models/row_distance.h"
#include "windhover/samplers/models/row_effect.h"

namespace windhover {

template <class Likelihood>
class GeneralizedLinearModel final : public Model {
 public:
  GeneralizedLinearModel(Arena& arena, const ModelConfig& config) noexcept
      : rows_(arena, config), likelihood_(config) {}
  void reset() noexcept { rows_.reset(); }

  std::string_view name() const noexcept override { return Likelihood::kName; }
  Response response() const noexcept override { return Likelihood::kResponse; }
  bool quadratic() const noexcept override { return Likelihood::kQuadratic; }
  Curvature curvature() const noexcept override { return Likelihood::kCurvature; }
  void set_dispersion(double dispersion) noexcept override {
    likelihood_.set_dispersion(dispersion * target_.scale * target_.scale);
  }
  double mean(double eta) const noexcept override { return likelihood_.mean(eta); }
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
      raw_residuals(chunk);
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
      predictors(chunk);
      loss += loss_of(chunk);
    });
    return loss / (target_.scale * target_.scale);
  }

  void row_gradients(const RowBatch& batch, std::size_t dimension, const double* theta,
                     double* gradients) noexcept override {
    rows_.set_coefficients(theta, target_);
    for_chunks(batch, [&](const RowBatch& chunk) {
      residuals(chunk);
      rows_.scale_rows(chunk, rows_.residuals, dimension, gradients);
      gradients += chunk.count * dimension;
    });
  }

  void add_noise(const RowBatch& batch, const double* theta, NoiseSums& sums) noexcept override {
    rows_.set_coefficients(theta, target_);
    rows_.clear_sum();
    for_chunks(batch, [&](const RowBatch& chunk) {
      squared_residuals(chunk);
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
      squared_residuals(chunk);
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
      residuals(chunk);
      if (sums.with_loss) sums.loss += square_weight * loss_of(chunk);
      sums.squares += square_weight * sum_of_rows(chunk, [&](std::size_t i, std::size_t n) {
                        return likelihood_.squares(rows_.eta + i, rows_.targets + i, n);
                      });
      curvatures(chunk);
      if (rows_.weighted()) add_row_weights(chunk, weight, sums);
      for (std::size_t i = 0; i < chunk.count; ++i) {
        rows_.residuals[i] *= weight;
        rows_.weights[i] *= weight;
      }
      rows_.add_weighted(chunk, rows_.residuals);
      rows_.add_outer(chunk, rows_.weights, sums.curvature);
      if constexpr (Likelihood::kHasShape) add_shape(chunk, weight, sums);
      if (covariance == nullptr || Likelihood::kQuadratic) return;
      rows_.leverages(chunk, covariance, rows_.weights);
      if constexpr (Likelihood::kHasShape) add_shape_over_posterior(chunk, weight, sums);
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
    rows_.judge(judge.covariance, rows_.dimension());
    for_chunks(batch, [&](const RowBatch& chunk) {
      predictors(chunk);
      derivatives(chunk);
      likelihood_curvatures(chunk);
      for (std::size_t i = 0; i < chunk.count; ++i) {
        rows_.expand_row(chunk, i);
        RowAtMode row{rows_.eta[i], rows_.targets[i], rows_.residuals[i], rows_.weights[i]};
        if constexpr (Likelihood::kHasTrials) row.trials = rows_.trials[i];
        *effects++ = row_effect(likelihood_, row, target_.scale, judge, rows_);
      }
    });
    return true;
  }

  void row_distances(const RowBatch& batch, const DistanceJudge& judge,
                     RowDistance* distances) noexcept override {
    if constexpr (tells_distance(Likelihood::kResponse)) {
      rows_.set_coefficients(judge.mode, target_);
      for_chunks(batch, [&](const RowBatch& chunk) {
        predictors(chunk);
        derivatives(chunk);
        for (std::size_t i = 0; i < chunk.count; ++i) {
          RowAtMode row{rows_.eta[i], rows_.targets[i], rows_.residuals[i], 0};
          if constexpr (Likelihood::kHasTrials) row.trials = rows_.trials[i];
          *distances++ = row_distance(likelihood_, row, target_.scale, judge, [&] {
            rows_.expand_row(chunk, i);
            return rows_.variance(judge.covariance, rows_.dimension());
          });
        }
      });
    }
  }

  bool has_start() const noexcept override { return Likelihood::kHasStart; }
  void add_start(const RowBatch& batch, CurvatureSums& sums) noexcept override {
    if constexpr (Likelihood::kHasStart) {
      rows_.clear_sum();
      for_chunks(batch, [&](const RowBatch& chunk) {
        predictors(chunk);
        if constexpr (Likelihood::kHasTrials) {
          likelihood_.start(rows_.targets, rows_.trials, chunk.count, rows_.eta);
        } else {
          likelihood_.start(rows_.targets, chunk.count, rows_.eta);
        }
        derivatives(chunk);
        weigh(chunk, rows_.residuals);
        curvatures(chunk);
        if (rows_.weighted()) add_row_weights(chunk, 1.0, sums);
        // The quadratic in theta that agrees with the loss there, seen from theta = 0.
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

  // What the rows of the chunk say of the shape, at the linear predictors in `eta`.
  void add_shape(const RowBatch& chunk, double weight, CurvatureSums& sums) noexcept {
    likelihood_.shape_derivatives(rows_.eta, rows_.targets, chunk.count, rows_.residuals,
                                  rows_.weights);
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const double of_row = rows_.weighted() ? weight * rows_.row_weights[i] : weight;
      sums.shape_gradient += of_row * rows_.residuals[i];
      sums.shape_curvature += of_row * rows_.weights[i];
      sums.squares += of_row * rows_.residuals[i] * rows_.residuals[i];
    }
    if constexpr (shape_crosses(Likelihood::kResponse)) {
      if (sums.shape_cross == nullptr) return;
      likelihood_.derivatives_by_shape(rows_.eta, rows_.targets, chunk.count, rows_.residuals);
      weigh(chunk, rows_.residuals);
      for (std::size_t i = 0; i < chunk.count; ++i) rows_.residuals[i] *= weight;
      rows_.add_to(chunk, rows_.residuals, sums.shape_cross);
    }
  }
  // And what more on average over the posterior, whose variances of eta are in `weights`.
  void add_shape_over_posterior(const RowBatch& chunk, double weight,
                                CurvatureSums& sums) noexcept {
    likelihood_.curvatures_by_shape(rows_.eta, rows_.targets, chunk.count, rows_.residuals);
    weigh(chunk, rows_.residuals);
    for (std::size_t i = 0; i < chunk.count; ++i) {
      sums.shape_gradient += 0.5 * weight * rows_.weights[i] * rows_.residuals[i];
    }
  }

  // After predictors(): each number times its row's weight.
  void weigh(const RowBatch& chunk, double* numbers) noexcept {
    if (!rows_.weighted()) return;
    for (std::size_t i = 0; i < chunk.count; ++i) numbers[i] *= rows_.row_weights[i];
  }
  // Sum over the rows of the chunk of value(first row, rows), each by its weight.
  template <class Value>
  double sum_of_rows(const RowBatch& chunk, Value&& value) noexcept {
    if (!rows_.weighted()) return value(std::size_t{0}, chunk.count);
    double sum = 0;
    for (std::size_t i = 0; i < chunk.count; ++i) {
      sum += rows_.row_weights[i] * value(i, std::size_t{1});
    }
    return sum;
  }
  double loss_of(const RowBatch& chunk) noexcept {
    return sum_of_rows(chunk, [&](std::size_t i, std::size_t n) {
      return of_rows(i, [&](auto... at) { return likelihood_.loss(at..., n); });
    });
  }
  // What the likelihood is asked of the rows of the chunk from row i on.
  template <class Ask>
  decltype(auto) of_rows(std::size_t i, Ask&& ask) noexcept {
    if constexpr (Likelihood::kHasTrials) {
      return ask(rows_.eta + i, rows_.targets + i, rows_.trials + i);
    } else {
      return ask(rows_.eta + i, rows_.targets + i);
    }
  }
  // Of the rows by themselves, into `residuals`; and into `weights` and `third`.
  void derivatives(const RowBatch& chunk) noexcept {
    of_rows(0, [&](auto... at) { likelihood_.derivatives(at..., chunk.count, rows_.residuals); });
  }
  void likelihood_curvatures(const RowBatch& chunk) noexcept {
    of_rows(0, [&](auto... at) {
      likelihood_.curvatures(at..., chunk.count, rows_.weights, rows_.third);
    });
  }
  void add_row_weights(const RowBatch& chunk, double weight, CurvatureSums& sums) noexcept {
    for (std::size_t i = 0; i < chunk.count; ++i) {
      sums.weight += weight * rows_.row_weights[i];
      sums.squared_weight += weight * rows_.row_weights[i] * rows_.row_weights[i];
    }
  }
  // Into `weights` and `third`.
  void curvatures(const RowBatch& chunk) noexcept {
    likelihood_curvatures(chunk);
    weigh(chunk, rows_.weights);
    weigh(chunk, rows_.third);
  }

  // `eta` and `targets` of the chunk, `row_weights` and `trials`.
  void predictors(const RowBatch& chunk) noexcept {
    rows_.predictors(chunk, rows_.eta, rows_.targets);
    if (rows_.weighted()) rows_.load_row_weights(chunk);
    if constexpr (Likelihood::kHasTrials) rows_.load_trials(chunk);
    if constexpr (Likelihood::kLogarithmic) {
      for (std::size_t i = 0; i < chunk.count; ++i) rows_.targets[i] = std::log(rows_.targets[i]);
    }
  }

  // In units of the rows' own targets.
  void raw_residuals(const RowBatch& chunk) noexcept {
    predictors(chunk);
    derivatives(chunk);
    weigh(chunk, rows_.residuals);
  }

  void residuals(const RowBatch& chunk) noexcept {
    raw_residuals(chunk);
    const double inverse_scale = 1 / target_.scale;
    for (std::size_t i = 0; i < chunk.count; ++i) rows_.residuals[i] *= inverse_scale;
  }

  // Into `residuals`, and their squares into `weights`.
  void squared_residuals(const RowBatch& chunk) noexcept {
    residuals(chunk);
    for (std::size_t i = 0; i < chunk.count; ++i) {
      rows_.weights[i] = rows_.residuals[i] * rows_.residuals[i];
    }
  }

  LinearRows rows_;
  Likelihood likelihood_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_GENERALIZED_LINEAR_H_
