#include "windhover/runtime/prediction/row_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "windhover/platform/random.h"
#include "windhover/runtime/prediction/prediction_kernels.h"
#include "windhover/samplers/kernels/kernels.h"

namespace windhover {

RowComparison::RowComparison(Arena& arena, const EngineConfig& config) noexcept
    : draws_(config.retained_draws),
      predictors_(arena.allocate<double>(std::size_t{config.max_query_rows} * draws_).data()),
      normals_(arena.allocate<double>(draws_).data()),
      best_(arena.allocate<double>(draws_).data()),
      winner_(arena.allocate<double>(draws_).data()) {}

void RowComparison::begin(std::uint64_t seed, const PredictRequest& r) noexcept {
  if (r.thompson_id == 0) return;
  fill_normals(seed, {r.thompson_id, 0, Purpose::kThompson}, {normals_, draws_});
}

void RowComparison::add(Response response, const OutcomePredictor& outcome, const PredictRequest& r,
                        std::size_t row, PredictiveSummary& s) noexcept {
  const PredictionKernels& kernel = prediction_kernels();
  double* values = predictors(row);
  if (r.thompson_id != 0) {
    // centre + sum_k z_k deviation_k / sqrt(K - 1): a fresh draw with the draws' covariance.
    const double scale = 1 / std::sqrt(static_cast<double>(draws_) - 1);
    const double step = kernel.dot(normals_, values, draws_);
    s.thompson = trials_of(r, row) * outcome.expected(response, s.linpred_mean + scale * step);
  }
  if (r.rows < 2) return;
  kernel.shift(values, draws_, s.linpred_mean);
  if (response == Response::kBernoulli || response == Response::kBinomial) {
    kernels().sigmoid(values, draws_, values);
    const double trials = trials_of(r, row);
    for (std::uint32_t m = 0; trials > 1 && m < draws_; ++m) values[m] *= trials;
  }
  if (predicts_logarithm(response)) {
    for (std::uint32_t m = 0; m < draws_; ++m) values[m] = outcome.expected(response, values[m]);
  }
  if (row == 0) {
    std::copy_n(values, draws_, best_);
    std::fill_n(winner_, draws_, 0.0);
  } else {
    kernel.keep_best(values, draws_, static_cast<double>(row), best_, winner_);
  }
}

void RowComparison::end(const PredictRequest& r, std::span<PredictiveSummary> s) noexcept {
  const double share = 1.0 / draws_;
  for (std::uint32_t m = 0; m < draws_; ++m) {
    s[static_cast<std::size_t>(winner_[m])].prob_best += share;
  }
  const PredictionKernels& kernel = prediction_kernels();
  for (std::size_t row = 0; row < r.rows; ++row) {
    s[row].expected_regret = share * kernel.shortfall(best_, predictors(row), draws_);
  }
}

}  // namespace windhover
