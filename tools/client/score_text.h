// What the predictions of a model were worth, as text and as JSON.
#ifndef WINDHOVER_TOOLS_CLIENT_SCORE_TEXT_H_
#define WINDHOVER_TOOLS_CLIENT_SCORE_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "windhover/io/windhover.pb.h"

namespace windhover {

// A line for each memory that covers other rows than the one before; none where predictions are not
// scored.
std::vector<std::string> score_lines(const v1::StatusResult& status);
nlohmann::ordered_json to_json(const v1::PredictionScore& score);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_SCORE_TEXT_H_
