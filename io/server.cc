#include "windhover/io/server.h"

#include <cerrno>
#include <new>
#include <string>
#include <utility>

#include "windhover/io/descriptors.h"
#include "windhover/io/server_impl.h"

namespace windhover {
namespace {

ServedEndpoint stand_of(const ServerState::PerEndpoint& state, std::uint16_t port,
                        const Thread& thread) noexcept {
  return {.port = port,
          .sessions = state.sessions.load(std::memory_order_relaxed),
          .thread_warnings = thread.warnings(),
          .beat_ns = state.beat_ns.load(std::memory_order_relaxed),
          .latency = state.query_latency};
}

}  // namespace

Result<std::unique_ptr<Server>> Server::create(const ServerConfig& config,
                                               std::span<const HostedModel> models,
                                               std::span<std::byte> block, Clock& clock) noexcept {
  const Result<ServerLayout*> placed = place(config, models, block);
  if (!placed.ok()) return placed.error();
  ServerLayout& layout = *placed.value();
  layout.state.clock = &clock;
  layout.state.started_ns = clock.now_ns();
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Result<bool> bound = bind_model(layout, i, layout.stores[i], models[i], config);
    if (!bound.ok()) return bound.error();
    layout.access.set_model(i, layout.models[i].served.name());
    const Result<bool> entered = enter_model(layout, i);
    if (!entered.ok()) return entered.error();
  }
  layout.observe.context.rows_only = config.observe_rows_only;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Result<bool> bound = bind_leader(layout, i, models[i]);
    if (!bound.ok()) return bound.error();
  }
  // Asio and the heap throw; no exception may leave this library.
  try {
    auto impl = std::make_unique<ServerImpl>(config, models, layout);
    if (impl->orders && !impl->orders->valid()) {
      return Error{Status::kIoError, "no descriptor to wait for orders of models with", EMFILE,
                   true};
    }
    return std::unique_ptr<Server>(new Server(std::move(impl)));
  } catch (const std::bad_alloc&) {
    return Error{Status::kUnavailable, "no heap memory for Asio's objects", 0};
  } catch (const boost::system::system_error& error) {
    return Error{Status::kIoError, "no descriptors for Asio's io_context",
                 static_cast<double>(error.code().value()), true};
  }
}

Result<std::unique_ptr<Server>> Server::create(const ServerConfig& config, Engine& engine,
                                               std::span<std::byte> block, Clock& clock) noexcept {
  const HostedModel only{{}, &engine};
  return create(config, {&only, 1}, block, clock);
}

Server::Server(std::unique_ptr<ServerImpl> impl) noexcept : impl_(std::move(impl)) {}

Server::~Server() {
  if (impl_->observe_thread.joinable() || impl_->query_thread.joinable()) {
    request_stop();
    join();
  }
}

Result<bool> Server::open() noexcept {
  if (const Result<std::size_t> loaded = reload(); !loaded.ok()) return loaded.error();
  try {
    if (impl_->keeping) {
      const Result<bool> recovered = impl_->keeping->open();
      if (!recovered.ok()) return recovered;
    }
    const Result<bool> followed = follow_leaders(impl_->layout);
    if (!followed.ok()) return followed;
    for (const ModelPlace& model : impl_->layout.models) {
      if (model.served.engine != nullptr) model.served.engine->tell_start();
    }
    // Room for the descriptors of connections, also between HTTP and the observe endpoint; files
    // are open by now.
    reserve_descriptors(most_descriptors(impl_->config, impl_->layout.models.size()));
    Result<bool> observe = impl_->observe.open(impl_->config, impl_->config.observe);
    if (!observe.ok()) return observe;
    Result<bool> query = impl_->query.open(impl_->config, impl_->config.query);
    if (!query.ok() || !impl_->http) return query;
    ListenConfig listens = impl_->config.observe;
    listens.tcp_port = impl_->observe.port();
    std::string inner;
    if (impl_->config.tls.enabled()) {
      const Result<bool> opened = impl_->observe.open_inner(inner);
      if (!opened.ok()) return opened;
      listens = {.tcp_address = {}, .tcp_port = 0, .unix_path = inner};
    }
    impl_->http->point_to(listens);
    return impl_->http->open();
  } catch (const std::bad_alloc&) {
    return Error{Status::kUnavailable, "no heap memory for Asio's objects", 0};
  } catch (const boost::system::system_error& error) {
    return Error{Status::kIoError, "the server cannot be opened",
                 static_cast<double>(error.code().value()), true};
  }
}

