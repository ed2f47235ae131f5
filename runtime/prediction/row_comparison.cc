// The rows of one question against one another, on the draws that they share.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "windhover/runtime/prediction/logit_normal.h"
#include "windhover/runtime/prediction/predict.h"
#include "windhover/runtime/prediction/prediction_kernels.h"
#include "windhover/samplers/kernels/kernels.h"

namespace windhover {

// E[y | linear predictor], of a binomial y for each trial.
double Predictor::expected(Response response, double eta) const noexcept {
  if (response == Response::kBernoulli || response == Response::kBinomial) return sigmoid(eta);
  if (!predicts_logarithm(response)) return eta;
  const double noise = response == Response::kLogNormal ? log_normal_noise_.log_mean : 0.0;
  const double mean = std::exp(std::min(eta + noise, 690.0));
  return response == Response::kZeroInflatedCount ? mean / (1 + noise_.dispersion) : mean;
}

// One x on the draws that all of the request share: the fresh draw, and whether it is the best yet.
void Predictor::compare_row(Response response, const PredictRequest& r, std::size_t row,
                            PredictiveSummary& s) noexcept {
  if (response == Response::kCategorical) return;
  const PredictionKernels& kernel = prediction_kernels();
  double* values = predictors_ + row * draws_;
  if (r.thompson_id != 0) {
    // centre + sum_k z_k deviation_k / sqrt(K - 1): a fresh draw with the draws' covariance.
    const double scale = 1 / std::sqrt(static_cast<double>(draws_) - 1);
    const double step = kernel.dot(normals_, values, draws_);
    s.thompson = trials_of(r, row) * expected(response, s.linpred_mean + scale * step);
  }
  if (r.rows < 2) return;
  kernel.shift(values, draws_, s.linpred_mean);
  if (response == Response::kBernoulli || response == Response::kBinomial) {
    kernels().sigmoid(values, draws_, values);
    const double trials = trials_of(r, row);
    for (std::uint32_t m = 0; trials > 1 && m < draws_; ++m) values[m] *= trials;
  }
  if (predicts_logarithm(response)) {
    for (std::uint32_t m = 0; m < draws_; ++m) values[m] = expected(response, values[m]);
  }
  if (row == 0) {
    std::copy_n(values, draws_, contest_.best);
    std::fill_n(contest_.winner, draws_, 0.0);
  } else {
    kernel.keep_best(values, draws_, static_cast<double>(row), contest_.best, contest_.winner);
  }
}

// Which of several x is best, and what choosing another costs.
void Predictor::compare(const PredictRequest& r, std::span<PredictiveSummary> s) noexcept {
  const double share = 1.0 / draws_;
  for (std::uint32_t m = 0; m < draws_; ++m) {
    s[static_cast<std::size_t>(contest_.winner[m])].prob_best += share;
  }
  const PredictionKernels& kernel = prediction_kernels();
  for (std::size_t row = 0; row < r.rows; ++row) {
    s[row].expected_regret =
        share * kernel.shortfall(contest_.best, predictors_ + row * draws_, draws_);
  }
}

}  // namespace windhover
