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

// What else the observe thread does for the server beside its connections. On that thread.
class EndpointDuties {
 public:
  // Called once when the endpoint runs, and again after a moment as long as it says true.
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
class Endpoint final : private SessionHost {
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
  void wake() noexcept { waker_.wake(); }

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
