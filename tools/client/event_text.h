// What has happened to a model, for people and as JSON.
#ifndef WINDHOVER_TOOLS_CLIENT_EVENT_TEXT_H_
#define WINDHOVER_TOOLS_CLIENT_EVENT_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "windhover/runtime/diagnostics/event_log.h"

namespace windhover {

// A line: when, in UTC, at which row, what.
std::string event_line(const Event& event);
// What does not apply to its kind is left out.
nlohmann::ordered_json to_json(const Event& event);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_EVENT_TEXT_H_
