#include "windhover/runtime/diagnostics/event_log.h"

#include <algorithm>

#include "windhover/runtime/diagnostics/reason_number.h"

namespace windhover {

const char* to_string(EventKind kind) noexcept {
  switch (kind) {
    case EventKind::kNone:
      break;
    case EventKind::kStarted:
      return "started";
    case EventKind::kStatus:
      return "status";
    case EventKind::kDrift:
      return "drift";
    case EventKind::kColdStartOver:
      return "cold_start_over";
    case EventKind::kStartedOver:
      return "started_over";
    case EventKind::kResized:
      return "resized";
    case EventKind::kLimitAside:
      return "limit_aside";
    case EventKind::kLimitBack:
      return "limit_back";
    case EventKind::kRecovered:
      return "recovered";
    case EventKind::kPaused:
      return "paused";
    case EventKind::kWentOn:
      return "went_on";
  }
  return "none";
}

bool EventLog::look(const EngineMoment& now, std::int64_t time_ns) noexcept {
  const std::uint64_t total = list_.total;
  Event event;
  event.time_ns = event.first_time_ns = time_ns;
  event.row = now.answer.n_seen;
  event.status = event.from = now.answer.status;
  event.reason = now.answer.reason;
  if (now.paused != paused_) add(now.paused ? EventKind::kPaused : EventKind::kWentOn, event);
  look_at_learner(now, event);
  look_at_status(now.answer, event);
  paused_ = now.paused;
  return list_.total != total;
}

// A learner that has started over may have ended its cold start again already.
void EventLog::look_at_learner(const EngineMoment& now, Event event) noexcept {
  const bool anew = now.cold_starts > cold_starts_;
  const bool over = sampling_ && (!now.sampling || anew);
  if (over) add(EventKind::kStartedOver, event);
  if (now.sampling && (!sampling_ || anew)) add(EventKind::kColdStartOver, event);
  if (now.memory != memory_ && memory_ != 0 && !over) {
    event.before = static_cast<double>(memory_);
    event.number = static_cast<double>(now.memory);
    add(EventKind::kResized, event);
    event.before = event.number = std::numeric_limits<double>::quiet_NaN();
  }
  if (now.limit_aside != limit_aside_) {
    add(now.limit_aside ? EventKind::kLimitAside : EventKind::kLimitBack, event);
  }
  sampling_ = now.sampling;
  cold_starts_ = now.cold_starts;
  memory_ = now.memory;
  limit_aside_ = now.limit_aside;
}

void EventLog::look_at_status(const Provenance& p, Event event) noexcept {
  const bool other = p.status != status_ || p.reason != reason_;
  const bool drifts = p.reason == StatusReason::kDrift;
  const bool moved = drifts && !other && p.drift_onset > 0 && p.drift_onset >= drift_told_;
  if (status_ == PosteriorStatus::kRecovering && p.status != status_) {
    add(EventKind::kRecovered, event);
  }
  if (!other && !moved) return;
  event.from = status_;
  event.number = number_behind(p).value;
  if (drifts) {
    event.drift_onset = p.drift_onset;
    event.drift_onset_time_ns = p.drift_onset_time_ns;
    drift_told_ = p.n_seen;
  }
  add(other ? EventKind::kStatus : EventKind::kDrift, event);
  status_ = p.status;
  reason_ = p.reason;
}

void EventLog::tell_start(std::uint64_t row, std::int64_t time_ns) noexcept {
  Event event;
  event.time_ns = event.first_time_ns = time_ns;
  event.row = row;
  event.status = event.from = status_;
  event.reason = reason_;
  add(EventKind::kStarted, event);
}

void EventLog::add(EventKind kind, Event event) noexcept {
  event.kind = kind;
  event.id = ++list_.total;
  list_.newest_time_ns[static_cast<std::size_t>(kind)] = event.time_ns;
  if (repeats(event)) {
    const Event& before = list_.events[list_.count - 2];
    event.times = before.times + 1;
    event.first_time_ns = before.first_time_ns;
    remove(list_.count - 2);
  } else if (list_.count == kMostEvents) {
    remove(0);
  }
  list_.events[list_.count++] = event;
}

bool EventLog::repeats(const Event& event) const noexcept {
  if (event.kind != EventKind::kStatus || list_.count < 2) return false;
  const Event& there = list_.events[list_.count - 2];
  const Event& back = list_.events[list_.count - 1];
  return there.kind == EventKind::kStatus && back.kind == EventKind::kStatus &&
         there.status == event.status && there.reason == event.reason && there.from == event.from &&
         back.from == event.status && back.status == event.from;
}

void EventLog::remove(std::size_t place) noexcept {
  const auto begin = list_.events.begin() + static_cast<std::ptrdiff_t>(place);
  std::move(begin + 1, list_.events.begin() + list_.count, begin);
  --list_.count;
}

// Times since 1970 are saved as they are, because the clock that gives them does not start anew.
void EventLog::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("events", 1);
  visitor.values(list_.count, list_.total, status_, reason_, sampling_, cold_starts_, memory_,
                 limit_aside_, paused_, drift_told_);
  for (std::int64_t& time_ns : list_.newest_time_ns) visitor.value(time_ns);
  list_.count = std::min<std::uint32_t>(list_.count, kMostEvents);
  for (Event& e : std::span(list_.events).first(list_.count)) {
    visitor.values(e.id, e.time_ns, e.first_time_ns, e.times, e.row, e.kind, e.from, e.status,
                   e.reason, e.drift_onset, e.drift_onset_time_ns);
    visitor.value(e.number);
    visitor.value(e.before);
  }
}

}  // namespace windhover
