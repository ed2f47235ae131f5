// The folder of a model that an operator adds, while it is not sure yet that the model comes.
#ifndef WINDHOVER_TOOLS_DAEMON_MODEL_FOLDER_H_
#define WINDHOVER_TOOLS_DAEMON_MODEL_FOLDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "windhover/tools/daemon/whole_file.h"

namespace windhover {

// The folder NAME in the data folder holds what is kept of the model, and added.toml, which says
// that it was added and with which configuration. While a model comes that begins without what NAME
// holds, that lies aside as .NAME.before; while it comes with a folder that is new, there is a file
// .NAME.new. What is to be deleted is renamed to .NAME.gone first, so that the next start deletes
// what is left of it. No model's name begins with '.'.
// Invariant: unless keep() returns without a fault, everything becomes as it was before begin(): by
// the destructor, or where the process ends before, by put_right() of the next one. One thread.
// Allocates.
class ModelFolder {
 public:
  // `data_folder` empty: nothing is kept, and nothing happens.
  ModelFolder(const std::string& data_folder, const std::string& name);
  ~ModelFolder();
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;

  // Begins with what the folder holds, or, `anew`, with nothing. Without a fault, space for `toml`
  // has been taken on the disk.
  FileFault begin(bool anew, std::string_view toml);
  // The model is added, on the disk too. After a fault it may be or not; it is undone.
  FileFault keep();
  // Deletes what was set aside, after keep().
  FileFault delete_before();

  // Puts right what a process has left that ended between begin() and keep(), or before all was
  // deleted. A folder that is not listed is deleted only where holds_more_than_a_new_model() is
  // false. REQUIRES: no folder of an added model is open. Returns what could not be put right;
  // `told` gets a sentence about each folder that is deleted, or stays for somebody to look at.
  static std::vector<FileFault> put_right(const std::string& data_folder,
                                          std::vector<std::string>& told);
  // The same for one model, if its folder was new.
  static FileFault put_right_new(const std::string& data_folder, const std::string& name,
                                 std::vector<std::string>& told);
  // The names of the models that a data folder lists, sorted. Folders that cannot be read are left
  // out.
  static std::vector<std::string> added_in(const std::string& data_folder);
  static bool is_listed(const std::string& data_folder, const std::string& name);
  // Whether a folder of the model lies aside.
  static bool is_aside(const std::string& data_folder, const std::string& name);
  // Reads the configuration of a listed model.
  static FileFault read_toml(const std::string& data_folder, const std::string& name,
                             std::string& toml);

  // Takes the model from the list. What was learned stays; or, `to_delete`, goes with
  // delete_gone(), of this process or the next. Where is_listed() is true after a fault, nothing
  // has changed; where it is false, the model may be listed again after a power cut.
  static FileFault leave_list(const std::string& data_folder, const std::string& name,
                              bool to_delete);
  static FileFault delete_gone(const std::string& data_folder, const std::string& name);

 private:
  static FileFault put_right_replaced(const std::string& data_folder, const std::string& name,
                                      std::vector<std::string>& told);
  void undo() noexcept;

  const std::string data_folder_;
  const std::string name_;
  const std::string path_;
  const std::string aside_;
  const std::string new_;
  WholeFile list_;
  bool made_ = false;        // begin() made the folder
  bool is_aside_ = false;    // the earlier folder is set aside
  bool was_listed_ = false;  // with the configuration before_
  std::string before_;
  bool is_listed_ = false;  // added.toml is as it is to be: there is nothing to write
  bool open_ = false;       // between begin() and keep()
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_MODEL_FOLDER_H_
