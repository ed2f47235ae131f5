// Who gets a place at an endpoint.
#ifndef WINDHOVER_IO_ENDPOINT_PLACES_H_
#define WINDHOVER_IO_ENDPOINT_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/conversation.h"
#include "windhover/io/endpoint_memory.h"
#include "windhover/io/endpoint_turns.h"
#include "windhover/io/listener.h"
#include "windhover/io/operator_place.h"
#include "windhover/io/server_state.h"

namespace windhover {

// A peer that has said Hello keeps its place. While all places are taken, peers that have not give
// theirs to newcomers, so that strangers that send slowly keep nobody out.
// Invariant: taken() sessions are not free. This class alone begins sessions and counts them, on
// the endpoint's thread; others read the count in ServerState.
class EndpointPlaces final : public ConnectionSink, public Places {
 public:
  EndpointPlaces(EndpointKind kind, EndpointMemory& memory, ServerState& state,
                 EndpointTurns& turns) noexcept;

  bool on_connection(Stream& socket) noexcept override;
  std::size_t of_same_identity(const Conversation& as) const noexcept override;
  bool admins_is_free() const noexcept override { return operator_place_.admins_is_free(); }

  // A session is free again.
  void give_back() noexcept;
  std::uint32_t taken() const noexcept { return taken_; }

 private:
  bool make_room() noexcept;
  void begin(Session& session, Stream& socket, PlaceKind place) noexcept;
  void refuse(Stream& socket) noexcept;

  const EndpointKind kind_;
  EndpointMemory& memory_;
  ServerState& state_;
  EndpointTurns& turns_;
  OperatorPlace<std::span<Session>> operator_place_;
  std::uint32_t taken_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_ENDPOINT_PLACES_H_
