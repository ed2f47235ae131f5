#include "windhover/io/server.h"

#include <cerrno>
#include <new>
#include <string>
#include <utility>

#include "windhover/io/descriptors.h"
#include "windhover/io/server_impl.h"

namespace windhover {
namespace {

// Of connections, and of those between HTTP and the observe endpoint; the rest are files.
std::size_t most_descriptors(const ServerLayout& layout, const ServerConfig& config) noexcept {
  constexpr std::size_t kOthers = 64;
  const std::size_t sessions = config.max_sessions + kOperatorSessions;
  return 2 * sessions + config.http.max_connections + 2 * layout.models.size() + kOthers;
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
  // Asio and the heap throw; nothing leaves this library that way.
  try {
    auto impl = std::make_unique<Impl>(config, models, layout);
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
    for (const ModelPlace& model : impl_->layout.models) {
      if (model.served.engine != nullptr) model.served.engine->tell_start();
    }
    reserve_descriptors(most_descriptors(impl_->layout, impl_->config));
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
    return status;
  }
  impl_->observe.wait_for_run();
  impl_->query.wait_for_run();
  if (impl_->http) impl_->http->wait_for_run();
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
std::size_t Server::models() const noexcept { return impl_->layout.first_models; }
std::size_t Server::places() const noexcept { return impl_->layout.models.size(); }
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
std::int64_t Server::http_beat_ns() const noexcept {
  if (impl_->http == nullptr) return -1;
  return impl_->layout.state.of(EndpointKind::kHttp).beat_ns.load(std::memory_order_relaxed);
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
