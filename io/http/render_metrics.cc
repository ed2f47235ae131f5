#include "windhover/io/http/render_metrics.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <string>

#include "windhover/io/http/counter_families.h"
#include "windhover/io/tls/tls_memory.h"

namespace windhover {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// One number a model.
struct ModelGauge {
  const char* name;
  const char* help;
  double (*value)(const ModelMetrics& model);
  MetricType type = MetricType::kGauge;
};

double from_count(std::uint64_t count) noexcept { return static_cast<double>(count); }
// Where a folder is kept, and where there is a log in it.
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
    ModelGauge{"windhover_log_failures", "Commits that failed and were tried again.",
               [](const ModelMetrics& m) { return logged(m, from_count(m.durable.log_failures)); },
               MetricType::kCounter},
    ModelGauge{"windhover_log_ok", "1 unless the last commit failed or waits for room.",
               [](const ModelMetrics& m) { return logged(m, m.durable.log_ok ? 1.0 : 0.0); }},
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

// A label's value: words joined by underscores.
std::string word_of(const char* text) {
  std::string word(text);
  std::ranges::replace(word, ' ', '_');
  std::ranges::replace(word, '-', '_');
  return word;
}

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(number));
  return digits.data();
}

constexpr std::array kStates = {PosteriorStatus::kWarmingUp, PosteriorStatus::kOk,
                                PosteriorStatus::kDegraded, PosteriorStatus::kDrifting,
                                PosteriorStatus::kRecovering};
constexpr std::uint8_t kReasons = 15;  // StatusReason is 0 to 14

template <class Enum>
void add_counters(MetricsText& text, std::span<const CounterFamily<Enum>> families,
                  const auto& add_sample) {
  std::string name;
  for (const CounterFamily<Enum>& family : families) {
    if (*family.help != '\0') {
      name = std::string("windhover_") + family.name;
      text.family(MetricType::kCounter, name, family.help);
    }
    add_sample(family, MetricLabel{family.label, family.value});
  }
}

std::string memory_name(std::uint64_t memory) {
  return memory == 0 ? "all" : std::to_string(memory);
}

