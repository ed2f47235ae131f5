// Files that are written whole or not at all, other programs, and the data sets of the papers,
// which a directory of the user holds under their original names.
#ifndef WINDHOVER_TOOLS_REPRODUCE_FILES_H_
#define WINDHOVER_TOOLS_REPRODUCE_FILES_H_

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace windhover::reproduce {

// Creates the directory when it is missing. UserError when no file can be written there.
void prepare_directory(const std::filesystem::path& directory);

// Writes beside `path` and renames, so that a full disk or an interruption leaves the old file.
// Creates the directory of `path`. RunError.
void write_file(const std::filesystem::path& path, std::string_view text);

// Null when the file is missing or cut off.
nlohmann::ordered_json read_json(const std::filesystem::path& path);

// Runs a program from PATH in `directory`. Gives its exit code; 127 when there is no such program.
// Its output goes to the file `log` there, or where `log` is null to this program's output.
int run_program_in(const std::filesystem::path& directory, std::vector<std::string> command,
                   const char* log = nullptr);

// Where a user gets the data set with this name (without .gz) and what to cite; empty for an
// unknown name.
std::string_view origin_of(std::string_view name);

// The file in `directory`, plain or as name.gz; nothing when it is missing.
std::optional<std::filesystem::path> find_in(const std::filesystem::path& directory,
                                             std::string_view name);

// The first of the files that is missing, in words with its origin; empty when none is.
std::string missing_in(const std::filesystem::path& directory,
                       std::span<const std::string_view> names);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_FILES_H_
