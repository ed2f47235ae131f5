// Which connections HTTP has, and which of them is answered next.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "windhover/io/http/http_server.h"

namespace windhover {
namespace {

constexpr std::string_view kFull =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
    "Content-Length: 41\r\nConnection: close\r\n\r\n"
    "{\"error\":\"too many connections are open\"}";

}  // namespace

// While all connections are taken those that nobody is known at, or that are idle, give way to who
// comes.
bool HttpServer::on_connection(Stream& socket) noexcept {
  const auto is_free = [](const auto& connection) { return connection->is_free(); };
  auto free = std::ranges::find_if(connections_, is_free);
  if (free == connections_.end() && make_room()) {
    free = std::ranges::find_if(connections_, is_free);
    if (free == connections_.end()) return false;
  }
  if (free == connections_.end()) {
    refuse(socket);
    return true;
  }
  handler_.counters().add(HttpCounter::kConnectionsAccepted);
  memory_.queue->begin(number_of(**free));
  state_.of(EndpointKind::kHttp).sessions.store(++open_, std::memory_order_relaxed);
  (*free)->begin(std::move(socket));
  return true;
}

// Where most strangers are; of equals any.
std::uint64_t HttpServer::crowded_address() noexcept {
  addresses_.clear();
  for (const auto& connection : connections_) {
    if (connection->gives_way() != HttpConnection::GivesWay::kStranger) continue;
    addresses_.push_back(connection->address());
  }
  std::ranges::sort(addresses_);
  std::uint64_t found = 0;
  std::ptrdiff_t most = 0;
  for (auto at = addresses_.begin(); at != addresses_.end();) {
    const auto end = std::ranges::find_if(at, addresses_.end(), [&](auto a) { return a != *at; });
    if (end - at > most) found = *at;
    most = std::max(most, end - at);
    at = end;
  }
  return found;
}

// As Endpoint::make_room(), but a crowd of strangers from one address makes room for itself: one
// who comes from far away has until it is among the most to show who it is.
bool HttpServer::make_room() noexcept {
  using GivesWay = HttpConnection::GivesWay;
  HttpConnection* victim = nullptr;
  const std::uint64_t crowded = crowded_address();
  const auto claim = [crowded](const HttpConnection& c) {
    const bool alone = c.gives_way() == GivesWay::kStranger && c.address() != crowded;
    return std::tuple(c.gives_way(), alone, c.since_ns());
  };
  for (const auto& connection : connections_) {
    if (connection->is_closing()) return true;
    if (connection->gives_way() == GivesWay::kNever) continue;
    if (victim == nullptr || claim(*connection) < claim(*victim)) victim = connection.get();
  }
  if (victim == nullptr) return false;
  if (victim->gives_way() == GivesWay::kStranger) state_.counters.add(IoCounter::kStrangersLetGo);
  victim->abort();
  return true;
}

void HttpServer::refuse(Stream& socket) noexcept {
  handler_.counters().add(HttpCounter::kConnectionsRefused);
  const bool local = Credential::of_socket(socket.native_handle()).kind == Credential::Kind::kUser;
  if (state_.tls != nullptr && !local) return;
  ErrorCode ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(kFull.data(), kFull.size()), ignored);
  socket.shutdown(Stream::shutdown_send, ignored);
}

void HttpServer::on_free(HttpConnection&) noexcept {
  state_.of(EndpointKind::kHttp).sessions.store(--open_, std::memory_order_relaxed);
  if (ending_) finish_if_idle();
}

std::uint32_t HttpServer::number_of(const HttpConnection& connection) const noexcept {
  const auto found =
      std::ranges::find_if(connections_, [&](const auto& c) { return c.get() == &connection; });
  return static_cast<std::uint32_t>(found - connections_.begin());
}

// Who has had little goes before who has had much, and between two answers the sockets are looked
// at.
void HttpServer::on_question(HttpConnection& connection) noexcept {
  memory_.queue->wait(number_of(connection), FairQueue::Line::kAny);
  schedule_next();
}

void HttpServer::on_cost(HttpConnection& connection, std::int64_t cost) noexcept {
  memory_.queue->charge(number_of(connection), cost);
}

void HttpServer::on_left(HttpConnection& connection) noexcept {
  memory_.queue->leave(number_of(connection));
}

void HttpServer::schedule_next() noexcept {
  if (next_scheduled_) return;
  next_scheduled_ = true;
  asio::post(io_, with_memory(next_memory_, [this] {
               next_scheduled_ = false;
               if (memory_.queue->empty()) return;
               connections_[memory_.queue->next(true)]->take_turn();
               if (!memory_.queue->empty()) schedule_next();
             }));
}

}  // namespace windhover
