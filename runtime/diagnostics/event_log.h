// What has happened to a posterior lately: a list of fixed length.
#ifndef WINDHOVER_RUNTIME_DIAGNOSTICS_EVENT_LOG_H_
#define WINDHOVER_RUNTIME_DIAGNOSTICS_EVENT_LOG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/posterior/provenance.h"

namespace windhover {

enum class EventKind : std::uint8_t {
  kNone = 0,
  kStarted = 1,        // a host began to serve the engine (Engine::tell_start)
  kStatus = 2,         // status or reason changed
  kDrift = 3,          // while drifting: another change, which began after the last one was told
  kColdStartOver = 4,  // the mode is found: chains began
  kStartedOver = 5,    // the learner looks for the mode anew, with the rows that it has
  kResized = 6,        // Horizon::kAdaptive: another memory, from `before` rows to `number`
  kLimitAside = 7,     // so many rows are surprising that none is limited (SurpriseLimit)
  kLimitBack = 8,      // the limit acts again
  kRecovered = 9,      // the rows of before a restart are all in the answer
  kPaused = 10,
  kWentOn = 11,
};
inline constexpr std::size_t kEventKinds = 12;
const char* to_string(EventKind kind) noexcept;

// Members that name kinds are 0, or NaN, for all other kinds.
struct Event {
  std::uint64_t id = 0;            // 1, 2, ... in the life of the engine, checkpoints included
  std::int64_t time_ns = 0;        // since 1970, by the host's clock
  std::int64_t first_time_ns = 0;  // of the first of `times`
  // How often this change of status has come, with nothing but the change back in between; 1 for
  // other kinds.
  std::uint64_t times = 1;
  std::uint64_t row = 0;  // how many rows the learner had taken in
  EventKind kind = EventKind::kNone;
  PosteriorStatus from = PosteriorStatus::kWarmingUp;  // the status before
  PosteriorStatus status = PosteriorStatus::kWarmingUp;
  StatusReason reason = StatusReason::kNone;
  // For status and drift: the number behind the reason (number_behind()). For resized: see there.
  double number = std::numeric_limits<double>::quiet_NaN();
  double before = std::numeric_limits<double>::quiet_NaN();
  // For the reason kDrift: Provenance::drift_onset and its time.
  std::uint64_t drift_onset = 0;
  std::int64_t drift_onset_time_ns = 0;
};

inline constexpr std::size_t kMostEvents = 64;

// The newest events, oldest first. Plain data.
struct EventList {
  std::array<Event, kMostEvents> events;
  std::uint32_t count = 0;
  std::uint64_t total = 0;  // how many there ever were: the newest one's id
  // When the newest event of each kind came, even where it is no longer in the list; 0: none has.
  std::array<std::int64_t, kEventKinds> newest_time_ns{};

  std::span<const Event> all() const noexcept { return {events.data(), count}; }
};

// What may bring events: the newest snapshot, and what an answer's status depends on beside it.
struct EventCause {
  std::uint64_t snapshot = 0;
  std::uint64_t recovery_target = 0;
  bool failing = false;  // Prequential::failing()
  bool paused = false;
  bool operator==(const EventCause&) const = default;
};

// The state of an engine at one moment, as far as events tell of it.
struct EngineMoment {
  const Provenance& answer;  // as readers get it
  bool sampling = false;     // the cold start is over
  std::uint64_t cold_starts = 0;
  std::uint64_t memory = 0;  // LearnerView::memory
  bool limit_aside = false;
  bool paused = false;
};

// Compares each moment with the one before, so that of what happens between two looks only the
// outcome is told. A status that comes and goes takes two places, however often it does: an event
// that repeats the one before last, with the change back in between, replaces that one and counts
// the times.
//
// Invariant: ids grow along the list. One thread: the learner's.
class EventLog {
 public:
  void reset() noexcept { *this = EventLog(); }

  // Adds what has changed since the last look() as events. Returns whether there was anything.
  // O(kMostEvents).
  bool look(const EngineMoment& now, std::int64_t time_ns) noexcept;
  void tell_start(std::uint64_t row, std::int64_t time_ns) noexcept;

  const EventList& list() const noexcept { return list_; }

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  void look_at_learner(const EngineMoment& now, Event event) noexcept;
  void look_at_status(const Provenance& p, Event event) noexcept;
  void add(EventKind kind, Event event) noexcept;
  bool repeats(const Event& event) const noexcept;
  void remove(std::size_t place) noexcept;

  EventList list_;
  // As of the last look().
  PosteriorStatus status_ = PosteriorStatus::kWarmingUp;
  StatusReason reason_ = StatusReason::kFewDraws;
  bool sampling_ = false;
  std::uint64_t cold_starts_ = 0;
  std::uint64_t memory_ = 0;
  bool limit_aside_ = false;
  bool paused_ = false;
  std::uint64_t drift_told_ = 0;  // rows taken in when drift was last told
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_DIAGNOSTICS_EVENT_LOG_H_
