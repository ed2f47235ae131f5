// Refusals, limits and faults in the log: how many of each kind since the last line about it.
#ifndef WINDHOVER_TOOLS_DAEMON_COUNT_REPORT_H_
#define WINDHOVER_TOOLS_DAEMON_COUNT_REPORT_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "windhover/io/counter_ids.h"
#include "windhover/io/http/http_counters.h"
#include "windhover/platform/counters.h"
#include "windhover/runtime/counter_ids.h"
#include "windhover/tools/daemon/daemon_log.h"

namespace windhover {

// One thread. Counters and log outlive it. No heap call after the constructor.
class CountReport {
 public:
  // Reports on a server's sockets, on its HTTP, or on one of its models. Counts from before are not
  // reported.
  CountReport(const Counters<IoCounter>& io, DaemonLog& log) noexcept;
  CountReport(const Counters<HttpCounter>& http, DaemonLog& log) noexcept;
  CountReport(std::string_view model, const Counters<RuntimeCounter>& runtime,
              DaemonLog& log) noexcept;

  // Logs each kind of which something was counted. A kind that was logged a short while ago waits,
  // and its counts go into a later line.
  void look(std::int64_t now_ns) noexcept;
  // Logs the counts that wait.
  void finish() noexcept;

 private:
  static constexpr std::size_t kKinds = 5;
  CountReport(std::string_view model, const Counters<RuntimeCounter>* runtime,
              const Counters<IoCounter>* io, const Counters<HttpCounter>* http,
              DaemonLog& log) noexcept;
  bool log_kind(std::size_t kind) noexcept;

  std::string_view model_;  // empty: of the server
  // One of them is not null.
  const Counters<RuntimeCounter>* runtime_;
  const Counters<IoCounter>* io_;
  const Counters<HttpCounter>* http_;
  DaemonLog& log_;
  std::array<std::uint64_t, Counters<RuntimeCounter>::size()> runtime_said_{};
  std::array<std::uint64_t, Counters<IoCounter>::size()> io_said_{};
  std::array<std::uint64_t, Counters<HttpCounter>::size()> http_said_{};
  std::array<std::int64_t, kKinds> not_before_ns_{};
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_COUNT_REPORT_H_
