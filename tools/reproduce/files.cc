#include "windhover/tools/reproduce/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <system_error>

#include "windhover/tools/error.h"

namespace windhover::reproduce {

namespace fs = std::filesystem;

void prepare_directory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!error && ::access(directory.c_str(), W_OK | X_OK) != 0) {
    error.assign(errno, std::generic_category());
  }
  if (error) {
    throw UserError(fmt::format("--out {}: {}; give a directory that can be written to",
                                directory.string(), error.message()));
  }
}

void write_file(const fs::path& path, std::string_view text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  fs::path beside = path;
  beside += ".new";
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (file) fs::rename(beside, path, error);
  if (!file || error) {
    std::error_code ignored;
    fs::remove(beside, ignored);
    throw RunError(fmt::format("{} cannot be written: is the disk full?", path.string()));
  }
}

}  // namespace windhover::reproduce
