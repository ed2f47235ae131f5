// Numbers on the command line, read strictly: CLI11 takes -1 for 2^64 - 1 and 010 for 8.
#ifndef WINDHOVER_TOOLS_CLI_COMMAND_NUMBERS_H_
#define WINDHOVER_TOOLS_CLI_COMMAND_NUMBERS_H_

#include <CLI/CLI.hpp>

namespace windhover {

// For transform() of an option that holds an unsigned 64-bit number, or at most `most`.
CLI::Validator whole_number(std::uint64_t most = UINT64_MAX);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_COMMAND_NUMBERS_H_
