// What a server has in its block.
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

// The memory that a server needs for one model, beside its engine. It lies in the server's block,
// or, for a model that was added, in a block of its own.
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

// A place for a model. Invariant: without a store it is free, and no endpoint reads it.
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
  std::size_t first_models;  // how many the server was created with
  Access access;
  std::span<ModelPlace> models;  // places of the first models, then of those that are added
  std::span<ModelStore> stores;  // of the first models
  EndpointMemory observe;
  EndpointMemory query;
  HttpMemory http;
};

struct HostedModel;

// Checks everything and lays the server out in `block`, as Server::create() says. Binds no model.
Result<ServerLayout*> place(const ServerConfig& config, std::span<const HostedModel> models,
                            std::span<std::byte> block) noexcept;

// Names one model and gives it its store and its engine. REQUIRES: the place is free.
Result<bool> bind_model(ServerLayout& layout, std::size_t index, ModelStore& store,
                        const HostedModel& hosted, const ServerConfig& config) noexcept;

// What an endpoint needs of a model, readers of its engine included. kUnavailable where the engine
// has none left.
Result<PlaceChange> entry_of(ServerLayout& layout, std::size_t index, EndpointKind kind) noexcept;

// Makes one of the first models known to all endpoints. Before use.
Result<bool> enter_model(ServerLayout& layout, std::size_t index) noexcept;

// Checks whether a model can be added, or can replace the one in place `instead_of`: its name, and
// the sizes of its requests and answers.
Result<bool> check_added(const ServerLayout& layout, const ServerConfig& config,
                         std::string_view name, const EngineConfig& engine,
                         std::optional<std::size_t> instead_of) noexcept;

// Notes which model `hosted` follows. After all are bound.
Result<bool> bind_leader(ServerLayout& layout, std::size_t index,
                         const HostedModel& hosted) noexcept;
// Calls Engine::follow() for the models that follow others. Before any thread is at work.
Result<bool> follow_leaders(ServerLayout& layout) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVER_LAYOUT_H_
