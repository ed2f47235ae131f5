#include "windhover/io/http/render_metrics.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <string>

#include "windhover/io/http/counter_families.h"
#include "windhover/io/http/metrics_protobuf.h"
#include "windhover/io/http/metrics_text.h"
#include "windhover/io/http/model_gauges.h"
#include "windhover/io/tls/tls_memory.h"

namespace windhover {
namespace {

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
void add_counters(MetricsWriter& text, std::span<const CounterFamily<Enum>> families,
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

void add_scores(MetricsWriter& text, const std::vector<ModelMetrics>& models) {
  const auto for_each = [&](auto&& visit) {
    for (const ModelMetrics& model : models) {
      if (!model.scored) continue;
      for (const ScoreMeans& means : model.scores.means) visit(model, means);
    }
  };
  for (const ScoreGauge& gauge : score_gauges()) {
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

void add_events(MetricsWriter& text, const std::vector<ModelMetrics>& models) {
  text.family(MetricType::kGauge, "windhover_event_timestamp_seconds",
              "When the newest event of its kind was, since 1970.");
  for (const ModelMetrics& model : models) {
    for (std::size_t i = 0; i < kEventKinds; ++i) {
      const std::int64_t time_ns = model.newest_event_ns[i];
      if (time_ns == 0) continue;
      text.sample({{"model", model.name}, {"kind", to_string(static_cast<EventKind>(i))}},
                  static_cast<double>(time_ns) * 1e-9);
    }
  }
}

void add_models(MetricsWriter& text, const std::vector<ModelMetrics>& models) {
  for (const ModelGauge& gauge : model_gauges()) {
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
  add_events(text, models);
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

void add_one(MetricsWriter& text, const char* name, const char* help, double value) {
  text.family(MetricType::kGauge, name, help);
  text.sample({}, value);
}

void add_server(MetricsWriter& text, const ServerMetrics& m) {
  text.family(MetricType::kInfo, "windhover_build", "The version that runs.");
  text.sample({{"version", m.version}}, std::uint64_t{1});
  add_one(text, "windhover_start_time_seconds", "When the server started, since 1970.",
          m.start_time_seconds);
  add_one(text, "windhover_uptime_seconds", "Time since the server started.", m.uptime_seconds);
  add_one(text, "windhover_block_bytes", "Memory of the blocks of engine and server, fixed.",
          static_cast<double>(m.block_bytes));
  if (m.added_budget_bytes != 0) {
    add_one(text, "windhover_added_memory_bytes", "The budget of models that are added, fixed.",
            static_cast<double>(m.added_budget_bytes));
    add_one(text, "windhover_added_memory_used_bytes", "Of it, what is taken now.",
            static_cast<double>(m.added_used_bytes));
  }
  add_one(text, "windhover_resident_bytes", "Memory of the process that is in RAM.",
          m.resident_bytes == 0 ? std::numeric_limits<double>::quiet_NaN()
                                : static_cast<double>(m.resident_bytes));
  if (const PiecePool* const tls = tls_memory()) {
    add_one(text, "windhover_tls_memory_bytes", "OpenSSL's block, fixed.",
            static_cast<double>(tls->capacity()));
    add_one(text, "windhover_tls_memory_used_bytes", "Of it, what is in use now.",
            static_cast<double>(tls->in_use()));
    add_one(text, "windhover_tls_memory_touched_bytes", "Of it, what was ever in use.",
            static_cast<double>(tls->capacity() - tls->untouched()));
  }
  if (m.certificate_until_seconds != 0) {
    add_one(text, "windhover_tls_certificate_expiry_timestamp_seconds",
            "When the certificate that new connections get expires, since 1970.",
            m.certificate_until_seconds);
  }
  if (m.client_ca_until_seconds != 0) {
    add_one(text, "windhover_tls_client_ca_expiry_timestamp_seconds",
            "When the first of the authorities of clients' certificates expires, since 1970.",
            m.client_ca_until_seconds);
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
              "Time that a question was worked on, without waiting for its turn.");
  for (std::size_t i = 0; i < m.question_latency.size(); ++i) {
    text.histogram({{"endpoint", ServerMetrics::kEndpoints[i]}}, m.question_latency[i]);
  }
  text.histogram({{"endpoint", "http"}}, m.http_latency);
  add_counters(text, io_counter_families(), [&](const auto& family, MetricLabel label) {
    text.sample({label}, m.io_counters[static_cast<std::size_t>(family.counter)]);
  });
  add_counters(text, http_counter_families(), [&](const auto& family, MetricLabel label) {
    text.sample({label}, m.http_counters[static_cast<std::size_t>(family.counter)]);
  });
}

}  // namespace

std::string render_metrics(const ServerMetrics& metrics, MetricsFormat format) {
  MetricsText as_text(format);
  MetricsProtobuf as_messages;
  MetricsWriter& writer =
      format == MetricsFormat::kProtobuf ? static_cast<MetricsWriter&>(as_messages) : as_text;
  add_models(writer, metrics.models);
  add_server(writer, metrics);
  return writer.finish();
}

}  // namespace windhover
