#include "windhover/io/codec.h"

#include <bit>
#include <cmath>
#include <iterator>

#include "windhover/io/framing.h"
#include "windhover/io/wire_fields.h"
#include "windhover/io/wire_sink.h"

// The numbers below are the fields of the messages in windhover.proto, in their order.

namespace windhover {
namespace {

// Of PosteriorSummaryResult, from field 2 on.
constexpr double ParameterSummary::*kColumns[] = {&ParameterSummary::mean,
                                                  &ParameterSummary::mode,
                                                  &ParameterSummary::sd,
                                                  &ParameterSummary::sd_robust,
                                                  &ParameterSummary::q5,
                                                  &ParameterSummary::q50,
                                                  &ParameterSummary::q95,
                                                  &ParameterSummary::ess_bulk,
                                                  &ParameterSummary::r_hat,
                                                  &ParameterSummary::ess_tail,
                                                  &ParameterSummary::mcse_mean,
                                                  &ParameterSummary::autocorrelation_time,
                                                  &ParameterSummary::prior_precision,
                                                  &ParameterSummary::drift_score};

constexpr std::size_t kHeaderBound =
    kMaxFrameHeader + 11 + 6;  // prefix, id, tag and length of body
constexpr std::size_t kProvenanceBound = 282;

template <class Fields>
std::size_t write_response(std::uint64_t id, int body, std::span<std::byte> out,
                           Fields&& fields) noexcept {
  const auto response = [&](auto& sink) {
    sink.u64(response_field::kId, id);
    sink.message(body, fields);
  };
  SizeSink measured;
  response(measured);
  if (measured.size() > INT32_MAX) return 0;
  const auto length = static_cast<std::uint32_t>(measured.size());
  if (frame_header_size(length) + length > out.size()) return 0;
  const std::size_t header = write_frame_header(length, out.data());
  ByteSink bytes(out.data() + header);
  response(bytes);
  return header + length;
}

template <class Sink>
void write_provenance(Sink& out, const Provenance& p) noexcept {
  out.u64(1, p.snapshot_id);
  out.u64(2, p.sequence);
  out.u64(3, p.n_seen);
  out.u64(4, p.n_eff);
  out.u64(5, p.steps);
  out.sint64(6, p.age_ns);
  out.u64(7, p.draws);
  out.real(8, p.ess_bulk);
  out.real(9, p.r_hat);
  out.real(10, p.draws_per_observation);
  out.real(11, p.ou_ratio);
  out.real(12, p.misspecification_index);
  out.real(13, p.noise_variance);
  out.real(14, p.noise_variance_sd);
  out.u64(15, static_cast<std::uint64_t>(p.status));
  out.real(16, p.ess_tail);
  out.real(17, p.autocorrelation_time);
  out.real(18, p.score_autocorrelation);
  out.real(19, p.drift_score);
  out.u64(20, p.divergences);
  out.u64(21, static_cast<std::uint64_t>(p.horizon));
  out.real(22, p.repeated_rows);
  out.u64(23, static_cast<std::uint64_t>(p.reason));
  out.real(24, p.law_ratio);
  out.real(25, p.prior_conflict);
  out.fixed64(26, p.recovery_target);
  out.real(27, p.coverage_90);
  out.real(28, p.conformal_coverage_90);
}

template <class Sink>
void provenance(Sink& out, const Provenance& p) noexcept {
  out.message(1, [&](auto& inner) { write_provenance(inner, p); });
}

template <class Sink>
void write_score(Sink& out, const ScoreMeans& s) noexcept {
  out.u64(1, s.memory);
  out.u64(2, s.rows);
  out.real(3, s.log_score);
  out.real(4, s.reference);
  int field = 5;
  for (const double share : s.coverage) out.real(field++, share);
  for (const double share : s.conformal_coverage) out.real(field++, share);
  out.real(field, s.conformal_size);
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
  if (!s.scores.any) return;
  out.message(11, [&](auto& inner) {
    write_score(inner, s.scores.scores.means[PredictionScores::kServed]);
  });
}

template <class Sink>
void write_prediction(Sink& out, const PredictiveSummary& s, std::size_t quantiles,
                      std::size_t thresholds) noexcept {
  out.real(1, s.linpred_mean);
  out.real(2, s.linpred_sd);
  out.real(3, s.epred_mean);
  out.real(4, s.epred_sd);
  out.real(5, s.mean);
  out.real(6, s.sd);
  out.real(7, s.var_epistemic);
  out.real(8, s.var_aleatoric);
  out.real(9, s.interval_lower);
  out.real(10, s.interval_upper);
  out.doubles(11, quantiles, [&](std::size_t i) { return s.quantiles[i]; });
  out.doubles(12, thresholds, [&](std::size_t i) { return s.exceedance[i]; });
  out.real(13, s.entropy);
  out.real(14, s.expected_entropy);
  out.real(15, s.mutual_information);
  out.real(16, s.log_score);
  out.real(17, s.pit);
  out.real(18, s.crps);
  out.real(19, s.brier);
  out.real(20, s.prob_best);
  out.real(21, s.expected_regret);
  out.real(22, s.thompson);
  out.doubles(23, s.classes, [&](std::size_t i) { return s.probs[i]; });
  out.doubles(24, s.classes, [&](std::size_t i) { return s.probs_sd[i]; });
  out.doubles(25, s.classes, [&](std::size_t i) { return s.probs_eti_lower[i]; });
  out.doubles(26, s.classes, [&](std::size_t i) { return s.probs_eti_upper[i]; });
  if (std::isnan(s.conformal_alpha)) return;
  if (!std::isnan(s.conformal_lower)) {
    out.real(27, s.conformal_lower);
    out.real(28, s.conformal_upper);
  }
  std::uint64_t left = s.conformal_set;  // a bit a class
  const auto next_class = [&](std::size_t i) {
    if (i == 0) left = s.conformal_set;
    const auto c = static_cast<std::uint64_t>(std::countr_zero(left));
    left &= left - 1;
    return c;
  };
  out.varints(29, static_cast<std::size_t>(std::popcount(s.conformal_set)), next_class);
  out.real(30, s.conformal_alpha);
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
    sink.text(20, r.model_name);
  });
}

