#ifndef WINDHOVER_TOOLS_CLI_READING_OPTIONS_H_
#define WINDHOVER_TOOLS_CLI_READING_OPTIONS_H_

#include <CLI/CLI.hpp>

#include "windhover/tools/data/inspect.h"

namespace windhover {

// Adds the flags that say how a file is read, which `fit`, `evaluate` and `schema` share: the same
// flags give the same schema. Each command adds --target and --model itself. `options` outlives the
// command.
void add_reading_options(CLI::App& command, InspectOptions& options);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_READING_OPTIONS_H_
