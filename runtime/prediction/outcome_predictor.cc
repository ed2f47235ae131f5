#include "windhover/runtime/prediction/outcome_predictor.h"

#include <algorithm>
#include <cmath>

#include "windhover/runtime/prediction/binomial_mixture.h"
#include "windhover/runtime/prediction/logit_normal.h"
#include "windhover/runtime/prediction/negative_binomial_mixture.h"
#include "windhover/runtime/prediction/poisson_mixture.h"
#include "windhover/runtime/prediction/zero_inflated_mixture.h"

namespace windhover {

namespace {

template <class Distribution>
void score(const Distribution& y, const PredictRequest& r, std::size_t row,
           PredictiveSummary& s) noexcept {
  const double outcome = r.outcomes[row];
  s.log_score = y.log_density(outcome);
  s.pit = y.cdf(outcome);
  if (r.intervals) s.crps = y.crps(outcome);
}

}  // namespace

// Fills in what needs only a quantile() and a cdf() of y's distribution.
template <class Distribution>
void OutcomePredictor::fill_quantiles(const Distribution& y, const PredictRequest& r,
                                      PredictiveSummary& s) const noexcept {
  if (r.intervals) {
    s.interval_lower = y.quantile(levels_[0]);
    s.interval_upper = y.quantile(levels_[1]);
  }
  for (std::size_t i = 0; i < r.quantile_probabilities.size(); ++i) {
    s.quantiles[i] = y.quantile(levels_[2 + i]);
  }
  for (std::size_t i = 0; i < r.thresholds.size(); ++i) {
    s.exceedance[i] = 1 - y.cdf(r.thresholds[i]);
  }
}

template <class Distribution>
void OutcomePredictor::fill_conformal(const Distribution& y, PredictiveSummary& s) const noexcept {
  if (!conformal_.known()) return;
  const auto quantile = [&](const NormalLevel& level) { return y.quantile(level); };
  s.conformal_lower = conformal_end(conformal_levels_[0], quantile);
  s.conformal_upper = conformal_end(conformal_levels_[1], quantile);
  s.conformal_alpha = conformal_.alpha();
}

void OutcomePredictor::fill_class_set(Response response, PredictiveSummary& s) const noexcept {
  if (!conformal_.known() || !has_classes(response)) return;
  const ClassShares shares(s);
  s.conformal_set = shares.set(conformal_.upper);
  s.conformal_alpha = std::max(0.0, 1 - shares.mass(s.conformal_set));
}

void OutcomePredictor::predict(Response response, const PredictRequest& r, std::size_t row,
                               PredictiveSummary& s) const noexcept {
  switch (response) {
    case Response::kGaussian:
    case Response::kHeteroscedastic:
      return predict_gaussian(r, row, s);
    case Response::kStudent:
      return predict_student(r, row, s);
    case Response::kLogNormal:
      return predict_log_normal(r, row, s);
    case Response::kCount:
      return predict_count(r, row, s);
    case Response::kOverdispersedCount:
      return predict_overdispersed(r, row, s);
    case Response::kBinomial:
      return predict_binomial(r, row, s);
    case Response::kZeroInflatedCount:
      return predict_zero_inflated(r, row, s);
    default:
      predict_bernoulli(r, row, s);
      fill_class_set(response, s);
  }
}

double OutcomePredictor::expected(Response response, double eta) const noexcept {
  if (response == Response::kBernoulli || response == Response::kBinomial) return sigmoid(eta);
  if (!predicts_logarithm(response)) return eta;
  const double noise = response == Response::kLogNormal ? log_normal_noise_.log_mean : 0.0;
  const double mean = std::exp(std::min(eta + noise, 690.0));
  return response == Response::kZeroInflatedCount ? mean / (1 + noise_.dispersion) : mean;
}

void OutcomePredictor::predict_gaussian(const PredictRequest& r, std::size_t row,
                                        PredictiveSummary& s) const noexcept {
  s.epred_mean = s.mean = s.linpred_mean;
  s.epred_sd = s.linpred_sd;
  s.var_epistemic = s.linpred_sd * s.linpred_sd;
  s.var_aleatoric = noise_.dispersion;
  s.sd = std::sqrt(s.var_epistemic + s.var_aleatoric);
  const GaussianMixture y = mixture_.any() ? GaussianMixture(s.mean, s.var_epistemic, mixture_)
                                           : GaussianMixture(s.mean, s.var_epistemic,
                                                             noise_.dispersion, noise_.relative_sd);
  fill_quantiles(y, r, s);
  fill_conformal(y, s);
  if (!r.outcomes.empty()) score(y, r, row, s);
}

void OutcomePredictor::predict_student(const PredictRequest& r, std::size_t row,
                                       PredictiveSummary& s) const noexcept {
  s.epred_mean = s.mean = s.linpred_mean;
  s.epred_sd = s.linpred_sd;
  s.var_epistemic = s.linpred_sd * s.linpred_sd;
  s.var_aleatoric = noise_.dispersion * degrees_of_freedom_ / (degrees_of_freedom_ - 2);
  s.sd = std::sqrt(s.var_epistemic + s.var_aleatoric);
  const GaussianMixture y(s.mean, s.var_epistemic, noise_.dispersion, student_.scale);
  fill_quantiles(y, r, s);
  fill_conformal(y, s);
  if (!r.outcomes.empty()) score(y, r, row, s);
}

void OutcomePredictor::predict_log_normal(const PredictRequest& r, std::size_t row,
                                          PredictiveSummary& s) const noexcept {
  const LogNormalMixture y =
      mixture_.any() ? LogNormalMixture(s.linpred_mean, s.linpred_sd, mixture_, log_normal_noise_)
                     : LogNormalMixture(s.linpred_mean, s.linpred_sd, noise_.dispersion,
                                        noise_.relative_sd, log_normal_noise_);
  s.epred_mean = s.mean = y.mean();
  s.var_epistemic = y.var_epistemic();
  s.epred_sd = std::sqrt(s.var_epistemic);
  s.var_aleatoric = y.var_aleatoric();
  s.sd = std::sqrt(s.var_epistemic + s.var_aleatoric);
  fill_quantiles(y, r, s);
  fill_conformal(y.logarithm(), s);  // far tails are straight lines in log y
  if (conformal_.known()) {
    s.conformal_lower = LogNormalMixture::exponential(s.conformal_lower);
    s.conformal_upper = LogNormalMixture::exponential(s.conformal_upper);
  }
  if (!r.outcomes.empty()) score(y, r, row, s);
}

template <class Distribution>
void OutcomePredictor::fill_count(const Distribution& y, double var_aleatoric,
                                  const PredictRequest& r, std::size_t row,
                                  PredictiveSummary& s) const noexcept {
  s.epred_mean = s.mean = y.mean();
  s.var_epistemic = y.var_epistemic();
  s.epred_sd = std::sqrt(s.var_epistemic);
  s.var_aleatoric = var_aleatoric;
  s.sd = std::sqrt(s.var_epistemic + s.var_aleatoric);
  fill_quantiles(y, r, s);
  fill_conformal(y, s);
  if (conformal_.known()) {  // ends are counts
    s.conformal_lower = std::max(0.0, std::ceil(s.conformal_lower));
    s.conformal_upper = std::max(0.0, std::floor(s.conformal_upper));
  }
  if (!r.outcomes.empty()) {
    s.log_score = y.log_probability(r.outcomes[row]);
    s.pit = y.cdf(r.outcomes[row]);
  }
}

void OutcomePredictor::predict_count(const PredictRequest& r, std::size_t row,
                                     PredictiveSummary& s) const noexcept {
  const PoissonMixture y(s.linpred_mean, s.linpred_sd);
  fill_count(y, y.mean(), r, row, s);
}

void OutcomePredictor::predict_overdispersed(const PredictRequest& r, std::size_t row,
                                             PredictiveSummary& s) const noexcept {
  const NegativeBinomialMixture y(s.linpred_mean, s.linpred_sd, noise_.dispersion);
  fill_count(y, y.var_aleatoric(), r, row, s);
}

void OutcomePredictor::predict_binomial(const PredictRequest& r, std::size_t row,
                                        PredictiveSummary& s) const noexcept {
  const double trials = trials_of(r, row);
  const BinomialMixture y(s.linpred_mean, s.linpred_sd, trials);
  fill_count(y, y.var_aleatoric(), r, row, s);
  if (conformal_.known()) {
    s.conformal_lower = std::min(s.conformal_lower, trials);
    s.conformal_upper = std::min(s.conformal_upper, trials);
  }
}

void OutcomePredictor::predict_zero_inflated(const PredictRequest& r, std::size_t row,
                                             PredictiveSummary& s) const noexcept {
  const ZeroInflatedMixture y(s.linpred_mean, s.linpred_sd, noise_.dispersion);
  fill_count(y, y.var_aleatoric(), r, row, s);
}

void OutcomePredictor::predict_bernoulli(const PredictRequest& r, std::size_t row,
                                         PredictiveSummary& s) const noexcept {
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
  const auto band = [&s](const NormalLevel& level) {
    return sigmoid(s.linpred_mean + s.linpred_sd * level.z);
  };
  s.interval_lower = band(levels_[0]);
  s.interval_upper = band(levels_[1]);
  for (std::size_t i = 0; i < r.quantile_probabilities.size(); ++i) {
    s.quantiles[i] = band(levels_[2 + i]);
  }
  if (!r.outcomes.empty()) {
    const double y = r.outcomes[row];
    const double p = y == 1 ? mean : moments.other;
    s.log_score = p > kUnderflow ? std::log(std::min(p, 1.0))
                                 : log_expected_sigmoid(y == 1 ? m : -m, s.linpred_sd);
    s.brier = (mean - y) * (mean - y);
  }
}

}  // namespace windhover
