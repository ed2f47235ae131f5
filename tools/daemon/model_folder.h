// The folder of a model that an operator adds, while it is not sure yet that the model comes.
#ifndef WINDHOVER_TOOLS_DAEMON_MODEL_FOLDER_H_
#define WINDHOVER_TOOLS_DAEMON_MODEL_FOLDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "windhover/tools/daemon/whole_file.h"

namespace windhover {

// The folder NAME in the data folder holds what is kept of the model, and added.toml, which says
// that it is one of those added and with which configuration. What a model is to begin without is
// set aside, as .NAME.before, until the model is there, and is .NAME.gone then until it is deleted:
// no model's name begins with '.'.
// Invariant: unless keep() has returned 0, everything becomes as it was before begin(); where the
// process ends in between, when the next one asks for added_in(). One thread. Allocates.
class ModelFolder {
 public:
  // `data_folder` empty: nothing is kept, and nothing happens.
  ModelFolder(const std::string& data_folder, const std::string& name);
  ~ModelFolder();
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;

  // With what the folder holds, or, `anew`, with nothing. On success the disk has had room for
  // `toml`. 0, or an errno.
  int begin(bool anew, std::string_view toml);
  // The model is there: what was set aside goes. 0, or an errno.
  int keep();

  const std::string& path() const { return path_; }

  // The names of the models that a data folder lists, in order; what a process that ended between
  // begin() and keep() has left is put right first. What cannot be read is left out.
  static std::vector<std::string> added_in(const std::string& data_folder);
  // The configuration of one of them.
  static std::string toml_in(const std::string& data_folder, const std::string& name);
  // It is not among them any more; what was learned stays. 0, or an errno.
  static int leave_list(const std::string& data_folder, const std::string& name);

 private:
  void undo() noexcept;

  static constexpr const char* kListFile = "added.toml";
  const std::string data_folder_;
  const std::string path_;
  const std::string aside_;
  WholeFile list_;
  bool made_ = false;      // the folder
  bool is_aside_ = false;  // what was there
  bool was_listed_ = false;
  bool is_listed_ = false;  // as it is to be; then there is nothing to write
  bool open_ = false;       // between begin() and keep()
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_MODEL_FOLDER_H_
