// What a daemon says of itself as it starts: in its log, and in the line "ready".
#ifndef WINDHOVER_TOOLS_DAEMON_START_REPORT_H_
#define WINDHOVER_TOOLS_DAEMON_START_REPORT_H_

#include <string>
#include <string_view>

#include "windhover/io/server.h"
#include "windhover/tools/daemon/daemon_log.h"
#include "windhover/tools/daemon/daemon_models.h"

namespace windhover {

// Logs a warning, in several lines where the sentence is too long for one.
void warn(DaemonLog& log, std::string_view sentence);
// Logs what is served and how large it is; nothing secret.
void log_start(DaemonLog& log, const DaemonModels& models, const std::string& file,
               std::string_view version);
// Logs the addresses, and how many rows are kept. REQUIRES: the server is open.
void log_ready(DaemonLog& log, const ServerConfig& config, const Server& server);
// The line for standard output: "ready observe=ADDR query=ADDR ...".
std::string ready_line(const DaemonModels& models, const ServerConfig& config,
                       const Server& server);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_START_REPORT_H_
