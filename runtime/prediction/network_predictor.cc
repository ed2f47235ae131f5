#include "windhover/runtime/prediction/network_predictor.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/runtime/prediction/logit_normal.h"
#include "windhover/runtime/prediction/sample_summary.h"
#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

std::size_t draws_of(const EngineConfig& config) noexcept {
  return find_model(config.model.name)->network ? config.retained_draws : 0;
}

// A mixture of normals of one sd, one around each draw.
struct DrawMixture {
  const double* centre;
  std::size_t count;
  double sd;

  double cdf(double y) const noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += normal_cdf((y - centre[i]) / sd);
    return sum / static_cast<double>(count);
  }
  double log_density(double y) const noexcept {
    double nearest = 1e300;
    for (std::size_t i = 0; i < count; ++i) nearest = std::min(nearest, std::abs(y - centre[i]));
    const double peak = -0.5 * nearest * nearest / (sd * sd);
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double z = (y - centre[i]) / sd;
      sum += std::exp(-0.5 * z * z - peak);
    }
    return peak + std::log(sum / static_cast<double>(count)) - std::log(sd) -
           0.5 * std::log(2 * std::numbers::pi);
  }
  double quantile(double p) const noexcept {
    const auto [least, most] = std::minmax_element(centre, centre + count);
    const double z = normal_quantile(p);
    double low = *least + z * sd;
    double high = *most + z * sd;
    while (high - low > 1e-9 * sd) {
      const double middle = 0.5 * (low + high);
      if (middle <= low || middle >= high) break;
      (cdf(middle) < p ? low : high) = middle;
    }
    return 0.5 * (low + high);
  }
  // E|Y - y| - E|Y - Y'| / 2, the latter over kMostPairs^2 pairs at most, so that the time of a
  // question grows no faster than the draws.
  double crps(double y) const noexcept {
    const auto absolute = [](double m, double s) {
      return m * (2 * normal_cdf(m / s) - 1) +
             2 * s * std::exp(-0.5 * m * m / (s * s)) / std::sqrt(2 * std::numbers::pi);
    };
    constexpr std::size_t kMostPairs = 128;
    double to_outcome = 0;
    for (std::size_t i = 0; i < count; ++i) to_outcome += absolute(centre[i] - y, sd);
    const std::size_t paired = std::min(count, kMostPairs);
    double between = 0;
    for (std::size_t i = 0; i < paired; ++i) {
      for (std::size_t j = 0; j < paired; ++j) {
        between += absolute(centre[i] - centre[j], std::numbers::sqrt2 * sd);
      }
    }
    const auto pairs = static_cast<double>(paired * paired);
    return to_outcome / static_cast<double>(count) - 0.5 * between / pairs;
  }
};

}  // namespace

NetworkPredictor::NetworkPredictor(Arena& arena, const EngineConfig& config) noexcept
    : shape_(config.model, find_model(config.model.name)->response),
      response_(find_model(config.model.name)->response),
      draws_(draws_of(config)) {
  if (draws_ == 0) return;
  theta_ = arena.allocate<double>(shape_.dimension()).data();
  values_ = arena.allocate<double>(shape_.values()).data();
  eta_ = arena.allocate<double>(draws_ * shape_.outputs()).data();
  sample_ = arena.allocate<double>(draws_).data();
  entropy_ = arena.allocate<double>(draws_).data();
}

void NetworkPredictor::run(const Posterior& posterior, const double* x) noexcept {
  const std::size_t d = shape_.dimension();
  for (std::size_t m = 0; m < draws_; ++m) {
    for (std::size_t j = 0; j < d; ++j) {
      theta_[j] = posterior.mean[j] + posterior.deviations[j * draws_ + m];
    }
    const double* eta = shape_.forward(theta_, x, values_);
    for (std::size_t c = 0; c < shape_.outputs(); ++c) output(c)[m] = eta[c];
  }
}

void NetworkPredictor::predict(const Posterior& posterior, const double* x,
                               const PredictRequest& request, const ConformalBounds& conformal,
                               const double* outcome, double* deviations,
                               PredictiveSummary& s) noexcept {
  run(posterior, x);
  if (response_ == Response::kCategorical) return predict_classes(request, outcome, s);
  predict_y(posterior.dispersion, request, conformal, outcome, s);
  for (std::size_t m = 0; m < draws_; ++m) deviations[m] = eta_[m] - s.linpred_mean;
}

void NetworkPredictor::answer_given(std::span<const double> linear_predictors, double dispersion,
                                    const PredictRequest& request, const double* outcome,
                                    PredictiveSummary& s) noexcept {
  std::ranges::copy(linear_predictors, eta_);
  predict_y(dispersion, request, {}, outcome, s);
}

// Predicts y with a network of one output. REQUIRES: the draws' linear predictors are in eta_.
void NetworkPredictor::predict_y(double dispersion, const PredictRequest& request,
                                 const ConformalBounds& conformal, const double* outcome,
                                 PredictiveSummary& s) noexcept {
  const SampleMoments eta = sample_moments(eta_, draws_);
  s.linpred_mean = eta.mean;
  s.linpred_sd = std::sqrt(eta.variance);
  if (response_ == Response::kGaussian) {
    predict_gaussian(dispersion, request, conformal, outcome, s);
  } else {
    predict_bernoulli(request, outcome, s);
  }
}

