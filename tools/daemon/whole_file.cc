#include "windhover/tools/daemon/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

namespace windhover {
namespace {

int sync(int descriptor) noexcept {
  const int failed = descriptor < 0 || ::fsync(descriptor) != 0 ? errno : 0;
  if (descriptor >= 0) ::close(descriptor);
  return failed;
}

}  // namespace

int read_whole(const std::string& path, std::string& content) {
  std::error_code why;
  const std::filesystem::file_status status = std::filesystem::status(path, why);
  if (why) return why.value();
  if (std::filesystem::is_directory(status)) return EISDIR;
  if (!std::filesystem::is_regular_file(status)) return ENXIO;
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  content = text.str();
  return in.is_open() && !text.bad() ? 0 : EIO;
}

WholeFile::WholeFile(const std::string& folder, const std::string& name)
    : folder_(folder), path_(folder + "/" + name), new_path_(path_ + ".new") {}

int WholeFile::write(std::string_view text) noexcept {
  const int why = prepare(text);
  return why != 0 ? why : commit();
}

int WholeFile::prepare(std::string_view text) noexcept {
  if (folder_.empty()) return 0;
  // O_NONBLOCK: opening a pipe of that name must not wait for its reader.
  const int file =
      ::open(new_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0600);
  if (file < 0) return errno;
  errno = 0;  // a short write sets none
  if (::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    const int why = errno != 0 ? errno : ENOSPC;
    ::close(file);
    abandon();
    return why;
  }
  const int why = sync(file);
  if (why != 0) abandon();
  return why;
}

int WholeFile::commit() noexcept {
  if (folder_.empty()) return 0;
  if (std::rename(new_path_.c_str(), path_.c_str()) != 0) return errno;
  return sync_folder(folder_.c_str());
}

void WholeFile::abandon() noexcept {
  if (!folder_.empty()) (void)::unlink(new_path_.c_str());
}

int WholeFile::remove() noexcept {
  if (folder_.empty()) return 0;
  if (::unlink(path_.c_str()) != 0) return errno == ENOENT ? 0 : errno;
  return sync_folder(folder_.c_str());
}

FileFault delete_all(const std::string& path) {
  namespace fs = std::filesystem;
  FileFault first;
  std::error_code why;
  if (fs::is_directory(fs::symlink_status(path, why))) {
    std::vector<std::string> files;
    for (fs::directory_iterator at(path, why); at != fs::directory_iterator(); at.increment(why)) {
      files.push_back(at->path());
    }
    if (why) first = {path, why.value()};
    for (const std::string& file : files) {
      FileFault fault = delete_all(file);
      if (first.why == 0) first = std::move(fault);
    }
  }
  fs::remove(path, why);
  if (why && first.why == 0) first = {path, why.value()};
  return first;
}

int sync_folder(const char* folder) noexcept {
  return sync(::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace windhover
