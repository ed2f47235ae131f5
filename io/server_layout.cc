#include "windhover/io/server_layout.h"

#include <algorithm>
#include <array>
#include <limits>

#include "windhover/io/instance_id.h"
#include "windhover/io/server.h"

namespace windhover {
namespace {

constexpr const char* kNoModelName =
    "a model's name is 1 to 63 letters, digits, '_', '-' and '.', and begins with no '.'";
constexpr double kUnnumbered = std::numeric_limits<double>::quiet_NaN();  // an Error without one

std::size_t spare_of(const ServerConfig& config) noexcept {
  return config.added.enabled() ? config.added.max_models : 0;
}

// Checks the number of models and their names.
Result<bool> check_names(std::size_t count, std::size_t spare, auto&& name_of) noexcept {
  if (count < 1 || count + spare > kMaxModels) {
    return Error{Status::kInvalidConfig,
                 "a server has from 1 to 4096 models, those that may be added included",
                 static_cast<double>(count + spare)};
  }
  if (count == 1 && name_of(0).empty()) return true;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_model_name(name_of(i))) {
      return Error{Status::kInvalidConfig, kNoModelName, kUnnumbered};
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (name_of(i) == name_of(j)) {
        return Error{Status::kInvalidConfig, "two models of a server have the same name",
                     kUnnumbered};
      }
    }
  }
  return true;
}

// The limits of all models together. Checks each.
Result<Limits> limits_of_all(const ServerConfig& config, std::size_t count,
                             auto&& engine_of) noexcept {
  Limits limits;
  for (std::size_t i = 0; i < count; ++i) {
    const Result<bool> engine_possible = check(engine_of(i));
    if (!engine_possible.ok()) return engine_possible.error();
    const EngineConfig full = with_defaults(engine_of(i));
    const Result<bool> possible = check(config, full);
    if (!possible.ok()) return possible.error();
    if (i == 0) limits = limits_of(config, full);
    include(limits, limits_of(full));
  }
  if (config.added.enabled()) include_added(limits, config.added);
  return limits;
}

ServerLayout* lay_out(Arena& arena, const ServerConfig& config, const Limits& limits,
                      std::size_t models) noexcept {
  arena.region("server");
  return arena.make<ServerLayout>(arena, config, limits, models);
}

}  // namespace

Result<std::size_t> Server::plan(const ServerConfig& config, std::span<const PlannedModel> models,
                                 Arena& arena) noexcept {
  const Result<bool> named =
      check_names(models.size(), spare_of(config), [&](std::size_t i) { return models[i].name; });
  if (!named.ok()) return named.error();
  const Result<Limits> limits =
      limits_of_all(config, models.size(),
                    [&](std::size_t i) -> const EngineConfig& { return models[i].engine; });
  if (!limits.ok()) return limits.error();
  (void)lay_out(arena, config, limits.value(), models.size());
  return arena.used();
}

Result<std::size_t> Server::plan(const ServerConfig& config, const EngineConfig& engine,
                                 Arena& arena) noexcept {
  const PlannedModel only{{}, engine};
  return plan(config, {&only, 1}, arena);
}

Result<std::size_t> Server::footprint(const ServerConfig& config,
                                      std::span<const PlannedModel> models) noexcept {
  Arena arena = Arena::measuring();
  return plan(config, models, arena);
}

Result<std::size_t> Server::footprint(const ServerConfig& config,
                                      const EngineConfig& engine) noexcept {
  Arena arena = Arena::measuring();
  return plan(config, engine, arena);
}