struct ScoreGauge {
  const char* name;
  const char* help;
  double (*value)(const ScoreMeans& means);
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

void add_scores(MetricsText& text, const std::vector<ModelMetrics>& models) {
  const auto for_each = [&](auto&& visit) {
    for (const ModelMetrics& model : models) {
      if (!model.scored) continue;
      for (const ScoreMeans& means : model.scores.means) visit(model, means);
    }
  };
  for (const ScoreGauge& gauge : kScoreGauges) {
    text.family(MetricType::kGauge, gauge.name, gauge.help);
    for_each([&](const ModelMetrics& model, const ScoreMeans& means) {
      text.sample({{"model", model.name}, {"memory", memory_name(means.memory)}},
                  gauge.value(means));
    });
  }
  using Coverage = std::array<double, kScoredIntervals.size()> ScoreMeans::*;
  const auto add_coverage = [&](const char* name, const char* help, Coverage coverage) {
    text.family(MetricType::kGauge, name, help);
    for_each([&](const ModelMetrics& model, const ScoreMeans& means) {
      constexpr std::array kNames = {"0.5", "0.8", "0.9", "0.95"};
      static_assert(kNames.size() == kScoredIntervals.size());
      for (std::size_t i = 0; i < kNames.size(); ++i) {
        text.sample(
            {{"model", model.name}, {"memory", memory_name(means.memory)}, {"interval", kNames[i]}},
            (means.*coverage)[i]);
      }
    });
  };
  add_coverage("windhover_prediction_coverage_ratio",
               "Share of the outcomes within the central interval of that probability.",
               &ScoreMeans::coverage);
  add_coverage("windhover_prediction_conformal_coverage_ratio",
               "The same of conformal intervals, and of conformal sets of classes.",
               &ScoreMeans::conformal_coverage);
}

void add_models(MetricsText& text, const std::vector<ModelMetrics>& models) {
  for (const ModelGauge& gauge : kModelGauges) {
    text.family(gauge.type, gauge.name, gauge.help);
    for (const ModelMetrics& model : models) {
      text.sample({{"model", model.name}}, gauge.value(model));
    }
  }
  text.family(MetricType::kGauge, "windhover_posterior_state",
              "1 for the state of the answers, 0 for the others.");
  for (const ModelMetrics& model : models) {
    for (const PosteriorStatus state : kStates) {
      text.sample({{"model", model.name}, {"state", word_of(to_string(state))}},
                  std::uint64_t{model.provenance.status == state});
    }
  }
  text.family(MetricType::kGauge, "windhover_posterior_reason",
              "1 for the reason of a state other than ok, 0 for the others.");
  for (const ModelMetrics& model : models) {
    for (std::uint8_t i = 0; i < kReasons; ++i) {
      const auto reason = static_cast<StatusReason>(i);
      text.sample({{"model", model.name}, {"reason", word_of(to_string(reason))}},
                  std::uint64_t{model.provenance.reason == reason});
    }
  }
  add_scores(text, models);
  text.family(MetricType::kInfo, "windhover_model", "What the model is; its history's name.");
  for (const ModelMetrics& model : models) {
    text.sample({{"model", model.name},
                 {"likelihood", model.likelihood},
                 {"horizon", to_string(model.horizon)},
                 {"dimension", std::to_string(model.dimension)},
                 {"fingerprint", hexadecimal(model.fingerprint)},
                 {"instance", hexadecimal(model.instance_id)}},
                std::uint64_t{1});
  }
  add_counters(text, runtime_counter_families(), [&](const auto& family, MetricLabel label) {
    for (const ModelMetrics& model : models) {
      text.sample({{"model", model.name}, label},
                  model.counters[static_cast<std::size_t>(family.counter)]);
    }
  });
}

void add_latency(MetricsText& text, std::string_view endpoint, const LatencyMetrics& latency) {
  const MetricLabels labels = {{"endpoint", endpoint}};
  for (std::size_t i = 0; i < LatencyMetrics::kBounds; ++i) {
    text.bucket(labels, LatencyMetrics::bound_seconds(i), latency.at_most[i]);
  }
  text.sum_and_count(labels, latency.sum_seconds, latency.count);
}

void add_one(MetricsText& text, const char* name, const char* help, double value) {
  text.family(MetricType::kGauge, name, help);
  text.sample({}, value);
}

void add_server(MetricsText& text, const ServerMetrics& m) {
  text.family(MetricType::kInfo, "windhover_build", "The version that runs.");
  text.sample({{"version", m.version}}, std::uint64_t{1});
  add_one(text, "windhover_start_time_seconds", "When the server started, since 1970.",
          m.start_time_seconds);
  add_one(text, "windhover_uptime_seconds", "Time since the server started.", m.uptime_seconds);
  add_one(text, "windhover_block_bytes", "Memory of the blocks of engine and server, fixed.",
          from_count(m.block_bytes));
  add_one(text, "windhover_resident_bytes", "Memory of the process that is in RAM.",
          m.resident_bytes == 0 ? kUnknown : from_count(m.resident_bytes));
  if (const PiecePool* const tls = tls_memory()) {
    add_one(text, "windhover_tls_memory_bytes", "OpenSSL's block, fixed.",
            from_count(tls->capacity()));
    add_one(text, "windhover_tls_memory_used_bytes", "Of it, what is in use now.",
            from_count(tls->in_use()));
    add_one(text, "windhover_tls_memory_touched_bytes", "Of it, what was ever in use.",
            from_count(tls->capacity() - tls->untouched()));
  }
  add_one(text, "windhover_stopping", "1 once the server was asked to stop.",
          m.stopping ? 1.0 : 0.0);
  text.family(MetricType::kGauge, "windhover_sessions", "Connections open now.");
  for (std::size_t i = 0; i < m.sessions.size(); ++i) {
    text.sample({{"endpoint", ServerMetrics::kEndpoints[i]}}, std::uint64_t{m.sessions[i]});
  }
  text.sample({{"endpoint", "http"}}, std::uint64_t{m.http_connections});
  text.family(MetricType::kGauge, "windhover_sessions_limit", "Connections that may be open.");
  for (const std::string_view endpoint : ServerMetrics::kEndpoints) {
    text.sample({{"endpoint", endpoint}}, std::uint64_t{m.session_limit});
  }
  text.sample({{"endpoint", "http"}}, std::uint64_t{m.http_connection_limit});
  text.family(MetricType::kGauge, "windhover_stalled", "1 while a thread stands still.");
  for (std::size_t i = 0; i < m.stalled.size(); ++i) {
    text.sample({{"thread", Watchdog::name(static_cast<Watchdog::Part>(i))}},
                std::uint64_t{m.stalled[i]});
  }
  text.family(MetricType::kHistogram, "windhover_question_duration_seconds",
              "From a question found in the read buffer to its answer in the write buffer.");
  for (std::size_t i = 0; i < m.question_latency.size(); ++i) {
    add_latency(text, ServerMetrics::kEndpoints[i], m.question_latency[i]);
  }
  add_latency(text, "http", m.http_latency);
  add_counters(text, io_counter_families(), [&](const auto& family, MetricLabel label) {
    text.sample({label}, m.io_counters[static_cast<std::size_t>(family.counter)]);
  });
  add_counters(text, http_counter_families(), [&](const auto& family, MetricLabel label) {
    text.sample({label}, m.http_counters[static_cast<std::size_t>(family.counter)]);
  });
}

}  // namespace

std::string render_metrics(const ServerMetrics& metrics, MetricsFormat format) {
  MetricsText text(format);
  add_models(text, metrics.models);
  add_server(text, metrics);
  return text.finish();
}

}  // namespace windhover
