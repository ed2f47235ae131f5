#include "windhover/io/http/model_gauges.h"

#include <algorithm>
#include <array>
#include <limits>

namespace windhover {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double from_count(std::uint64_t count) noexcept { return static_cast<double>(count); }
// A value that is known only where a folder is kept, or only where there is a log.
double kept(const ModelMetrics& m, double value) noexcept {
  return m.durable.keeps_folder ? value : kUnknown;
}
double logged(const ModelMetrics& m, double value) noexcept {
  return m.durable.logs ? value : kUnknown;
}

constexpr std::array kModelGauges = {
    ModelGauge{"windhover_head_rows", "Rows accepted so far, over restarts where a folder is kept.",
               [](const ModelMetrics& m) { return from_count(m.head); }},
    ModelGauge{"windhover_answer_rows", "Rows below this number are in the answer.",
               [](const ModelMetrics& m) { return from_count(m.provenance.sequence); }},
    ModelGauge{"windhover_lag_rows", "Rows accepted that are not in the answer yet.",
               [](const ModelMetrics& m) {
                 return from_count(m.head - std::min(m.head, m.provenance.sequence));
               }},
    ModelGauge{
        "windhover_answer_age_seconds", "Time since the newest snapshot was made.",
        [](const ModelMetrics& m) { return static_cast<double>(m.provenance.age_ns) * 1e-9; }},
    ModelGauge{"windhover_effective_rows", "Rows that the posterior is worth.",
               [](const ModelMetrics& m) { return from_count(m.provenance.n_eff); }},
    ModelGauge{"windhover_draws_per_observation",
               "Replay ratio R: minibatch rows a chain drew for each new row; below 1 answers are "
               "degraded.",
               [](const ModelMetrics& m) { return m.provenance.draws_per_observation; }},
    ModelGauge{"windhover_r_hat", "Between and within chains, the largest over the parameters.",
               [](const ModelMetrics& m) { return m.provenance.r_hat; }},
    ModelGauge{"windhover_effective_draws", "Effective draws, the smallest over the parameters.",
               [](const ModelMetrics& m) { return m.provenance.ess_bulk; }},
    ModelGauge{"windhover_effective_draws_tail",
               "Effective draws of the outer 5 % on either side, the smallest over the parameters.",
               [](const ModelMetrics& m) { return m.provenance.ess_tail; }},
    ModelGauge{"windhover_autocorrelation_steps", "Autocorrelation time of one chain, in steps.",
               [](const ModelMetrics& m) { return m.provenance.autocorrelation_time; }},
    ModelGauge{"windhover_ou_ratio", "Observed over predicted variance, the worst direction.",
               [](const ModelMetrics& m) { return m.provenance.ou_ratio; }},
    ModelGauge{"windhover_law_ratio",
               "Variance of the sampler's own law over the posterior's, the worst direction.",
               [](const ModelMetrics& m) { return m.provenance.law_ratio; }},
    ModelGauge{"windhover_drift_score",
               "Newest tenth of the window against the rest, in standard deviations.",
               [](const ModelMetrics& m) { return m.provenance.drift_score; }},
    ModelGauge{"windhover_drift_onset_timestamp_seconds",
               "When the rows came from which on the newest ones differ, since 1970.",
               [](const ModelMetrics& m) {
                 const std::int64_t ns = m.provenance.drift_onset_time_ns;
                 return ns == 0 ? kUnknown : static_cast<double>(ns) * 1e-9;
               }},
    ModelGauge{"windhover_events", "What has happened to the model: /v1/events lists the newest.",
               [](const ModelMetrics& m) { return from_count(m.events); }, MetricType::kCounter},
    ModelGauge{"windhover_score_autocorrelation",
               "Long-run variance of the scores over that of independent rows.",
               [](const ModelMetrics& m) { return m.provenance.score_autocorrelation; }},
    ModelGauge{"windhover_misspecification_index", "1 where the model holds.",
               [](const ModelMetrics& m) { return m.provenance.misspecification_index; }},
    ModelGauge{"windhover_prior_conflict",
               "Distance of the rows from the prior over the most that chance makes of it.",
               [](const ModelMetrics& m) { return m.provenance.prior_conflict; }},
    ModelGauge{"windhover_repeated_rows_ratio", "Share of rows that repeat another one exactly.",
               [](const ModelMetrics& m) { return m.provenance.repeated_rows; }},
    ModelGauge{"windhover_noise_variance", "Of y given x, given or learned; 0: the model has none.",
               [](const ModelMetrics& m) { return m.provenance.noise_variance; }},
    ModelGauge{"windhover_noise_variance_sd", "Posterior sd of a learned noise variance, or 0.",
               [](const ModelMetrics& m) { return m.provenance.noise_variance_sd; }},
    ModelGauge{"windhover_recovering", "1 while rows from before a restart are not in the answer.",
               [](const ModelMetrics& m) { return m.provenance.recovery_target > 0 ? 1.0 : 0.0; }},
    ModelGauge{"windhover_recovery_target_rows",
               "What windhover_answer_rows has to come to after a restart; 0: it has.",
               [](const ModelMetrics& m) { return from_count(m.provenance.recovery_target); }},
    ModelGauge{"windhover_producers", "Producers that the server can tell apart.",
               [](const ModelMetrics& m) { return from_count(m.producers); }},
    ModelGauge{"windhover_pending_keys", "Keys of rows asked about whose outcome is waited for.",
               [](const ModelMetrics& m) { return from_count(m.pending_keys); }},
    ModelGauge{"windhover_durable_rows", "Rows below this number are on disk.",
               [](const ModelMetrics& m) { return logged(m, from_count(m.durable.durable_rows)); }},
    ModelGauge{
        "windhover_log_used_bytes", "Of the log, not to be written over yet.",
        [](const ModelMetrics& m) { return logged(m, from_count(m.durable.log_used_bytes)); }},
    ModelGauge{
        "windhover_log_capacity_bytes", "Size of the log.",
        [](const ModelMetrics& m) { return logged(m, from_count(m.durable.log_capacity_bytes)); }},
    ModelGauge{"windhover_log_commits", "Commits since the start.",
               [](const ModelMetrics& m) { return logged(m, from_count(m.durable.commits)); },
               MetricType::kCounter},
    ModelGauge{"windhover_log_commit_age_seconds",
               "Time since the newest commit of this start, which is as long as none was needed.",
               [](const ModelMetrics& m) { return logged(m, m.durable.commit_age_seconds); }},
    ModelGauge{"windhover_log_failures", "Commits that failed and were tried again.",
               [](const ModelMetrics& m) { return logged(m, from_count(m.durable.log_failures)); },
               MetricType::kCounter},
    ModelGauge{
        "windhover_log_seal_failures",
        "Times that the log's end could not be marked, so that damage to it at rest may not show.",
        [](const ModelMetrics& m) { return logged(m, from_count(m.durable.log_seal_failures)); },
        MetricType::kCounter},
    ModelGauge{"windhover_log_ok",
               "1 unless the last commit failed, or there is no room; senders wait then.",
               [](const ModelMetrics& m) { return logged(m, m.durable.log_ok ? 1.0 : 0.0); }},
    ModelGauge{"windhover_log_full",
               "1 while there is no room in the log until a checkpoint lets old rows go.",
               [](const ModelMetrics& m) { return logged(m, m.durable.log_full ? 1.0 : 0.0); }},
    ModelGauge{"windhover_checkpoint_age_seconds",
               "Time since the newest checkpoint of this start was taken.",
               [](const ModelMetrics& m) { return kept(m, m.durable.checkpoint_age_seconds); }},
    ModelGauge{
        "windhover_checkpoint_rows", "Rows in the newest checkpoint.",
        [](const ModelMetrics& m) { return kept(m, from_count(m.durable.checkpoint_rows)); }},
    ModelGauge{"windhover_checkpoint_duration_seconds", "How long the newest checkpoint took.",
               [](const ModelMetrics& m) { return kept(m, m.durable.checkpoint_lasted_seconds); }},
    ModelGauge{
        "windhover_checkpoints", "Checkpoints taken since the start.",
        [](const ModelMetrics& m) { return kept(m, from_count(m.durable.checkpoints_taken)); },
        MetricType::kCounter},
    ModelGauge{
        "windhover_checkpoint_failures", "Checkpoints that failed since the start.",
        [](const ModelMetrics& m) { return kept(m, from_count(m.durable.checkpoint_failures)); },
        MetricType::kCounter},
    ModelGauge{"windhover_checkpoint_ok", "1 unless the last checkpoint tried has failed.",
               [](const ModelMetrics& m) { return kept(m, m.durable.checkpoint_ok ? 1.0 : 0.0); }},
};

constexpr std::array kScoreGauges = {
    ScoreGauge{
        "windhover_prediction_scored_rows",
        "Rows that the means below are worth; each was predicted before it was learned from.",
        [](const ScoreMeans& s) { return from_count(s.rows); }},
    ScoreGauge{"windhover_prediction_log_score", "Mean log p(y | x) of the predictions, in nats.",
               [](const ScoreMeans& s) { return s.rows == 0 ? kUnknown : s.log_score; }},
    ScoreGauge{"windhover_prediction_reference_log_score",
               "The same of who knows the base rate, or mean and spread of y, and no x.",
               [](const ScoreMeans& s) { return s.rows == 0 ? kUnknown : s.reference; }},
    ScoreGauge{"windhover_prediction_conformal_size",
               "Of 90 % conformal intervals the width over the model's own; of sets, the classes.",
               [](const ScoreMeans& s) { return s.rows == 0 ? kUnknown : s.conformal_size; }},
};

}  // namespace

std::span<const ModelGauge> model_gauges() noexcept { return kModelGauges; }
std::span<const ScoreGauge> score_gauges() noexcept { return kScoreGauges; }

}  // namespace windhover
