// Files that are written whole or not at all, programs that are run beside them, and the data sets
// of the papers, under their original names, as a directory of the user holds them.
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

// Creates the directory when it is missing and sees that files can be written there; UserError.
void prepare_directory(const std::filesystem::path& directory);

// Writes beside `path` and renames, so that a full disk or an interruption leaves what was there.
// Creates the directory of `path`. RunError.
void write_file(const std::filesystem::path& path, std::string_view text);

// Null when it is not there or was cut off.
nlohmann::ordered_json read_json(const std::filesystem::path& path);

// The exit code of a program from PATH, run in `directory`; 127 when there is no such one. What it
// says goes to the file `log` there, or, where that is null, to where this program's goes.
int run_program_in(const std::filesystem::path& directory, std::vector<std::string> command,
                   const char* log = nullptr);

// Where a user gets the data set of this name, without .gz, and whom to cite; empty where there is
// no such one.
std::string_view origin_of(std::string_view name);

// The file in `directory`, plain or as name.gz; nothing when it is not there.
std::optional<std::filesystem::path> find_in(const std::filesystem::path& directory,
                                             std::string_view name);

// The first of them that is not there, in words with its origin; empty when all are.
std::string missing_in(const std::filesystem::path& directory,
                       std::span<const std::string_view> names);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_FILES_H_
