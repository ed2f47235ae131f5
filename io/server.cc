#include "windhover/io/server.h"

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "windhover/io/durable/persistence.h"
#include "windhover/io/endpoint.h"
#include "windhover/io/instance_id.h"
#include "windhover/io/producer_table.h"
#include "windhover/io/server_state.h"

namespace windhover {

// Everything that lies in the block.
struct ServerLayout {
  ServerLayout(Arena& arena, const ServerConfig& config, const EngineConfig& engine) noexcept
      : limits(limits_of(config, engine)),
        producers(in_region(arena, "producers"), config.max_producers),
        persistence(arena, config.durable, config.max_producers),
        observe(in_region(arena, "observe sessions"), limits),
        query(in_region(arena, "query sessions"), limits) {
    state.limits = limits;
  }

  static Arena& in_region(Arena& arena, const char* name) noexcept {
    arena.region(name);
    return arena;
  }

  ServerState state;
  Limits limits;
  ProducerTable producers;
  PersistenceMemory persistence;
  EndpointMemory observe;
  EndpointMemory query;
};

namespace {

ListenConfig pointing_to(const ListenConfig& listen, const std::string& address,
                         const std::string& path) {
  return {address, listen.tcp_port, path};
}

}  // namespace

struct Server::Impl {
  Impl(const ServerConfig& from, ServerLayout& in_block)
      : config(from),
        observe_address(from.observe.tcp_address),
        observe_path(from.observe.unix_path),
        query_address(from.query.tcp_address),
        query_path(from.query.unix_path),
        layout(in_block),
        folder(from.durable.folder),
        observe(EndpointKind::kObserve, in_block.observe, in_block.state),
        query(EndpointKind::kQuery, in_block.query, in_block.state) {
    config.observe = pointing_to(from.observe, observe_address, observe_path);
    config.query = pointing_to(from.query, query_address, query_path);
    config.durable.folder = folder;
  }

  // Before the endpoints open.
  Result<bool> recover() {
    if (!config.durable.enabled()) return true;
    ServerState& state = layout.state;
    persistence.emplace(layout.persistence, config.durable, *state.engine, layout.producers,
                        state.log, state.checkpoints, *state.clock);
    persistence->set_wake([](void* self) noexcept { static_cast<Endpoint*>(self)->wake(); },
                          &observe);
    const Result<bool> opened = persistence->open();
    if (!opened.ok()) return opened;
    state.instance_id = persistence->instance();
    if (config.durable.log) {
      state.durability = Durability::kLogged;
      state.log_capacity_bytes = config.durable.log_options.bytes;
    }
    state.keeper = &*persistence;
    state.request_checkpoint = [](void* keeper) noexcept {
      return static_cast<Persistence*>(keeper)->request_checkpoint();
    };
    layout.observe.context.feed = &persistence->feed();
    observe.set_duties(*persistence);
    return true;
  }

  static void run_observe(void* self) { static_cast<Impl*>(self)->observe.run(); }
  static void run_query(void* self) { static_cast<Impl*>(self)->query.run(); }

