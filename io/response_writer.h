// What the writers of responses share (codec_write.cc, codec_write_answers.cc). The numbers are
// field numbers of the messages in windhover.proto.
#ifndef WINDHOVER_IO_RESPONSE_WRITER_H_
#define WINDHOVER_IO_RESPONSE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/framing.h"
#include "windhover/io/replies.h"
#include "windhover/io/wire_fields.h"
#include "windhover/io/wire_sink.h"

namespace windhover {

// Writes one response with its length prefix to the beginning of `out` and returns its bytes; 0,
// and nothing written, when they do not fit. `fields` writes the fields of the body to either sink.
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
  out.u64(29, p.drift_onset);
  out.u64(30, static_cast<std::uint64_t>(p.drift_onset_time_ns));
  out.real(31, p.r_hat_chance);
  out.u64(32, p.robust_spread ? 1 : 0);
}

template <class Sink>
void provenance(Sink& out, const Provenance& p) noexcept {
  out.message(1, [&](auto& inner) { write_provenance(inner, p); });
}

}  // namespace windhover

#endif  // WINDHOVER_IO_RESPONSE_WRITER_H_
