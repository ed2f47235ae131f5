// Where an answer comes from, and whether to believe it.
#ifndef WINDHOVER_RUNTIME_POSTERIOR_PROVENANCE_H_
#define WINDHOVER_RUNTIME_POSTERIOR_PROVENANCE_H_

#include <cstdint>
#include <limits>

#include "windhover/runtime/config.h"

namespace windhover {

// Whether to believe an answer. Where several apply the first of these is given: recovering,
// warming up, drifting, degraded, ok. (A given step too long for any law is degraded from the
// start.) A network is never ok: nothing checks the spread of its draws.
enum class PosteriorStatus : std::uint8_t {
  kWarmingUp = 0,
  kOk = 1,
  kDegraded = 2,
  kDrifting = 3,
  kRecovering = 4  // rows that were there before a restart are still on their way into the answer
};
const char* to_string(PosteriorStatus status) noexcept;

// Why an answer's status is not ok: the first reason that applies, in the order of the table in
// runtime/README.md.
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
  kReplayRatio = 8,    // draws_per_observation below 1, or rows came faster than was followed
  kPrior = 10,         // prior_conflict: the prior expects other rows than these
  kReplay = 13,        // recovering: sequence is below recovery_target
  kMisfit = 12,        // misspecification_index: the rows scatter unlike the model; read sd_robust
  kPredictive = 14     // the predictions are not borne out (scoring/calibration_check.h)
};
const char* to_string(StatusReason reason) noexcept;
const char* to_string(Horizon horizon) noexcept;

// Where an answer comes from; it stands on every answer. Numbers marked * need the full C: with
// NoiseStructure::kDiagonal they are NaN, and the status is not ok (kLawUnknown), as nothing tells
// whether the sampler draws from the posterior.
struct Provenance {
  std::uint64_t snapshot_id = 0;  // 1, 2, ... within the life of an engine
  std::uint64_t sequence = 0;     // observations below it are in the answer, or were set aside
  // Observations that the learner had taken in when the snapshot was made. While chains move, some
  // of those accepted may wait, at most a quarter of the window.
  std::uint64_t n_seen = 0;
  // Equal observations that the posterior is worth: min(n_seen, N) with a window, or fewer while
  // rows are joining it, or where a shorter memory has been chosen.
  std::uint64_t n_eff = 0;
  std::uint64_t steps = 0;  // sampler steps of all chains together
  std::int64_t age_ns = 0;  // since the snapshot was made
  // The spread of linear predictors is that of sd_robust, as rows depend on one another
  // (DependentSpread).
  bool robust_spread = false;
  std::uint32_t draws = 0;             // retained draws behind quantiles and probabilities
  Horizon horizon = Horizon::kWindow;  // which observations n_eff counts
  PosteriorStatus status = PosteriorStatus::kWarmingUp;
  StatusReason reason = StatusReason::kFewDraws;
  // What `sequence` has to reach after a restart (EngineProgress::set_recovery_target); 0: it has.
  // As of the moment of the answer, not of the snapshot.
  std::uint64_t recovery_target = 0;
  double ess_bulk = 0;  // smallest over the parameters, of the chains so far
  double ess_tail = 0;  // the same for the outer 5 % on either side
  // Largest over the parameters; NaN without a window and with Structure::kDiagonal.
  double r_hat = 0;
  // What r_hat stays below in 99 answers of a hundred where all chains agree
  // (runtime/diagnostics/r_hat_chance.h); infinity: so few draws that r_hat says nothing. 0: the
  // chains have not been compared yet. NaN where r_hat is.
  double r_hat_chance = 0;
  double autocorrelation_time = 0;   // largest, in steps of one chain; NaN where r_hat is
  std::uint64_t divergences = 0;     // chains that were lost and started again
  double draws_per_observation = 0;  // R reached, per chain
  // Observed over predicted variance of the draws, in the worst direction. NaN for networks. *
  double ou_ratio = 0;
  // Variance of the sampler's own law over the posterior's, in the worst direction: 1 for a
  // calibrated sampler; infinity where it has no law, because its steps are too long; NaN where it
  // is not known. Above 32 parameters it is a bound over all directions, or what is certain in one.
  // *
  double law_ratio = std::numeric_limits<double>::quiet_NaN();
  // Tr(A^-1 C) / D: 1 when the model holds; above 4 or below 1/4, beyond chance, `status` is not ok
  // (runtime/diagnostics/misfit.h). NaN for networks and with Structure::kDiagonal. *
  double misspecification_index = 0;
  // How far the rows' own mode lies from what the prior expects, over what chance exceeds in one of
  // 100,000 cases: above 1 `status` is not ok (runtime/diagnostics/prior_conflict.h). 0 for
  // networks, NaN with Structure::kDiagonal.
  double prior_conflict = 0;
  // How far rows depend on one another in the order of the stream: the long-run variance of the
  // scores over that of independent rows, by its lower confidence bound, for the worst parameter. 1
  // when nothing is certain; above 1.2 `sd` is too small and `status` is not ok. NaN until a pass
  // over 384 rows or more, and always for networks, without a window and with Structure::kDiagonal.
  double score_autocorrelation = std::numeric_limits<double>::quiet_NaN();
  // How far the newest tenth of the window is from the rest, in standard deviations, for the worst
  // parameter. `status` is drifting above what chance exceeds in one pass of 100,000: 4.4 for one
  // parameter, 4.9 for ten, 5.3 for a hundred. NaN where score_autocorrelation is.
  double drift_score = std::numeric_limits<double>::quiet_NaN();
  // The row of the stream, counted from 0, at which the newest ones begin to differ: where the
  // parameter that moved most moved, as far as a pass over the window can tell. It stays for as
  // long as the window's rows before and after it differ beyond chance, whatever `status` says. 0:
  // not known.
  std::uint64_t drift_onset = 0;
  // When that row was taken in, since 1970 by the engine's clock, to 1/128 of the rows in memory
  // (window/row_times.h). 0: not known.
  std::int64_t drift_onset_time_ns = 0;
  // Share of the window's rows that repeat another one exactly. Above a few per cent the posterior
  // is too narrow, unless few different rows are possible. NaN until a pass is done, without a
  // window and with Structure::kDiagonal.
  double repeated_rows = std::numeric_limits<double>::quiet_NaN();
  // Share of the outcomes lately within their 90 % intervals, each predicted before it was learned
  // from (about the last 1,000 rows scored); for several classes, within sets. NaN: none is scored.
  double coverage_90 = std::numeric_limits<double>::quiet_NaN();
  // The same for conformal intervals, and for conformal sets of classes. NaN: none is scored.
  double conformal_coverage_90 = std::numeric_limits<double>::quiet_NaN();
  // The noise of the rows that the posterior stands on. linear: its variance; student-t: the
  // squared scale; log-normal: the variance of log y; negative-binomial: the overdispersion alpha
  // (y has the variance mu + alpha mu^2); zero-inflated-poisson: the probability pi of a structural
  // zero; otherwise 0. With an adaptive horizon, a full structure and a learned variance answers
  // mix what several memories have learned instead (PredictiveSummary::var_aleatoric).
  double noise_variance = 0;
  double noise_variance_sd = 0;  // its posterior sd when learned; otherwise 0
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_POSTERIOR_PROVENANCE_H_
