#ifndef WINDHOVER_TOOLS_DAEMON_SERVE_H_
#define WINDHOVER_TOOLS_DAEMON_SERVE_H_

#include <string>

#include "windhover/tools/daemon/daemon_models.h"

namespace windhover {

// The exit code where a thread stands still and process.watchdog = "exit".
inline constexpr int kStalledExitCode = 3;

// Ignores signals that would end the process by default, and lose the posterior, though whoever
// sends them does not want that: a terminal that is closed, a script that has another daemon reopen
// its log. Called before anything else.
void ignore_other_signals();

// Serves until SIGTERM or SIGINT, with the lines "ready" and "stopped" on standard output and the
// log where the options say. `file`: the path of the configuration, for the log; may be empty.
// Returns after draining; RunError or UserError where it cannot serve. Where a thread stands still
// and process.watchdog = "exit", ends the process with kStalledExitCode: that thread cannot be
// joined.
void serve(const DaemonModels& models, const std::string& file);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_SERVE_H_
