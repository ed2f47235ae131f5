// What the demonstration has measured, and the report of it.
#ifndef WINDHOVER_TOOLS_DEMONSTRATION_DEMO_REPORT_H_
#define WINDHOVER_TOOLS_DEMONSTRATION_DEMO_REPORT_H_

#include <array>
#include <cstdint>

#include "windhover/runtime/prediction/predictive.h"
#include "windhover/tools/client/send.h"
#include "windhover/tools/daemon/child_daemon.h"
#include "windhover/tools/demonstration/killed.h"

namespace windhover {

struct LiveResult {
  SendReport sent;
  Provenance provenance;
  v1::StatusResult status;
  std::uint64_t round_trips = 0;
  std::array<std::int64_t, 4> round_trip_ns{};  // p50, p99, p99.9, longest
  double kl_summary = 0;
  double kl_about_mode = 0;
  std::uint64_t block_bytes = 0;
  ChildDaemon::Stopped stopped;
};

struct FastResult {
  SendReport sent;
  double seconds_to_catch_up = 0;  // from the last acknowledgement until answers stood on that row
  double seconds_to_draws = 0;     // to answers that are no longer `warming_up`
  Provenance settled;
  ChildDaemon::Stopped stopped;
};

// Prints the report. Returns false where a row was lost or refused, a daemon called the heap, or
// one ended badly.
bool print_report(const LiveResult& live, const FastResult& fast, const KilledResult& killed);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DEMONSTRATION_DEMO_REPORT_H_