Result<ServerLayout*> place(const ServerConfig& config, std::span<const HostedModel> models,
                            std::span<std::byte> block) noexcept {
  const Result<bool> named =
      check_names(models.size(), spare_of(config), [&](std::size_t i) { return models[i].name; });
  if (!named.ok()) return named.error();
  const Result<Limits> limits = limits_of_all(
      config, models.size(),
      [&](std::size_t i) -> const EngineConfig& { return models[i].engine->config(); });
  if (!limits.ok()) return limits.error();
  if (!Arena::is_aligned(block)) {
    return Error{Status::kInvalidArgument, "block must be aligned to this many bytes",
                 static_cast<double>(Arena::kAlignment)};
  }
  Arena measuring = Arena::measuring();
  (void)lay_out(measuring, config, limits.value(), models.size());
  const std::size_t needed = measuring.used();
  if (block.size() < needed) {
    return Error{Status::kArenaTooSmall, "block is too small; it must hold this many bytes",
                 static_cast<double>(needed)};
  }
  Arena arena(block);
  ServerLayout* const layout = lay_out(arena, config, limits.value(), models.size());
  if (layout == nullptr || arena.exhausted()) {
    return Error{Status::kArenaTooSmall, "block is too small; it must hold this many bytes",
                 static_cast<double>(arena.used())};
  }
  layout->observe.scratch.reset();
  layout->query.scratch.reset();
  if (layout->http.enabled()) layout->http.conversations->scratch.reset();
  layout->state.footprint_bytes = needed;
  layout->state.added_budget_bytes = config.added.memory_bytes;
  layout->state.access = &layout->access;
  return layout;
}

Result<bool> bind_model(ServerLayout& layout, std::size_t index, ModelStore& store,
                        const HostedModel& hosted, const ServerConfig& config) noexcept {
  ModelPlace& place = layout.models[index];
  ServedModel& model = place.served;
  Engine& engine = *hosted.engine;
  // Random numbers: the seed of the producers' hash, start_id, and instance_id unless the host
  // gives one.
  const Result<std::uint64_t> seed = random_instance_id();
  const Result<std::uint64_t> start = random_instance_id();
  const Result<std::uint64_t> instance = random_instance_id();
  if (!seed.ok()) return seed.error();
  if (!start.ok()) return start.error();
  if (!instance.ok()) return instance.error();
  model.called.set(hosted.name.empty() ? kOnlyModel : hosted.name);
  model.place = static_cast<std::uint32_t>(index);
  model.answered_by = model.place;
  model.schema_json = hosted.schema_json;
  model.limits = limits_of(engine.config());
  const std::size_t page =
      layout.state.limits.page_numbers / std::max<std::size_t>(model.limits.described, 1);
  model.limits.page_draws =
      static_cast<std::uint32_t>(std::min<std::size_t>(model.limits.page_draws, page));
  model.engine = &engine;
  model.takes_rows = hosted.follows.empty();
  model.producers = &store.producers;
  model.start_id = start.value();
  model.instance_id = config.instance_id != 0 ? config.instance_id : instance.value();
  store.producers.reset({.claims_per_connection = config.max_producers_per_connection,
                         .silence_ns = std::chrono::nanoseconds(config.producer_timeout).count(),
                         .seed = seed.value()});
  place.store = &store;
  const Result<std::size_t> engine_bytes = Engine::footprint(engine.config());
  if (engine_bytes.ok()) layout.state.footprint_bytes += engine_bytes.value();
  return true;
}

Result<PlaceChange> entry_of(ServerLayout& layout, std::size_t index, EndpointKind kind) noexcept {
  ServedModel& model = layout.models[index].served;
  PlaceChange entry;
  entry.place = index;
  entry.model = &model;
  const bool observes = kind == EndpointKind::kObserve;
  const bool http = kind == EndpointKind::kHttp;
  Error error;
  const auto take = [&error](std::optional<Reader>& place, const Result<Reader>& reader) {
    if (!reader.ok()) error = reader.error();
    if (reader.ok()) place.emplace(reader.value());
  };
  take(entry.reader, model.engine->reader());
  http ? take(entry.measuring, model.engine->watcher())
       : take(entry.in_pieces, model.engine->reader());
  const std::size_t pages = kind == EndpointKind::kQuery ? PagingTable::kMost : 1;
  for (std::size_t i = 0; i < pages; ++i) take(entry.paging[i], model.engine->watcher());
  if (!ok(error.status)) return error;
  if (observes && model.takes_rows) entry.producers = &layout.models[index].store->producers;
  return entry;
}

