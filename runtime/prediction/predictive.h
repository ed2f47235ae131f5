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

namespace windhover {

inline constexpr std::size_t kMaxQuantiles = 16;
inline constexpr std::size_t kMaxThresholds = 8;

// Whether to believe an answer. Where several apply the first of these is given: recovering,
// warming up, drifting, degraded, ok. A network is never ok: nothing checks the spread of its
// draws.
enum class PosteriorStatus : std::uint8_t {
  kWarmingUp = 0,
  kOk = 1,
  kDegraded = 2,
  kDrifting = 3,
  kRecovering = 4  // rows that were there before a restart are still on their way into the answer
};
const char* to_string(PosteriorStatus status) noexcept;

// Why an answer's status is not ok: the first of these that applies.
enum class StatusReason : std::uint8_t {
  kNone = 0,
  kFewDraws = 1,       // warming up: too few rows, or too few independent draws of each chain
  kDrift = 2,          // drift_score: the newest tenth of the window is unlike the rest
  kDependentRows = 3,  // score_autocorrelation: sd is too small, sd_robust is not
  kNotDefinite = 9,    // numbers too large to compute with: the answer is that of before them
  kLostChains = 5,     // divergences: until passes without one have made the steps whole again
  kNetwork = 4,        // several modes: nothing checks the spread of the draws
  kSamplersLaw = 6,    // law_ratio: the sampler does not target the posterior, or is too coarse
  kLawUnknown = 11,    // law_ratio NaN: nothing tells whether it does
  kSpread = 7,         // ou_ratio: the draws do not spread as the sampler's law says
  kReplayRatio = 8,    // draws_per_observation below 1
  kPrior = 10,         // prior_conflict: the prior expects other rows than these
  kReplay = 13,        // recovering: sequence is below recovery_target
  kMisfit = 12,        // misspecification_index: the rows scatter unlike the model; read sd_robust
  kPredictive = 14     // the predictions are not borne out (scoring/calibration_check.h)
};
const char* to_string(StatusReason reason) noexcept;
const char* to_string(Horizon horizon) noexcept;

// Where an answer comes from; it stands on every answer.
// * NaN with NoiseStructure::kDiagonal: it takes the full C. The status is not ok then
// (kLawUnknown), as nothing tells whether the sampler draws from the posterior.
struct Provenance {
  std::uint64_t snapshot_id = 0;  // 1, 2, ... within the life of an engine
  std::uint64_t sequence = 0;     // all observations below it are in the answer
  // Observations taken in when the snapshot was made. A few of those accepted may wait, at most a
  // quarter of the window, while chains move.
  std::uint64_t n_seen = 0;
  // Observations that the posterior is worth: min(n_seen, N), fewer while rows are joining it.
  std::uint64_t n_eff = 0;
  std::uint64_t steps = 0;             // sampler steps of all chains together
  std::int64_t age_ns = 0;             // since the snapshot was made
  std::uint32_t draws = 0;             // retained draws behind quantiles and probabilities
  Horizon horizon = Horizon::kWindow;  // which observations n_eff counts
  PosteriorStatus status = PosteriorStatus::kWarmingUp;
  StatusReason reason = StatusReason::kFewDraws;
  // What `sequence` has to reach after a restart (EngineProgress::set_recovery_target); 0: it has.
  // This is as of the moment of the answer, not of the snapshot.
  std::uint64_t recovery_target = 0;
  double ess_bulk = 0;  // smallest over the parameters, of the chains so far
  double ess_tail = 0;  // the same for the outer 5 % on either side
  double r_hat = 0;     // largest over the parameters; NaN without a window
  // The most that chance makes of r_hat, but in one answer of a hundred, where all chains agree
  // (runtime/diagnostics/r_hat_chance.h); infinity: so few draws that r_hat says nothing. 0: the
  // chains have not been compared yet, or nobody says; NaN without a window.
  double r_hat_chance = 0;
  double autocorrelation_time = 0;   // likewise, in steps of one chain; NaN without a window
  std::uint64_t divergences = 0;     // chains that were lost and started again
  double draws_per_observation = 0;  // R reached, per chain
  double ou_ratio = 0;               // observed over predicted variance, the worst direction *
  // Variance of the sampler's own law over the posterior's, the worst direction: 1 for a calibrated
  // one; infinity where the sampler has no law, because its steps are too long; NaN where it is not
  // known. Above 32 parameters it is a bound over all directions, or what is certain in one. *
  double law_ratio = std::numeric_limits<double>::quiet_NaN();
  // Tr(A^-1 C) / D: 1 when the model holds; beyond 4 and 1/4, and what chance adds, `status` is not
  // ok (runtime/diagnostics/misfit.h). Networks: NaN. *
  double misspecification_index = 0;
  // How far the rows' own mode lies from what the prior expects, over the most that chance makes of
  // it in one of 100,000 cases: above 1 `status` is not ok (runtime/diagnostics/prior_conflict.h).
  // 0: networks.
  double prior_conflict = 0;
  // How far rows depend on one another in the order of the stream: the long-run variance of the
  // scores over that of independent rows, by its lower confidence bound, for the worst parameter. 1
  // when nothing is certain; above 1.2 `sd` is too small and `status` is not ok. NaN until a pass
  // over 384 rows or more; for networks and without a window: NaN.
  double score_autocorrelation = std::numeric_limits<double>::quiet_NaN();
  // How far the newest tenth of the window is from the rest, in standard deviations, the worst
  // parameter. `status` is drifting above what chance gives one pass in 100,000: 4.4 for one
  // parameter, 4.9 for ten, 5.3 for a hundred.
  double drift_score = std::numeric_limits<double>::quiet_NaN();
  // The row of the stream, counted from 0, from which on the newest ones differ: where the
  // parameter that had moved most when the stream was drifting did so, as far as a pass over the
  // window can tell. It stays for as long as the window's rows before and after it differ beyond
  // chance, whatever `status` says meanwhile. 0: not known.
  std::uint64_t drift_onset = 0;
  // When that row was taken in, since 1970, by the engine's clock, to 1/128 of the rows in memory
  // (window/row_times.h). 0: not known.
  std::int64_t drift_onset_time_ns = 0;
  // Share of the window's rows that repeat another one exactly: above a few percent the posterior
  // is too narrow, unless only so few different rows are possible. NaN until a pass is done and
  // without a window.
  double repeated_rows = std::numeric_limits<double>::quiet_NaN();
  // Share of the outcomes lately within their 90 % intervals, each predicted before it was learned
  // from (about the last 1,000 rows scored); for several classes, within sets. NaN: nobody scores.
  double coverage_90 = std::numeric_limits<double>::quiet_NaN();
  // The same for conformal intervals, and for conformal sets of classes. NaN: nobody scores.
  double conformal_coverage_90 = std::numeric_limits<double>::quiet_NaN();
  // The noise of the rows that the posterior stands on. Linear, student-t (squared scale): of y;
  // log-normal: of log y. With an adaptive horizon answers mix what several memories have learned
  // instead, where it is learned and the structure is full (PredictiveSummary::var_aleatoric);
  // negative-binomial: its overdispersion alpha (y has the variance mu + alpha mu^2);
  // zero-inflated-poisson: the probability pi of a structural zero; otherwise 0.
  double noise_variance = 0;
  double noise_variance_sd = 0;  // its posterior sd when learned; otherwise 0
};

// What became of the key of a row that was asked about (runtime/labels/pending_labels.h).
enum class PendingKey : std::uint8_t {
  kNone = 0,       // it has none
  kKept = 1,       // its outcome is waited for
  kReplaced = 2,   // the same, and it replaces an earlier question with the same key
  kTableFull = 3,  // no place is free: it is not kept
};
const char* to_string(PendingKey key) noexcept;

// One request: several x on common draws. Dense rows only carry `features`; sparse rows also
// `indices` and `row_ends` as in ObservationBatch. Borrowed for the call.
struct PredictRequest {
  std::size_t rows = 0;
  std::span<const double> features;
  std::span<const std::uint32_t> indices;
  std::span<const std::uint32_t> row_ends;
  std::span<const double> quantile_probabilities;  // each in (0, 1); at most kMaxQuantiles
  std::span<const double> thresholds;  // not classes: P(y > t) for each; at most kMaxThresholds
  std::span<const double> outcomes;    // one a row: scored; empty: not
  std::span<const double> offsets;     // one a row, of a model that has them; empty: all 0
  std::span<const double> trials;      // one a row, of a binomial model; empty: all 1
  // One a row, of at most kMaxKeyBytes: the row is kept until its outcome comes (LateLabels),
  // unless its key is empty. Without keys no row is kept. kKeyNotTaken without
  // EngineConfig::labels; kNotFinite where a feature is one that no row may have (kLargestNumber).
  std::span<const std::string_view> keys;
  double interval_probability = 0.9;  // the equal-tailed interval's, in (0, 1)
  // False where only scores are wanted: what costs most, interval and CRPS, may be left out, as 0.
  bool intervals = true;
  std::uint64_t thompson_id = 0;  // not 0: a fresh Thompson draw, the same for the same id
};
inline double trials_of(const PredictRequest& request, std::size_t row) noexcept {
  return request.trials.empty() ? 1.0 : request.trials[row];
}

// The answer for one x. linpred: the linear predictor; epred: E[y | x, theta], the expected value
// (for classification the probability of class 1). Where it says regression, counts are meant too;
// their quantiles are counts. Unused fields are 0.
struct PredictiveSummary {
  static_assert(kMaxClasses <= 64, "conformal_set has a bit a class");
  // The linear predictor, with the row's offset: classification, binomial: the log-odds; other
  // counts, log-normal: a logarithm.
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
  // learned from those that came (runtime/scoring/conformal.h). NaN, and no class: nobody scores
  // predictions.
  double conformal_lower = std::numeric_limits<double>::quiet_NaN();  // regression: of y
  double conformal_upper = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t conformal_set = 0;  // classification: bit c is set where class c belongs to it
  // 1 less the probability that the model itself gives that interval or set: for a number it is 1 -
  // interval_probability where the model is right.
  double conformal_alpha = std::numeric_limits<double>::quiet_NaN();
  PendingKey pending = PendingKey::kNone;  // what became of its key
  // Softmax: the mean, sd and equal-tailed interval of each class's probability. Only the
  // entropies, log_score and brier (the sum over classes) of the fields above mean anything then.
  std::uint32_t classes = 0;
  std::array<double, kMaxClasses> probs{};  // beyond `classes` they mean nothing
  std::array<double, kMaxClasses> probs_sd{};
  std::array<double, kMaxClasses> probs_eti_lower{};
  std::array<double, kMaxClasses> probs_eti_upper{};
};

// A parameter multiplies features as they come and is in units of y; an intercept is the linear
// predictor at x = 0. Chains move the parameters of standardised features: ess_bulk, ess_tail,
// r_hat and autocorrelation_time of an intercept are those of the linear predictor where the
// features are at their shift. With NoiseStructure::kDiagonal what is marked * is NaN.
struct ParameterSummary {
  double mean = 0;
  double mode = 0;  // NaN, like sd_robust, where there may be several: networks
  double sd = 0;    // of the posterior; networks: of the retained draws
  double sd_robust =
      0;  // of the sandwich: holds when the model does not, also for dependent rows (see README) *
  double q5 = 0;
  double q50 = 0;
  double q95 = 0;
  double ess_bulk = 0;   // effective draws: for the mean and sd
  double r_hat = 0;      // between and within chains: 1 when they agree
  double ess_tail = 0;   // effective draws: for the 5 % and 95 % quantiles
  double mcse_mean = 0;  // Monte Carlo standard error of the chains' mean; `mean` is not theirs
  double autocorrelation_time = 0;  // of one chain, in steps; NaN without a window
  double prior_precision = 0;       // given or learned; 1 / variance in the same units
  // The drift of this parameter: how much larger the newest tenth of the window would have it, in
  // standard deviations of that difference. Provenance::drift_score is the largest but for the
  // sign. NaN where that is. An intercept is the one where features are at their shift.
  double drift_score = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_PREDICTIVE_H_
