// Options of commands that run an engine themselves: names out of the registries, and options of
// the daemon as flags.
#ifndef WINDHOVER_TOOLS_CLI_ENGINE_OPTIONS_H_
#define WINDHOVER_TOOLS_CLI_ENGINE_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "windhover/tools/daemon/daemon_options.h"

namespace windhover {

std::vector<std::string> model_names();
std::vector<std::string> sampler_names();

// Adds each option as a flag: "sampler.noise_scale" becomes --noise-scale.
void add_options(CLI::App& command, const std::vector<DaemonOption>& options);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_ENGINE_OPTIONS_H_
