// What the two endpoints of a server share, and the sizes that follow from the configuration.
#ifndef WINDHOVER_IO_SERVER_STATE_H_
#define WINDHOVER_IO_SERVER_STATE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "windhover/io/counter_ids.h"
#include "windhover/io/durable/checkpoint_progress.h"
#include "windhover/io/durable/log_progress.h"
#include "windhover/io/messages.h"
#include "windhover/io/producer_table.h"
#include "windhover/io/server_config.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/histogram.h"
#include "windhover/runtime/engine.h"

namespace windhover {

enum class EndpointKind : std::uint8_t { kObserve = 0, kQuery = 1 };

struct Limits {
  std::uint32_t features = 0;
  std::uint32_t dimension = 0;
  std::uint32_t classes = 0;  // of a model of classes; otherwise 0
  std::uint32_t frame_cap = 0;
  std::uint32_t reply_cap = 0;  // the largest answer, its prefix included
  std::uint32_t max_rows = 0;
  std::uint32_t max_nonzeros = 0;
  std::uint32_t max_query_rows = 0;
  std::uint32_t max_sessions = 0;
  std::uint32_t retained_draws = 0;
  std::uint32_t page_draws = 0;  // draws of one DrawsResult
  std::size_t read_buffer = 0;   // bytes a session
  std::size_t reply_buffer = 0;  // likewise
  std::int64_t idle_timeout_ns = 0;
  std::int64_t write_timeout_ns = 0;
  std::int64_t drain_timeout_ns = 0;
};

// REQUIRES: check(config, engine) is ok.
Limits limits_of(const ServerConfig& config, const EngineConfig& engine) noexcept;

struct ServerState {
  struct PerEndpoint {
    std::atomic<std::uint32_t> sessions{0};  // open now; written by the endpoint's thread
    Histogram query_latency;                 // likewise
  };

  PerEndpoint& of(EndpointKind kind) noexcept { return endpoints[static_cast<std::size_t>(kind)]; }

  Limits limits;
  Engine* engine = nullptr;
  Clock* clock = nullptr;
  std::int64_t started_ns = 0;
  // Of the history: fixed before the endpoints open.
  std::uint64_t instance_id = 0;
  Durability durability = Durability::kMemory;
  LogProgress log;  // all 0 without one
  std::uint64_t log_capacity_bytes = 0;
  CheckpointProgress checkpoints;
  // Asks for one more, from any thread; gives the request's number. Null: no folder is kept.
  std::uint64_t (*request_checkpoint)(void* keeper) noexcept = nullptr;
  void* keeper = nullptr;
  const ProducerTable* producers = nullptr;  // the observe thread's; size() is anybody's
  std::uint64_t footprint_bytes = 0;
  Counters<IoCounter> counters;
  std::array<PerEndpoint, 2> endpoints;
  // The conversation whose frame found the window full first: until it has room the others wait.
  // The observe thread's own.
  const void* first_in_line = nullptr;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVER_STATE_H_
