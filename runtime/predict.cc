#include "windhover/runtime/predict.h"

#include <algorithm>
#include <cmath>

#include "windhover/platform/random.h"
#include "windhover/runtime/gaussian_mixture.h"
#include "windhover/runtime/logit_normal.h"
#include "windhover/runtime/poisson_mixture.h"
#include "windhover/samplers/kernels.h"
#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

bool probabilities(std::span<const double> values) noexcept {
  return std::ranges::all_of(values, [](double p) { return p > 0 && p < 1; });
}

bool usable(std::span<const double> values) noexcept {
  return std::ranges::all_of(values, [](double x) { return std::abs(x) <= 1e100; });
}

// E[y | linear predictor].
double expected(Response response, double eta) noexcept {
  switch (response) {
    case Response::kBernoulli:
      return sigmoid(eta);
    case Response::kCount:
      return std::exp(std::min(eta, 690.0));
    default:
      return eta;
  }
}

// What any distribution of y with a quantile() and a cdf() can say.
template <class Distribution>
void fill_quantiles(const Distribution& y, const PredictRequest& r, PredictiveSummary& s) noexcept {
  s.interval_lower = y.quantile(0.5 * (1 - r.interval_probability));
  s.interval_upper = y.quantile(0.5 * (1 + r.interval_probability));
  for (std::size_t i = 0; i < r.quantile_probabilities.size(); ++i) {
    s.quantiles[i] = y.quantile(r.quantile_probabilities[i]);
  }
  for (std::size_t i = 0; i < r.thresholds.size(); ++i) {
    s.exceedance[i] = 1 - y.cdf(r.thresholds[i]);
  }
}

void score(const GaussianMixture& y, double outcome, PredictiveSummary& s) noexcept {
  s.log_score = y.log_density(outcome);
  s.pit = y.cdf(outcome);
  s.crps = y.crps(outcome);
}

}  // namespace

Predictor::Predictor(Arena& arena, const EngineConfig& config) noexcept
    : features_(config.model.features),
      dimension_(config.model.dimension()),
      sparse_(config.model.max_nonzeros > 0),
      intercept_(config.model.intercept),
      max_nonzeros_(config.model.max_nonzeros),
      max_rows_(config.max_query_rows),
      draws_(config.retained_draws),
      degrees_of_freedom_(config.model.degrees_of_freedom),
      classes_(config.model.classes),
      network_(find_model(config.model.name)->network),
      class_probabilities_(arena, config.model),
      network_predictor_(arena, config),
      x_(arena.allocate<double>(dimension_).data()),
      whitened_(arena.allocate<double>(dimension_).data()),
      predictors_(arena.allocate<double>(std::size_t{max_rows_} * draws_).data()),
      normals_(arena.allocate<double>(draws_).data()),
      best_(arena.allocate<double>(draws_).data()) {}

Status Predictor::check(const PredictRequest& r, Response response) const noexcept {
  if (r.rows == 0) return Status::kInvalidArgument;
  if (r.rows > max_rows_) return Status::kTooLarge;
  if (!sparse_) {
    if (r.features.size() != r.rows * features_) return Status::kWrongDimension;
  } else {
    if (r.row_ends.size() != r.rows || r.indices.size() != r.features.size() ||
        r.row_ends.back() != r.indices.size()) {
      return Status::kWrongDimension;
    }
    std::uint32_t begin = 0;
    for (const std::uint32_t end : r.row_ends) {
      if (end < begin || end > r.indices.size()) return Status::kMalformed;
      if (end - begin > max_nonzeros_) return Status::kTooManyNonzeros;
      for (std::uint32_t k = begin; k < end; ++k) {
        if (r.indices[k] >= features_) return Status::kIndexOutOfRange;
        if (k > begin && r.indices[k] <= r.indices[k - 1]) return Status::kIndicesNotIncreasing;
      }
      begin = end;
    }
  }
  if (!usable(r.features) || !usable(r.thresholds) || !usable(r.outcomes)) {
    return Status::kNotFinite;
  }
  if (r.quantile_probabilities.size() > kMaxQuantiles || r.thresholds.size() > kMaxThresholds) {
    return Status::kTooLarge;
  }
  if (!probabilities(r.quantile_probabilities) ||
      !(r.interval_probability > 0 && r.interval_probability < 1)) {
    return Status::kInvalidArgument;
  }
  if (!r.outcomes.empty() && r.outcomes.size() != r.rows) return Status::kInvalidArgument;
  if (response == Response::kCategorical &&
      (!r.quantile_probabilities.empty() || !r.thresholds.empty() || r.thompson_id != 0)) {
    return Status::kUnsupported;
  }
  if (network_ && r.thompson_id != 0) return Status::kUnsupported;
  for (const double y : r.outcomes) {
    if (response == Response::kCategorical && y >= classes_) return Status::kTargetOutOfDomain;
    const bool in_domain = response == Response::kBernoulli ? y == 0 || y == 1
                           : has_dispersion(response)       ? true
                                                            : y >= 0 && y == std::floor(y);
    if (!in_domain) return Status::kTargetOutOfDomain;
  }
  return Status::kOk;
}

