// Events of a model, as text and as JSON.
#ifndef WINDHOVER_TOOLS_CLIENT_EVENT_TEXT_H_
#define WINDHOVER_TOOLS_CLIENT_EVENT_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "windhover/runtime/diagnostics/event_log.h"

namespace windhover {

// One line: the time in UTC, the row, what happened.
std::string event_line(const Event& event);
// Fields that do not apply to the kind of event are left out.
nlohmann::ordered_json to_json(const Event& event);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_EVENT_TEXT_H_
