#include "windhover/tools/daemon/http_options.h"

namespace windhover {

std::vector<DaemonOption> http_options(HttpConfig& config, std::string& tcp_address,
                                       std::string& unix_path) {
  return {
      text("server.http.tcp_address", "numeric; empty: 127.0.0.1 where there is a tcp_port",
           tcp_address),
      number("server.http.tcp_port", "0: any free one where there is a tcp_address, else off",
             config.listen.tcp_port),
      text("server.http.unix_path", "empty: none", unix_path),
      number("server.http.max_connections", "at a time", config.max_connections),
      number("server.http.header_cap", "bytes of a request's head", config.header_cap),
      number("server.http.body_cap", "bytes of its body", config.body_cap),
      number("server.http.header_timeout", "ms for the head", config.header_timeout),
      number("server.http.request_timeout", "ms for a request, and again for its answer",
             config.request_timeout),
      number("server.http.idle_timeout", "ms between two requests", config.idle_timeout),
      number("server.http.stall_timeout", "ms without a sign of life, then /healthz says 503",
             config.stall_timeout),
  };
}

}  // namespace windhover
