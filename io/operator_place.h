// The places that an endpoint keeps for operators of the server.
#ifndef WINDHOVER_IO_OPERATOR_PLACE_H_
#define WINDHOVER_IO_OPERATOR_PLACE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>

#include "windhover/io/asio_types.h"
#include "windhover/io/occupant.h"

namespace windhover {

// What a connection's place is for.
enum class PlaceKind : std::uint8_t {
  kEverybodys,
  kStatus,  // Hello and Status only; an admin's becomes kEverybodys
  kAdmins,  // an admin's becomes kEverybodys; others are refused
};

// Two places, and a third session because one that is closed needs a moment to end.
inline constexpr std::size_t kOperatorSessions = 3;
inline constexpr std::int64_t kOperatorLifeNs = 2'000'000'000;
inline constexpr std::int64_t kOperatorHelloNs = 250'000'000;

// Whether the other end is on this machine.
bool is_local(Stream& socket) noexcept;

// When all sessions are taken by peers that have said Hello, one more connection may come in, from
// loopback or a Unix-domain socket, to ask the status; it has the place for kOperatorLifeNs at
// most. Where there is an identities file it may come from anywhere, and one that proves to be an
// admin has the other place, one at a time, for as long and as much as others have theirs. Until it
// has said Hello a connection loses the place to the next that comes: after kOperatorHelloNs, or at
// once if that one has sent something. So connections that send nothing, or slowly, keep nobody
// out.
//
// Sessions: a range of what has occupant() and abort(), kOperatorSessions of them.
template <std::ranges::forward_range Sessions>
class OperatorPlace {
 public:
  using Session = std::ranges::range_value_t<Sessions>;

  OperatorPlace(Sessions sessions, bool identities) noexcept
      : sessions_(sessions), identities_(identities) {}

  struct Taken {
    Session* session = nullptr;  // for the connection; null: none is free
    bool soon = false;           // but one will be in a moment
  };
  // Finds a session for a connection. It may close the one that has the place, or one that lingers.
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
