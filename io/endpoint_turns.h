// Whose question an endpoint answers next, and when.
#ifndef WINDHOVER_IO_ENDPOINT_TURNS_H_
#define WINDHOVER_IO_ENDPOINT_TURNS_H_

#include <cstdint>

#include "windhover/io/asio_types.h"
#include "windhover/io/endpoint_memory.h"
#include "windhover/io/handler_memory.h"
#include "windhover/io/reminder.h"
#include "windhover/io/server_state.h"
#include "windhover/io/session.h"
#include "windhover/io/turn_spacing.h"

namespace windhover {

// Invariant: while a question waits that may be answered, the next turn is on its way: posted to
// the endpoint's thread, or behind a pause. Queue, spacing and pause are changed here alone, on
// that thread.
class EndpointTurns final : public SessionTurns {
 public:
  // `stops` tells how often the system has stopped the calling thread.
  EndpointTurns(EndpointKind kind, IoContext& io, EndpointMemory& memory, ServerState& state,
                std::uint64_t (*stops)() noexcept = stops_of_this_thread);

  // Begins with a new connection, which has had no turn yet.
  void begin(const Session& session) noexcept { memory_.queue.begin(number_of(session)); }

  std::int64_t budget() const noexcept override;
  void charge(const Session& session, std::int64_t cost) noexcept override;
  void wait(const Session& session, bool needs_place) noexcept override;
  void leave(const Session& session) noexcept override;

  // Called when something has changed that a question may wait for.
  void look() noexcept {
    if (!memory_.queue.empty()) schedule_next();
  }

  // Has Asio allocate for its timer, and ends its wait.
  void warm_up() { pause_.warm_up(); }
  void cool_down() noexcept { pause_.cancel(); }

 private:
  std::uint32_t number_of(const Session& session) const noexcept {
    return static_cast<std::uint32_t>(&session - memory_.sessions.data());
  }
  void schedule_next() noexcept;
  void next_question() noexcept;
  bool rows_come_first() noexcept;
  bool pauses(bool light) noexcept;

  const EndpointKind kind_;
  IoContext& io_;
  EndpointMemory& memory_;
  ServerState& state_;
  std::uint64_t (*const stops_)() noexcept;
  TurnSpacing spacing_;
  Reminder pause_;
  HandlerMemory next_memory_;
  bool next_scheduled_ = false;
  std::uint64_t rows_seen_ = 0;        // rows received when a question last came up
  std::int64_t questions_due_ns_ = 0;  // from then on a question goes before rows
};

}  // namespace windhover

#endif  // WINDHOVER_IO_ENDPOINT_TURNS_H_
