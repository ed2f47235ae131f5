// One folder for the files and sockets of a test process.
#ifndef WINDHOVER_TESTS_TEMPORARY_FOLDER_H_
#define WINDHOVER_TESTS_TEMPORARY_FOLDER_H_

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

namespace windhover::testing {

// A new folder below $TMPDIR, removed with all that is in it when the process that made it ends,
// by returning from main() or by exit(). A child that was forked removes nothing.
class TemporaryFolder {
 public:
  TemporaryFolder() : owner_(::getpid()) {
    std::string name = (std::filesystem::temp_directory_path() / "windhover-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      std::perror(name.c_str());
      std::abort();
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    if (::getpid() != owner_) return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  pid_t owner_;
  std::filesystem::path path_;
};

// A path in the folder of this process, which is made when it is first asked for.
inline std::string temporary_path(const std::string& name) {
  static const TemporaryFolder folder;
  return (folder.path() / name).string();
}

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_TEMPORARY_FOLDER_H_
