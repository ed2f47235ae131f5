#include "windhover/tools/reproduce/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

namespace {

constexpr std::string_view kMnist = "MNIST: LeCun, Bottou, Bengio and Haffner 1998";

constexpr std::array kDataFiles = {
    DataFile{"winequality-white.csv",
             "UCI, Wine Quality: Cortez, Cerdeira, Almeida, Matos and Reis 2009"},
    DataFile{"CASP.csv",
             "UCI, Physicochemical Properties of Protein Tertiary Structure: Rana 2013"},
    DataFile{"Skin_NonSkin.txt", "UCI, Skin Segmentation: Bhatt and Dhall 2012"},
    DataFile{"train-images-idx3-ubyte", kMnist},
    DataFile{"train-labels-idx1-ubyte", kMnist},
    DataFile{"t10k-images-idx3-ubyte", kMnist},
    DataFile{"t10k-labels-idx1-ubyte", kMnist},
    DataFile{"kddcup.data_10_percent",
             "UCI, KDD Cup 1999 Data, the 10 percent file: Stolfo, Fan, Lee, Prodromidis and Chan"},
    DataFile{"covtype.data", "UCI, Covertype: Blackard and Dean 1999"},
    DataFile{"covtype-sample.csv",
             "UCI, Covertype: Blackard and Dean 1999; 397,050 of its 581,012 rows, the one-hot "
             "columns folded into Wilderness_Area and Soil_Type"},
};

}  // namespace

std::span<const DataFile> data_files() { return kDataFiles; }

const DataFile* find_data_file(std::string_view name) {
  const auto* found = std::ranges::find(kDataFiles, name, &DataFile::name);
  return found != kDataFiles.end() ? found : nullptr;
}

std::optional<std::filesystem::path> find_in(const std::filesystem::path& directory,
                                             std::string_view name) {
  for (const char* suffix : {"", ".gz"}) {
    std::filesystem::path path = directory / (std::string(name) + suffix);
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) return path;
  }
  return std::nullopt;
}

std::string missing_in(const std::filesystem::path& directory,
                       std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    if (find_in(directory, name)) continue;
    const DataFile* file = find_data_file(name);
    return fmt::format("{} is not in {} ({})", name, directory.string(),
                       file != nullptr ? file->origin : "of unknown origin");
  }
  return "";
}

}  // namespace windhover::reproduce
