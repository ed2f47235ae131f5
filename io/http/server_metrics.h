// What /metrics shows, as plain numbers: gathered here, rendered elsewhere (render_metrics.h).
#ifndef WINDHOVER_IO_HTTP_SERVER_METRICS_H_
#define WINDHOVER_IO_HTTP_SERVER_METRICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "windhover/io/counter_ids.h"
#include "windhover/io/http/http_counters.h"
#include "windhover/io/http/http_memory.h"
#include "windhover/io/http/latency_metrics.h"
#include "windhover/io/http/watchdog.h"
#include "windhover/io/server_state.h"
#include "windhover/runtime/counter_ids.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/scoring/prediction_scores.h"

namespace windhover {

template <class Enum>
using CounterValues = std::array<std::uint64_t, static_cast<std::size_t>(Enum::kCount)>;

// What is kept on disk. Without a folder none of this is shown.
struct DurableMetrics {
  bool keeps_folder = false;
  bool logs = false;
  std::uint64_t durable_rows = 0;
  std::uint64_t log_used_bytes = 0;
  std::uint64_t log_capacity_bytes = 0;
  std::uint64_t commits = 0;
  double commit_age_seconds = 0;  // NaN: this start has made none
  std::uint64_t log_failures = 0;
  std::uint64_t log_seal_failures = 0;
  bool log_ok = true;
  bool log_full = false;
  std::uint64_t checkpoints_taken = 0;
  std::uint64_t checkpoint_failures = 0;
  std::uint64_t checkpoint_rows = 0;
  double checkpoint_age_seconds = 0;  // NaN: this start has taken none
  double checkpoint_lasted_seconds = 0;
  bool checkpoint_ok = true;
};

struct ModelMetrics {
  std::string_view name;  // the value of the label "model"
  std::string_view likelihood;
  Horizon horizon = Horizon::kWindow;
  std::uint64_t fingerprint = 0;
  std::uint64_t instance_id = 0;
  std::uint32_t dimension = 0;
  std::uint64_t head = 0;  // rows accepted
  Provenance provenance;
  std::uint64_t producers = 0;
  std::uint64_t pending_keys = 0;
  CounterValues<RuntimeCounter> counters{};
  DurableMetrics durable;
  bool scored = false;
  PredictionScores scores;
  std::uint64_t events = 0;
  std::array<std::int64_t, kEventKinds> newest_event_ns{};
};

struct ServerMetrics {
  static constexpr std::array<std::string_view, 2> kEndpoints = {"observe", "query"};

  std::string_view version;
  double start_time_seconds = 0;  // since 1970
  double uptime_seconds = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t added_budget_bytes = 0;  // 0: no model can be added
  std::uint64_t added_used_bytes = 0;
  std::uint64_t resident_bytes = 0;  // 0: unknown
  std::array<std::uint32_t, 2> sessions{};
  std::uint32_t session_limit = 0;
  std::uint32_t http_connections = 0;
  std::uint32_t http_connection_limit = 0;
  std::array<LatencyMetrics, 2> question_latency;
  LatencyMetrics http_latency;  // questions in JSON
  std::array<bool, Watchdog::kParts> stalled{};
  bool stopping = false;
  double certificate_until_seconds = 0;  // since 1970; 0: unknown, or without TLS
  double client_ca_until_seconds = 0;    // likewise, or without client certificates
  CounterValues<IoCounter> io_counters{};
  CounterValues<HttpCounter> http_counters{};
  std::vector<ModelMetrics> models;
};

template <class Enum>
CounterValues<Enum> values_in(const Counters<Enum>& counters) noexcept {
  CounterValues<Enum> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = counters.get(static_cast<Enum>(i));
  return values;
}

// Reads the numbers of one model. The HTTP thread's.
ModelMetrics model_metrics(const ServerState& state, HttpMemory& memory,
                           std::size_t index) noexcept;

// Reads the numbers of `state` and of every model; the caller fills in the rest. Allocates.
ServerMetrics server_metrics(ServerState& state, HttpMemory& memory);

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_SERVER_METRICS_H_
