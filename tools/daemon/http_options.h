// Where windhoverd listens for HTTP, as options.
#ifndef WINDHOVER_TOOLS_DAEMON_HTTP_OPTIONS_H_
#define WINDHOVER_TOOLS_DAEMON_HTTP_OPTIONS_H_

#include <string>
#include <vector>

#include "windhover/io/http/http_config.h"
#include "windhover/tools/daemon/daemon_options.h"

namespace windhover {

// Named "server.http." and the field. All three must outlive them; `config.listen` gets the port
// alone.
std::vector<DaemonOption> http_options(HttpConfig& config, std::string& tcp_address,
                                       std::string& unix_path);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_HTTP_OPTIONS_H_
