#ifndef WINDHOVER_IO_HTTP_HTTP_TURNS_H_
#define WINDHOVER_IO_HTTP_HTTP_TURNS_H_

#include <algorithm>
#include <cstdint>
#include <ranges>

#include "windhover/io/asio_types.h"
#include "windhover/io/fair_queue.h"
#include "windhover/io/handler_memory.h"

namespace windhover {

// Which request over HTTP is answered next: connections that have had little go before those that
// have had much, and the sockets are looked at between two answers. It alone uses the queue.
// Invariant: while a request waits, the next turn is on its way. The HTTP thread's.
//
// Connections: a range of what has take_turn(), whose elements do not move.
template <std::ranges::random_access_range Connections>
class HttpTurns {
 public:
  using Connection = std::ranges::range_value_t<Connections>;

  // The queue's numbers are the indices of `connections`.
  HttpTurns(IoContext& io, FairQueue& queue, Connections& connections,
            Counters<IoCounter>& counters) noexcept
      : io_(io), queue_(queue), connections_(connections) {
    memory_.count_in(counters);
    queue_.reset();
  }

  // Begins with a new connection, which has had no turn yet.
  void begin(const Connection& connection) noexcept { queue_.begin(number_of(connection)); }
  // A request of the connection waits: take_turn() is called when it is its turn. REQUIRES: it does
  // not wait already.
  void wait(const Connection& connection) noexcept {
    queue_.wait(number_of(connection), FairQueue::Line::kAny);
    schedule_next();
  }
  // An answer has cost `cost`.
  void charge(const Connection& connection, std::int64_t cost) noexcept {
    queue_.charge(number_of(connection), cost);
  }
  // The connection waits no more; no effect if it does not wait.
  void leave(const Connection& connection) noexcept { queue_.leave(number_of(connection)); }

 private:
  std::uint32_t number_of(const Connection& connection) const noexcept {
    const auto found =
        std::ranges::find_if(connections_, [&](const auto& c) { return &c == &connection; });
    return static_cast<std::uint32_t>(std::ranges::distance(connections_.begin(), found));
  }
  void schedule_next() noexcept {
    if (scheduled_) return;
    scheduled_ = true;
    asio::post(io_, with_memory(memory_, [this] {
                 scheduled_ = false;
                 if (queue_.empty()) return;
                 connections_[queue_.next(true)].take_turn();
                 if (!queue_.empty()) schedule_next();
               }));
  }

  IoContext& io_;
  FairQueue& queue_;
  Connections& connections_;
  HandlerMemory memory_;
  bool scheduled_ = false;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_HTTP_TURNS_H_