void Predictor::load_row(const PredictRequest& r, std::size_t row, const Posterior& p) noexcept {
  const double* shift = p.transform.shift.data();
  const double* inverse_scale = p.transform.inverse_scale.data();
  if (!sparse_) {
    const double* raw = r.features.data() + row * features_;
    for (std::uint32_t j = 0; j < features_; ++j) x_[j] = (raw[j] - shift[j]) * inverse_scale[j];
  } else {
    std::fill_n(x_, features_, 0.0);
    const std::uint32_t begin = row == 0 ? 0 : r.row_ends[row - 1];
    for (std::uint32_t k = begin; k < r.row_ends[row]; ++k) {
      x_[r.indices[k]] = r.features[k] * inverse_scale[r.indices[k]];
    }
  }
  if (intercept_) x_[features_] = 1.0;
}

void Predictor::predict(const Posterior& p, Response response, std::uint64_t seed,
                        const PredictRequest& request,
                        std::span<PredictiveSummary> summaries) noexcept {
  const Eigen::Index d = dimension_;
  if (response == Response::kCategorical && !network_) class_probabilities_.begin(seed);
  if (response == Response::kStudent) {
    student_scale_ = StudentScale(degrees_of_freedom_, p.dispersion_relative_sd);
  }
  const bool common_draws = request.rows > 1 || request.thompson_id != 0;
  for (std::size_t row = 0; row < request.rows; ++row) {
    PredictiveSummary& s = summaries[row];
    s = {};
    load_row(request, row, p);
    const double* outcome = request.outcomes.empty() ? nullptr : &request.outcomes[row];
    if (network_) {
      network_predictor_.predict(p, x_, request, outcome, predictors_ + row * draws_, s);
      continue;
    }
    if (response == Response::kCategorical) {
      class_probabilities_.predict(p, x_, request.interval_probability, outcome, s);
      continue;
    }
    const ConstVectorMap x(x_, d);
    s.linpred_mean = x.dot(ConstVectorMap(p.mean, d));
    std::copy_n(x_, dimension_, whitened_);
    p.curvature_factor.whiten(whitened_);
    s.linpred_sd = VectorMap(whitened_, d).norm() * std::sqrt(p.variance_scale());
    if (common_draws) {
      VectorMap(predictors_ + row * draws_, draws_).noalias() =
          ConstMatrixMap(p.deviations, draws_, d) * x;
    }
    switch (response) {
      case Response::kGaussian:
        predict_gaussian(p, request, row, s);
        break;
      case Response::kStudent:
        predict_student(p, request, row, s);
        break;
      case Response::kCount:
        predict_count(request, row, s);
        break;
      default:
        predict_bernoulli(request, row, s);
    }
  }
  if (common_draws && response != Response::kCategorical)
    compare(response, seed, request, summaries);
}

void Predictor::predict_gaussian(const Posterior& p, const PredictRequest& r, std::size_t row,
                                 PredictiveSummary& s) noexcept {
  s.epred_mean = s.mean = s.linpred_mean;
  s.epred_sd = s.linpred_sd;
  s.var_epistemic = s.linpred_sd * s.linpred_sd;
  s.var_aleatoric = p.dispersion;
  s.sd = std::sqrt(s.var_epistemic + s.var_aleatoric);
  const GaussianMixture y(s.mean, s.var_epistemic, p.dispersion, p.dispersion_relative_sd);
  fill_quantiles(y, r, s);
  if (!r.outcomes.empty()) score(y, r.outcomes[row], s);
}

void Predictor::predict_student(const Posterior& p, const PredictRequest& r, std::size_t row,
                                PredictiveSummary& s) noexcept {
  s.epred_mean = s.mean = s.linpred_mean;
  s.epred_sd = s.linpred_sd;
  s.var_epistemic = s.linpred_sd * s.linpred_sd;
  s.var_aleatoric = p.dispersion * degrees_of_freedom_ / (degrees_of_freedom_ - 2);
  s.sd = std::sqrt(s.var_epistemic + s.var_aleatoric);
  const GaussianMixture y(s.mean, s.var_epistemic, p.dispersion, student_scale_);
  fill_quantiles(y, r, s);
  if (!r.outcomes.empty()) score(y, r.outcomes[row], s);
}

