// What a server has in its block, in the order in which it lies there.
#ifndef WINDHOVER_IO_SERVER_LAYOUT_H_
#define WINDHOVER_IO_SERVER_LAYOUT_H_

#include <cstddef>
#include <span>

#include "windhover/io/access/access.h"
#include "windhover/io/durable/persistence.h"
#include "windhover/io/endpoint.h"
#include "windhover/io/http/http_memory.h"
#include "windhover/io/producer_table.h"
#include "windhover/io/server_state.h"
#include "windhover/platform/arena.h"
#include "windhover/platform/result.h"

namespace windhover {

// What lies in the block for one model.
struct ModelMemory {
  ModelMemory(Arena& arena, const ServerConfig& config) noexcept
      : producers(in_region(arena, "producers"), config.max_producers),
        persistence(arena, config.durable, config.max_producers) {}

  static Arena& in_region(Arena& arena, const char* name) noexcept {
    arena.region(name);
    return arena;
  }

  ServedModel served;
  ProducerTable producers;
  PersistenceMemory persistence;
};

// Everything that lies in the block.
struct ServerLayout {
  ServerLayout(Arena& arena, const ServerConfig& config, const Limits& limits,
               std::size_t model_count) noexcept
      : access(ModelMemory::in_region(arena, "identities"),
               config.identities_file.empty() ? 0 : config.max_identities, model_count),
        models(arena.make_array<ModelMemory>(model_count, arena, config)),
        observe(ModelMemory::in_region(arena, "observe sessions"), limits, model_count),
        query(ModelMemory::in_region(arena, "query sessions"), limits, model_count),
        http(arena, config.http, limits, model_count) {
    state.limits = limits;
  }

  ServerState state;
  Access access;
  std::span<ModelMemory> models;
  EndpointMemory observe;
  EndpointMemory query;
  HttpMemory http;
};

struct HostedModel;

// Lays it out in `block`, as Server::create() says; nothing is bound yet. Checks everything.
Result<ServerLayout*> place(const ServerConfig& config, std::span<const HostedModel> models,
                            std::span<std::byte> block) noexcept;

// Names one model and gives it its engine and that one's readers, on every endpoint.
Result<bool> bind_model(ServerLayout& layout, std::size_t index, const HostedModel& hosted,
                        const ServerConfig& config) noexcept;

// After all are bound: who follows whom.
Result<bool> bind_leader(ServerLayout& layout, std::size_t index,
                         const HostedModel& hosted) noexcept;
// Has the models that follow others do so. Before any thread is at work.
Result<bool> follow_leaders(ServerLayout& layout) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVER_LAYOUT_H_
