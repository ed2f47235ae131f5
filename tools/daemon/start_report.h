// What a daemon says of itself as it starts: to its log, and in the line that others wait for.
#ifndef WINDHOVER_TOOLS_DAEMON_START_REPORT_H_
#define WINDHOVER_TOOLS_DAEMON_START_REPORT_H_

#include <string>
#include <string_view>

#include "windhover/io/server.h"
#include "windhover/tools/daemon/daemon_log.h"
#include "windhover/tools/daemon/daemon_models.h"

namespace windhover {

// A sentence may be longer than a line of the log: then it is several.
void warn(DaemonLog& log, std::string_view sentence);
// What is served and of what size; nothing that must not be read by others.
void log_start(DaemonLog& log, const DaemonModels& models, const std::string& file,
               std::string_view version);
// Logs where it listens, and what it has kept. REQUIRES: the server is open.
void log_ready(DaemonLog& log, const ServerConfig& config, const Server& server);
// The same with the models, as a line: "ready observe=ADDR query=ADDR ...".
std::string ready_line(const DaemonModels& models, const ServerConfig& config,
                       const Server& server);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_START_REPORT_H_
