// Files that are written whole or not at all, and programs that are run beside them.
#ifndef WINDHOVER_TOOLS_REPRODUCE_FILES_H_
#define WINDHOVER_TOOLS_REPRODUCE_FILES_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace windhover::reproduce {

// Creates the directory when it is missing and sees that files can be written there; UserError.
void prepare_directory(const std::filesystem::path& directory);

// Writes beside `path` and renames, so that a full disk or an interruption leaves what was there.
// Creates the directory of `path`. RunError.
void write_file(const std::filesystem::path& path, std::string_view text);

// The exit code of a program from PATH, run in `directory`; 127 when there is no such one. What it
// says goes to the file `log` there, or, where that is null, to where this program's goes.
int run_program_in(const std::filesystem::path& directory, std::vector<std::string> command,
                   const char* log = nullptr);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_FILES_H_
