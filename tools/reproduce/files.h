// Files that are written whole or not at all.
#ifndef WINDHOVER_TOOLS_REPRODUCE_FILES_H_
#define WINDHOVER_TOOLS_REPRODUCE_FILES_H_

#include <filesystem>
#include <string_view>

namespace windhover::reproduce {

// Creates the directory when it is missing and sees that files can be written there; UserError.
void prepare_directory(const std::filesystem::path& directory);

// Writes beside `path` and renames, so that a full disk or an interruption leaves what was there.
// Creates the directory of `path`. RunError.
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_FILES_H_
