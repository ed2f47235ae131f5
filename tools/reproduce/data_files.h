// The data sets of the papers, under their original names, as a directory of the user holds them.
#ifndef WINDHOVER_TOOLS_REPRODUCE_DATA_FILES_H_
#define WINDHOVER_TOOLS_REPRODUCE_DATA_FILES_H_

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace windhover::reproduce {

struct DataFile {
  std::string_view name;    // without .gz
  std::string_view origin;  // where a user gets it, and whom to cite
};

std::span<const DataFile> data_files();

// Null when there is none of that name.
const DataFile* find_data_file(std::string_view name);

// The file in `directory`, plain or as name.gz; nothing when it is not there.
std::optional<std::filesystem::path> find_in(const std::filesystem::path& directory,
                                             std::string_view name);

// The first of them that is not there, in words with its origin; empty when all are.
std::string missing_in(const std::filesystem::path& directory,
                       std::span<const std::string_view> names);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_DATA_FILES_H_
