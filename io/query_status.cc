// Questions about the server: how it stands, and checkpoints.
#include <algorithm>
#include <array>

#include "windhover/io/codec.h"
#include "windhover/io/query_handler.h"
#include "windhover/platform/memory.h"

namespace windhover {
namespace {

LatencyReply latency_of(const Histogram& histogram) noexcept {
  return {histogram.count(), histogram.quantile(0.5), histogram.quantile(0.99),
          histogram.quantile(0.999), histogram.max()};
}

DurableReply durable_of(const ServedModel& model, std::int64_t now_ns,
                        const Provenance& provenance) noexcept {
  const LogProgress& log = model.log;
  const CheckpointProgress& checkpoints = model.checkpoints;
  DurableReply reply;
  reply.keeps_folder = model.keeper.is_there();
  reply.durability = model.durability;
  reply.instance_id = model.instance_id;
  reply.durable_through = log.durable_head.load();
  reply.recovering_through = provenance.recovery_target;
  reply.log_used_bytes = log.used_bytes.load();
  reply.log_capacity_bytes = model.log_capacity_bytes;
  reply.commits = log.commits.load();
  reply.log_failures = log.failures.load();
  reply.log_seal_failures = log.seal_failures.load();
  reply.log_status = log.obstacle();
  reply.log_errno = log.error_number.load();
  reply.checkpoints_taken = checkpoints.taken.load();
  reply.checkpoint_failures = checkpoints.failures.load();
  reply.checkpoint_head = checkpoints.head.load();
  if (const std::int64_t taken_ns = checkpoints.taken_ns.load(); taken_ns != 0) {
    reply.checkpoint_age_ns = std::max<std::int64_t>(0, now_ns - taken_ns);
  }
  reply.checkpoint_lasted_ns = checkpoints.lasted_ns.load();
  reply.checkpoint_status = checkpoints.status.load();
  reply.checkpoint_errno = checkpoints.error_number.load();
  if (model.producers != nullptr) reply.producers_known = model.producers->size();
  return reply;
}

template <class Enum>
auto values_of(const Counters<Enum>& counters) noexcept {
  std::array<CounterValue, Counters<Enum>::size()> values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto counter = static_cast<Enum>(i);
    values[i] = {Counters<Enum>::label(counter), counters.get(counter)};
  }
  return values;
}

}  // namespace

std::size_t QueryHandler::status(std::uint64_t id, std::span<std::byte> out) noexcept {
  Provenance provenance;
  const Status status = reader_->provenance(provenance);
  if (!ok(status)) return refuse(id, status, 0, out);
  ServerState& state = *state_;
  const auto runtime_counters = values_of(model_->engine->counters());
  const auto io_counters = values_of(state.counters);
  ServerState::PerEndpoint& observe = state.of(EndpointKind::kObserve);
  ServerState::PerEndpoint& query = state.of(EndpointKind::kQuery);
  StatusReply reply;
  reply.provenance = &provenance;
  reply.head = model_->engine->head();
  reply.uptime_ns = static_cast<std::uint64_t>(state.clock->now_ns() - state.started_ns);
  reply.observe_sessions = observe.sessions.load(std::memory_order_relaxed);
  reply.query_sessions = query.sessions.load(std::memory_order_relaxed);
  reply.footprint_bytes = state.footprint_bytes;
  reply.resident_bytes = resident_bytes();
  reply.runtime_counters = runtime_counters;
  reply.io_counters = io_counters;
  reply.observe_latency = latency_of(observe.query_latency);
  reply.query_latency = latency_of(query.query_latency);
  reply.durable = durable_of(*model_, state.clock->now_ns(), provenance);
  reply.pending_keys = model_->engine->labels().pending();
  reply.scores.any = model_->engine->scores(reply.scores.scores);
  return write(id, encode(id, reply, out), out);
}

std::size_t QueryHandler::events(std::uint64_t id, const ListEventsQuery& query,
                                 std::span<std::byte> out) noexcept {
  EventList list;
  reader_->events(list);
  std::span<const Event> events = list.all();
  while (!events.empty() && events.front().id <= query.after) events = events.subspan(1);
  return write(id, encode(id, ListEventsReply{events}, out), out);
}

std::size_t QueryHandler::take_checkpoint(std::uint64_t id, std::uint64_t number,
                                          std::span<std::byte> out) noexcept {
  const ServedModel& model = *model_;
  if (!model.keeper.is_there()) return refuse(id, Status::kUnsupported, 0, out);
  const CheckpointProgress& progress = model.checkpoints;
  if (number == 0) {
    number = model.keeper.request();
  } else if (number > progress.requested.load()) {
    return refuse(id, Status::kInvalidArgument, 0, out);
  }
  // `status` is written before `answered`, so it is read after it.
  const bool answered = progress.is_answered(number);
  const Status status = answered && progress.is_met(number) ? Status::kOk : progress.status.load();
  const TakeCheckpointReply reply = {number, answered, progress.taken.load(), status};
  return write(id, encode(id, reply, out), out);
}

}  // namespace windhover
