// The place that an endpoint keeps for whoever looks after it.
#ifndef WINDHOVER_IO_OPERATOR_PLACE_H_
#define WINDHOVER_IO_OPERATOR_PLACE_H_

#include <cstdint>
#include <span>

#include "windhover/io/asio_types.h"
#include "windhover/io/session.h"

namespace windhover {

// When all sessions are taken one more connection may come in, from loopback or a Unix-domain
// socket, to say Hello and ask Status. Whoever it is, it has the place for kLifeNs at most. Before
// its Hello it loses it to the next that comes, after kHelloNs, or at once if it has not sent a
// byte and the next has: so connections that say nothing keep nobody out. Two sessions make the one
// place, because one that is let go needs a moment to end.
class OperatorPlace {
 public:
  static constexpr std::size_t kSessions = 2;
  static constexpr std::int64_t kLifeNs = 2'000'000'000;
  static constexpr std::int64_t kHelloNs = 250'000'000;

  explicit OperatorPlace(std::span<Session> sessions) noexcept : sessions_(sessions) {}

  // A session for this connection, or null. The one that has the place may be let go.
  Session* take(Stream& socket, std::int64_t now_ns) noexcept;

 private:
  std::span<Session> sessions_;
};

// Whether the other end is on this machine.
bool is_local(Stream& socket) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_OPERATOR_PLACE_H_
