// Models that come and go while a server serves.
#include <limits>
#include <memory>
#include <new>

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

}  // namespace

Result<std::size_t> Server::model_footprint(const ServerConfig& config) noexcept {
  Arena arena = Arena::measuring();
  (void)arena.make<ModelStore>(arena, config);
  return arena.used();
}

ModelOrders* Server::model_orders() noexcept { return impl_->layout.state.orders; }

Result<std::size_t> Server::Impl::place_for(std::string_view name, const EngineConfig& engine,
                                            std::optional<std::size_t> instead_of) noexcept {
  const Result<bool> possible = check_added(layout, whole_config(), name, engine, instead_of);
  if (!possible.ok()) return possible.error();
  if (keeping && keeping->has_file(name)) {
    return Error{Status::kInvalidConfig,
                 "the data folder has files of this name, or may have: lock, identity, "
                 "checkpoint-..., segment-...; another name is expected",
                 std::numeric_limits<double>::quiet_NaN()};
  }
  if (instead_of) return *instead_of;
  for (std::size_t place = layout.first_models; place < layout.models.size(); ++place) {
    if (layout.models[place].store == nullptr) return place;
  }
  return no_place(config);
}

// With the folder, which Keeping has.
ServerConfig Server::Impl::whole_config() const noexcept {
  ServerConfig whole = config;
  if (keeping) whole.durable = keeping->config();
  return whole;
}

Result<bool> Server::check_model(std::string_view name, const EngineConfig& engine,
                                 std::optional<std::size_t> instead_of) noexcept {
  const Result<std::size_t> place = impl_->place_for(name, engine, instead_of);
  if (!place.ok()) return place.error();
  const Result<std::size_t> known =
      impl_->layout.access.load(impl_->identities_file, impl_->add_sentence);
  if (!known.ok()) return known.error();
  return true;
}

Result<std::size_t> Server::add_model(const HostedModel& model,
                                      std::span<std::byte> store) noexcept {
  ServerLayout& layout = impl_->layout;
  const ServerConfig config = impl_->whole_config();
  const Result<std::size_t> free = impl_->place_for(model.name, model.engine->config(), {});
  if (!free.ok()) return free.error();
  const std::size_t place = free.value();
  const Result<std::size_t> needed = model_footprint(config);
  if (!Arena::is_aligned(store) || store.size() < needed.value()) {
    return Error{Status::kArenaTooSmall, "the store is too small; it must hold this many bytes",
                 static_cast<double>(needed.value())};
  }
  Arena arena(store);
  const Result<bool> bound =
      bind_model(layout, place, *arena.make<ModelStore>(arena, config), model, config);
  if (!bound.ok()) return bound.error();
  const Result<bool> ready = impl_->make_ready(place);
  if (!ready.ok()) {
    forget_model(place);
    return ready.error();
  }
  return place;
}

Result<bool> Server::Impl::make_ready(std::size_t place) noexcept {
  Result<PlaceChange> observed = entry_of(layout, place, EndpointKind::kObserve);
  const Result<PlaceChange> asked = entry_of(layout, place, EndpointKind::kQuery);
  const Result<PlaceChange> shown =
      http ? entry_of(layout, place, EndpointKind::kHttp) : Result<PlaceChange>(PlaceChange());
  for (const Result<PlaceChange>* const entry : {&std::as_const(observed), &asked, &shown}) {
    if (!entry->ok()) return entry->error();
  }
  layout.access.set_model(place, layout.models[place].served.name());
  const Result<std::size_t> known = layout.access.load(identities_file, add_sentence);
  if (!known.ok()) return known.error();
  if (keeping) {
    try {
      const Result<bool> kept = keeping->add(place, observed.value());
      if (!kept.ok()) return kept.error();
    } catch (const std::bad_alloc&) {
      return Error{Status::kUnavailable, "no heap memory to keep the model on disk", 0};
    }
  }
  layout.models[place].served.engine->tell_start();
  coming = Coming{observed.value(), asked.value(), shown.value()};
  return true;
}

void Server::let_in_model(std::size_t model) noexcept {
  WINDHOVER_CHECK(impl_->coming && impl_->coming->observed.place == model);
  impl_->observe.change(impl_->coming->observed);
  impl_->query.change(impl_->coming->asked);
  if (impl_->http) impl_->http->change(impl_->coming->shown);
  impl_->coming.reset();
}

void Server::let_go_of_model(std::size_t model) noexcept {
  PlaceChange gone;
  gone.place = model;
  if (impl_->http) impl_->http->change(gone);
  impl_->query.change(gone);
  impl_->observe.change(gone);
  if (Persistence* const kept = impl_->kept(model)) kept->stop();
}

void Server::forget_model(std::size_t model) noexcept {
  ServerLayout& layout = impl_->layout;
  if (impl_->coming && impl_->coming->observed.place == model) impl_->coming.reset();
  if (impl_->keeping) impl_->keeping->drop(model);
  layout.access.set_model(model, {});
  // Without it what the file said of the name holds for nobody: the place has no model.
  Access::Sentence unread;
  (void)layout.access.load(impl_->identities_file, unread);
  ModelPlace& place = layout.models[model];
  const Result<std::size_t> bytes = Engine::footprint(place.served.engine->config());
  if (bytes.ok()) layout.state.footprint_bytes -= bytes.value();
  std::destroy_at(&place.served);
  std::construct_at(&place.served);
  place.store = nullptr;
}

}  // namespace windhover
