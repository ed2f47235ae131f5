#ifndef WINDHOVER_TOOLS_PROGRAM_SAY_H_
#define WINDHOVER_TOOLS_PROGRAM_SAY_H_

#include <string_view>

namespace windhover {

// "KIND: TEXT" on standard error. What the text has from a file or a server commands no terminal:
// its control characters are shown, but for the ends of lines.
void say(std::string_view kind, std::string_view text);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_PROGRAM_SAY_H_
