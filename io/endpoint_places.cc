#include "windhover/io/endpoint_places.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "windhover/io/access/access.h"
#include "windhover/io/codec.h"
#include "windhover/io/crowd.h"

namespace windhover {

EndpointPlaces::EndpointPlaces(EndpointKind kind, EndpointMemory& memory, ServerState& state,
                               EndpointTurns& turns) noexcept
    : kind_(kind),
      memory_(memory),
      state_(state),
      turns_(turns),
      operator_place_(memory.sessions.last(kOperatorSessions),
                      state.access != nullptr && state.access->has_file()) {}

bool EndpointPlaces::on_connection(Stream& socket) noexcept {
  const auto everybodys = memory_.sessions.first(state_.limits.max_sessions);
  auto free = std::ranges::find_if(everybodys, &Occupant::is_free, &Session::occupant);
  if (free == everybodys.end() && make_room()) {
    free = std::ranges::find_if(everybodys, &Occupant::is_free, &Session::occupant);
    if (free == everybodys.end()) return false;
  }
  if (free != everybodys.end()) {
    begin(*free, socket, PlaceKind::kEverybodys);
    return true;
  }
  const auto kept = operator_place_.take(socket, state_.now_ns());
  if (kept.soon) return false;
  if (kept.session == nullptr) {
    refuse(socket);
    return true;
  }
  state_.counters.add(IoCounter::kOperatorConnections);
  begin(*kept.session, socket, is_local(socket) ? PlaceKind::kStatus : PlaceKind::kAdmins);
  return true;
}

// Closes one session: one that lingers, or else the oldest stranger of the address with the most.
// So a crowd from one address makes room for itself, and a stranger from elsewhere keeps its place
// until its own address has the most; where each has its own address a newcomer has a millisecond a
// place (Listener::kPlaceAgain) to say Hello. False: all have said Hello. True: a place is free, or
// will be when the operations of a closed session have come back.
bool EndpointPlaces::make_room() noexcept {
  const auto everybodys = memory_.sessions.first(state_.limits.max_sessions);
  if (std::ranges::any_of(everybodys, &Occupant::is_closed, &Session::occupant)) return true;
  const Crowd crowd(everybodys, memory_.addresses);
  const auto claim = [&](const Occupant& who) {
    const std::size_t others = who.stranger ? crowd.at(who.address) : 0;
    return std::tuple(who.is_here(), SIZE_MAX - others, who.begun_ns);
  };
  Session* victim = nullptr;
  for (Session& session : everybodys) {
    const Occupant who = session.occupant();
    if (!who.lingers() && !who.stranger) continue;
    if (victim == nullptr || claim(who) < claim(victim->occupant())) victim = &session;
  }
  if (victim == nullptr) return false;
  if (!victim->occupant().greeted) state_.counters.add(IoCounter::kStrangersLetGo);
  victim->abort();
  return true;
}

std::size_t EndpointPlaces::of_same_identity(const Conversation& as) const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(memory_.sessions, [&](const Session& s) {
    return &s.conversation() != &as && s.occupant().is_here() && s.conversation().is_greeted() &&
           s.conversation().same_identity_as(as);
  }));
}

void EndpointPlaces::begin(Session& session, Stream& socket, PlaceKind place) noexcept {
  state_.counters.add(IoCounter::kConnectionsAccepted);
  state_.of(kind_).sessions.store(++taken_, std::memory_order_relaxed);
  turns_.begin(session);
  session.begin(std::move(socket), place);
}

void EndpointPlaces::refuse(Stream& socket) noexcept {
  state_.counters.add(IoCounter::kConnectionsRefused);
  // Under TLS a refusal needs a handshake first, and there is no session to do it.
  const bool local = Credential::of_socket(socket.native_handle()).kind == Credential::Kind::kUser;
  if (state_.tls != nullptr && !local) return;
  std::array<std::byte, 64> bytes;
  const std::size_t size = encode(
      0, RefusalReply{refusal_of(Status::kUnavailable), state_.limits.max_sessions, true}, bytes);
  ErrorCode ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(bytes.data(), size), ignored);
  socket.shutdown(Stream::shutdown_send, ignored);
}

void EndpointPlaces::give_back() noexcept {
  state_.of(kind_).sessions.store(--taken_, std::memory_order_relaxed);
}

}  // namespace windhover
