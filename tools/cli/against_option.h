#ifndef WINDHOVER_TOOLS_CLI_AGAINST_OPTION_H_
#define WINDHOVER_TOOLS_CLI_AGAINST_OPTION_H_

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "windhover/tools/cli/interval_plot.h"

namespace windhover {

// --against, for `fit` and `posterior` alike: what category_groups() takes. `texts` outlives the
// command.
CLI::Option* add_against_option(CLI::App& command, std::vector<std::string>& texts);

// Puts the effects of categories, as to_json() of them says, where the plot has their parameters,
// and leaves out what they are told against.
void show_category_effects(const nlohmann::ordered_json& effects, IntervalPlot& plot);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_AGAINST_OPTION_H_
