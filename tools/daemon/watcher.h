// What the daemon's main thread does while the others work: once a second it compares counters,
// status and heartbeats with what they were, and tells the log and the service manager what has
// changed. So no other thread ever logs.
#ifndef WINDHOVER_TOOLS_DAEMON_WATCHER_H_
#define WINDHOVER_TOOLS_DAEMON_WATCHER_H_

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/io/server.h"
#include "windhover/platform/clock.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/learner_thread.h"
#include "windhover/tools/daemon/count_report.h"
#include "windhover/tools/daemon/daemon_log.h"
#include "windhover/tools/daemon/keeping_report.h"
#include "windhover/tools/daemon/notifier.h"
#include "windhover/tools/daemon/process_options.h"
#include "windhover/tools/daemon/stalls.h"
#include "windhover/tools/daemon/status_report.h"

namespace windhover {

struct Watched {
  Engine& engine;
  Server& server;
  const LearnerThread& learner;
  std::string model;  // what the log calls it
};

// One thread, from when the server serves. All that it refers to outlives it. Takes a Reader. No
// heap call after the constructor.
class Watcher {
 public:
  enum class End : std::uint8_t { kSignal, kStalled };

  Watcher(Watched watched, Reader reader, const WatchdogOptions& options, DaemonLog& log,
          Notifier& notifier);

  // Watches until one of `signals` comes, which are blocked: SIGHUP opens the log's file anew, the
  // others end it; or until a thread stands still and the options say to end then.
  End run(const sigset_t& signals) noexcept;

  // After run(): what ended it.
  int signal() const noexcept { return signal_; }
  std::string_view stalled() const noexcept { return stalls_.first(); }

  // When all threads have ended: what is still to be said, and the totals.
  void finish() noexcept;

 private:
  Stalls::Beats beats() const noexcept;
  int wait(const sigset_t& signals, std::chrono::nanoseconds period) noexcept;
  void look() noexcept;
  void look_at_log() noexcept;
  void reload() noexcept;
  void tell(const Provenance& provenance) noexcept;

  Watched watched_;
  Reader reader_;
  std::vector<ParameterSummary> parameters_;
  WatchdogOptions options_;
  DaemonLog& log_;
  Notifier& notifier_;
  RealClock clock_;
  std::int64_t started_ns_;
  std::int64_t last_ns_;
  StatusReport status_;
  CountReport counts_;
  KeepingReport keeping_;
  Stalls stalls_;
  std::uint64_t dropped_ = 0;
  int signal_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_WATCHER_H_
