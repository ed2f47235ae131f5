#ifndef WINDHOVER_TOOLS_CLI_READING_OPTIONS_H_
#define WINDHOVER_TOOLS_CLI_READING_OPTIONS_H_

#include <CLI/CLI.hpp>

#include "windhover/tools/data/inspect.h"

namespace windhover {

// The flags that say how a file is read, for `fit` and `schema` alike: the same flags give the same
// schema. --target and --model are the command's own. `options` outlives the command.
void add_reading_options(CLI::App& command, InspectOptions& options);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_READING_OPTIONS_H_
