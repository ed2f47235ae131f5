#ifndef WINDHOVER_TOOLS_DAEMON_SERVE_H_
#define WINDHOVER_TOOLS_DAEMON_SERVE_H_

#include <string>

#include "windhover/tools/daemon/daemon_models.h"

namespace windhover {

// What a process leaves behind when a thread of it stands still and process.watchdog says exit.
inline constexpr int kStalledExitCode = 3;

// Signals that would end the process by default, and with it the posterior, though nobody who sends
// one asks for that: a terminal that is closed, a script that has another daemon log. First thing.
void ignore_other_signals();

// Serves until SIGTERM or SIGINT, with the lines "ready" and "stopped" on standard output, and the
// log where the options say. `file`: the configuration's, for the log; may be empty. Returns after
// draining; RunError or UserError where it cannot serve. Where a thread stands still and that is to
// be the end, the process ends in here with kStalledExitCode: that thread cannot be waited for.
void serve(const DaemonModels& models, const std::string& file);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_SERVE_H_
