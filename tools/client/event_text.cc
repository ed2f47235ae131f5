#include "windhover/tools/client/event_text.h"

#include <fmt/format.h>

#include "windhover/runtime/diagnostics/reason_number.h"
#include "windhover/tools/kept/kept_text.h"

namespace windhover {
namespace {

bool tells_status(const Event& e) {
  return e.kind == EventKind::kStatus || e.kind == EventKind::kDrift;
}

std::string state_text(const Event& e) {
  std::string text = to_string(e.status);
  if (e.reason == StatusReason::kNone) return text;
  text += fmt::format(" ({}", to_string(e.reason));
  if (const char* name = number_name(e.reason); name != nullptr) {
    text += fmt::format(", {} {:.4g}", name, e.number);
  }
  text += ")";
  if (e.drift_onset > 0) text += fmt::format(", since about row {}", e.drift_onset);
  if (e.drift_onset_time_ns > 0) text += fmt::format(", {}", time_text(e.drift_onset_time_ns));
  return text;
}

std::string what(const Event& e) {
  switch (e.kind) {
    case EventKind::kStarted:
      return "a server began to serve it";
    case EventKind::kStatus: {
      const std::string text = fmt::format("{} -> {}", to_string(e.from), state_text(e));
      if (e.times == 1) return text;
      return fmt::format("{}; {} times since {}", text, e.times, time_text(e.first_time_ns));
    }
    case EventKind::kDrift:
      return fmt::format("another change while {}", state_text(e));
    case EventKind::kColdStartOver:
      return "cold start over";
    case EventKind::kStartedOver:
      return "the learner started over with the rows that it has";
    case EventKind::kResized:
      return fmt::format("as many as {:.0f} rows, before {:.0f}", e.number, e.before);
    case EventKind::kLimitAside:
      return "so many rows are surprising that none is limited any more";
    case EventKind::kLimitBack:
      return "surprising rows are limited again";
    case EventKind::kRecovered:
      return "the rows of before the restart are all in the answer";
    case EventKind::kPaused:
      return "paused";
    case EventKind::kWentOn:
      return "goes on learning";
    case EventKind::kNone:
      break;
  }
  return fmt::format("an event of kind {}, which this version does not know",
                     static_cast<int>(e.kind));
}

}  // namespace

std::string event_line(const Event& e) {
  return fmt::format("{}  row {:<9}  {}", time_text(e.time_ns), e.row, what(e));
}

nlohmann::ordered_json to_json(const Event& e) {
  nlohmann::ordered_json out = {{"id", e.id},
                                {"kind", to_string(e.kind)},
                                {"time", time_text(e.time_ns)},
                                {"time_ns", e.time_ns},
                                {"row", e.row},
                                {"status", to_string(e.status)},
                                {"status_reason", to_string(e.reason)}};
  if (e.kind == EventKind::kStatus) {
    out["from"] = to_string(e.from);
    out["times"] = e.times;
    out["first_time_ns"] = e.first_time_ns;
  }
  if (e.kind == EventKind::kResized) {
    out["rows_before"] = e.before;
    out["rows"] = e.number;
  }
  if (const char* name = number_name(e.reason); tells_status(e) && name != nullptr) {
    out[name] = e.number;
  }
  if (e.drift_onset > 0) {
    out["drift_onset"] = e.drift_onset;
    out["drift_onset_time_ns"] = e.drift_onset_time_ns;
  }
  return out;
}

}  // namespace windhover
