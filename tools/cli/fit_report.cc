#include "windhover/tools/cli/fit_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "windhover/samplers/registry.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/category_effects.h"
#include "windhover/tools/data/inspect.h"
#include "windhover/tools/data/shown_text.h"

namespace windhover {
namespace {

using nlohmann::ordered_json;

// A value of the result as text, "-" for null.
std::string shown(const ordered_json& value) {
  if (value.is_number_float()) return fmt::format("{:.4g}", value.get<double>());
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? "-" : value.dump();
}

std::string parameter_table(const ordered_json& parameters) {
  std::size_t width = 9;
  for (const auto& p : parameters) {
    width = std::max(width, shown_text(p["name"].get<std::string>()).size());
  }
  std::string out = fmt::format("\n{:<{}}", "parameter", width);
  for (const auto& [key, value] : parameters[0].items()) {
    if (key != "name") out += fmt::format(" {:>10}", key);
  }
  out += "\n";
  for (const auto& p : parameters) {
    out += fmt::format("{:<{}}", shown_text(p["name"].get<std::string>()), width);
    for (const auto& [key, value] : p.items()) {
      if (key != "name") out += fmt::format(" {:>10}", shown(value));
    }
    out += "\n";
  }
  return out;
}

// A note where the target may be another kind of value than it was taken for. It comes last, so
// that it stands below the numbers.
std::string hint_of(const ordered_json& result) {
  if (!result.contains("file") || !result["file"]["target"].contains("hint")) return "";
  const ordered_json& target = result["file"]["target"];
  const auto model = result["model"].get<std::string>();
  return fmt::format("\nNote: {} was taken for {}, and the model is {}; {}.\n",
                     shown_text(target["column"].get<std::string>()),
                     is_count(find_model(model)->response) ? "a count" : "a number", model,
                     target["hint"].get<std::string>());
}

}  // namespace

std::string describe_fit(const ordered_json& result) {
  std::string out;
  if (result.contains("file")) out = describe_file(result["file"], "") + "\n";
  for (const auto& [key, value] : result.items()) {
    if (key != "parameters" && key != "file" && key != "category_effects")
      out += fmt::format("{:<24} {}\n", key, shown(value));
  }
  out += parameter_table(result["parameters"]) + fmt::format("({})\n", kChainsLegend);
  if (result.contains("category_effects")) {
    out += category_effects_table(result["category_effects"]);
  }
  return out + hint_of(result);
}

}  // namespace windhover
