// Words on a command line that name nothing.
#ifndef WINDHOVER_TOOLS_PROGRAM_UNKNOWN_WORD_H_
#define WINDHOVER_TOOLS_PROGRAM_UNKNOWN_WORD_H_

#include <string>

namespace CLI {
class App;
}

namespace windhover {

// After parsing, the sentence that refuses the first word left over (a command, an option, or one
// argument too many), with those that may have been meant. Empty where no word was left over.
std::string unknown_word_text(const CLI::App& app);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_PROGRAM_UNKNOWN_WORD_H_
