#include "windhover/tools/cli/against_option.h"

#include <algorithm>

namespace windhover {

CLI::Option* add_against_option(CLI::App& command, std::vector<std::string>& texts) {
  return command.add_option(
      "--against", texts,
      "FIELD=CATEGORY above which the field's other categories are told, instead of above their "
      "average; once a field");
}

void show_category_effects(const nlohmann::ordered_json& effects, IntervalPlot& plot) {
  if (effects["effects"].empty()) return;
  for (const auto& effect : effects["effects"]) {
    const std::string name = effect["name"];
    const std::string above = effect["above"];
    // With several classes the name of a class stands before both.
    std::erase_if(plot.intervals, [&](const Interval& interval) {
      return interval.name == above || interval.name.ends_with(": " + above);
    });
    for (Interval& interval : plot.intervals) {
      if (interval.name == name) interval = {name, effect["mean"], effect["q5"], effect["q95"]};
    }
  }
  plot.label = kCategoryEffectLabel;
}

}  // namespace windhover
