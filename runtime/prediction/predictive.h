// Questions to a posterior and the answers: posterior predictive summaries.
#ifndef WINDHOVER_RUNTIME_PREDICTION_PREDICTIVE_H_
#define WINDHOVER_RUNTIME_PREDICTION_PREDICTIVE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "windhover/platform/status.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/posterior/provenance.h"

namespace windhover {

inline constexpr std::size_t kMaxQuantiles = 16;
inline constexpr std::size_t kMaxThresholds = 8;

// What became of the key of a row that was asked about (runtime/labels/pending_labels.h).
enum class PendingKey : std::uint8_t {
  kNone = 0,       // the row has none
  kKept = 1,       // the row is kept until its outcome comes
  kReplaced = 2,   // the same, in place of an earlier question with this key
  kTableFull = 3,  // no place is free: the row is not kept
};
const char* to_string(PendingKey key) noexcept;

// One request: several x on common draws. Dense rows have `features` alone; sparse rows also
// `indices` and `row_ends`, as in ObservationBatch. What spans point to must last for the call.
struct PredictRequest {
  std::size_t rows = 0;
  std::span<const double> features;
  std::span<const std::uint32_t> indices;
  std::span<const std::uint32_t> row_ends;
  std::span<const double> quantile_probabilities;  // each in (0, 1); at most kMaxQuantiles
  std::span<const double> thresholds;  // not classes: P(y > t) for each; at most kMaxThresholds
  std::span<const double> outcomes;    // one a row, to score the answers by; empty: no scores
  std::span<const double> offsets;     // one a row, of a model that has them; empty: all 0
  std::span<const double> trials;      // one a row, of a binomial model; empty: all 1
  // One a row, of at most kMaxKeyBytes: the row is kept until its outcome comes (LateLabels),
  // unless its key is empty. Without keys no row is kept. kKeyNotTaken if EngineConfig::labels
  // keeps none; with keys kNotFinite for a feature that no observation may have (above
  // kLargestNumber).
  std::span<const std::string_view> keys;
  double interval_probability = 0.9;  // of the equal-tailed interval, in (0, 1)
  // False where only scores are wanted: what costs most, interval and CRPS, may then be 0.
  bool intervals = true;
  // True: as wide as the posterior alone says, also where rows depend on one another (robust_spread
  // of Provenance is then false), as for the sd of what a client works out of several answers.
  // There are no conformal intervals then, and no effect on rows with keys, whose answers are
  // scored.
  bool posterior_spread = false;
  std::uint64_t thompson_id = 0;  // not 0: a Thompson draw, the same for the same id
};
// Whether the question wants predictions that are not as wide as they are served.
inline bool wants_posterior_spread(const PredictRequest& request) noexcept {
  return request.posterior_spread && request.keys.empty();
}
// Whether linear predictors are wider than the posterior.
inline bool is_wider(const Provenance& provenance, const PredictRequest& request) noexcept {
  return provenance.robust_spread && !wants_posterior_spread(request);
}
inline double trials_of(const PredictRequest& request, std::size_t row) noexcept {
  return request.trials.empty() ? 1.0 : request.trials[row];
}

// The answer for one x. linpred: the linear predictor; epred: E[y | x, theta], the expected value
// (for two classes the probability of class 1). Regression includes counts, whose quantiles are
// counts. Fields that do not apply are 0, unless said otherwise.
struct PredictiveSummary {
  static_assert(kMaxClasses <= 64, "conformal_set has a bit a class");
  // The linear predictor, with the row's offset: log-odds of classes and binomial rows; a logarithm
  // for other counts and log-normal rows.
  double linpred_mean = 0;
  double linpred_sd = 0;
  double epred_mean = 0;
  double epred_sd = 0;  // epistemic: uncertainty about theta alone
  double mean = 0;      // of y
  double sd = 0;        // of y: sqrt(var_epistemic + var_aleatoric)
  double var_epistemic = 0;
  double var_aleatoric = 0;
  double interval_lower = 0;  // equal-tailed: of y (regression), of the probability (classes)
  double interval_upper = 0;
  std::array<double, kMaxQuantiles> quantiles{};    // likewise
  std::array<double, kMaxThresholds> exceedance{};  // regression: P(y > t)
  double entropy = 0;                               // classification, in nats: total
  double expected_entropy = 0;                      // aleatoric
  double mutual_information = 0;                    // epistemic
  double log_score = 0;                             // log p(outcome | x), when outcomes are given
  double pit = 0;                                   // regression: P(y <= outcome)
  double crps = 0;             // regression, not counts: continuous ranked probability score
  double brier = 0;            // classification: (p - outcome)^2
  double prob_best = 0;        // share of draws in which this x has the largest epred
  double expected_regret = 0;  // E[max over the request's x of epred, less this x's]
  double thompson = 0;         // epred under one fresh draw of theta
  // The interval, or set, that holds `interval_probability` of the outcomes whatever the model,
  // learned from those that came (runtime/scoring/conformal.h). NaN, and an empty set, where
  // predictions are not scored.
  double conformal_lower = std::numeric_limits<double>::quiet_NaN();  // regression: of y
  double conformal_upper = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t conformal_set = 0;  // classification: bit c is set where class c belongs to it
  // 1 less the probability that the model gives that interval or set; for a number it is 1 -
  // interval_probability where the model is right.
  double conformal_alpha = std::numeric_limits<double>::quiet_NaN();
  PendingKey pending = PendingKey::kNone;  // what became of the row's key
  // Several classes: the mean, sd and equal-tailed interval of each class's probability. Of the
  // fields above only entropies, log_score, brier (the sum over classes), conformal_set,
  // conformal_alpha and pending mean anything then.
  std::uint32_t classes = 0;
  std::array<double, kMaxClasses> probs{};  // not defined beyond `classes`
  std::array<double, kMaxClasses> probs_sd{};
  std::array<double, kMaxClasses> probs_eti_lower{};
  std::array<double, kMaxClasses> probs_eti_upper{};
};

// One parameter, for features and y in units of the rows; an intercept is the linear predictor at x
// = 0. Chains move the parameters of standardised features: ess_bulk, ess_tail, r_hat and
// autocorrelation_time of an intercept are those of the linear predictor where the features are at
// their shift. With NoiseStructure::kDiagonal what is marked * is NaN.
struct ParameterSummary {
  double mean = 0;
  double mode = 0;  // NaN, like sd_robust, for networks, which have several
  double sd = 0;    // of the posterior; networks: of the retained draws
  // Of the sandwich: right also where the model does not hold, or rows depend on one another. *
  double sd_robust = 0;
  double q5 = 0;
  double q50 = 0;
  double q95 = 0;
  double ess_bulk = 0;   // effective draws: for the mean and sd
  double r_hat = 0;      // between and within chains: 1 when they agree
  double ess_tail = 0;   // effective draws: for the 5 % and 95 % quantiles
  double mcse_mean = 0;  // Monte Carlo standard error of the chains' mean, which `mean` is not
  double autocorrelation_time = 0;  // of one chain, in steps; NaN without a window
  double prior_precision = 0;       // given or learned; 1 / variance in the same units
  // The drift of this parameter: how much larger the newest tenth of the window would have it, in
  // standard deviations of that difference; of an intercept where features are at their shift.
  // Provenance::drift_score is the largest without the sign. NaN where that is.
  double drift_score = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_PREDICTIVE_H_
