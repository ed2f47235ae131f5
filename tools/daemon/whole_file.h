// A small file that is replaced whole or not at all.
#ifndef WINDHOVER_TOOLS_DAEMON_WHOLE_FILE_H_
#define WINDHOVER_TOOLS_DAEMON_WHOLE_FILE_H_

#include <string>
#include <string_view>

namespace windhover {

// What was renamed, made or removed in a folder is so on the disk. 0, or an errno.
int sync_folder(const char* folder) noexcept;

// What could not be done with a file, and why: an errno, or 0, all was done.
struct FileFault {
  std::string path;
  int why = 0;
};

// All of a small file. 0, or an errno. Only a regular file is opened: a pipe would have its reader
// wait for whoever writes to it.
int read_whole(const std::string& path, std::string& content);

// A file, or a folder with all that is in it; also where there is none. As much as can be: the
// first that stays.
FileFault delete_all(const std::string& path);

// One thread. No heap call after the constructor.
class WholeFile {
 public:
  // `folder` is there when the file is written; an empty one: nothing is.
  WholeFile(const std::string& folder, const std::string& name);

  // Replaces what is there and returns when it is on disk. 0, or an errno.
  int write(std::string_view text) noexcept;
  // The same in two steps: prepare() writes beside what is there, and only that takes room on the
  // disk; commit() has it take its place, abandon() removes it. Where commit() fails it may have
  // its place, and lose it in a power cut: its caller writes once more, or goes on with neither.
  int prepare(std::string_view text) noexcept;
  int commit() noexcept;
  void abandon() noexcept;
  // Returns when it is gone from the disk; also where there was none. 0, or an errno: then it is
  // still there, or it may be again after a power cut.
  int remove() noexcept;

  const std::string& path() const { return path_; }

 private:
  std::string folder_;
  std::string path_;
  std::string new_path_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_WHOLE_FILE_H_
