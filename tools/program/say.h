#ifndef WINDHOVER_TOOLS_PROGRAM_SAY_H_
#define WINDHOVER_TOOLS_PROGRAM_SAY_H_

#include <string_view>

namespace windhover {

// Prints "KIND: TEXT" on standard error. Control characters of the text, which may come from a file
// or a server, are shown and not sent to the terminal, except for ends of lines.
void say(std::string_view kind, std::string_view text);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_PROGRAM_SAY_H_
