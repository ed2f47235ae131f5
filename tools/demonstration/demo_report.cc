#include "windhover/tools/demonstration/demo_report.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "windhover/tools/client/answers.h"

namespace windhover {
namespace {

std::uint64_t counter(const v1::StatusResult& status, const std::string& label) {
  for (const v1::Counter& c : status.io_counters()) {
    if (c.label() == label) return c.value();
  }
  return 0;
}

std::string calls_text(const std::optional<std::uint64_t>& calls) {
  return calls ? fmt::format("{}", *calls) : std::string("not counted in this build");
}

void print_killed(const KilledResult& killed) {
  fmt::print("Killed          {}\n", killed.sent.closing_line());
  fmt::print(
      "                at some {} rows; the next daemon had {} of them back, was ready after "
      "{:.2f} "
      "s,\n"
      "                answered after {:.2f} s, from all of them after {:.2f} s; {} rows at the "
      "end: {}\n",
      killed.rows_at_kill, killed.rows_at_ready, killed.seconds_to_ready, killed.seconds_to_answer,
      killed.seconds_to_all, killed.rows_at_end,
      killed.lost_nothing() ? "nothing lost, nothing twice" : "ROWS ARE MISSING OR DOUBLE");
}

}  // namespace

bool print_report(const LiveResult& live, const FastResult& fast, const KilledResult& killed) {
  const auto ns = [](std::int64_t value) { return duration_text(static_cast<double>(value)); };
  const v1::HandlerLatency& handler = live.status.query_latency();
  const Prequential& score = *live.sent.score;
  fmt::print("\n---- Report -------------------------------------------------------------\n\n");
  fmt::print("Live stream     {}\n", live.sent.closing_line());
  fmt::print("                replay ratio R {:.2f}: draws per observation and chain\n",
             live.provenance.draws_per_observation);
  fmt::print("                status {}: {}\n", to_string(live.provenance.status),
             live.provenance.reason == StatusReason::kNone
                 ? "the intervals may be taken at their word"
                 : reason_text(live.provenance));
  fmt::print("Full speed      {}\n", fast.sent.closing_line());
  fmt::print(
      "                answers stood on the last row after {:.3f} s, on settled draws after {:.3f} "
      "s:\n"
      "                R {:.2f}, status {}\n",
      fast.seconds_to_catch_up, fast.seconds_to_draws, fast.settled.draws_per_observation,
      to_string(fast.settled.status));
  print_killed(killed);
  fmt::print(
      "Query latency   over TCP while learning: p50 {}, p99 {}, p99.9 {}, longest {} ({} asked)\n",
      ns(live.round_trip_ns[0]), ns(live.round_trip_ns[1]), ns(live.round_trip_ns[2]),
      ns(live.round_trip_ns[3]), live.round_trips);
  fmt::print(
      "                inside the daemon:       p50 {}, p99 {}, p99.9 {}, longest {} ({} asked)\n",
      ns(handler.p50_ns()), ns(handler.p99_ns()), ns(handler.p999_ns()), ns(handler.max_ns()),
      handler.count());
  fmt::print("Memory          block {}, peak resident {} live and {} at full speed\n",
             bytes_text(static_cast<double>(live.block_bytes)),
             bytes_text(static_cast<double>(live.stopped.peak_resident_bytes)),
             bytes_text(static_cast<double>(fast.stopped.peak_resident_bytes)));
  fmt::print("Heap calls      after ready: {} live, {} at full speed\n",
             calls_text(live.stopped.heap_calls), calls_text(fast.stopped.heap_calls));
  fmt::print(
      "Right?          against the exact Laplace posterior of the same {} rows: kl_summary {:.2g} "
      "about\n"
      "                the mode; {:.2g} about the mean, which is corrected for skewness as "
      "Laplace's is not\n",
      live.provenance.n_eff, live.kl_about_mode, live.kl_summary);
  fmt::print(
      "Calibrated?     predicted before they were sent, {} flights: log score {:.4f}, of the\n"
      "                rolling base rate {:.4f}; mean distance said to happened {:.2f} %\n\n{}",
      score.count(), score.log_score(), score.base_log_score(), 100 * score.calibration_error(),
      score.table());
  const std::uint64_t lost = live.sent.totals.sent - live.stopped.observations +
                             (fast.sent.totals.sent - fast.stopped.observations);
  const std::uint64_t refused = live.sent.totals.refused + fast.sent.totals.refused;
  fmt::print("\nRefused or lost {} refused, {} lost, {} malformed frames\n", refused, lost,
             counter(live.status, "malformed_frames"));
  const bool heap_clean =
      live.stopped.heap_calls.value_or(0) == 0 && fast.stopped.heap_calls.value_or(0) == 0;
  return heap_clean && killed.lost_nothing() && killed.stopped.heap_calls.value_or(0) == 0 &&
         lost == 0 && refused == 0 && live.sent.adds_up() && fast.sent.adds_up() &&
         live.stopped.exit_code == 0 && fast.stopped.exit_code == 0;
}

}  // namespace windhover
