// What a fit has come to, for people.
#ifndef WINDHOVER_TOOLS_CLI_FIT_REPORT_H_
#define WINDHOVER_TOOLS_CLI_FIT_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>

namespace windhover {

// The result of fit() as lines of text: values, tables, and how to read them.
std::string describe_fit(const nlohmann::ordered_json& result);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_FIT_REPORT_H_
