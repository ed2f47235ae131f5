#ifndef WINDHOVER_TOOLS_CLI_AGAINST_OPTION_H_
#define WINDHOVER_TOOLS_CLI_AGAINST_OPTION_H_

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "windhover/tools/cli/interval_plot.h"

namespace windhover {

// Adds --against, which `fit` and `posterior` share. `texts` gets what category_groups() takes, and
// outlives the command.
CLI::Option* add_against_option(CLI::App& command, std::vector<std::string>& texts);

// Replaces the intervals of categories in the plot by their effects, `effects` being to_json() of
// them, and removes those of the categories that they are told against.
void show_category_effects(const nlohmann::ordered_json& effects, IntervalPlot& plot);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_AGAINST_OPTION_H_
