#include "windhover/io/server.h"

#include <atomic>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "windhover/io/durable/keeping.h"
#include "windhover/io/endpoint.h"
#include "windhover/io/http/http_server.h"
#include "windhover/io/server_layout.h"
#include "windhover/io/tls/tls_context.h"
#include "windhover/io/tls/tls_memory.h"

namespace windhover {

namespace {

ListenConfig pointing_to(const ListenConfig& listen, const std::string& address,
                         const std::string& path) {
  return {address, listen.tcp_port, path};
}

}  // namespace

struct Server::Impl {
  Impl(const ServerConfig& from, std::span<const HostedModel> models, ServerLayout& in_block)
      : config(from),
        observe_address(from.observe.tcp_address),
        observe_path(from.observe.unix_path),
        query_address(from.query.tcp_address),
        query_path(from.query.unix_path),
        http_address(from.http.listen.tcp_address),
        http_path(from.http.listen.unix_path),
        identities_file(from.identities_file),
        tls_certificate(from.tls.certificate),
        tls_key(from.tls.key),
        tls_client_ca(from.tls.client_ca),
        layout(in_block),
        observe(EndpointKind::kObserve, in_block.observe, in_block.state),
        query(EndpointKind::kQuery, in_block.query, in_block.state) {
    config.observe = pointing_to(from.observe, observe_address, observe_path);
    config.query = pointing_to(from.query, query_address, query_path);
    config.http.listen = pointing_to(from.http.listen, http_address, http_path);
    config.identities_file = identities_file;
    config.tls = {tls_certificate, tls_key, tls_client_ca, from.tls.memory_bytes};
    if (config.tls.enabled()) layout.state.tls = &tls;
    if (tls_memory() != nullptr) layout.state.footprint_bytes += tls_memory()->capacity();
    config.durable.folder = {};  // Keeping has a copy
    if (from.durable.enabled()) keeping.emplace(from.durable, models, in_block, observe);
    if (from.http.enabled()) {
      http = std::make_unique<HttpServer>(config.http, in_block.http, in_block.state);
    }
  }

  static void run_observe(void* self) {
    static_cast<Impl*>(self)->observe.run();
    static_cast<Impl*>(self)->endpoint_ended();
  }
  static void run_query(void* self) {
    static_cast<Impl*>(self)->query.run();
    static_cast<Impl*>(self)->endpoint_ended();
  }
  static void run_http(void* self) { static_cast<Impl*>(self)->http->run(); }

  Persistence* kept(std::size_t model) { return keeping ? keeping->of(model) : nullptr; }

  // HTTP tells how it stands until there is nothing left to tell of.
  void endpoint_ended() noexcept {
    if (running.fetch_sub(1) == 1 && http) http->finish();
  }

