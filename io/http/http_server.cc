#include "windhover/io/http/http_server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <string_view>

#include "windhover/io/access/access.h"

namespace windhover {
namespace {

constexpr std::chrono::nanoseconds kLastAnswers = std::chrono::milliseconds(500);

bool others_may_come(const ServerState& state) noexcept {
  return state.access != nullptr && state.access->has_file();
}

std::chrono::nanoseconds sweep_period(const HttpConfig& config) noexcept {
  const auto shortest = std::min(
      {config.header_timeout, config.request_timeout, config.idle_timeout, config.stall_timeout});
  return std::clamp(shortest / 8, std::chrono::milliseconds(10), std::chrono::milliseconds(1000));
}

}  // namespace

HttpServer::HttpServer(const HttpConfig& config, HttpMemory& memory, ServerState& state)
    : config_(config),
      memory_(memory),
      state_(state),
      handler_(config, memory, state),
      io_(1),
      tcp_(io_, *this, state.counters),
      unix_(io_, *this, state.counters),
      waker_(io_, state.counters),
      sweep_(io_, state.counters),
      deadline_(io_, state.counters),
      turns_(io_, *memory.queue, connections_, state.counters) {
  for (const ModelContext& model : memory.conversations->models) {
    links_.emplace_back(io_, model.model,
                        state.access != nullptr ? state.access->host_token() : std::string_view());
  }
  auto& host = static_cast<HttpConnectionHost&>(*this);
  for (std::size_t i = 0; i < config.max_connections + kOperatorSessions; ++i) {
    connections_.emplace_back(io_, config_, handler_, state, links_, host);
  }
  const auto kept = connections_.end() - std::ptrdiff_t{kOperatorSessions};
  operator_place_.emplace(LastConnections{kept, connections_.end()}, others_may_come(state));
  addresses_.resize(connections_.size());
}

HttpServer::~HttpServer() {
  ending_ = true;
  tcp_.close();
  unix_.close();
  for (HttpConnection& connection : connections_) connection.abort();
  close_links();
  waker_.close();
  sweep_.cancel();
  deadline_.cancel();
  io_.restart();
  // Cancelled operations come back before the memory they lie in goes.
  try {
    io_.poll();
  } catch (const std::exception&) {
    handler_.counters().add(HttpCounter::kExceptions);
  }
}

void HttpServer::point_to(const ListenConfig& observe) {
  for (ObserveLink& link : links_) link.point_to(observe);
}

void HttpServer::close_links() noexcept {
  for (ObserveLink& link : links_) link.close();
}

Result<bool> HttpServer::open() {
  if (!waker_.open()) {
    return Error{Status::kIoError, "no descriptor to wake the HTTP thread with", double(errno)};
  }
  const ListenConfig& listen = config_.listen;
  if (!listen.tcp_address.empty()) {
    Result<bool> opened = tcp_.open_tcp("http", listen.tcp_address, listen.tcp_port);
    if (!opened.ok()) return opened;
  }
  if (!listen.unix_path.empty()) {
    Result<bool> opened = unix_.open_unix("http", listen.unix_path, others_may_come(state_));
    if (!opened.ok()) return opened;
  }
  warm_up();
  waker_.wait([this] { on_wake(); });
  tcp_.start();
  unix_.start();
  arm_sweep();
  return true;
}

// Asio allocates when it first meets a timer or a descriptor.
void HttpServer::warm_up() {
  {
    std::array<Stream, 2> sockets = {Stream(io_), Stream(io_)};
    ErrorCode ignored;
    for (Stream& socket : sockets) socket.open(asio::ip::tcp::v4(), ignored);
  }
  sweep_.warm_up();
  deadline_.warm_up();
  tcp_.warm_up();
  unix_.warm_up();
  sweep_.cancel();
  deadline_.cancel();
  tcp_.cool_down();
  unix_.cool_down();
  io_.poll();
  io_.restart();
}

void HttpServer::run() noexcept {
  changes_.begin();
  for (;;) {
    try {
      io_.run();
      changes_.end();
      return;
    } catch (const std::exception&) {
      handler_.counters().add(HttpCounter::kExceptions);
      close_links();  // one of them may have thrown half-way through its work
    }
  }
}

void HttpServer::finish() noexcept {
  handler_.stop();
  finish_requested_.store(true, std::memory_order_release);
  waker_.wake();
}

void HttpServer::change(const PlaceChange& entry) noexcept {
  changes_.give(
      entry, [this] { waker_.wake(); }, [this](const PlaceChange& given) { change_here(given); });
}

// Requests that wait for an answer about a model that goes are told that none comes.
void HttpServer::change_here(const PlaceChange& entry) noexcept {
  ObserveLink& link = links_[entry.place];
  link.close();
  link.speak_of(entry.model);
  memory_.change(state_, entry);
}

void HttpServer::on_wake() noexcept {
  changes_.look([this](const PlaceChange& entry) { change_here(entry); });
  const bool ends = finish_requested_.load(std::memory_order_acquire);
  if (ends && !ending_) end();
  if (!ends) waker_.wait([this] { on_wake(); });
}

void HttpServer::arm_sweep() noexcept {
  sweep_.after(sweep_period(config_), [this](const ErrorCode& error) {
    if (!error) sweep();
  });
}

void HttpServer::sweep() noexcept {
  handler_.look();
  const std::int64_t now_ns = state_.now_ns();
  state_.of(EndpointKind::kHttp).beat_ns.store(now_ns, std::memory_order_relaxed);
  for (HttpConnection& connection : connections_) connection.check_timeouts(now_ns);
  if (!ending_ || open_ > 0) arm_sweep();
}

void HttpServer::end() noexcept {
  ending_ = true;
  tcp_.close();
  unix_.close();
  const std::chrono::nanoseconds drain(state_.limits.drain_timeout_ns);
  deadline_.after(std::min(drain, kLastAnswers), [this](const ErrorCode& error) {
    if (error) return;
    for (HttpConnection& connection : connections_) connection.abort();
  });
  for (HttpConnection& connection : connections_) connection.stop();
  finish_if_idle();
}

// Without timers run() returns by itself once the last operation has come back.
void HttpServer::finish_if_idle() noexcept {
  if (open_ > 0) return;
  close_links();
  sweep_.cancel();
  deadline_.cancel();
  waker_.cancel();
}

}  // namespace windhover
