#include "windhover/tools/cli/fit_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "windhover/tools/client/answers.h"
#include "windhover/tools/data/inspect.h"

namespace windhover {
namespace {

using nlohmann::ordered_json;

// A number of the result, or "-" where there is none.
std::string shown(const ordered_json& value) {
  if (value.is_number_float()) return fmt::format("{:.4g}", value.get<double>());
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? "-" : value.dump();
}

std::string table_of(const ordered_json& parameters, const std::vector<std::string>& names) {
  std::size_t width = 9;
  for (const std::string& name : names) width = std::max(width, name.size());
  std::string out = fmt::format("\n{:<{}}", "parameter", width);
  for (const auto& [key, value] : parameters[0].items()) {
    if (key != "name") out += fmt::format(" {:>10}", key);
  }
  out += "\n";
  for (const auto& p : parameters) {
    out += fmt::format("{:<{}}", p["name"].get<std::string>(), width);
    for (const auto& [key, value] : p.items()) {
      if (key != "name") out += fmt::format(" {:>10}", shown(value));
    }
    out += "\n";
  }
  return out;
}

// Of a target that may be another kind of thing than a number: beside the numbers that are of it.
std::string hint_of(const ordered_json& result) {
  if (!result.contains("file") || !result["file"]["target"].contains("hint")) return "";
  const ordered_json& target = result["file"]["target"];
  return fmt::format("\nNote: {} was taken for a number, and the model is {}; {}.\n",
                     target["column"].get<std::string>(), result["model"].get<std::string>(),
                     target["hint"].get<std::string>());
}

}  // namespace

std::string describe_fit(const ordered_json& result) {
  std::string out;
  if (result.contains("file")) out = describe_file(result["file"], "") + "\n";
  for (const auto& [key, value] : result.items()) {
    if (key != "parameters" && key != "file") out += fmt::format("{:<24} {}\n", key, shown(value));
  }
  std::vector<std::string> names;
  for (const auto& p : result["parameters"]) names.push_back(p["name"]);
  out += table_of(result["parameters"], names);
  out += fmt::format("({})\n", kChainsLegend) + categories_legend(names);
  return out + hint_of(result);
}

}  // namespace windhover
