// One place where an endpoint listens: a TCP port or a Unix-domain socket.
#ifndef WINDHOVER_IO_LISTENER_H_
#define WINDHOVER_IO_LISTENER_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <sys/stat.h>

#include "windhover/io/asio_types.h"
#include "windhover/io/counter_ids.h"
#include "windhover/io/handler_memory.h"
#include "windhover/io/token_bucket.h"
#include "windhover/platform/result.h"

namespace windhover {

// Takes a listener's connections. on_connection() moves the socket away, or leaves it, and then it
// is closed. False: a place will be free in a moment; the socket is offered again after
// Listener::kPlaceAgain, and no other one is accepted until then.
class ConnectionSink {
 public:
  virtual bool on_connection(Stream& socket) noexcept = 0;

 protected:
  ~ConnectionSink() = default;
};

// Accepts one connection after another on the endpoint's thread. An error of accepting (no
// descriptors left, say) is counted and followed by a pause; it never ends the listening. At most
// kMostPerSecond are accepted a second, in bursts of at most as many; others wait in the kernel's
// queue, so that peers that have a place are served first. Each look at the socket accepts up to
// kAtOnce more, in case the thread works long between two looks.
class Listener {
 public:
  static constexpr std::uint64_t kMostPerSecond = 1'000;
  static constexpr int kAtOnce = 32;
  static constexpr std::chrono::nanoseconds kPlaceAgain = std::chrono::milliseconds(1);
  // The receive buffer of each TCP connection, which Linux doubles for its own needs and caps by
  // net.core.rmem_max. At most as much comes in a round trip: over 100 ms 2.5 MB/s. Left to itself
  // Linux lets the buffer of a connection that sends without a pause grow to tens of megabytes, and
  // tidies one that is full of small segments (tcp_collapse) for tens of milliseconds, in which the
  // thread that reads or closes the connection stands still, and all others of the endpoint wait.
  static constexpr int kReceiveBytes = 256 << 10;

  Listener(IoContext& io, ConnectionSink& sink, Counters<IoCounter>& counters);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Bind and listen. The sentence of an error names the endpoint (`name`) and the address or path,
  // and lives as long as this; its number is errno. The address is numeric. A Unix-domain socket
  // gets mode 0600, or 0666 with `for_others`; a stale one is replaced.
  Result<bool> open_tcp(const char* name, std::string_view address, std::uint16_t port);
  Result<bool> open_unix(const char* name, std::string_view path, bool for_others = false);
  // Listens for the process itself, on a Unix-domain socket without a file. The kernel chooses its
  // name, which `path` gets.
  Result<bool> open_inner(std::string& path);
  bool is_open() const noexcept { return acceptor_.is_open(); }
  std::uint16_t port() const noexcept { return port_; }  // 0 unless TCP

  // Arms the pause timer, and disarms it: Asio allocates when it first meets a timer.
  void warm_up();
  void cool_down() noexcept;

  void start() noexcept;

  // Stops listening and removes the Unix-domain socket.
  void close() noexcept;

 private:
  Error failed(const std::string& place, const char* what, int error);
  void accept() noexcept;
  void on_accept(const ErrorCode& error) noexcept;
  void on_error(const ErrorCode& error) noexcept;
  void take() noexcept;
  void accept_more() noexcept;
  bool offer() noexcept;
  void pause(std::chrono::nanoseconds how_long) noexcept;

  ConnectionSink& sink_;
  Counters<IoCounter>& counters_;
  Acceptor acceptor_;
  Stream incoming_;
  Timer pause_;
  TokenBucket bucket_;
  bool waits_ = false;  // incoming_ waits for a place
  std::uint16_t port_ = 0;
  std::string failure_;  // the sentence of an error
  std::string unix_path_;
  struct stat unix_file_ {};  // what we created, so that nothing else is removed
  HandlerMemory accept_memory_;
  HandlerMemory pause_memory_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_LISTENER_H_
