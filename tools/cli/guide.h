// What `windhover` says to somebody who does not know its commands.
#ifndef WINDHOVER_TOOLS_CLI_GUIDE_H_
#define WINDHOVER_TOOLS_CLI_GUIDE_H_

#include <string>

namespace windhover {

// What `windhover` prints without a command: what it is, what to begin with, where help is.
std::string guide_text();

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_GUIDE_H_
