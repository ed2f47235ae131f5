#include "windhover/runtime/predict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "windhover/platform/random.h"
#include "windhover/runtime/gaussian_mixture.h"
#include "windhover/runtime/poisson_mixture.h"
#include "windhover/samplers/kernels.h"

namespace windhover {

namespace {

bool probabilities(std::span<const double> values) noexcept {
  return std::ranges::all_of(values, [](double p) { return p > 0 && p < 1; });
}

bool usable(std::span<const double> values) noexcept {
  return std::ranges::all_of(values, [](double x) { return std::abs(x) <= 1e100; });
}

double sigmoid(double x) noexcept {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
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

double entropy(double p) noexcept {
  const double q = 1 - p;
  return (p > 0 ? -p * std::log(p) : 0.0) + (q > 0 ? -q * std::log(q) : 0.0);
}

double log_sigmoid(double x) noexcept {
  return std::min(x, 0.0) - std::log1p(std::exp(-std::abs(x)));
}

// Trapezoidal rules: for functions analytic in a strip their error falls geometrically in the
// number of nodes.
constexpr std::size_t kNodes = 64;

// In units of the linear predictor's sd, over [-8, 8].
struct NormalNodes {
  std::array<double, kNodes> z{};
  std::array<double, kNodes> weight{};
  NormalNodes() noexcept {
    double total = 0;
    for (std::size_t i = 0; i < kNodes; ++i) {
      z[i] = -8.0 + 16.0 * (static_cast<double>(i) + 0.5) / kNodes;
      weight[i] = std::exp(-0.5 * z[i] * z[i]);
      total += weight[i];
    }
    for (double& w : weight) w /= total;
  }
};

// In units of the sigmoid, over [-28, 28].
struct SigmoidNodes {
  std::array<double, kNodes> eta{};
  std::array<double, kNodes> slope{};  // of the sigmoid, times the spacing, as below
  std::array<double, kNodes> entropy{};
  SigmoidNodes() noexcept {
    for (std::size_t i = 0; i < kNodes; ++i) {
      constexpr double kSpacing = 56.0 / kNodes;
      eta[i] = kSpacing * (static_cast<double>(i) + 0.5) - 28.0;
      const double p = sigmoid(eta[i]);
      const double q = sigmoid(-eta[i]);
      slope[i] = kSpacing * p * q;
      entropy[i] = -kSpacing * (p * log_sigmoid(eta[i]) + q * log_sigmoid(-eta[i]));
    }
  }
};

const NormalNodes& normal_nodes() noexcept {
  static const NormalNodes nodes;
  return nodes;
}

// Expectations over p = sigmoid(eta), eta ~ N(m, s^2).
struct BernoulliMoments {
  double mean = 0;
  double other = 0;    // E[1 - p]: 1 - mean loses everything once mean rounds to 1
  double product = 0;  // E[p (1 - p)]
  double entropy = 0;
};

// Good to 1e-8 for s up to about 4: then the sigmoid is too steep for these nodes.
BernoulliMoments narrow_moments(double m, double s) noexcept {
  const NormalNodes& nodes = normal_nodes();
  std::array<double, kNodes> eta;
  std::array<double, kNodes> p;
  BernoulliMoments moments;
  for (std::size_t i = 0; i < kNodes; ++i) eta[i] = m + s * nodes.z[i];
  kernels().sigmoid(eta.data(), kNodes, p.data());
  for (std::size_t i = 0; i < kNodes; ++i) {
    moments.mean += nodes.weight[i] * p[i];
    // The entropy's own weight is negligible beyond 6 sd, and it costs a logarithm.
    if (std::abs(nodes.z[i]) < 6) moments.entropy += nodes.weight[i] * entropy(p[i]);
  }
  for (double& e : eta) e = -e;
  std::array<double, kNodes> q;
  kernels().sigmoid(eta.data(), kNodes, q.data());
  for (std::size_t i = 0; i < kNodes; ++i) {
    moments.other += nodes.weight[i] * q[i];
    moments.product += nodes.weight[i] * p[i] * q[i];
  }
  return moments;
}

// By parts, for s above: E f(eta) = integral of f'(t) P(eta > t) for f that rises from 0 to 1.
BernoulliMoments wide_moments(double m, double s) noexcept {
  static const SigmoidNodes nodes;
  BernoulliMoments moments;
  const double density_scale = 1 / (s * std::sqrt(2 * std::numbers::pi));
  for (std::size_t i = 0; i < kNodes; ++i) {
    const double z = (m - nodes.eta[i]) / s;
    const double above = normal_cdf(z);
    const double density = density_scale * std::exp(-0.5 * z * z);
    moments.mean += nodes.slope[i] * above;
    moments.other += nodes.slope[i] * normal_cdf(-z);
    moments.product += nodes.slope[i] * density;
    moments.entropy += nodes.entropy[i] * density;
  }
  return moments;
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

// log E sigmoid(eta), where the expectation itself would underflow.
double log_expected_sigmoid(double m, double s) noexcept {
  const NormalNodes& nodes = normal_nodes();
  std::array<double, kNodes> terms;
  double largest = -1e300;
  for (std::size_t i = 0; i < kNodes; ++i) {
    terms[i] = std::log(nodes.weight[i]) + log_sigmoid(m + s * nodes.z[i]);
    largest = std::max(largest, terms[i]);
  }
  double sum = 0;
  for (const double term : terms) sum += std::exp(term - largest);
  return largest + std::log(sum);
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
      class_probabilities_(arena, config.model),
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
  if (response == Response::kCategorical) class_probabilities_.begin(seed);
  if (response == Response::kStudent) {
    student_scale_ = StudentScale(degrees_of_freedom_, p.dispersion_relative_sd);
  }
  const bool common_draws = request.rows > 1 || request.thompson_id != 0;
  for (std::size_t row = 0; row < request.rows; ++row) {
    PredictiveSummary& s = summaries[row];
    s = {};
    load_row(request, row, p);
    if (response == Response::kCategorical) {
      const double* outcome = request.outcomes.empty() ? nullptr : &request.outcomes[row];
      class_probabilities_.predict(p, x_, request.interval_probability, outcome, s);
      continue;
    }
    const ConstVectorMap x(x_, d);
    s.linpred_mean = x.dot(ConstVectorMap(p.mean, d));
    std::copy_n(x_, dimension_, whitened_);
    p.curvature_factor.whiten(whitened_);
    s.linpred_sd = VectorMap(whitened_, d).norm() /
                   std::sqrt(static_cast<double>(std::max<std::uint64_t>(p.provenance.n_eff, 1)));
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
  constexpr double kNarrow = 4;
  constexpr double kUnderflow = 1e-8;
  const double m = s.linpred_mean;
  const BernoulliMoments moments =
      s.linpred_sd <= kNarrow ? narrow_moments(m, s.linpred_sd) : wide_moments(m, s.linpred_sd);
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
