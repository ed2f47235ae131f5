// Where windhoverd listens for HTTP, as options.
#ifndef WINDHOVER_TOOLS_DAEMON_HTTP_OPTIONS_H_
#define WINDHOVER_TOOLS_DAEMON_HTTP_OPTIONS_H_

#include <string>
#include <vector>

#include "windhover/io/http/http_config.h"
#include "windhover/tools/daemon/daemon_options.h"

namespace windhover {

// Named "server.http." and the field. All three arguments must outlive the options. The addresses
// go into the two texts, of `config.listen` only the port is set.
std::vector<DaemonOption> http_options(HttpConfig& config, std::string& tcp_address,
                                       std::string& unix_path);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_HTTP_OPTIONS_H_
