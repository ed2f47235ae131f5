#include "windhover/io/http/server_metrics.h"

#include <algorithm>
#include <limits>

#include "windhover/io/tls/tls_context.h"
#include "windhover/platform/memory.h"

namespace windhover {
namespace {

double to_seconds(std::int64_t nanoseconds) noexcept {
  return static_cast<double>(nanoseconds) * 1e-9;
}

// NaN: it has not been yet (0).
double age_seconds(std::int64_t then_ns, Clock& clock) noexcept {
  return then_ns == 0 ? std::numeric_limits<double>::quiet_NaN()
                      : to_seconds(std::max<std::int64_t>(0, clock.now_ns() - then_ns));
}

DurableMetrics durable_metrics(const ServedModel& model, Clock& clock) noexcept {
  const LogProgress& log = model.log;
  const CheckpointProgress& checkpoints = model.checkpoints;
  DurableMetrics metrics;
  metrics.keeps_folder = model.keeper.is_there();
  metrics.logs = metrics.keeps_folder && model.durability == Durability::kLogged;
  metrics.durable_rows = log.durable_head.load();
  metrics.log_used_bytes = log.used_bytes.load();
  metrics.log_capacity_bytes = model.log_capacity_bytes;
  metrics.commits = log.commits.load();
  metrics.commit_age_seconds = age_seconds(log.committed_ns.load(), clock);
  metrics.log_failures = log.failures.load();
  metrics.log_seal_failures = log.seal_failures.load();
  const Status obstacle = log.obstacle();
  metrics.log_ok = ok(obstacle);
  metrics.log_full = obstacle == Status::kLogFull;
  metrics.checkpoints_taken = checkpoints.taken.load();
  metrics.checkpoint_failures = checkpoints.failures.load();
  metrics.checkpoint_rows = checkpoints.head.load();
  metrics.checkpoint_age_seconds = age_seconds(checkpoints.taken_ns.load(), clock);
  metrics.checkpoint_lasted_seconds = to_seconds(checkpoints.lasted_ns.load());
  metrics.checkpoint_ok = ok(checkpoints.status.load());
  return metrics;
}

}  // namespace

ModelMetrics model_metrics(const ServerState& state, HttpMemory& memory,
                           std::size_t index) noexcept {
  ModelMetrics metrics;
  const ServedModel& model = *memory.conversations->models[index].model;
  Engine& engine = *model.engine;
  // The answer is read before the head, so that the lag is never negative.
  (void)memory.readers[index]->provenance(metrics.provenance);
  metrics.name = model.name();
  metrics.head = std::max(engine.head(), model.log.durable_head.load());
  metrics.likelihood = engine.config().model.name;
  metrics.horizon = engine.config().horizon;
  metrics.fingerprint = engine.fingerprint();
  metrics.instance_id = model.instance_id;
  metrics.dimension = engine.dimension();
  metrics.producers = model.producers->size();
  metrics.pending_keys = model.engine->labels().pending();
  metrics.counters = values_in(engine.counters());
  metrics.durable = durable_metrics(model, *state.clock);
  metrics.scored = engine.scores(metrics.scores);
  EventList events;
  memory.readers[index]->events(events);
  metrics.events = events.total;
  metrics.newest_event_ns = events.newest_time_ns;
  return metrics;
}

ServerMetrics server_metrics(ServerState& state, HttpMemory& memory) {
  ServerMetrics metrics;
  metrics.version = WINDHOVER_VERSION;
  metrics.uptime_seconds = to_seconds(state.clock->now_ns() - state.started_ns);
  metrics.block_bytes = state.footprint_bytes;
  metrics.added_budget_bytes = state.added_budget_bytes;
  metrics.added_used_bytes = state.added_used_bytes;
  metrics.resident_bytes = resident_bytes();
  if (state.tls != nullptr) {
    const TlsDates dates = state.tls->dates();
    metrics.certificate_until_seconds = static_cast<double>(dates.own.until_s);
    metrics.client_ca_until_seconds = static_cast<double>(dates.client_ca.until_s);
  }
  metrics.session_limit = state.limits.max_sessions;
  for (std::size_t i = 0; i < metrics.sessions.size(); ++i) {
    ServerState::PerEndpoint& endpoint = state.of(static_cast<EndpointKind>(i));
    metrics.sessions[i] = endpoint.sessions.load(std::memory_order_relaxed);
    metrics.question_latency[i] = latency_metrics(endpoint.query_latency);
  }
  ServerState::PerEndpoint& http = state.of(EndpointKind::kHttp);
  metrics.http_connections = http.sessions.load(std::memory_order_relaxed);
  metrics.http_latency = latency_metrics(http.query_latency);
  metrics.io_counters = values_in(state.counters);
  metrics.models.reserve(memory.readers.size());
  for (std::size_t i = 0; i < memory.readers.size(); ++i) {
    if (memory.readers[i]) metrics.models.push_back(model_metrics(state, memory, i));
  }
  return metrics;
}

}  // namespace windhover
