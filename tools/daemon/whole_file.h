// A small file that is replaced whole or not at all.
#ifndef WINDHOVER_TOOLS_DAEMON_WHOLE_FILE_H_
#define WINDHOVER_TOOLS_DAEMON_WHOLE_FILE_H_

#include <string>
#include <string_view>

namespace windhover {

// Syncs what was renamed, made or removed in a folder. 0, or an errno.
int sync_folder(const char* folder) noexcept;

// A file and why something could not be done with it: an errno, or 0 where all was done.
struct FileFault {
  std::string path;
  int why = 0;
};

// Reads all of a small file. 0, or an errno. Only a regular file is opened: a pipe would block
// until somebody writes to it.
int read_whole(const std::string& path, std::string& content);

// Deletes a file, or a folder with all that is in it; no fault where there is none. Goes on after a
// fault, and returns the first.
FileFault delete_all(const std::string& path);

// One thread. No heap call after the constructor.
class WholeFile {
 public:
  // `folder` exists when the file is written; empty: nothing is written.
  WholeFile(const std::string& folder, const std::string& name);

  // Replaces the file and returns when it is on disk. 0, or an errno.
  int write(std::string_view text) noexcept;
  // The same in two steps: prepare() writes a file beside it, and is the only one that takes space
  // on the disk; commit() renames it into place; abandon() removes it. After commit() fails the new
  // file may be in place, and be lost in a power cut: the caller writes once more, or relies on
  // neither.
  int prepare(std::string_view text) noexcept;
  int commit() noexcept;
  void abandon() noexcept;
  // Removes the file from the disk; no error where there is none. 0, or an errno: it is still
  // there, or may be again after a power cut.
  int remove() noexcept;

  const std::string& path() const { return path_; }

 private:
  std::string folder_;
  std::string path_;
  std::string new_path_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_WHOLE_FILE_H_