void NetworkPredictor::predict_gaussian(double dispersion, const PredictRequest& r,
                                        const ConformalBounds& conformal, const double* outcome,
                                        PredictiveSummary& s) noexcept {
  s.epred_mean = s.mean = s.linpred_mean;
  s.epred_sd = s.linpred_sd;
  s.var_epistemic = s.linpred_sd * s.linpred_sd;
  s.var_aleatoric = dispersion;
  s.sd = std::sqrt(s.var_epistemic + s.var_aleatoric);
  const DrawMixture y{eta_, draws_, std::sqrt(dispersion)};
  if (r.intervals) {
    s.interval_lower = y.quantile(0.5 * (1 - r.interval_probability));
    s.interval_upper = y.quantile(0.5 * (1 + r.interval_probability));
  }
  for (std::size_t i = 0; i < r.quantile_probabilities.size(); ++i) {
    s.quantiles[i] = y.quantile(r.quantile_probabilities[i]);
  }
  for (std::size_t i = 0; i < r.thresholds.size(); ++i) {
    s.exceedance[i] = 1 - y.cdf(r.thresholds[i]);
  }
  if (conformal.known()) {
    const auto quantile = [&](const NormalLevel& level) { return y.quantile(level.p); };
    s.conformal_lower = conformal_end(NormalLevel::at(conformal.lower), quantile);
    s.conformal_upper = conformal_end(NormalLevel::at(conformal.upper), quantile);
    s.conformal_alpha = conformal.alpha();
  }
  if (outcome == nullptr) return;
  s.log_score = y.log_density(*outcome);
  s.pit = y.cdf(*outcome);
  if (r.intervals) s.crps = y.crps(*outcome);
}

void NetworkPredictor::predict_bernoulli(const PredictRequest& r, const double* outcome,
                                         PredictiveSummary& s) noexcept {
  LogMeanExp likelihood;  // of the outcome
  for (std::size_t m = 0; m < draws_; ++m) {
    const double p = sigmoid(eta_[m]);
    const double q = sigmoid(-eta_[m]);
    sample_[m] = p;
    entropy_[m] = -plogp(p) - plogp(q);
    if (outcome == nullptr) continue;
    const double signed_eta = *outcome == 1 ? eta_[m] : -eta_[m];
    likelihood.add(log_sigmoid(signed_eta));
  }
  const SampleMoments p = sample_moments(sample_, draws_);
  s.epred_mean = s.mean = p.mean;
  s.var_epistemic = p.variance;
  s.epred_sd = std::sqrt(p.variance);
  s.sd = std::sqrt(p.mean * (1 - p.mean));
  s.var_aleatoric = std::max(0.0, s.sd * s.sd - p.variance);
  s.entropy = -plogp(p.mean) - plogp(1 - p.mean);
  s.expected_entropy = std::min(sample_moments(entropy_, draws_).mean, s.entropy);
  s.mutual_information = s.entropy - s.expected_entropy;
  std::sort(sample_, sample_ + draws_);
  s.interval_lower = sample_quantile(sample_, draws_, 0.5 * (1 - r.interval_probability));
  s.interval_upper = sample_quantile(sample_, draws_, 0.5 * (1 + r.interval_probability));
  for (std::size_t i = 0; i < r.quantile_probabilities.size(); ++i) {
    s.quantiles[i] = sample_quantile(sample_, draws_, r.quantile_probabilities[i]);
  }
  if (outcome == nullptr) return;
  s.log_score = likelihood.value();
  s.brier = (p.mean - *outcome) * (p.mean - *outcome);
}

void NetworkPredictor::predict_classes(const PredictRequest& r, const double* outcome,
                                       PredictiveSummary& s) noexcept {
  const std::size_t outputs = shape_.outputs();
  s.classes = static_cast<std::uint32_t>(outputs) + 1;
  LogMeanExp likelihood;  // of the outcome
  for (std::size_t m = 0; m < draws_; ++m) {
    double largest = 0;
    for (std::size_t c = 0; c < outputs; ++c) largest = std::max(largest, output(c)[m]);
    double total = std::exp(-largest);
    for (std::size_t c = 0; c < outputs; ++c) total += std::exp(output(c)[m] - largest);
    const double normaliser = largest + std::log(total);
    if (outcome != nullptr) {
      const auto y = static_cast<std::size_t>(*outcome);
      likelihood.add((y == 0 ? 0.0 : output(y - 1)[m]) - normaliser);
    }
    // The probability of class 0 goes into sample_; the others replace their predictors.
    entropy_[m] = -plogp(sample_[m] = std::exp(-normaliser));
    for (std::size_t c = 0; c < outputs; ++c) {
      output(c)[m] = std::exp(output(c)[m] - normaliser);
      entropy_[m] -= plogp(output(c)[m]);
    }
  }
  for (std::size_t c = 0; c <= outputs; ++c) {
    double* values = c == 0 ? sample_ : output(c - 1);
    const SampleMoments p = sample_moments(values, draws_);
    s.probs[c] = p.mean;
    s.probs_sd[c] = std::sqrt(p.variance);
    std::sort(values, values + draws_);
    s.probs_eti_lower[c] = sample_quantile(values, draws_, 0.5 * (1 - r.interval_probability));
    s.probs_eti_upper[c] = sample_quantile(values, draws_, 0.5 * (1 + r.interval_probability));
    s.entropy -= plogp(p.mean);
    if (outcome != nullptr) {
      const double error = p.mean - (static_cast<double>(c) == *outcome ? 1.0 : 0.0);
      s.brier += error * error;
    }
  }
  s.expected_entropy = std::min(sample_moments(entropy_, draws_).mean, s.entropy);
  s.mutual_information = s.entropy - s.expected_entropy;
  if (outcome != nullptr) s.log_score = likelihood.value();
}

}  // namespace windhover
