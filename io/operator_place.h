// The places that an endpoint keeps for whoever looks after it.
#ifndef WINDHOVER_IO_OPERATOR_PLACE_H_
#define WINDHOVER_IO_OPERATOR_PLACE_H_

#include <cstdint>
#include <span>

#include "windhover/io/asio_types.h"
#include "windhover/io/session.h"

namespace windhover {

// When all sessions are taken, by peers that have said Hello, one more connection may come in: from
// loopback or a Unix-domain socket, to ask Status, and it has the place for kLifeNs at most. Where
// identities are known it may come from anywhere, and whose Hello shows that it is an admin has the
// other place, one at a time, as long and for all that others have theirs. Before its Hello it
// loses the place to the next that comes: after kHelloNs, or at once if that one has sent
// something. So connections that say nothing, or drip, keep nobody out. A third session, because
// one that is let go needs a moment to end.
class OperatorPlace {
 public:
  static constexpr std::size_t kSessions = 3;
  static constexpr std::int64_t kLifeNs = 2'000'000'000;
  static constexpr std::int64_t kHelloNs = 250'000'000;

  OperatorPlace(std::span<Session> sessions, bool identities) noexcept
      : sessions_(sessions), identities_(identities) {}

  // A session for this connection, or null. The one that has the place may be let go.
  Session* take(Stream& socket, std::int64_t now_ns) noexcept;
  bool admins_is_free() const noexcept;

 private:
  std::span<Session> sessions_;
  bool identities_;
};

// Whether the other end is on this machine.
bool is_local(Stream& socket) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_OPERATOR_PLACE_H_
