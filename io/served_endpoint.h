// The state of one endpoint of a server.
#ifndef WINDHOVER_IO_SERVED_ENDPOINT_H_
#define WINDHOVER_IO_SERVED_ENDPOINT_H_

#include <cstdint>

#include "windhover/platform/histogram.h"

namespace windhover {

// As of the call. From any thread once the server has been started.
struct ServedEndpoint {
  std::uint16_t port = 0;             // TCP port bound by Server::open(); 0 without TCP
  std::uint32_t sessions = 0;         // open now
  std::uint32_t thread_warnings = 0;  // from start()'s thread: a mask of ThreadWarning
  // When its loop last swept its sessions, by the server's clock: once a second at least from
  // run_...() until it stops. 0: not yet; -1 without HTTP.
  std::int64_t beat_ns = 0;
  // Nanoseconds that questions took to answer, as HandlerLatency in windhover.proto says.
  const Histogram& latency;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVED_ENDPOINT_H_
