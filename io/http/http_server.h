#ifndef WINDHOVER_IO_HTTP_HTTP_SERVER_H_
#define WINDHOVER_IO_HTTP_HTTP_SERVER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "windhover/io/alarm.h"
#include "windhover/io/asio_types.h"
#include "windhover/io/http/http_connection.h"
#include "windhover/io/http/http_handler.h"
#include "windhover/io/http/http_turns.h"
#include "windhover/io/http/observe_link.h"
#include "windhover/io/listener.h"
#include "windhover/io/operator_place.h"
#include "windhover/io/waker.h"
#include "windhover/platform/handover.h"

namespace windhover {

// The HTTP endpoint: an io_context, its listeners and its connections, which work on the thread
// inside run() alone. point_to() and open() come before run(); the other functions are for any
// other thread.
class HttpServer final : private ConnectionSink, private HttpConnectionHost {
 public:
  // Allocates all connections. The arguments outlive it. REQUIRES: config.enabled().
  HttpServer(const HttpConfig& config, HttpMemory& memory, ServerState& state);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Says where the observe endpoint listens, with the port that it got. Before open().
  void point_to(const ListenConfig& observe);

  // Listens, and has Asio allocate what it needs while there are no requests. The sentence of an
  // error names address or path and lives as long as this.
  Result<bool> open();

  // Serves until finish(). An exception closes connections at most.
  void run() noexcept;

  // Any thread.
  const Counters<HttpCounter>& counters() noexcept { return handler_.counters(); }
  // Any thread, also a signal handler: from now on /readyz says that the server is stopping.
  void stop_soon() noexcept { handler_.stop(); }
  // Any thread, also a signal handler: answers under way are sent, and run() returns, at the latest
  // after half a second or drain_timeout, whichever is shorter.
  void finish() noexcept;

  // As Endpoint::change(), wait_for_run().
  void change(const PlaceChange& entry) noexcept;
  void wait_for_run() const noexcept { changes_.wait_for_begin(); }

  std::uint16_t port() const noexcept { return tcp_.port(); }

 private:
  void change_here(const PlaceChange& entry) noexcept;
  void on_wake() noexcept;
  void warm_up();
  bool on_connection(Stream& socket) noexcept override;
  bool make_room() noexcept;
  bool has_place(const HttpConversation& as, const Credential& who,
                 std::uint64_t most) noexcept override;
  bool admins_is_free() noexcept override;
  void begin(HttpConnection& connection, Stream& socket, PlaceKind place) noexcept;
  void on_question(HttpConnection& connection) noexcept override;
  void on_cost(HttpConnection& connection, std::int64_t cost) noexcept override;
  void on_left(HttpConnection& connection) noexcept override;
  void on_free(HttpConnection& connection) noexcept override;
  void arm_sweep() noexcept;
  void sweep() noexcept;
  void end() noexcept;
  void finish_if_idle() noexcept;
  void close_links() noexcept;

  const HttpConfig config_;
  HttpMemory& memory_;
  ServerState& state_;
  struct LastConnections {
    using Iterator = std::deque<HttpConnection>::iterator;
    Iterator begin() const noexcept { return first; }
    Iterator end() const noexcept { return last; }

    Iterator first;
    Iterator last;
  };

  HttpHandler handler_;
  IoContext io_;
  Listener tcp_;
  Listener unix_;
  Waker waker_;
  Alarm sweep_;
  Alarm deadline_;
  std::deque<ObserveLink> links_;           // one a place
  std::deque<HttpConnection> connections_;  // the last kOperatorSessions are for operators
  HttpTurns<std::deque<HttpConnection>> turns_;
  std::optional<OperatorPlace<LastConnections>> operator_place_;
  std::vector<std::uint64_t> addresses_;  // room for the addresses of strangers
  std::uint32_t open_ = 0;
  bool ending_ = false;
  std::atomic<bool> finish_requested_{false};
  Handover<PlaceChange> changes_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_HTTP_SERVER_H_