  ServerConfig config;
  std::string observe_address, observe_path, query_address, query_path;
  ServerLayout& layout;
  std::string folder;
  Endpoint observe;
  Endpoint query;
  std::optional<Persistence> persistence;  // wakes the endpoint: gone before it
  Thread observe_thread;
  Thread query_thread;
};

Result<std::size_t> Server::plan(const ServerConfig& config, const EngineConfig& engine,
                                 Arena& arena) noexcept {
  const Result<bool> engine_possible = windhover::check(engine);
  if (!engine_possible.ok()) return engine_possible.error();
  const EngineConfig full = with_defaults(engine);
  const Result<bool> possible = windhover::check(config, full);
  if (!possible.ok()) return possible.error();
  arena.region("server");
  (void)arena.make<ServerLayout>(arena, config, full);
  return arena.used();
}

Result<std::size_t> Server::footprint(const ServerConfig& config,
                                      const EngineConfig& engine) noexcept {
  Arena arena = Arena::measuring();
  return plan(config, engine, arena);
}

Result<std::unique_ptr<Server>> Server::create(const ServerConfig& config, Engine& engine,
                                               std::span<std::byte> block, Clock& clock) noexcept {
  const Result<std::size_t> needed = footprint(config, engine.config());
  if (!needed.ok()) return needed.error();
  if (!Arena::is_aligned(block)) {
    return Error{Status::kInvalidArgument, "block must be aligned to this many bytes",
                 static_cast<double>(Arena::kAlignment)};
  }
  if (block.size() < needed.value()) {
    return Error{Status::kArenaTooSmall, "block is too small; it must hold this many bytes",
                 static_cast<double>(needed.value())};
  }
  Arena arena(block);
  arena.region("server");
  auto* layout = arena.make<ServerLayout>(arena, config, engine.config());
  if (layout == nullptr || arena.exhausted()) {
    return Error{Status::kArenaTooSmall, "block is too small; it must hold this many bytes",
                 static_cast<double>(arena.used())};
  }
  ServerState& state = layout->state;
  state.engine = &engine;
  state.clock = &clock;
  state.started_ns = clock.now_ns();
  state.producers = &layout->producers;
  const Result<std::size_t> engine_bytes = Engine::footprint(engine.config());
  state.footprint_bytes = needed.value() + (engine_bytes.ok() ? engine_bytes.value() : 0);
  // Of the hash of producers and, unless the host gives one, of the history.
  const Result<std::uint64_t> seed = random_instance_id();
  const Result<std::uint64_t> instance = random_instance_id();
  if (!seed.ok()) return seed.error();
  if (!instance.ok()) return instance.error();
  state.instance_id = config.instance_id != 0 ? config.instance_id : instance.value();
  layout->producers.reset({.claims_per_connection = config.max_producers_per_connection,
                           .silence_ns = std::chrono::nanoseconds(config.producer_timeout).count(),
                           .seed = seed.value()});

  for (auto [memory, kind] : {std::pair{&layout->observe, EndpointKind::kObserve},
                              std::pair{&layout->query, EndpointKind::kQuery}}) {
    const Result<Reader> reader = engine.reader();
    const Result<Reader> paging = engine.reader();
    if (!reader.ok()) return reader.error();
    if (!paging.ok()) return paging.error();
    memory->queries.bind(state, kind, reader.value(), paging.value());
    memory->context = {&state, &memory->queries,
                       kind == EndpointKind::kObserve ? &layout->producers : nullptr};
  }
  // Asio and the heap throw; nothing leaves this library that way.
  try {
    return std::unique_ptr<Server>(new Server(std::make_unique<Impl>(config, *layout)));
  } catch (const std::bad_alloc&) {
    return Error{Status::kUnavailable, "no heap memory for Asio's objects", 0};
  } catch (const boost::system::system_error& error) {
    return Error{Status::kIoError, "no descriptors for Asio's io_context",
                 static_cast<double>(error.code().value()), true};
  }
}

Server::Server(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

Server::~Server() {
  if (impl_->observe_thread.joinable() || impl_->query_thread.joinable()) {
    request_stop();
    join();
  }
}

Result<bool> Server::open() noexcept {
  try {
    const Result<bool> recovered = impl_->recover();
    if (!recovered.ok()) return recovered;
    Result<bool> observe = impl_->observe.open(impl_->config, impl_->config.observe);
    if (!observe.ok()) return observe;
    return impl_->query.open(impl_->config, impl_->config.query);
  } catch (const std::bad_alloc&) {
    return Error{Status::kUnavailable, "no heap memory for Asio's objects", 0};
  } catch (const boost::system::system_error& error) {
    return Error{Status::kIoError, "the server cannot be opened",
                 static_cast<double>(error.code().value()), true};
  }
}

void Server::run_observe() noexcept { impl_->observe.run(); }
void Server::run_query() noexcept { impl_->query.run(); }

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
  impl_->observe.request_stop();
  impl_->query.request_stop();
}

void Server::join() noexcept {
  impl_->observe_thread.join();
  impl_->query_thread.join();
  if (impl_->persistence) impl_->persistence->stop();
}

Status Server::start_keeping() noexcept {
  return impl_->persistence ? impl_->persistence->start() : Status::kOk;
}

Status Server::checkpoint_at_rest() noexcept {
  return impl_->persistence ? impl_->persistence->checkpoint_at_rest() : Status::kUnsupported;
}

Result<std::uint64_t> Server::request_checkpoint() noexcept {
  if (!impl_->persistence) return Error{Status::kUnsupported, "the server keeps no folder", 0};
  return impl_->persistence->request_checkpoint();
}

const char* Server::recovery_remarks() const noexcept {
  return impl_->persistence ? impl_->persistence->remarks().c_str() : "";
}
const LogProgress& Server::log() const noexcept { return impl_->layout.state.log; }
const CheckpointProgress& Server::checkpoints() const noexcept {
  return impl_->layout.state.checkpoints;
}

std::uint16_t Server::observe_port() const noexcept { return impl_->observe.port(); }
std::uint16_t Server::query_port() const noexcept { return impl_->query.port(); }

std::uint64_t Server::instance_id() const noexcept { return impl_->layout.state.instance_id; }

Counters<IoCounter>& Server::counters() noexcept { return impl_->layout.state.counters; }

std::uint32_t Server::observe_sessions() const noexcept {
  return impl_->layout.state.of(EndpointKind::kObserve).sessions.load(std::memory_order_relaxed);
}
std::uint32_t Server::query_sessions() const noexcept {
  return impl_->layout.state.of(EndpointKind::kQuery).sessions.load(std::memory_order_relaxed);
}
const Histogram& Server::observe_latency() const noexcept {
  return impl_->layout.state.of(EndpointKind::kObserve).query_latency;
}
const Histogram& Server::query_latency() const noexcept {
  return impl_->layout.state.of(EndpointKind::kQuery).query_latency;
}

}  // namespace windhover
