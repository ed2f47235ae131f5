#ifndef WINDHOVER_TOOLS_KEPT_NEW_FOLDER_H_
#define WINDHOVER_TOOLS_KEPT_NEW_FOLDER_H_

#include <optional>
#include <string>

#include "windhover/io/durable/posix_folder.h"

namespace windhover {

// A folder that is made under another name beside its place and renamed when it is whole; otherwise
// it is removed.
class NewFolder {
 public:
  // UserError: there is something at `path`, or what an interrupted copy left beside it. RunError:
  // the folder cannot be made.
  explicit NewFolder(const std::string& path);
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  Folder& folder() { return *folder_; }
  const std::string& path() const { return path_; }

  // Syncs the folder and gives it its name. REQUIRES: no file in it is open. RunError where it
  // cannot have that name.
  void finish();

 private:
  std::string path_;
  std::string unfinished_;
  std::optional<PosixFolder> folder_;
  bool finished_ = false;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_KEPT_NEW_FOLDER_H_
