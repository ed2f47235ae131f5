// The places that an endpoint keeps for whoever looks after it.
#ifndef WINDHOVER_IO_OPERATOR_PLACE_H_
#define WINDHOVER_IO_OPERATOR_PLACE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>

#include "windhover/io/asio_types.h"
#include "windhover/io/occupant.h"

namespace windhover {

// What a connection is there for.
enum class PlaceKind : std::uint8_t {
  kEverybodys,
  kStatus,  // it may say who it is and ask the status, and becomes an admin's if it is one
  kAdmins,  // likewise, and who is none is refused
};

// A third session, because one that is let go needs a moment to end.
inline constexpr std::size_t kOperatorSessions = 3;
inline constexpr std::int64_t kOperatorLifeNs = 2'000'000'000;
inline constexpr std::int64_t kOperatorHelloNs = 250'000'000;

// Whether the other end is on this machine.
bool is_local(Stream& socket) noexcept;

// When all sessions are taken, by peers that are known, one more connection may come in: from
// loopback or a Unix-domain socket, to ask the status, and it has the place for kOperatorLifeNs at
// most. Where identities are known it may come from anywhere, and who shows that it is an admin has
// the other place, one at a time, as long and for all that others have theirs. Before it has shown
// who it is it loses the place to the next that comes: after kOperatorHelloNs, or at once if that
// one has sent something. So connections that say nothing, or drip, keep nobody out.
//
// Sessions: a range of what has occupant() and abort(), kOperatorSessions of them.
template <std::ranges::forward_range Sessions>
class OperatorPlace {
 public:
  using Session = std::ranges::range_value_t<Sessions>;

  OperatorPlace(Sessions sessions, bool identities) noexcept
      : sessions_(sessions), identities_(identities) {}

  // What becomes of a connection.
  struct Taken {
    Session* session = nullptr;  // null: none is free
    bool soon = false;           // but one will be in a moment
  };
  // The one that has the place may be let go, and so may those that have said all they had to say.
  Taken take(Stream& socket, std::int64_t now_ns) noexcept {
    if (!identities_ && !is_local(socket)) return {};
    const auto free = std::ranges::find_if(sessions_, &Occupant::is_free, &Session::occupant);
    if (free == sessions_.end()) return {nullptr, make_room()};
    const auto owner = std::ranges::find_if(
        sessions_, [](const Occupant& who) { return who.is_here() && who.on_trial; },
        &Session::occupant);
    if (owner == sessions_.end()) return {&*free};
    if (owner->occupant().greeted) return {};
    ErrorCode ignored;
    const bool speaks = socket.available(ignored) > 0;
    if (!speaks && now_ns - owner->occupant().begun_ns <= kOperatorHelloNs) return {};
    owner->abort();
    return {&*free};
  }

  bool admins_is_free() const noexcept {
    return std::ranges::none_of(
        sessions_, [](const Occupant& who) { return who.is_here() && !who.on_trial; },
        &Session::occupant);
  }

 private:
  // Whether one will be free in a moment.
  bool make_room() noexcept {
    if (std::ranges::any_of(sessions_, &Occupant::is_closed, &Session::occupant)) return true;
    const auto lingers = std::ranges::find_if(sessions_, &Occupant::lingers, &Session::occupant);
    if (lingers == sessions_.end()) return false;
    lingers->abort();
    return true;
  }

  Sessions sessions_;
  bool identities_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_OPERATOR_PLACE_H_
