// Adds and removes models while a server serves.
#include <algorithm>
#include <limits>
#include <memory>
#include <new>

#include "windhover/io/descriptors.h"
#include "windhover/io/server_impl.h"

namespace windhover {
namespace {

Error no_place(const ServerConfig& config) noexcept {
  if (!config.added.enabled()) {
    return Error{Status::kUnsupported,
                 "no model can be added: the configuration gives no memory to them "
                 "(server.added.memory)",
                 0};
  }
  return Error{Status::kUnavailable, "all places are taken, server.added.max_models",
               static_cast<double>(config.added.max_models)};
}

// The configuration with its folder, of which Keeping has the copy.
ServerConfig whole_config(const ServerImpl& server) noexcept {
  ServerConfig whole = server.config;
  if (server.keeping) whole.durable = server.keeping->config();
  return whole;
}

// The place for one more model. `instead_of`: a place that would be free.
Result<std::size_t> place_for(ServerImpl& server, std::string_view name, const EngineConfig& engine,
                              std::optional<std::size_t> instead_of) noexcept {
  const ServerLayout& layout = server.layout;
  const Result<bool> possible = check_added(layout, whole_config(server), name, engine, instead_of);
  if (!possible.ok()) return possible.error();
  if (server.keeping && server.keeping->has_file(name)) {
    return Error{Status::kInvalidConfig,
                 "the data folder has files of this name, or may have: lock, identity, "
                 "checkpoint-..., segment-...; another name is expected",
                 std::numeric_limits<double>::quiet_NaN()};
  }
  if (instead_of) return *instead_of;
  const auto served = static_cast<std::size_t>(
      std::ranges::count_if(layout.models, [](const ModelPlace& m) { return m.store != nullptr; }));
  if (most_descriptors(whole_config(server), served + 1) > descriptor_limit()) {
    return Error{Status::kUnavailable,
                 "with one more model, connections and logs may need more open files than the "
                 "process may have (ulimit -n, LimitNOFILE)",
                 static_cast<double>(descriptor_limit())};
  }
  for (std::size_t place = layout.first_models; place < layout.models.size(); ++place) {
    if (layout.models[place].store == nullptr) return place;
  }
  return no_place(server.config);
}

// Does all that can fail before a model is let in that has a place, a store and an engine.
Result<bool> make_ready(ServerImpl& server, std::size_t place) noexcept {
  ServerLayout& layout = server.layout;
  Result<PlaceChange> observed = entry_of(layout, place, EndpointKind::kObserve);
  const Result<PlaceChange> asked = entry_of(layout, place, EndpointKind::kQuery);
  const Result<PlaceChange> shown = server.http ? entry_of(layout, place, EndpointKind::kHttp)
                                                : Result<PlaceChange>(PlaceChange());
  for (const Result<PlaceChange>* const entry : {&std::as_const(observed), &asked, &shown}) {
    if (!entry->ok()) return entry->error();
  }
  layout.access.set_model(place, layout.models[place].served.name());
  const Result<std::size_t> known = layout.access.load(server.identities_file, server.add_sentence);
  if (!known.ok()) return known.error();
  if (server.keeping) {
    try {
      const Result<bool> kept = server.keeping->add(place, observed.value());
      if (!kept.ok()) return kept.error();
    } catch (const std::bad_alloc&) {
      return Error{Status::kUnavailable, "no heap memory to keep the model on disk", 0};
    }
  }
  layout.models[place].served.engine->tell_start();
  server.coming = ServerImpl::Coming{observed.value(), asked.value(), shown.value()};
  return true;
}

// What an added model takes of the host's budget: its engine's block and its store.
std::uint64_t added_bytes(const ServerImpl& server, const EngineConfig& engine) noexcept {
  const Result<std::size_t> block = Engine::footprint(engine);
  const Result<std::size_t> store = ServerModels::footprint(whole_config(server));
  return block.ok() && store.ok() ? Arena::aligned(block.value()) + store.value() : 0;
}

}  // namespace

Result<std::size_t> ServerModels::footprint(const ServerConfig& config) noexcept {
  Arena arena = Arena::measuring();
  (void)arena.make<ModelStore>(arena, config);
  return arena.used();
}

ModelOrders* ServerModels::orders() noexcept { return server_.layout.state.orders; }

Result<bool> ServerModels::check(std::string_view name, const EngineConfig& engine,
                                 std::optional<std::size_t> instead_of) noexcept {
  const Result<std::size_t> place = place_for(server_, name, engine, instead_of);
  if (!place.ok()) return place.error();
  const Result<std::size_t> known =
      server_.layout.access.load(server_.identities_file, server_.add_sentence);
  if (!known.ok()) return known.error();
  return true;
}

Result<std::size_t> ServerModels::add(const HostedModel& model,
                                      std::span<std::byte> store) noexcept {
  ServerLayout& layout = server_.layout;
  if (server_.coming) {
    return Error{
        Status::kUnavailable,
        "the model that was added last is to be let in, or forgotten, before another comes",
        std::numeric_limits<double>::quiet_NaN()};
  }
  const ServerConfig config = whole_config(server_);
  const Result<std::size_t> free = place_for(server_, model.name, model.engine->config(), {});
  if (!free.ok()) return free.error();
  const std::size_t place = free.value();
  const Result<std::size_t> needed = footprint(config);
  if (!Arena::is_aligned(store) || store.size() < needed.value()) {
    return Error{Status::kArenaTooSmall, "the store is too small; it must hold this many bytes",
                 static_cast<double>(needed.value())};
  }
  Arena arena(store);
  const Result<bool> bound =
      bind_model(layout, place, *arena.make<ModelStore>(arena, config), model, config);
  if (!bound.ok()) return bound.error();
  layout.state.added_used_bytes += added_bytes(server_, model.engine->config());
  const Result<bool> ready = make_ready(server_, place);
  if (!ready.ok()) {
    forget(place);
    return ready.error();
  }
  return place;
}

void ServerModels::let_in(std::size_t model) noexcept {
  WINDHOVER_CHECK(server_.coming && server_.coming->observed.place == model);
  server_.observe.change(server_.coming->observed);
  server_.query.change(server_.coming->asked);
  if (server_.http) server_.http->change(server_.coming->shown);
  server_.coming.reset();
}

void ServerModels::let_go_of(std::size_t model) noexcept {
  PlaceChange gone;
  gone.place = model;
  if (server_.http) server_.http->change(gone);
  server_.query.change(gone);
  server_.observe.change(gone);
  if (Persistence* const kept = server_.kept(model)) kept->stop();
}

void ServerModels::forget(std::size_t model) noexcept {
  ServerLayout& layout = server_.layout;
  if (server_.coming && server_.coming->observed.place == model) server_.coming.reset();
  if (server_.keeping) server_.keeping->drop(model);
  layout.access.set_model(model, {});
  // If the file cannot be read now, what it said of the name holds for nobody: the place is empty.
  Access::Sentence unread;
  (void)layout.access.load(server_.identities_file, unread);
  ModelPlace& place = layout.models[model];
  const Result<std::size_t> bytes = Engine::footprint(place.served.engine->config());
  if (bytes.ok()) layout.state.footprint_bytes -= bytes.value();
  layout.state.added_used_bytes -= added_bytes(server_, place.served.engine->config());
  std::destroy_at(&place.served);
  std::construct_at(&place.served);
  place.store = nullptr;
}

Status ServerModels::set_answered_by(std::size_t model, std::size_t by) noexcept {
  if (model >= places() || by >= places()) return Status::kInvalidArgument;
  ServedModel& served = server_.layout.models[model].served;
  const ServedModel& answers = server_.layout.models[by].served;
  if (model != by && answers.follows != &served) return Status::kInvalidArgument;
  served.answered_by.store(answers.place, std::memory_order_relaxed);
  return Status::kOk;
}
std::size_t ServerModels::answered_by(std::size_t model) const noexcept {
  return server_.layout.models[model].served.answered_by.load(std::memory_order_relaxed);
}
std::size_t ServerModels::count() const noexcept { return server_.layout.first_models; }
std::size_t ServerModels::places() const noexcept { return server_.layout.models.size(); }
std::string_view ServerModels::name(std::size_t model) const noexcept {
  return server_.layout.models[model].served.name();
}
std::uint64_t ServerModels::instance_id(std::size_t model) const noexcept {
  return server_.layout.models[model].served.instance_id;
}

}  // namespace windhover
