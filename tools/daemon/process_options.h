// The options of windhoverd as a process: threads, memory, log, watchdog.
#ifndef WINDHOVER_TOOLS_DAEMON_PROCESS_OPTIONS_H_
#define WINDHOVER_TOOLS_DAEMON_PROCESS_OPTIONS_H_

#include <chrono>
#include <vector>

#include "windhover/io/server.h"
#include "windhover/platform/thread.h"
#include "windhover/runtime/config.h"
#include "windhover/tools/daemon/daemon_log.h"
#include "windhover/tools/daemon/daemon_options.h"

namespace windhover {

// What the watchdog does about a thread that stands still.
struct WatchdogOptions {
  bool exit = false;  // the process ends; otherwise the log says so
  std::chrono::milliseconds timeout{10'000};
};

// The table [process].
struct ProcessOptions {
  bool prefault = true;
  bool lock_memory = false;
  IdleStrategy::Kind learner_idle = IdleStrategy::kPark;
  ThreadOptions learner{.name = "wh-learner"};
  ThreadOptions observe = Server::observe_thread_options();
  ThreadOptions query = Server::query_thread_options();
  DaemonLogOptions log;
  WatchdogOptions watchdog;

  // UserError where a thread asks for a processor or priority that does not exist, or the
  // watchdog's timeout is too short.
  void check() const;
  // The profile of --rt: threads pinned to processors of their own as far as there are any, FIFO
  // priority for the two that answer sockets, memory locked.
  void use_real_time_profile();
};

// Named "process." and the field; the number of learner threads is the engine's. `options` and
// `engine` must outlive them.
std::vector<DaemonOption> process_options(ProcessOptions& options, EngineConfig& engine);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_PROCESS_OPTIONS_H_
