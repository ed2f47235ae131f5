// Shows what has happened to an engine to its readers.
#ifndef WINDHOVER_RUNTIME_DIAGNOSTICS_EVENT_BOARD_H_
#define WINDHOVER_RUNTIME_DIAGNOSTICS_EVENT_BOARD_H_

#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/snapshots.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/diagnostics/event_log.h"

namespace windhover {

// Invariant: after reset() there always is a list to read, and it is that of the log.
//
// Threads: read() from each reader's thread, with an index of its own; all else on the learner's.
class EventBoard {
 public:
  // Takes memory, writes nothing; call reset() before use.
  EventBoard(Arena& arena, std::uint32_t readers) noexcept
      : slots_(arena.make_array<EventList>(Snapshots<EventList>::slots_for(readers))),
        pins_(arena.allocate<SnapshotPin>(readers)),
        shown_(slots_, pins_) {}

  void reset() noexcept {
    log_.reset();
    shown_.reset();
    looked_ = {};
    show();
  }

  // Whether `now` is another cause than when this was last asked, so that look() is to be called.
  bool has_cause(const EventCause& now) noexcept {
    if (now == looked_) return false;
    looked_ = now;
    return true;
  }
  // Logs what has changed since the last moment as events.
  void look(const EngineMoment& now, std::int64_t time_ns) noexcept {
    if (log_.look(now, time_ns)) show();
  }
  void tell_start(std::uint64_t row, std::int64_t time_ns) noexcept {
    log_.tell_start(row, time_ns);
    show();
  }

  // Reads the newest list. Never waits. O(kMostEvents).
  void read(std::uint32_t reader, EventList& list) noexcept {
    list = *shown_.pin(reader);
    shown_.unpin(reader);
  }

  void visit_state(StateVisitor& visitor) noexcept {
    log_.visit_state(visitor);
    visitor.values(looked_.snapshot, looked_.recovery_target, looked_.failing, looked_.paused);
    if (visitor.restores()) show();
  }

 private:
  void show() noexcept {
    shown_.begin_publish() = log_.list();
    shown_.publish();
  }

  std::span<EventList> slots_;
  std::span<SnapshotPin> pins_;
  Snapshots<EventList> shown_;
  EventLog log_;
  EventCause looked_;  // as of the newest has_cause()
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_DIAGNOSTICS_EVENT_BOARD_H_
