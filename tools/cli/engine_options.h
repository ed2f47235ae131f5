// Options that commands with an engine of their own share: names out of the registries, and the
// daemon's options as flags.
#ifndef WINDHOVER_TOOLS_CLI_ENGINE_OPTIONS_H_
#define WINDHOVER_TOOLS_CLI_ENGINE_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "windhover/tools/daemon/daemon_options.h"

namespace windhover {

std::vector<std::string> model_names();
std::vector<std::string> sampler_names();

// "sampler.noise_scale" becomes --noise-scale.
void add_options(CLI::App& command, const std::vector<DaemonOption>& options);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_ENGINE_OPTIONS_H_
