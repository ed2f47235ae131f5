// What a likelihood says of rows, a chunk at a time: targets, derivatives and losses in units of
// the rows' own y, or of log y.
#ifndef WINDHOVER_SAMPLERS_MODELS_LIKELIHOOD_ROWS_H_
#define WINDHOVER_SAMPLERS_MODELS_LIKELIHOOD_ROWS_H_

#include <cmath>
#include <cstddef>

#include "windhover/platform/arena.h"
#include "windhover/samplers/models/linear_rows.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// Results lie in the scratch of LinearRows that each function names. They are those of the chunk
// last given to load(), at most kChunk rows, each times its row's weight, if any.
template <class Likelihood>
class LikelihoodRows : public LinearRows {
 public:
  LikelihoodRows(Arena& arena, const ModelConfig& config) noexcept
      : LinearRows(arena, config), likelihood(config) {}

  // Loads `eta` and `targets` of the chunk, `row_weights` and `trials`. REQUIRES:
  // set_coefficients().
  void load(const RowBatch& chunk) noexcept {
    predictors(chunk, eta, targets);
    if (weighted()) load_row_weights(chunk);
    if constexpr (Likelihood::kHasTrials) load_trials(chunk);
    if constexpr (Likelihood::kLogarithmic) {
      for (std::size_t i = 0; i < chunk.count; ++i) targets[i] = std::log(targets[i]);
    }
  }

  // Multiplies each number by its row's weight.
  void weigh(const RowBatch& chunk, double* numbers) noexcept {
    if (!weighted()) return;
    for (std::size_t i = 0; i < chunk.count; ++i) numbers[i] *= row_weights[i];
  }

  // These two do not multiply by the rows' weights. derivatives() fills `residuals`, curvatures()
  // fills `weights` and `third`.
  void derivatives(const RowBatch& chunk) noexcept {
    of_rows(0, [&](auto... at) { likelihood.derivatives(at..., chunk.count, residuals); });
  }
  void unweighted_curvatures(const RowBatch& chunk) noexcept {
    of_rows(0, [&](auto... at) { likelihood.curvatures(at..., chunk.count, weights, third); });
  }

  // load(), and puts the derivatives in the linear predictors into `residuals`.
  void load_residuals(const RowBatch& chunk) noexcept {
    load(chunk);
    derivatives(chunk);
    weigh(chunk, residuals);
  }
  // Puts curvatures and third derivatives into `weights` and `third`.
  void curvatures(const RowBatch& chunk) noexcept {
    unweighted_curvatures(chunk);
    weigh(chunk, weights);
    weigh(chunk, third);
  }

  double loss(const RowBatch& chunk) noexcept {
    return sum_of_rows(chunk, [&](std::size_t i, std::size_t n) {
      return of_rows(i, [&](auto... at) { return likelihood.loss(at..., n); });
    });
  }
  // CurvatureSums::squares, for a target of scale 1.
  double squares(const RowBatch& chunk) noexcept {
    return sum_of_rows(chunk, [&](std::size_t i, std::size_t n) {
      return likelihood.squares(eta + i, targets + i, n);
    });
  }

  // eta[i] <- the linear predictor that the target of row i suggests by itself.
  void start(const RowBatch& chunk) noexcept {
    if constexpr (Likelihood::kHasTrials) {
      likelihood.start(targets, trials, chunk.count, eta);
    } else {
      likelihood.start(targets, chunk.count, eta);
    }
  }

  // Adds the rows' weights, each times `weight`. REQUIRES: weighted().
  void add_row_weights(const RowBatch& chunk, double weight, CurvatureSums& sums) noexcept {
    for (std::size_t i = 0; i < chunk.count; ++i) {
      sums.weight += weight * row_weights[i];
      sums.squared_weight += weight * row_weights[i] * row_weights[i];
    }
  }
  // Adds `weight` times the rows' sums for the shape. Overwrites `residuals` and `weights`.
  void add_shape(const RowBatch& chunk, double weight, CurvatureSums& sums) noexcept {
    likelihood.shape_derivatives(eta, targets, chunk.count, residuals, weights);
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const double of_row = weighted() ? weight * row_weights[i] : weight;
      sums.shape_gradient += of_row * residuals[i];
      sums.shape_curvature += of_row * weights[i];
      sums.squares += of_row * residuals[i] * residuals[i];
    }
    if constexpr (shape_crosses(Likelihood::kResponse)) {
      if (sums.shape_cross == nullptr) return;
      likelihood.derivatives_by_shape(eta, targets, chunk.count, residuals);
      weigh(chunk, residuals);
      for (std::size_t i = 0; i < chunk.count; ++i) residuals[i] *= weight;
      add_to(chunk, residuals, sums.shape_cross);
    }
  }
  // Adds what averaging over the posterior changes; its variances of eta are in `weights`.
  void add_shape_over_posterior(const RowBatch& chunk, double weight,
                                CurvatureSums& sums) noexcept {
    likelihood.curvatures_by_shape(eta, targets, chunk.count, residuals);
    weigh(chunk, residuals);
    for (std::size_t i = 0; i < chunk.count; ++i) {
      sums.shape_gradient += 0.5 * weight * weights[i] * residuals[i];
    }
  }

  Likelihood likelihood;

 private:
  // Calls `ask` with the arrays that the likelihood takes, from row i of the chunk on.
  template <class Ask>
  decltype(auto) of_rows(std::size_t i, Ask&& ask) noexcept {
    if constexpr (Likelihood::kHasTrials) {
      return ask(eta + i, targets + i, trials + i);
    } else {
      return ask(eta + i, targets + i);
    }
  }
  // Sum of value(first row, rows).
  template <class Value>
  double sum_of_rows(const RowBatch& chunk, Value&& value) noexcept {
    if (!weighted()) return value(std::size_t{0}, chunk.count);
    double sum = 0;
    for (std::size_t i = 0; i < chunk.count; ++i) {
      sum += row_weights[i] * value(i, std::size_t{1});
    }
    return sum;
  }
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_LIKELIHOOD_ROWS_H_