Result<bool> enter_model(ServerLayout& layout, std::size_t index) noexcept {
  ServerState& state = layout.state;
  for (auto [memory, kind] :
       {std::pair<ConversationMemory*, EndpointKind>{&layout.observe, EndpointKind::kObserve},
        std::pair<ConversationMemory*, EndpointKind>{&layout.query, EndpointKind::kQuery}}) {
    const Result<PlaceChange> entry = entry_of(layout, index, kind);
    if (!entry.ok()) return entry.error();
    memory->change(state, kind, entry.value());
  }
  if (!layout.http.enabled()) return true;
  const Result<PlaceChange> entry = entry_of(layout, index, EndpointKind::kHttp);
  if (!entry.ok()) return entry.error();
  layout.http.change(state, entry.value());
  return true;
}

Result<bool> check_added(const ServerLayout& layout, const ServerConfig& config,
                         std::string_view name, const EngineConfig& engine,
                         std::optional<std::size_t> instead_of) noexcept {
  const auto refuse = [](const char* sentence, double number = kUnnumbered) {
    return Error{Status::kInvalidConfig, sentence, number};
  };
  if (!is_model_name(name)) return refuse(kNoModelName);
  for (const ModelPlace& place : layout.models) {
    if (instead_of && &place == &layout.models[*instead_of]) continue;
    if (place.store != nullptr && place.served.name() == name) {
      return Error{Status::kInvalidArgument, "the server has a model of this name", kUnnumbered};
    }
  }
  const Result<bool> engine_possible = check(engine);
  if (!engine_possible.ok()) return engine_possible;
  const EngineConfig full = with_defaults(engine);
  const Result<bool> possible = check(config, full);
  if (!possible.ok()) return possible;
  if (full.follows) return refuse("a model that is added follows no other one");
  const Limits& most = layout.state.limits;
  const ModelLimits model = limits_of(full);
  if (model.dimension > most.dimension) {
    return refuse("the model has more parameters than server.added.max_parameters allows",
                  model.dimension);
  }
  if (model.described > most.described) {
    return refuse("its parameters would not fit into an answer of the server's", model.described);
  }
  if (model.max_query_rows > most.max_query_rows) {
    return refuse("engine.max_query_rows is larger than that of the models in the configuration",
                  model.max_query_rows);
  }
  if (model.reply_cap > most.reply_cap) {
    return refuse("an answer of engine.max_query_rows rows would be larger than the server's room",
                  model.reply_cap);
  }
  return true;
}

Result<bool> bind_leader(ServerLayout& layout, std::size_t index,
                         const HostedModel& hosted) noexcept {
  if (hosted.follows.empty()) return true;
  const auto leader = std::ranges::find_if(layout.models, [&](const ModelPlace& place) {
    return place.served.name() == hosted.follows;
  });
  if (leader == layout.models.end() || leader->served.place == index ||
      !leader->served.takes_rows) {
    return Error{Status::kInvalidConfig,
                 "a model that follows names another one, which follows nobody", kUnnumbered};
  }
  layout.models[index].served.follows = &leader->served;
  return true;
}

Result<bool> follow_leaders(ServerLayout& layout) noexcept {
  for (ModelPlace& place : layout.models) {
    const ServedModel* const leader = place.served.follows;
    if (leader == nullptr) continue;
    const Status status = place.served.engine->follow(*leader->engine);
    if (ok(status)) continue;
    return Error{status,
                 status == Status::kWrongDimension
                     ? "a model that follows another has rows of the same features"
                 : status == Status::kUnsupported
                     ? "a model that follows another needs follows = true"
                     : "a model that others follow needs max_followers for each of them",
                 kUnnumbered};
  }
  return true;
}

}  // namespace windhover
