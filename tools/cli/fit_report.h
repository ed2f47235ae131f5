// What a fit has come to, for people.
#ifndef WINDHOVER_TOOLS_CLI_FIT_REPORT_H_
#define WINDHOVER_TOOLS_CLI_FIT_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>

namespace windhover {

// What fit() has found as tables, and beneath them how to read them; lines.
std::string describe_fit(const nlohmann::ordered_json& result);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_FIT_REPORT_H_