Result<std::size_t> Server::reload() noexcept {
  TlsSettings settings;
  if (impl_->config.tls.enabled()) {
    const Result<bool> read = impl_->tls.read(impl_->config.tls, settings);
    if (!read.ok()) return read.error();
  }
  const Result<std::size_t> loaded =
      impl_->layout.access.load(impl_->identities_file, impl_->reload_sentence);
  if (loaded.ok() && impl_->config.tls.enabled()) impl_->tls.use(std::move(settings));
  return loaded;
}

bool Server::asks_who() const noexcept { return impl_->layout.access.has_file(); }

TlsDates Server::certificates() const noexcept { return impl_->tls.dates(); }

void Server::run_observe() noexcept { ServerImpl::run_observe(impl_.get()); }
void Server::run_query() noexcept { ServerImpl::run_query(impl_.get()); }
void Server::run_http() noexcept {
  if (impl_->http) impl_->http->run();
}

ThreadOptions Server::observe_thread_options() noexcept { return {.name = "wh-observe"}; }
// An answer takes microseconds: with a short slice the thread has a processor as soon as it wakes.
ThreadOptions Server::query_thread_options() noexcept {
  return {.name = "wh-query", .slice = std::chrono::microseconds(100)};
}

Status Server::start(const ThreadOptions& observe, const ThreadOptions& query) noexcept {
  Status status = kept().start();
  if (!ok(status)) return status;
  status = impl_->observe_thread.start(observe, &ServerImpl::run_observe, impl_.get());
  if (!ok(status)) return status;
  status = impl_->query_thread.start(query, &ServerImpl::run_query, impl_.get());
  if (ok(status) && impl_->http) {
    status = impl_->http_thread.start({.name = "wh-http"}, &ServerImpl::run_http, impl_.get());
  }
  if (!ok(status)) {
    request_stop();
    join();
    return status;
  }
  impl_->observe.wait_for_run();
  impl_->query.wait_for_run();
  if (impl_->http) impl_->http->wait_for_run();
  return status;
}

void Server::request_stop() noexcept {
  if (impl_->http) impl_->http->stop_soon();
  impl_->observe.request_stop();
  impl_->query.request_stop();
}

void Server::join() noexcept {
  impl_->observe_thread.join();
  impl_->query_thread.join();
  impl_->http_thread.join();
  if (impl_->keeping) impl_->keeping->stop();
}

ServerModels& Server::models() noexcept { return impl_->served_models; }
const ServerModels& Server::models() const noexcept { return impl_->served_models; }
ServerKeeping& Server::kept() noexcept { return impl_->kept_models; }
const ServerKeeping& Server::kept() const noexcept { return impl_->kept_models; }

Counters<IoCounter>& Server::counters() noexcept { return impl_->layout.state.counters; }
const Counters<HttpCounter>* Server::http_counters() const noexcept {
  return impl_->http ? &impl_->http->counters() : nullptr;
}

ServedEndpoint Server::observe() const noexcept {
  return stand_of(impl_->layout.state.of(EndpointKind::kObserve), impl_->observe.port(),
                  impl_->observe_thread);
}
ServedEndpoint Server::query() const noexcept {
  return stand_of(impl_->layout.state.of(EndpointKind::kQuery), impl_->query.port(),
                  impl_->query_thread);
}
ServedEndpoint Server::http() const noexcept {
  const ServerState::PerEndpoint& state = impl_->layout.state.of(EndpointKind::kHttp);
  if (impl_->http == nullptr) return {.beat_ns = -1, .latency = state.query_latency};
  return stand_of(state, impl_->http->port(), impl_->http_thread);
}

}  // namespace windhover
