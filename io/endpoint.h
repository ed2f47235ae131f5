// One of the server's two endpoints: an io_context, the places it listens at, its sessions.
#ifndef WINDHOVER_IO_ENDPOINT_H_
#define WINDHOVER_IO_ENDPOINT_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "windhover/io/alarm.h"
#include "windhover/io/asio_types.h"
#include "windhover/io/conversation_memory.h"
#include "windhover/io/fair_queue.h"
#include "windhover/io/handler_memory.h"
#include "windhover/io/listener.h"
#include "windhover/io/long_predict.h"
#include "windhover/io/operator_place.h"
#include "windhover/io/server_state.h"
#include "windhover/io/session.h"
#include "windhover/io/turn_spacing.h"
#include "windhover/platform/arena.h"
#include "windhover/platform/handover.h"

namespace windhover {

// What an endpoint needs from the block. Takes memory, writes nothing but itself.
struct EndpointMemory : ConversationMemory {
  EndpointMemory(Arena& arena, const Limits& limits, std::size_t model_count) noexcept
      : ConversationMemory(arena, limits, model_count),
        long_predict(arena, limits),
        queue(arena, limits.max_sessions + kOperatorSessions),
        sessions(arena.make_array<Session>(limits.max_sessions + kOperatorSessions, arena, limits,
                                           context)),
        addresses(arena.allocate<std::uint64_t>(limits.max_sessions)) {
    context.long_predict = &long_predict;
  }

  LongPredict long_predict;
  FairQueue queue;
  std::span<Session> sessions;         // the last ones are the operator's
  std::span<std::uint64_t> addresses;  // room for those of strangers
};

// What else the observe thread does for the server beside its connections. On that thread.
class EndpointDuties {
 public:
  // Once when the endpoint runs, and again after a moment as long as it says true.
  virtual bool go_on() noexcept = 0;
  // After each wake().
  virtual void on_wake() noexcept = 0;
  // Who keeps the model in this place has changed; null: nobody does any more.
  virtual void on_keeper(std::size_t place, Persistence* keeper) noexcept = 0;

 protected:
  ~EndpointDuties() = default;
};

// Everything but the constructor, open(), request_stop() and wake() happens on the thread inside
// run().
class Endpoint final : private SessionHost, private ConnectionSink, private Places {
 public:
  // REQUIRES: memory.models and memory.queries are bound. Allocates.
  Endpoint(EndpointKind kind, EndpointMemory& memory, ServerState& state);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Listens, and has Asio allocate all it will ever need: for each descriptor there may be at one
  // time, and for each timer.
  Result<bool> open(const ServerConfig& config, const ListenConfig& listen);
  // Before run(), after open(): where the server's own parts reach it, in the clear.
  Result<bool> open_inner(std::string& path);
  // Before run().
  void set_duties(EndpointDuties& duties) noexcept { duties_ = &duties; }

  // Until it has stopped. A fault is counted and survived (IoCounter::kEndpointFaults); beat_ns of
  // ServerState tells whether the endpoint gets anywhere.
  void run() noexcept;

  // Any thread, also a signal handler: one write to an eventfd.
  void request_stop() noexcept;
  // Any thread: more is on disk, or something waits for the endpoint's own thread.
  void wake() noexcept;

  // Any thread but its own, one at a time: has a model come or go here, and waits until that is
  // done. Who speaks of one that goes is told and let go.
  void change(const PlaceChange& entry) noexcept;
  // Any thread: until another one is inside run(), or was. REQUIRES: one will be.
  void wait_for_run() const noexcept { changes_.wait_for_begin(); }

  std::uint16_t port() const noexcept { return tcp_.port(); }

 private:
  bool serve() noexcept;
  void change_here(const PlaceChange& entry) noexcept;
  Status warm_up();
  bool on_connection(Stream& socket) noexcept override;
  bool make_room() noexcept;
  std::size_t of_same_identity(const Conversation& as) const noexcept override;
  bool admins_is_free() const noexcept override { return operator_place_.admins_is_free(); }
  void on_pause(Session& session) noexcept override;
  void on_throttle(Session& session) noexcept override;
  std::int64_t budget() const noexcept override;
  void on_cost(Session& session, std::int64_t cost) noexcept override;
  void on_question(Session& session, bool needs_place) noexcept override;
  void on_closed(Session& session) noexcept override;
  void on_free(Session& session) noexcept override;
  std::uint32_t number_of(const Session& session) const noexcept {
    return static_cast<std::uint32_t>(&session - memory_.sessions.data());
  }
  void schedule_next() noexcept;
  void next_question() noexcept;
  bool rows_come_first() noexcept;
  bool pauses(bool light) noexcept;
  void begin(Session& session, Stream& socket, PlaceKind place) noexcept;
  void refuse(Stream& socket) noexcept;
  void arm_sweep() noexcept;
  void sweep() noexcept;
  void retry() noexcept;
  void leave_lines() noexcept;
  void settle() noexcept;
  void arm_wake() noexcept;
  void do_duty() noexcept;
  void on_wake() noexcept;
  void stop() noexcept;
  void finish_if_idle() noexcept;

  EndpointKind kind_;
  EndpointMemory& memory_;
  ServerState& state_;
  EndpointDuties* duties_ = nullptr;
  IoContext io_;
  OperatorPlace<std::span<Session>> operator_place_;
  Listener tcp_;
  Listener unix_;
  Listener inner_;
  Descriptor wake_;
  int wake_fd_ = -1;
  HandlerMemory wake_memory_;
  HandlerMemory next_memory_;
  Alarm sweep_;
  Alarm retry_;
  Alarm deadline_;
  Alarm duty_;
  Alarm settle_;
  Alarm tokens_;
  Alarm pause_;
  std::chrono::nanoseconds sweep_period_{};
  std::uint32_t open_sessions_ = 0;
  std::uint64_t rows_seen_ = 0;        // when a question was last to be answered
  std::int64_t questions_due_ns_ = 0;  // from when on one comes also before rows
  TurnSpacing spacing_;
  bool next_scheduled_ = false;
  bool pause_armed_ = false;
  bool retry_armed_ = false;
  bool tokens_armed_ = false;
  bool settle_armed_ = false;
  bool stopping_ = false;
  bool on_duty_ = false;
  Handover<PlaceChange> changes_;
  std::atomic<bool> stop_requested_{false};
};

}  // namespace windhover

#endif  // WINDHOVER_IO_ENDPOINT_H_
