#include "windhover/io/server_layout.h"

#include <algorithm>
#include <limits>

#include "windhover/io/instance_id.h"
#include "windhover/io/server.h"

namespace windhover {
namespace {

constexpr double kUnnumbered = std::numeric_limits<double>::quiet_NaN();  // of an Error

// Whether these names can stand beside one another.
Result<bool> check_names(std::size_t count, auto&& name_of) noexcept {
  if (count < 1 || count > kMaxModels) {
    return Error{Status::kInvalidConfig, "a server has from 1 to 4096 models",
                 static_cast<double>(count)};
  }
  if (count == 1 && name_of(0).empty()) return true;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_model_name(name_of(i))) {
      return Error{Status::kInvalidConfig,
                   "a model's name is 1 to 63 letters, digits, '_', '-' and '.', and begins with "
                   "no '.'",
                   kUnnumbered};
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

// What all models need, and that each is possible.
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
      check_names(models.size(), [&](std::size_t i) { return models[i].name; });
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
      check_names(models.size(), [&](std::size_t i) { return models[i].name; });
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
  layout->state.footprint_bytes = needed;
  layout->state.access = &layout->access;
  return layout;
}

Result<bool> bind_model(ServerLayout& layout, std::size_t index, const HostedModel& hosted,
                        const ServerConfig& config) noexcept {
  ModelMemory& memory = layout.models[index];
  ServedModel& model = memory.served;
  Engine& engine = *hosted.engine;
  model.set_name(hosted.name.empty() ? kOnlyModel : hosted.name);
  model.place = static_cast<std::uint32_t>(index);
  model.answered_by = model.place;
  layout.access.set_model(index, model.name());
  model.schema_json = hosted.schema_json;
  model.limits = limits_of(engine.config());
  model.engine = &engine;
  model.producers = &memory.producers;
  const Result<std::size_t> engine_bytes = Engine::footprint(engine.config());
  if (engine_bytes.ok()) layout.state.footprint_bytes += engine_bytes.value();
  // Of the hash of producers and, unless the host gives one, of the history.
  const Result<std::uint64_t> seed = random_instance_id();
  const Result<std::uint64_t> instance = random_instance_id();
  if (!seed.ok()) return seed.error();
  if (!instance.ok()) return instance.error();
  model.instance_id = config.instance_id != 0 ? config.instance_id : instance.value();
  memory.producers.reset({.claims_per_connection = config.max_producers_per_connection,
                          .silence_ns = std::chrono::nanoseconds(config.producer_timeout).count(),
                          .seed = seed.value()});
  HttpMemory& http = layout.http;
  if (http.enabled()) {
    const Result<Reader> reader = engine.reader();
    if (!reader.ok()) return reader.error();
    http.readers[index] = reader.value();
  }
  for (auto [memory_of, kind] :
       {std::pair<ConversationMemory*, EndpointKind>{&layout.observe, EndpointKind::kObserve},
        std::pair<ConversationMemory*, EndpointKind>{&layout.query, EndpointKind::kQuery},
        std::pair{http.enabled() ? &*http.conversations : nullptr, EndpointKind::kHttp}}) {
    if (memory_of == nullptr) continue;
    const Result<Reader> reader = engine.reader();
    const Result<Reader> paging = engine.reader();
    if (!reader.ok()) return reader.error();
    if (!paging.ok()) return paging.error();
    memory_of->bind(layout.state, kind, index, model, reader.value(), paging.value());
    if (kind == EndpointKind::kHttp) continue;  // nobody else waits for its thread
    const Result<Reader> in_pieces = engine.reader();
    if (!in_pieces.ok()) return in_pieces.error();
    memory_of->queries[index].set_reader_in_pieces(in_pieces.value());
    for (std::size_t more = 1; kind == EndpointKind::kQuery && more < PagingTable::kMost; ++more) {
      const Result<Reader> another = engine.reader();
      if (!another.ok()) return another.error();
      memory_of->queries[index].add_paging(another.value());
    }
  }
  if (hosted.follows.empty()) layout.observe.models[index].producers = &memory.producers;
  layout.observe.context.rows_only = config.observe_rows_only;
  return true;
}

Result<bool> bind_leader(ServerLayout& layout, std::size_t index,
                         const HostedModel& hosted) noexcept {
  if (hosted.follows.empty()) return true;
  const auto leader = std::ranges::find_if(layout.models, [&](const ModelMemory& memory) {
    return memory.served.name() == hosted.follows;
  });
  if (leader == layout.models.end() || leader->served.place == index ||
      layout.observe.models[leader->served.place].producers == nullptr) {
    return Error{Status::kInvalidConfig,
                 "a model that follows names another one, which follows nobody", kUnnumbered};
  }
  layout.models[index].served.follows = &leader->served;
  return true;
}

Result<bool> follow_leaders(ServerLayout& layout) noexcept {
  for (ModelMemory& memory : layout.models) {
    const ServedModel* const leader = memory.served.follows;
    if (leader == nullptr) continue;
    const Status status = memory.served.engine->follow(*leader->engine);
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
