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
// set aside, as .NAME.before, until the model is there. A folder that is new has a file .NAME.new
// beside it until then. What is to be deleted is .NAME.gone first,
// so that the next start deletes what is left of it. No model's name begins with '.'.
// Invariant: unless keep() was without a fault, everything becomes as it was before begin(); where
// the process ends in between, by put_right() of the next one. One thread. Allocates.
class ModelFolder {
 public:
  // `data_folder` empty: nothing is kept, and nothing happens.
  ModelFolder(const std::string& data_folder, const std::string& name);
  ~ModelFolder();
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;

  // Begins with what the folder holds, or, `anew`, with nothing. Without a fault the disk has had
  // room for `toml`.
  FileFault begin(bool anew, std::string_view toml);
  // The model is among those added, on the disk too. After a fault nobody may rely on it, and it is
  // undone.
  FileFault keep();
  // Deletes what was set aside, after keep().
  FileFault delete_before();

  // What a process has left that ended between begin() and keep(), or before all was deleted. A
  // folder that is not listed goes only where holds_more_than_a_new_model() says that it does not.
  // REQUIRES: nobody has the folders of added models open. What could not be put right; `told`
  // gets a sentence about each folder that goes, or that stays for somebody to look at.
  static std::vector<FileFault> put_right(const std::string& data_folder,
                                          std::vector<std::string>& told);
  // The same of one model alone, if its folder was new.
  static FileFault put_right_new(const std::string& data_folder, const std::string& name,
                                 std::vector<std::string>& told);
  // The names of the models that a data folder lists, in order. What cannot be read is left out.
  static std::vector<std::string> added_in(const std::string& data_folder);
  static bool is_listed(const std::string& data_folder, const std::string& name);
  // Whether something of the model is set aside.
  static bool is_aside(const std::string& data_folder, const std::string& name);
  // The configuration of one of them.
  static FileFault read_toml(const std::string& data_folder, const std::string& name,
                             std::string& toml);

  // It is not among them any more. What was learned stays; or, `to_delete`, goes with
  // delete_gone(), of this process or the next. Where it is_listed() after a fault nothing has
  // changed; where it is not, it may be again after a power cut.
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
  bool made_ = false;        // the folder was made
  bool is_aside_ = false;    // the folder that was there is set aside
  bool was_listed_ = false;  // with the configuration before_
  std::string before_;
  bool is_listed_ = false;  // the list is as it is to be; then there is nothing to write
  bool open_ = false;       // between begin() and keep()
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_MODEL_FOLDER_H_
