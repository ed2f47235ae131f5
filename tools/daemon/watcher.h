// What the daemon's main thread does while the others work: once a second it compares counters,
// status and heartbeats with what they were, and tells the log and the service manager what has
// changed. The threads that learn and serve never log.
#ifndef WINDHOVER_TOOLS_DAEMON_WATCHER_H_
#define WINDHOVER_TOOLS_DAEMON_WATCHER_H_

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/io/server.h"
#include "windhover/platform/clock.h"
#include "windhover/runtime/engine.h"
#include "windhover/tools/daemon/answer_choice.h"
#include "windhover/tools/daemon/certificate_report.h"
#include "windhover/tools/daemon/count_report.h"
#include "windhover/tools/daemon/daemon_log.h"
#include "windhover/tools/daemon/keeping_report.h"
#include "windhover/tools/daemon/learners.h"
#include "windhover/tools/daemon/notifier.h"
#include "windhover/tools/daemon/process_options.h"
#include "windhover/tools/daemon/stalls.h"
#include "windhover/tools/daemon/status_report.h"

namespace windhover {

struct Watched {
  std::span<Engine* const> engines;  // of the server's models, in its order
  Server& server;
  const Learners& learners;
  std::string folder;  // where each model has a folder of its name; empty: none
};

// One model and its reports.
struct WatchedModel {
  Engine& engine;
  std::size_t place;
  Reader reader;
  StatusReport status;
  CountReport counts;
  KeepingReport keeping;
  AnswerChoice choice;
  PosteriorStatus last;
  std::size_t answered_by;  // the place of the model that answers
};

// One thread, while the server serves. All that it refers to outlives it. No heap call after the
// constructor, except in add() and remove(), which another thread calls: a lock separates them from
// a look.
class Watcher {
 public:
  enum class End : std::uint8_t { kSignal, kStalled };

  // Takes a reader from each engine. UserError where there is none.
  Watcher(const Watched& watched, const WatchdogOptions& options, DaemonLog& log,
          Notifier& notifier);

  // Watches until one of `signals`, which are blocked, comes: SIGHUP has the log's file opened anew
  // and identities and certificates taken up, the others end it. Ends also where a thread stands
  // still and the options say so.
  End run(const sigset_t& signals) noexcept;

  // A model has come to this place of the server, or is about to leave it. Called by another
  // thread. UserError where the engine has no reader to spare.
  void add(Engine& engine, std::size_t place);
  void remove(std::size_t place) noexcept;

  // What ended run().
  int signal() const noexcept { return signal_; }
  std::string_view stalled() const noexcept { return stalls_.first(); }

  // Logs what is still unsaid, and the totals. REQUIRES: all other threads have ended.
  void finish() noexcept;

 private:
  Stalls::Beats beats() const noexcept;
  int wait(const sigset_t& signals, std::chrono::nanoseconds period) noexcept;
  void look() noexcept;
  void look_at_answers(WatchedModel& model) noexcept;
  void look_at_log() noexcept;
  void reload() noexcept;
  void take_up_identities() noexcept;
  void tell() noexcept;
  std::uint64_t rows() const noexcept;

  Server& server_;
  const Learners& learners_;
  WatchdogOptions options_;
  DaemonLog& log_;
  Notifier& notifier_;
  RealClock clock_;
  std::int64_t started_ns_;
  std::int64_t last_ns_;
  const std::string folder_;
  std::mutex changing_;
  std::list<WatchedModel> models_;
  std::vector<ParameterSummary> parameters_;  // scratch for the largest model
  CountReport counts_;
  std::optional<CountReport> http_counts_;  // where HTTP is on
  CertificateReport certificate_;
  CertificateReport client_ca_;
  Stalls stalls_;
  std::uint64_t dropped_ = 0;
  int signal_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_WATCHER_H_
