#ifndef WINDHOVER_IO_HTTP_HTTP_TURNS_H_
#define WINDHOVER_IO_HTTP_HTTP_TURNS_H_

#include <cstddef>
#include <cstdint>
#include <deque>

#include "windhover/io/asio_types.h"
#include "windhover/io/fair_queue.h"
#include "windhover/io/handler_memory.h"
#include "windhover/io/http/http_connection.h"

namespace windhover {

// Which request over HTTP is answered next: who has had little goes before who has had much, and
// between two answers the sockets are looked at. Invariant: while a request waits, the next turn is
// on its way. The HTTP thread's.
class HttpTurns {
 public:
  // `connections`: what the queue numbers, from the first on.
  HttpTurns(IoContext& io, FairQueue& queue, std::deque<HttpConnection>& connections,
            Counters<IoCounter>& counters) noexcept
      : io_(io), queue_(queue), connections_(connections) {
    memory_.count_in(counters);
    queue_.reset();
  }

  // A new connection, which has had nothing yet.
  void begin(const HttpConnection& connection) noexcept { queue_.begin(number_of(connection)); }
  // A request of it waits; HttpConnection::take_turn() comes.
  void wait(const HttpConnection& connection) noexcept;
  // An answer has cost so much.
  void charge(const HttpConnection& connection, std::int64_t cost) noexcept {
    queue_.charge(number_of(connection), cost);
  }
  // It waits no more.
  void leave(const HttpConnection& connection) noexcept { queue_.leave(number_of(connection)); }

 private:
  std::uint32_t number_of(const HttpConnection& connection) const noexcept;
  void schedule_next() noexcept;

  IoContext& io_;
  FairQueue& queue_;
  std::deque<HttpConnection>& connections_;
  HandlerMemory memory_;
  bool scheduled_ = false;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_HTTP_TURNS_H_
