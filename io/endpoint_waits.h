// Sessions of an endpoint that wait: for room in a window, or until they are within their limits.
#ifndef WINDHOVER_IO_ENDPOINT_WAITS_H_
#define WINDHOVER_IO_ENDPOINT_WAITS_H_

#include <span>

#include "windhover/io/asio_types.h"
#include "windhover/io/reminder.h"
#include "windhover/io/session.h"

namespace windhover {

// Invariant: while a session waits that has said so, all are looked at again a little later. The
// endpoint's thread.
class EndpointWaits {
 public:
  EndpointWaits(IoContext& io, std::span<Session> sessions, Counters<IoCounter>& counters)
      : sessions_(sessions), room_(io, counters), tokens_(io, counters) {}

  // One has found no room in the window, or waits for bytes that are on their way.
  void for_room() noexcept;
  // One is over its limits.
  void for_tokens() noexcept;
  // Whoever has come first in a line for room, and does not wait any more, leaves it.
  void leave_lines() noexcept;

  // Has Asio allocate for its timers, and ends their waits.
  void warm_up() {
    room_.warm_up();
    tokens_.warm_up();
  }
  void cool_down() noexcept {
    room_.cancel();
    tokens_.cancel();
  }

 private:
  void retry() noexcept;

  std::span<Session> sessions_;
  Reminder room_;
  Reminder tokens_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_ENDPOINT_WAITS_H_
