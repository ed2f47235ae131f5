#ifndef WINDHOVER_IO_HTTP_HTTP_COUNTERS_H_
#define WINDHOVER_IO_HTTP_HTTP_COUNTERS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "windhover/platform/counters.h"

namespace windhover {

// What is counted at the HTTP endpoint.
enum class HttpCounter : std::uint8_t {
  kConnectionsAccepted,
  kConnectionsRefused,  // max_connections are open
  kTimeouts,            // connections closed because a request or an answer took too long
  kMalformed,           // bytes that are no request, or one too large; each closes its connection
  kRequests,            // read whole, whatever the answer
  kAnswersOk,           // 2xx
  kAnswersClientError,  // 4xx
  kAnswersServerError,  // 5xx
  kOverLimits,          // 429, among the 4xx: the sender was over its limits
  kExceptions,          // usually no memory; each closes its connection
  kCount,
};

template <>
struct CounterLabels<HttpCounter> {
  static constexpr std::array<const char*, static_cast<std::size_t>(HttpCounter::kCount)> kLabels =
      {"connections_accepted",
       "connections_refused",
       "timeouts",
       "malformed",
       "requests",
       "answers_ok",
       "answers_client_error",
       "answers_server_error",
       "over_limits",
       "exceptions"};
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_HTTP_COUNTERS_H_
