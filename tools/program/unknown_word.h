// Words of a command line that name nothing.
#ifndef WINDHOVER_TOOLS_PROGRAM_UNKNOWN_WORD_H_
#define WINDHOVER_TOOLS_PROGRAM_UNKNOWN_WORD_H_

#include <string>

namespace CLI {
class App;
}

namespace windhover {

// The sentence, after parsing, that refuses the first word that was left over, a command, an option
// or an argument too many, with those that it may have been meant to be. Empty where none was.
std::string unknown_word_text(const CLI::App& app);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_PROGRAM_UNKNOWN_WORD_H_