  ServerConfig config;
  std::string observe_address, observe_path, query_address, query_path, http_address, http_path;
  std::string identities_file, tls_certificate, tls_key, tls_client_ca;
  TlsContext tls;
  ServerLayout& layout;
  Endpoint observe;
  Endpoint query;
  std::optional<Keeping> keeping;    // wakes the endpoint: gone before it
  std::unique_ptr<HttpServer> http;  // null: off
  std::atomic<int> running{2};       // endpoints that have not ended
  Thread observe_thread;
  Thread query_thread;
  Thread http_thread;
};

Result<std::unique_ptr<Server>> Server::create(const ServerConfig& config,
                                               std::span<const HostedModel> models,
                                               std::span<std::byte> block, Clock& clock) noexcept {
  const Result<ServerLayout*> placed = place(config, models, block);
  if (!placed.ok()) return placed.error();
  ServerLayout& layout = *placed.value();
  layout.state.clock = &clock;
  layout.state.started_ns = clock.now_ns();
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Result<bool> bound = bind_model(layout, i, models[i], config);
    if (!bound.ok()) return bound.error();
  }
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Result<bool> bound = bind_leader(layout, i, models[i]);
    if (!bound.ok()) return bound.error();
  }
  // Asio and the heap throw; nothing leaves this library that way.
  try {
    return std::unique_ptr<Server>(new Server(std::make_unique<Impl>(config, models, layout)));
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

Server::Server(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

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
  const Result<std::size_t> loaded = impl_->layout.access.load(impl_->identities_file);
  if (loaded.ok() && impl_->config.tls.enabled()) impl_->tls.use(std::move(settings));
  return loaded;
}

bool Server::asks_who() const noexcept { return impl_->layout.access.has_file(); }

void Server::run_observe() noexcept { Impl::run_observe(impl_.get()); }
void Server::run_query() noexcept { Impl::run_query(impl_.get()); }
void Server::run_http() noexcept {
  if (impl_->http) impl_->http->run();
}

ThreadOptions Server::observe_thread_options() noexcept { return {.name = "wh-observe"}; }
// An answer takes microseconds: with a short slice the thread has a processor as soon as it wakes.
ThreadOptions Server::query_thread_options() noexcept {
  return {.name = "wh-query", .slice = std::chrono::microseconds(100)};
}

Status Server::start(const ThreadOptions& observe, const ThreadOptions& query) noexcept {
  Status status = start_keeping();
  if (!ok(status)) return status;
  status = impl_->observe_thread.start(observe, &Impl::run_observe, impl_.get());
  if (!ok(status)) return status;
  status = impl_->query_thread.start(query, &Impl::run_query, impl_.get());
  if (ok(status) && impl_->http) {
    status = impl_->http_thread.start({.name = "wh-http"}, &Impl::run_http, impl_.get());
  }
  if (!ok(status)) {
    request_stop();
    join();
  }
  return status;
}

std::uint32_t Server::observe_thread_warnings() const noexcept {
  return impl_->observe_thread.warnings();
}
std::uint32_t Server::query_thread_warnings() const noexcept {
  return impl_->query_thread.warnings();
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

Status Server::start_keeping() noexcept {
  return impl_->keeping ? impl_->keeping->start() : Status::kOk;
}

Status Server::checkpoint_at_rest(std::size_t model) noexcept {
  Persistence* const kept = impl_->kept(model);
  return kept != nullptr ? kept->checkpoint_at_rest() : Status::kUnsupported;
}

Result<std::uint64_t> Server::request_checkpoint(std::size_t model) noexcept {
  Persistence* const kept = impl_->kept(model);
  if (kept == nullptr) return Error{Status::kUnsupported, "the server keeps no folder", 0};
  return kept->request_checkpoint();
}

const char* Server::recovery_remarks(std::size_t model) const noexcept {
  Persistence* const kept = impl_->kept(model);
  return kept != nullptr ? kept->remarks().c_str() : "";
}
Status Server::set_answered_by(std::size_t model, std::size_t by) noexcept {
  ServedModel& served = impl_->layout.models[model].served;
  const ServedModel& answers = impl_->layout.models[by].served;
  if (model != by && answers.follows != &served) return Status::kInvalidArgument;
  served.answered_by.store(answers.place, std::memory_order_relaxed);
  return Status::kOk;
}
std::size_t Server::answered_by(std::size_t model) const noexcept {
  return impl_->layout.models[model].served.answered_by.load(std::memory_order_relaxed);
}
std::size_t Server::models() const noexcept { return impl_->layout.models.size(); }
std::string_view Server::model_name(std::size_t model) const noexcept {
  return impl_->layout.models[model].served.name();
}
const LogProgress& Server::log(std::size_t model) const noexcept {
  return impl_->layout.models[model].served.log;
}
const CheckpointProgress& Server::checkpoints(std::size_t model) const noexcept {
  return impl_->layout.models[model].served.checkpoints;
}

std::uint16_t Server::observe_port() const noexcept { return impl_->observe.port(); }
std::uint16_t Server::query_port() const noexcept { return impl_->query.port(); }
std::uint16_t Server::http_port() const noexcept { return impl_->http ? impl_->http->port() : 0; }

std::uint64_t Server::instance_id(std::size_t model) const noexcept {
  return impl_->layout.models[model].served.instance_id;
}

Counters<IoCounter>& Server::counters() noexcept { return impl_->layout.state.counters; }

std::uint32_t Server::observe_sessions() const noexcept {
  return impl_->layout.state.of(EndpointKind::kObserve).sessions.load(std::memory_order_relaxed);
}
std::uint32_t Server::query_sessions() const noexcept {
  return impl_->layout.state.of(EndpointKind::kQuery).sessions.load(std::memory_order_relaxed);
}
std::int64_t Server::observe_beat_ns() const noexcept {
  return impl_->layout.state.of(EndpointKind::kObserve).beat_ns.load(std::memory_order_relaxed);
}
std::int64_t Server::query_beat_ns() const noexcept {
  return impl_->layout.state.of(EndpointKind::kQuery).beat_ns.load(std::memory_order_relaxed);
}
const Histogram& Server::observe_latency() const noexcept {
  return impl_->layout.state.of(EndpointKind::kObserve).query_latency;
}
const Histogram& Server::query_latency() const noexcept {
  return impl_->layout.state.of(EndpointKind::kQuery).query_latency;
}

}  // namespace windhover