std::size_t encode(const ObserveAckReply& r, std::span<std::byte> out) noexcept {
  const std::span<const ObserveAckReply::Refused> rows = r.refused_rows();
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

std::size_t encode(std::uint64_t id, const PredictReply& r, std::span<std::byte> out) noexcept {
  return write_response(id, response_field::kPredictResult, out, [&](auto& sink) {
    provenance(sink, *r.provenance);
    for (const PredictiveSummary& summary : r.summaries) {
      sink.message(2, [&](auto& s) { write_prediction(s, summary, r.quantiles, r.thresholds); });
    }
  });
}

std::size_t encode(std::uint64_t id, const PosteriorReply& r, std::span<std::byte> out) noexcept {
  return write_response(id, response_field::kPosteriorSummaryResult, out, [&](auto& sink) {
    provenance(sink, *r.provenance);
    int field = 2;
    for (const auto column : kColumns) {
      sink.doubles(field++, r.parameters.size(),
                   [&](std::size_t i) { return r.parameters[i].*column; });
    }
  });
}

std::size_t encode(std::uint64_t id, const DrawsReply& r, std::span<std::byte> out) noexcept {
  return write_response(id, response_field::kDrawsResult, out, [&](auto& sink) {
    provenance(sink, *r.provenance);
    sink.u64(2, r.dimension);
    sink.u64(3, r.first);
    sink.doubles(4, r.theta.size(), [&](std::size_t i) { return r.theta[i]; });
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
    if (!r.scores.any) return;
    for (const ScoreMeans& means : r.scores.scores.means) {
      sink.message(13, [&](auto& inner) { write_score(inner, means); });
    }
    sink.u64(14, r.scores.scores.offered);
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

std::size_t predict_reply_bound(std::size_t rows, std::size_t quantiles, std::size_t thresholds,
                                std::size_t classes) noexcept {
  // 23 numbers with tags of at most two bytes, seven arrays, tag and length of the row. A set may
  // have two classes where there are no probabilities of classes.
  const std::size_t row =
      23 * 10 + 7 * 7 + 8 * (quantiles + thresholds + 4 * classes) + classes + 2 + 7;
  return kHeaderBound + kProvenanceBound + rows * row;
}

std::size_t posterior_reply_bound(std::size_t dimension) noexcept {
  return kHeaderBound + kProvenanceBound + std::size(kColumns) * (6 + 8 * dimension);
}

std::size_t draws_reply_bound(std::size_t dimension, std::size_t draws) noexcept {
  return kHeaderBound + kProvenanceBound + 2 * 7 + 6 + 8 * dimension * draws;
}

}  // namespace windhover