void Predictor::predict_count(const PredictRequest& r, std::size_t row,
                              PredictiveSummary& s) noexcept {
  const PoissonMixture y(s.linpred_mean, s.linpred_sd);
  s.epred_mean = s.mean = y.mean();
  s.var_epistemic = y.var_epistemic();
  s.epred_sd = std::sqrt(s.var_epistemic);
  s.var_aleatoric = y.mean();
  s.sd = std::sqrt(s.var_epistemic + s.var_aleatoric);
  fill_quantiles(y, r, s);
  if (!r.outcomes.empty()) {
    s.log_score = y.log_probability(r.outcomes[row]);
    s.pit = y.cdf(r.outcomes[row]);
  }
}

void Predictor::predict_bernoulli(const PredictRequest& r, std::size_t row,
                                  PredictiveSummary& s) noexcept {
  constexpr double kUnderflow = 1e-8;
  const double m = s.linpred_mean;
  const LogitNormalMoments moments = logit_normal_moments(m, s.linpred_sd);
  const double mean = moments.mean;
  s.epred_mean = s.mean = mean;
  s.var_epistemic = std::max(0.0, mean * moments.other - moments.product);
  s.epred_sd = std::sqrt(s.var_epistemic);
  s.var_aleatoric = moments.product;
  s.sd = std::sqrt(mean * moments.other);
  s.entropy = entropy(mean);
  s.expected_entropy = std::min(moments.entropy, s.entropy);
  s.mutual_information = s.entropy - s.expected_entropy;
  const auto band = [&](double q) {
    return sigmoid(s.linpred_mean + s.linpred_sd * normal_quantile(q));
  };
  s.interval_lower = band(0.5 * (1 - r.interval_probability));
  s.interval_upper = band(0.5 * (1 + r.interval_probability));
  for (std::size_t i = 0; i < r.quantile_probabilities.size(); ++i) {
    s.quantiles[i] = band(r.quantile_probabilities[i]);
  }
  if (!r.outcomes.empty()) {
    const double y = r.outcomes[row];
    const double p = y == 1 ? mean : moments.other;
    s.log_score = p > kUnderflow ? std::log(std::min(p, 1.0))
                                 : log_expected_sigmoid(y == 1 ? m : -m, s.linpred_sd);
    s.brier = (mean - y) * (mean - y);
  }
}

// Several x on common draws: which is best, what choosing another costs, and one fresh draw.
void Predictor::compare(Response response, std::uint64_t seed, const PredictRequest& r,
                        std::span<PredictiveSummary> s) noexcept {
  if (r.thompson_id != 0) {
    // centre + sum_k z_k deviation_k / sqrt(K - 1): a fresh draw with the draws' covariance.
    fill_normals(seed, {r.thompson_id, 0, Purpose::kThompson}, {normals_, draws_});
    const double scale = 1 / std::sqrt(static_cast<double>(draws_) - 1);
    for (std::size_t row = 0; row < r.rows; ++row) {
      const double eta = s[row].linpred_mean +
                         scale * ConstVectorMap(normals_, draws_)
                                     .dot(ConstVectorMap(predictors_ + row * draws_, draws_));
      s[row].thompson = expected(response, eta);
    }
  }
  if (r.rows < 2) return;
  for (std::size_t row = 0; row < r.rows; ++row) {
    double* column = predictors_ + row * draws_;
    for (std::uint32_t m = 0; m < draws_; ++m) column[m] += s[row].linpred_mean;
    if (response == Response::kBernoulli) kernels().sigmoid(column, draws_, column);
    if (response == Response::kCount) {
      for (std::uint32_t m = 0; m < draws_; ++m) column[m] = expected(response, column[m]);
    }
  }
  const double share = 1.0 / draws_;
  for (std::uint32_t m = 0; m < draws_; ++m) {
    std::size_t winner = 0;
    for (std::size_t row = 1; row < r.rows; ++row) {
      if (predictors_[row * draws_ + m] > predictors_[winner * draws_ + m]) winner = row;
    }
    s[winner].prob_best += share;
    best_[m] = predictors_[winner * draws_ + m];
  }
  for (std::size_t row = 0; row < r.rows; ++row) {
    double regret = 0;
    for (std::uint32_t m = 0; m < draws_; ++m) regret += best_[m] - predictors_[row * draws_ + m];
    s[row].expected_regret = share * regret;
  }
}

}  // namespace windhover
