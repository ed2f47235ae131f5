#include "windhover/tools/reproduce/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
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

nlohmann::ordered_json read_json(const fs::path& path) {
  std::ifstream file(path);
  const auto json = nlohmann::ordered_json::parse(file, nullptr, false);
  return json.is_object() ? json : nlohmann::ordered_json();
}

int run_program_in(const fs::path& directory, std::vector<std::string> command, const char* log) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  if (log != nullptr) {
    constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, kNew, 0644);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  }
  std::vector<char*> pointers;
  for (std::string& word : command) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return 127;
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 1;
  return WEXITSTATUS(status);
}

std::string_view origin_of(std::string_view name) {
  constexpr std::string_view kMnist = "MNIST: LeCun, Bottou, Bengio and Haffner 1998";
  static const std::map<std::string_view, std::string_view> origins = {
      {"winequality-white.csv",
       "UCI, Wine Quality: Cortez, Cerdeira, Almeida, Matos and Reis 2009"},
      {"CASP.csv", "UCI, Physicochemical Properties of Protein Tertiary Structure: Rana 2013"},
      {"Skin_NonSkin.txt", "UCI, Skin Segmentation: Bhatt and Dhall 2012"},
      {"train-images-idx3-ubyte", kMnist},
      {"train-labels-idx1-ubyte", kMnist},
      {"t10k-images-idx3-ubyte", kMnist},
      {"t10k-labels-idx1-ubyte", kMnist},
      {"kddcup.data_10_percent",
       "UCI, KDD Cup 1999 Data, the 10 percent file: Stolfo, Fan, Lee, Prodromidis and Chan"},
      {"covtype.data", "UCI, Covertype: Blackard and Dean 1999"},
      {"covtype-sample.csv",
       "UCI, Covertype: Blackard and Dean 1999; 397,050 of its 581,012 rows, the one-hot columns "
       "folded into Wilderness_Area and Soil_Type"},
  };
  const auto found = origins.find(name);
  return found == origins.end() ? "" : found->second;
}

std::optional<fs::path> find_in(const fs::path& directory, std::string_view name) {
  for (const char* suffix : {"", ".gz"}) {
    fs::path path = directory / (std::string(name) + suffix);
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return std::nullopt;
}

std::string missing_in(const fs::path& directory, std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    if (find_in(directory, name)) continue;
    const std::string_view origin = origin_of(name);
    return fmt::format("{} is not in {} ({})", name, directory.string(),
                       origin.empty() ? "of unknown origin" : origin);
  }
  return "";
}

}  // namespace windhover::reproduce
