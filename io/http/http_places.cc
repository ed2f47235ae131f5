// Who has a place among the connections of HTTP.
#include <algorithm>
#include <cstdint>
#include <ranges>
#include <string_view>
#include <tuple>
#include <utility>

#include "windhover/io/crowd.h"
#include "windhover/io/http/http_server.h"

namespace windhover {
namespace {

constexpr std::string_view kFull =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
    "Content-Length: 41\r\nConnection: close\r\n\r\n"
    "{\"error\":\"too many connections are open\"}";

void refuse(Stream& socket, const ServerState& state) noexcept {
  const bool local = Credential::of_socket(socket.native_handle()).kind == Credential::Kind::kUser;
  if (state.tls != nullptr && !local) return;
  ErrorCode ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(kFull.data(), kFull.size()), ignored);
  socket.shutdown(Stream::shutdown_send, ignored);
}

}  // namespace

// While all places are taken, connections without a known identity, and idle ones, give way to
// newcomers.
bool HttpServer::on_connection(Stream& socket) noexcept {
  auto all = std::views::take(connections_, config_.max_connections);
  auto free = std::ranges::find_if(all, &Occupant::is_free, &HttpConnection::occupant);
  if (free == all.end() && make_room()) {
    free = std::ranges::find_if(all, &Occupant::is_free, &HttpConnection::occupant);
    if (free == all.end()) return false;
  }
  if (free != all.end()) {
    begin(*free, socket, PlaceKind::kEverybodys);
    return true;
  }
  const auto kept = operator_place_->take(socket, state_.now_ns());
  if (kept.soon) return false;
  if (kept.session == nullptr) {
    handler_.counters().add(HttpCounter::kConnectionsRefused);
    refuse(socket, state_);
    return true;
  }
  state_.counters.add(IoCounter::kOperatorConnections);
  begin(*kept.session, socket, is_local(socket) ? PlaceKind::kStatus : PlaceKind::kAdmins);
  return true;
}

void HttpServer::begin(HttpConnection& connection, Stream& socket, PlaceKind place) noexcept {
  handler_.counters().add(HttpCounter::kConnectionsAccepted);
  turns_.begin(connection);
  state_.of(EndpointKind::kHttp).sessions.store(++open_, std::memory_order_relaxed);
  connection.begin(std::move(socket), place);
}

// Like EndpointPlaces::make_room(); idle connections give way too.
bool HttpServer::make_room() noexcept {
  using GivesWay = HttpConnection::GivesWay;
  HttpConnection* victim = nullptr;
  const auto everybodys = std::views::take(connections_, config_.max_connections);
  const Crowd crowd(everybodys, addresses_);
  const auto claim = [&](const HttpConnection& c) {
    const Occupant who = c.occupant();
    const std::size_t others = who.stranger ? crowd.at(who.address) : 0;
    return std::tuple(c.gives_way(), SIZE_MAX - others, c.since_ns());
  };
  for (HttpConnection& connection : everybodys) {
    if (connection.occupant().is_closed()) return true;
    if (connection.gives_way() == GivesWay::kNever) continue;
    if (victim == nullptr || claim(connection) < claim(*victim)) victim = &connection;
  }
  if (victim == nullptr) return false;
  if (victim->occupant().stranger) state_.counters.add(IoCounter::kStrangersLetGo);
  victim->abort();
  return true;
}

// Clients leave many HTTP connections open for later use: an idle one is closed rather than a new
// request refused.
bool HttpServer::has_place(const HttpConversation& as, const Credential& who,
                           std::uint64_t most) noexcept {
  std::uint64_t others = 0;
  HttpConnection* idle = nullptr;
  for (HttpConnection& connection : connections_) {
    const HttpConversation& other = connection.conversation();
    if (&other == &as || !connection.occupant().is_here() || !other.identity().same_as(who))
      continue;
    ++others;
    if (connection.gives_way() != HttpConnection::GivesWay::kIdle) continue;
    if (idle == nullptr || connection.since_ns() < idle->since_ns()) idle = &connection;
  }
  if (others < most) return true;
  if (others > most || idle == nullptr) return false;
  idle->abort();
  return true;
}

// Whether the admin's place is free, or can be freed by closing an idle connection.
bool HttpServer::admins_is_free() noexcept {
  for (HttpConnection& connection : connections_ | std::views::drop(config_.max_connections)) {
    const Occupant who = connection.occupant();
    if (!who.is_here() || who.on_trial) continue;
    if (connection.gives_way() != HttpConnection::GivesWay::kIdle) return false;
    connection.abort();
  }
  return true;
}

void HttpServer::on_free(HttpConnection&) noexcept {
  state_.of(EndpointKind::kHttp).sessions.store(--open_, std::memory_order_relaxed);
  if (ending_) finish_if_idle();
}

void HttpServer::on_question(HttpConnection& connection) noexcept { turns_.wait(connection); }

void HttpServer::on_cost(HttpConnection& connection, std::int64_t cost) noexcept {
  turns_.charge(connection, cost);
}

void HttpServer::on_left(HttpConnection& connection) noexcept { turns_.leave(connection); }

}  // namespace windhover
