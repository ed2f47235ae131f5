#include "windhover/io/codec.h"

#include <cmath>

#include "windhover/io/response_writer.h"

// The numbers below are field numbers of the messages in windhover.proto.

namespace windhover {
namespace {

template <class Sink>
void write_score(Sink& out, const ScoreMeans& s, bool with_pit) noexcept {
  out.u64(1, s.memory);
  out.u64(2, s.rows);
  out.real(3, s.log_score);
  out.real(4, s.reference);
  int field = 5;
  for (const double share : s.coverage) out.real(field++, share);
  for (const double share : s.conformal_coverage) out.real(field++, share);
  out.real(field, s.conformal_size);
  if (with_pit && !std::isnan(s.pit[0]))
    out.doubles(14, kPitBins, [&](std::size_t i) { return s.pit[i]; });
}

template <class Sink>
void write_model_state(Sink& out, const ModelStateReply& s) noexcept {
  out.text(1, s.name);
  out.u64(2, static_cast<std::uint64_t>(s.model));
  out.u64(3, s.features);
  out.u64(4, s.dimension);
  out.fixed64(5, s.fingerprint);
  out.u64(6, s.head);
  out.message(7, [&](auto& inner) { write_provenance(inner, s.provenance); });
  out.text(8, s.follows);
  out.text(9, s.answered_by);
  out.u64(10, s.paused ? 1 : 0);
  out.u64(12, static_cast<std::uint64_t>(s.log_status));
  if (!s.scores.any) return;
  out.message(11, [&](auto& inner) {
    write_score(inner, s.scores.scores.means[PredictionScores::kServed], false);
  });
}

template <class Sink>
void write_event(Sink& out, const Event& e) noexcept {
  out.u64(1, e.id);
  out.u64(2, static_cast<std::uint64_t>(e.kind));
  out.u64(3, static_cast<std::uint64_t>(e.time_ns));
  out.u64(4, e.times);
  out.u64(5, static_cast<std::uint64_t>(e.first_time_ns));
  out.u64(6, e.row);
  out.u64(7, static_cast<std::uint64_t>(e.from));
  out.u64(8, static_cast<std::uint64_t>(e.status));
  out.u64(9, static_cast<std::uint64_t>(e.reason));
  out.real(10, e.number);
  out.real(11, e.before);
  out.u64(12, e.drift_onset);
  out.u64(13, static_cast<std::uint64_t>(e.drift_onset_time_ns));
}

template <class Sink>
void write_latency(Sink& out, const LatencyReply& latency) noexcept {
  out.u64(1, latency.count);
  out.u64(2, static_cast<std::uint64_t>(latency.p50_ns));
  out.u64(3, static_cast<std::uint64_t>(latency.p99_ns));
  out.u64(4, static_cast<std::uint64_t>(latency.p999_ns));
  out.u64(5, static_cast<std::uint64_t>(latency.max_ns));
}

template <class Sink>
void write_durable(Sink& out, const DurableReply& d) noexcept {
  out.u64(1, d.keeps_folder ? 1 : 0);
  out.u64(2, static_cast<std::uint64_t>(d.durability));
  out.fixed64(3, d.instance_id);
  out.u64(4, d.durable_through);
  out.u64(5, d.recovering_through);
  out.u64(6, d.log_used_bytes);
  out.u64(7, d.log_capacity_bytes);
  out.u64(8, d.commits);
  out.u64(9, d.log_failures);
  out.u64(10, static_cast<std::uint64_t>(d.log_status));
  out.u64(11, static_cast<std::uint64_t>(d.log_errno));
  out.u64(12, d.checkpoints_taken);
  out.u64(13, d.checkpoint_failures);
  out.u64(14, d.checkpoint_head);
  out.sint64(15, d.checkpoint_age_ns);
  out.u64(16, static_cast<std::uint64_t>(d.checkpoint_lasted_ns));
  out.u64(17, static_cast<std::uint64_t>(d.checkpoint_status));
  out.u64(18, static_cast<std::uint64_t>(d.checkpoint_errno));
  out.u64(19, d.producers_known);
  out.u64(20, d.log_seal_failures);
}

template <class Sink>
void write_counters(Sink& out, int field, std::span<const CounterValue> counters) noexcept {
  for (const CounterValue& counter : counters) {
    out.message(field, [&](auto& inner) {
      inner.text(1, counter.label);
      inner.u64(2, counter.value);
    });
  }
}

}  // namespace

std::size_t encode(std::uint64_t id, const WelcomeReply& r, std::span<std::byte> out) noexcept {
  return write_response(id, response_field::kWelcome, out, [&](auto& sink) {
    sink.u64(1, r.version);
    sink.u64(2, r.features);
    sink.u64(3, r.dimension);
    sink.u64(4, r.frame_cap);
    sink.u64(5, r.reply_cap);
    sink.u64(6, r.max_rows);
    sink.u64(7, r.max_nonzeros);
    sink.u64(8, r.max_query_rows);
    sink.u64(9, r.head);
    sink.fixed64(10, r.fingerprint);
    sink.u64(11, static_cast<std::uint64_t>(r.model));
    sink.u64(12, r.observes ? 1 : 0);
    sink.u64(13, r.max_quantiles);
    sink.u64(14, r.max_thresholds);
    sink.u64(15, r.classes);
    sink.fixed64(16, r.instance_id);
    sink.u64(17, static_cast<std::uint64_t>(r.durability));
    sink.u64(18, r.durable_through);
    sink.u64(19, r.max_producers);
    sink.u64(25, r.forgotten);
    sink.u64(26, r.forgets_drawn ? 1 : 0);
    sink.fixed64(27, r.start_id);
    sink.text(20, r.model_name);
    int field = 21;
    for (const bool takes : {r.takes_offsets, r.takes_weights, r.takes_keys, r.takes_trials}) {
      sink.u64(field++, takes ? 1 : 0);
    }
    sink.u64(28, r.network ? 1 : 0);
    sink.fixed64(29, r.schema_fingerprint);
  });
}

std::size_t encode(const ObserveAckReply& r, std::span<std::byte> out) noexcept {
  const std::span<const ObserveAckReply::Refused> rows = r.refused_rows();
  if (r.of_outcome) {
    return write_response(r.id, response_field::kOutcomeResult, out, [&](auto& sink) {
      sink.u64(1, r.accepted);
      sink.u64(2, r.refused);
      sink.u64(3, r.duplicate);
      sink.u64(4, r.head);
      sink.u64(5, r.durable_through);
      sink.varints(6, rows.size(), [&](std::size_t i) { return std::uint64_t{rows[i].row}; });
      sink.varints(7, rows.size(),
                   [&](std::size_t i) { return static_cast<std::uint64_t>(rows[i].reason); });
    });
  }
  return write_response(r.id, response_field::kObserveAck, out, [&](auto& sink) {
    sink.u64(1, r.producer_next);
    sink.u64(2, r.accepted);
    sink.u64(3, r.refused);
    sink.u64(4, r.duplicate);
    sink.u64(5, r.head);
    sink.u64(6, r.durable_through);
    sink.u64(7, r.frames);
    sink.varints(8, rows.size(), [&](std::size_t i) { return rows[i].request; });
    sink.varints(9, rows.size(), [&](std::size_t i) { return std::uint64_t{rows[i].row}; });
    sink.varints(10, rows.size(),
                 [&](std::size_t i) { return static_cast<std::uint64_t>(rows[i].reason); });
    sink.u64(11, r.producer);
  });
}

std::size_t encode(std::uint64_t id, const StatusReply& r, std::span<std::byte> out) noexcept {
  return write_response(id, response_field::kStatusResult, out, [&](auto& sink) {
    provenance(sink, *r.provenance);
    sink.u64(2, r.head);
    sink.u64(3, r.uptime_ns);
    sink.u64(4, r.observe_sessions);
    sink.u64(5, r.query_sessions);
    sink.u64(6, r.footprint_bytes);
    sink.u64(7, r.resident_bytes);
    write_counters(sink, 8, r.runtime_counters);
    write_counters(sink, 9, r.io_counters);
    sink.message(10, [&](auto& inner) { write_latency(inner, r.observe_latency); });
    sink.message(11, [&](auto& inner) { write_latency(inner, r.query_latency); });
    sink.message(12, [&](auto& inner) { write_durable(inner, r.durable); });
    if (r.scores.any) {
      for (const ScoreMeans& means : r.scores.scores.means) {
        sink.message(13, [&](auto& inner) { write_score(inner, means, true); });
      }
      sink.u64(14, r.scores.scores.offered);
    }
    sink.u64(15, r.pending_keys);
  });
}

std::size_t encode(std::uint64_t id, const ProducerStatusReply& r,
                   std::span<std::byte> out) noexcept {
  return write_response(id, response_field::kProducerStatusResult, out, [&](auto& sink) {
    sink.u64(1, r.producer);
    sink.u64(2, r.known ? 1 : 0);
    sink.u64(3, r.next);
    sink.u64(4, r.durable_next);
    sink.u64(5, r.live ? 1 : 0);
    sink.u64(6, r.forgotten);
  });
}

std::size_t encode(std::uint64_t id, const TakeCheckpointReply& r,
                   std::span<std::byte> out) noexcept {
  return write_response(id, response_field::kTakeCheckpointResult, out, [&](auto& sink) {
    sink.u64(1, r.request);
    sink.u64(2, r.answered ? 1 : 0);
    sink.u64(3, r.taken);
    sink.u64(4, static_cast<std::uint64_t>(r.status));
  });
}

std::size_t encode(std::uint64_t id, const ListModelsReply& r, std::span<std::byte> out) noexcept {
  return write_response(id, response_field::kListModelsResult, out, [&](auto& sink) {
    sink.u64(1, r.models);
    sink.u64(2, r.first);
    for (const ModelStateReply& state : r.states) {
      sink.message(3, [&](auto& inner) { write_model_state(inner, state); });
    }
  });
}

std::size_t encode(std::uint64_t id, const ListEventsReply& r, std::span<std::byte> out) noexcept {
  return write_response(id, response_field::kListEventsResult, out, [&](auto& sink) {
    for (const Event& event : r.events) {
      sink.message(1, [&](auto& inner) { write_event(inner, event); });
    }
  });
}

std::size_t encode(std::uint64_t id, const ChangeModelReply& r, std::span<std::byte> out) noexcept {
  return write_response(id, response_field::kChangeModelResult, out, [&](auto& sink) {
    sink.message(1, [&](auto& inner) { write_model_state(inner, *r.state); });
  });
}

std::size_t encode(std::uint64_t id, const HostModelReply& r, std::span<std::byte> out) noexcept {
  return write_response(id, response_field::kHostModelResult, out, [&](auto& sink) {
    sink.u64(1, r.request);
    sink.u64(2, r.finished ? 1 : 0);
    sink.u64(3, static_cast<std::uint64_t>(r.status));
    sink.text(4, r.error);
    sink.u64(5, r.needed_bytes);
    sink.u64(6, r.free_bytes);
  });
}

std::size_t encode(std::uint64_t id, const RefusalReply& r, std::span<std::byte> out) noexcept {
  return write_response(id, response_field::kRefusal, out, [&](auto& sink) {
    sink.u64(1, static_cast<std::uint64_t>(r.reason));
    sink.u64(2, r.number);
    sink.u64(3, r.closing ? 1 : 0);
  });
}

}  // namespace windhover
