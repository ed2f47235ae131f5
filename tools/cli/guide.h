// What `windhover` says to somebody who does not know its commands.
#ifndef WINDHOVER_TOOLS_CLI_GUIDE_H_
#define WINDHOVER_TOOLS_CLI_GUIDE_H_

#include <span>
#include <string>
#include <string_view>

namespace windhover {

// A screen for who typed `windhover` alone: what it is, what to begin with, where help is.
std::string guide_text();

// The name that `word` is most likely a slip of: one that begins with it, or that is few
// insertions, deletions, replacements and swaps of neighbours away. Empty when none is near.
std::string nearest_name(std::string_view word, std::span<const std::string> names);

// The sentence that refuses a command that does not exist.
std::string unknown_command_text(std::string_view word, std::span<const std::string> commands);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_GUIDE_H_
