// What is counted between a socket and the engine.
#ifndef WINDHOVER_IO_COUNTER_IDS_H_
#define WINDHOVER_IO_COUNTER_IDS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "windhover/platform/counters.h"

namespace windhover {

enum class IoCounter : std::uint8_t {
  kConnectionsAccepted,
  kConnectionsRefused,   // no session was free
  kOperatorConnections,  // accepted on a place kept for operators
  kStrangersLetGo,       // closed before their Hello because others came and all places were taken
  kPlacesRefused,        // Hellos of an identity that has as many connections as it may
  kConnectionsClosed,    // by either side, in order or not
  kAcceptErrors,         // each is followed by a pause
  kAcceptWaits,          // a listener had accepted as many as it may, and let the next ones wait
  kTimeouts,             // sessions freed because the peer was silent, too slow, or did not read
  kWaitTimeouts,         // sessions ended because the window stayed full or the log did not go on
  kMalformedFrames,      // each closes its connection
  kOversizedFrames,      // likewise
  kHelloMissing,         // likewise
  kHelloRefused,         // version, model, fingerprint, durability, or no place; likewise
  kUnsupportedRequests,
  kNotPermitted,  // Hellos and requests of peers without the role that they need
  kFrames,        // requests read, whatever became of them
  kBytesReceived,
  kBytesSent,
  kRowsReceived,  // accepted + refused + duplicate, always
  kRowsAccepted,
  kRowsRefused,
  kRowsDuplicate,
  kFramesRefusedGap,        // a gap or an impossible sequence number; their rows count as refused
  kFramesRefusedProducer,   // producer busy, unknown, or one too many for a connection; likewise
  kFramesRefusedTableFull,  // no room for another producer; likewise
  kFramesRefusedShareFull,  // their identity has as many producers as it may; likewise
  kProducersTakenOver,      // by another connection, after being silent for producer_timeout
  kProducersForgotten,      // passing ones, for lack of room
  kWindowFullWaits,
  kLogBehindWaits,  // frames that waited because the log, or recovery, was behind
  kLimitWaits,      // how often a connection was not read because it was over its limits
  kTurnPauses,      // how often peers that ask much were held back for others (turn_spacing.h)
  kAcknowledgements,
  kQueries,
  kQueriesRefused,
  kWriteStalls,  // a peer's socket was full
  kSocketErrors,
  kTlsHandshakes,         // that succeeded
  kTlsFailures,           // bytes that are no TLS as required, or a bad certificate; each closes
  kTlsTimeouts,           // handshakes that took too long; likewise
  kTlsRefused,            // connections for which OpenSSL's memory had no room; likewise
  kEndpointFaults,        // an exception left an endpoint's loop, which was begun again
  kHandlerHeapFallbacks,  // must be 0: otherwise the promise of no heap calls is broken
  kCount,
};

template <>
struct CounterLabels<IoCounter> {
  static constexpr std::array<const char*, static_cast<std::size_t>(IoCounter::kCount)> kLabels = {
      "connections_accepted",
      "connections_refused",
      "operator_connections",
      "strangers_let_go",
      "places_refused",
      "connections_closed",
      "accept_errors",
      "accept_waits",
      "timeouts",
      "wait_timeouts",
      "malformed_frames",
      "oversized_frames",
      "hello_missing",
      "hello_refused",
      "unsupported_requests",
      "not_permitted",
      "frames",
      "bytes_received",
      "bytes_sent",
      "rows_received",
      "rows_accepted",
      "rows_refused",
      "rows_duplicate",
      "frames_refused_gap",
      "frames_refused_producer",
      "frames_refused_table_full",
      "frames_refused_share_full",
      "producers_taken_over",
      "producers_forgotten",
      "window_full_waits",
      "log_behind_waits",
      "limit_waits",
      "turn_pauses",
      "acknowledgements",
      "queries",
      "queries_refused",
      "write_stalls",
      "socket_errors",
      "tls_handshakes",
      "tls_failures",
      "tls_timeouts",
      "tls_refused",
      "endpoint_faults",
      "handler_heap_fallbacks",
  };
};

}  // namespace windhover

#endif  // WINDHOVER_IO_COUNTER_IDS_H_
