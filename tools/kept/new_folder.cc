#include "windhover/tools/kept/new_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "windhover/tools/error.h"

namespace windhover {
namespace {

namespace fs = std::filesystem;

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

bool occupied(const std::string& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() != fs::file_type::not_found;
}

}  // namespace

NewFolder::NewFolder(const std::string& path)
    : path_(without_slash(path)), unfinished_(path_ + ".unfinished") {
  if (occupied(path_)) throw UserError(path_ + " is there already; give a folder that is not");
  if (occupied(unfinished_)) {
    throw UserError(unfinished_ + " is there, left by a copy that was interrupted; remove it");
  }
  Result<PosixFolder> made = PosixFolder::open(unfinished_.c_str(), true);
  if (!made.ok()) {
    throw RunError(
        fmt::format("{} cannot be made: {}", unfinished_, std::strerror(errno_of(made.error()))));
  }
  folder_.emplace(std::move(made).value());
}

NewFolder::~NewFolder() {
  if (finished_) return;
  folder_.reset();
  std::error_code ignored;
  fs::remove_all(unfinished_, ignored);
}

void NewFolder::finish() {
  const auto fail = [&](const char* reason) {
    throw RunError(fmt::format("{} cannot be given its name: {}", unfinished_, reason));
  };
  if (const std::int64_t synced = folder_->sync_folder(); synced < 0) {
    fail(std::strerror(static_cast<int>(-synced)));
  }
  // The rename would replace an empty folder of that name.
  if (occupied(path_)) fail("meanwhile another has it");
  std::error_code failure;
  fs::rename(unfinished_, path_, failure);
  if (failure) fail(failure.message().c_str());
  finished_ = true;
  // Syncs the parent, in which the name is an entry.
  const Result<PosixFolder> again = PosixFolder::open(path_.c_str(), true);
  if (!again.ok()) fail(std::strerror(errno_of(again.error())));
}

}  // namespace windhover
