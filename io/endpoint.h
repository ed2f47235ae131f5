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
#include "windhover/io/endpoint_memory.h"
#include "windhover/io/endpoint_places.h"
#include "windhover/io/endpoint_turns.h"
#include "windhover/io/endpoint_waits.h"
#include "windhover/io/listener.h"
#include "windhover/io/reminder.h"
#include "windhover/io/server_state.h"
#include "windhover/io/session.h"
#include "windhover/io/waker.h"
#include "windhover/platform/handover.h"

namespace windhover {

// What the observe thread does for the server beside its connections. Called on that thread.
class EndpointDuties {
 public:
  // Does a piece of work. Called when the endpoint begins to run and after each change of models,
  // and again after a pause as long as it returns true.
  virtual bool go_on() noexcept = 0;
  // Called after wake(); several wake() may end in one call.
  virtual void on_wake() noexcept = 0;
  // The keeper of the model in this place has changed; null: nobody keeps it any more.
  virtual void on_keeper(std::size_t place, Persistence* keeper) noexcept = 0;

 protected:
  ~EndpointDuties() = default;
};

// Its sessions, listeners and timers work on the thread inside run() alone. open(), open_inner()
// and set_duties() come before run(); the other functions say which threads may call them.
class Endpoint final : private SessionHost {
 public:
  // REQUIRES: memory.models and memory.queries are bound. Allocates memory.
  Endpoint(EndpointKind kind, EndpointMemory& memory, ServerState& state);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Listens, and has Asio allocate all that it will ever need: for each descriptor that there may
  // be at one time, and for each timer.
  Result<bool> open(const ServerConfig& config, const ListenConfig& listen);
  // After open(): listens for the server's own HTTP as well, without TLS; `path` gets the address.
  Result<bool> open_inner(std::string& path);
  void set_duties(EndpointDuties& duties) noexcept { duties_ = &duties; }

  // Serves until it has stopped. A fault is counted (IoCounter::kEndpointFaults), and the endpoint
  // goes on; beat_ns of ServerState tells whether it makes progress.
  void run() noexcept;

  // Any thread, also a signal handler: one write to an eventfd.
  void request_stop() noexcept;
  // Any thread: more is on disk, or something waits for the endpoint's own thread.
  void wake() noexcept { waker_.wake(); }

  // Adds a model here or removes one, and waits until that is done. Connections that have named a
  // model that goes are told and closed. Any thread but its own, one at a time.
  void change(const PlaceChange& entry) noexcept;
  // Waits until some thread has entered run(). Any thread. REQUIRES: one will.
  void wait_for_run() const noexcept { changes_.wait_for_begin(); }

  std::uint16_t port() const noexcept { return tcp_.port(); }

 private:
  bool serve() noexcept;
  void change_here(const PlaceChange& entry) noexcept;
  Status warm_up();
  void cool_down() noexcept;
  void on_pause(Session& session) noexcept override;
  void on_throttle(Session& session) noexcept override;
  void on_free(Session& session) noexcept override;
  void arm_sweep() noexcept;
  void sweep() noexcept;
  void do_duty() noexcept;
  void arm_wake() noexcept;
  void on_wake() noexcept;
  void stop() noexcept;
  void finish_if_idle() noexcept;

  EndpointKind kind_;
  EndpointMemory& memory_;
  ServerState& state_;
  EndpointDuties* duties_ = nullptr;
  IoContext io_;
  EndpointTurns turns_;
  EndpointWaits<std::span<Session>> waits_;
  EndpointPlaces places_;
  Listener tcp_;
  Listener unix_;
  Listener inner_;
  Waker waker_;
  Alarm sweep_;
  Alarm deadline_;
  Piecework duty_;
  Piecework settle_;
  std::chrono::nanoseconds sweep_period_{};
  bool stopping_ = false;
  Handover<PlaceChange> changes_;
  std::atomic<bool> stop_requested_{false};
};

}  // namespace windhover

#endif  // WINDHOVER_IO_ENDPOINT_H_
