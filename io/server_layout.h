// What a server has in its block, in the order in which it lies there.
#ifndef WINDHOVER_IO_SERVER_LAYOUT_H_
#define WINDHOVER_IO_SERVER_LAYOUT_H_

#include <cstddef>
#include <optional>
#include <span>

#include "windhover/io/access/access.h"
#include "windhover/io/durable/persistence.h"
#include "windhover/io/endpoint.h"
#include "windhover/io/http/http_memory.h"
#include "windhover/io/place_change.h"
#include "windhover/io/producer_table.h"
#include "windhover/io/server_state.h"
#include "windhover/platform/arena.h"
#include "windhover/platform/result.h"

namespace windhover {

// What a server needs of memory for one model, beside its engine. It lies in the server's block,
// or, for a model that was added, in one of its own.
struct ModelStore {
  ModelStore(Arena& arena, const ServerConfig& config) noexcept
      : producers(in_region(arena, "producers"), config.max_producers, owners_of(config)),
        persistence(arena, config.durable,
                    ProducerTable::most_shown(config.max_producers, owners_of(config))) {}

  static Arena& in_region(Arena& arena, const char* name) noexcept {
    arena.region(name);
    return arena;
  }

  ProducerTable producers;
  PersistenceMemory persistence;
};

// A place for a model. Invariant: without a store nobody is there, and no other thread looks.
struct ModelPlace {
  ServedModel served;
  ModelStore* store = nullptr;
};

// Everything that lies in the block.
struct ServerLayout {
  ServerLayout(Arena& arena, const ServerConfig& config, const Limits& limits,
               std::size_t model_count) noexcept
      : first_models(model_count),
        access(ModelStore::in_region(arena, "identities"),
               config.identities_file.empty() ? 0 : config.max_identities,
               places_of(config, model_count)),
        models(arena.make_array<ModelPlace>(places_of(config, model_count))),
        stores(arena.make_array<ModelStore>(model_count, arena, config)),
        observe(ModelStore::in_region(arena, "observe sessions"), limits,
                places_of(config, model_count)),
        query(ModelStore::in_region(arena, "query sessions"), limits,
              places_of(config, model_count)),
        http(arena, config.http, limits, places_of(config, model_count)) {
    state.limits = limits;
    if (config.added.enabled()) access.allow_later_models();
  }

  static std::size_t places_of(const ServerConfig& config, std::size_t model_count) noexcept {
    return model_count + (config.added.enabled() ? config.added.max_models : 0);
  }

  ServerState state;
  std::size_t first_models;  // those that the server was created with
  Access access;
  std::span<ModelPlace> models;  // with places for those that are added
  std::span<ModelStore> stores;  // of the models it was created with
  EndpointMemory observe;
  EndpointMemory query;
  HttpMemory http;
};

struct HostedModel;

// Lays it out in `block`, as Server::create() says; nothing is bound yet. Checks everything.
Result<ServerLayout*> place(const ServerConfig& config, std::span<const HostedModel> models,
                            std::span<std::byte> block) noexcept;

// Names one model and gives it its store and its engine. REQUIRES: nobody is in that place.
Result<bool> bind_model(ServerLayout& layout, std::size_t index, ModelStore& store,
                        const HostedModel& hosted, const ServerConfig& config) noexcept;

// What an endpoint is to know of it, with readers of its engine. kUnavailable without one of these.
Result<PlaceChange> entry_of(ServerLayout& layout, std::size_t index, EndpointKind kind) noexcept;

// Before use: all endpoints know one of the first models.
Result<bool> enter_model(ServerLayout& layout, std::size_t index) noexcept;

// Whether one more model is possible beside the others, or `instead_of` that one: its name, and
// what its requests and answers take.
Result<bool> check_added(const ServerLayout& layout, const ServerConfig& config,
                         std::string_view name, const EngineConfig& engine,
                         std::optional<std::size_t> instead_of) noexcept;

// After all are bound: who follows whom.
Result<bool> bind_leader(ServerLayout& layout, std::size_t index,
                         const HostedModel& hosted) noexcept;
// Has the models that follow others do so. Before any thread is at work.
Result<bool> follow_leaders(ServerLayout& layout) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVER_LAYOUT_H_
