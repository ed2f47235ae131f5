// Messages to a service manager by the protocol of sd_notify(3): datagrams to the socket that
// NOTIFY_SOCKET names. Without that variable nothing is sent.
#ifndef WINDHOVER_TOOLS_DAEMON_NOTIFIER_H_
#define WINDHOVER_TOOLS_DAEMON_NOTIFIER_H_

#include <sys/un.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

namespace windhover {

// One thread. No heap call. Used instead of libsystemd, which waits for ever for a manager that
// does not read, and would hold up the thread that stops the daemon; here it is a second at most.
class Notifier {
 public:
  // Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
  Notifier() noexcept;
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // How often alive() must be called at least; 0: there is no watchdog.
  std::chrono::microseconds watchdog() const noexcept { return watchdog_; }

  void ready() noexcept;
  // `now_ns`: CLOCK_MONOTONIC. Followed by ready() when the reload is done.
  void reloading(std::int64_t now_ns) noexcept;
  void stopping() noexcept;
  // Tells the service manager's watchdog; does nothing where there is none.
  void alive() noexcept;
  // One line for people: "ok, 12345 rows". Sent only when it has changed.
  void status(std::string_view text) noexcept;

 private:
  bool say(std::string_view state, bool matters) noexcept;

  int socket_ = -1;
  sockaddr_un address_{};
  unsigned address_bytes_ = 0;
  std::chrono::microseconds watchdog_{0};
  std::array<char, 256> status_{};
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_NOTIFIER_H_
