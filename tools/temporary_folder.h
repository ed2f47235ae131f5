// A folder for the files of one run of a program.
#ifndef WINDHOVER_TOOLS_TEMPORARY_FOLDER_H_
#define WINDHOVER_TOOLS_TEMPORARY_FOLDER_H_

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "windhover/tools/error.h"

namespace windhover {

// A new folder below $TMPDIR, removed with all that is in it. RunError where there can be none.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_((std::filesystem::temp_directory_path() / "windhover-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) throw RunError("there is no place for temporary files");
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string in(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_TEMPORARY_FOLDER_H_
