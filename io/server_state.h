// What the endpoints of a server share, and the sizes that follow from its configuration.
#ifndef WINDHOVER_IO_SERVER_STATE_H_
#define WINDHOVER_IO_SERVER_STATE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "windhover/io/counter_ids.h"
#include "windhover/io/served_model.h"
#include "windhover/io/server_config.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/histogram.h"

namespace windhover {

enum class EndpointKind : std::uint8_t { kObserve = 0, kQuery = 1, kHttp = 2 };
inline constexpr std::size_t kEndpointKinds = 3;

// The sizes that hold for all connections, whichever model they name.
struct Limits {
  std::uint32_t frame_cap = 0;
  std::uint32_t reply_cap = 0;  // the largest answer of any model, its prefix included
  std::uint32_t max_sessions = 0;
  // The largest of any model: rows of a question, its keys, parameters, parameters that an answer
  // holds, numbers in a page of draws.
  std::uint32_t max_query_rows = 0;
  std::uint32_t max_keys = 0;  // in a question or an outcome; 0: no model keeps any
  std::uint32_t dimension = 0;
  std::uint32_t described = 0;
  std::size_t page_numbers = 0;
  std::size_t read_buffer = 0;   // bytes for each session
  std::size_t reply_buffer = 0;  // likewise
  ConnectionLimits connection;
  std::int64_t hello_timeout_ns = 0;
  std::int64_t frame_timeout_ns = 0;
  std::int64_t idle_timeout_ns = 0;
  std::int64_t write_timeout_ns = 0;
  std::int64_t answer_timeout_ns = 0;
  std::int64_t wait_timeout_ns = 0;
  std::int64_t drain_timeout_ns = 0;
};

// REQUIRES: check(config, engine) is ok.
Limits limits_of(const ServerConfig& config, const EngineConfig& engine) noexcept;
// Raises the limits so that they hold for this model too.
void include(Limits& limits, const ModelLimits& model) noexcept;
// Raises them for models that may be added.
void include_added(Limits& limits, const AddedModelsConfig& added) noexcept;

class Access;
class ModelOrders;
class TlsContext;

struct ServerState {
  struct PerEndpoint {
    std::atomic<std::uint32_t> sessions{0};  // open now; written by the endpoint's thread
    Histogram query_latency;                 // likewise
    std::atomic<std::int64_t> beat_ns{0};    // its last sweep; likewise
  };

  std::int64_t now_ns() const noexcept { return clock->now_ns(); }
  PerEndpoint& of(EndpointKind kind) noexcept { return endpoints[static_cast<std::size_t>(kind)]; }

  Limits limits;
  Clock* clock = nullptr;
  const Access* access = nullptr;   // null: everybody may do everything
  const TlsContext* tls = nullptr;  // null: all is in the clear
  ModelOrders* orders = nullptr;    // null: no model can be added
  std::int64_t started_ns = 0;
  std::atomic<std::uint64_t> footprint_bytes{0};   // blocks of the server, its engines and OpenSSL
  std::uint64_t added_budget_bytes = 0;            // AddedModelsConfig::memory_bytes
  std::atomic<std::uint64_t> added_used_bytes{0};  // of it
  Counters<IoCounter> counters;
  std::array<PerEndpoint, kEndpointKinds> endpoints;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVER_STATE_H_
