#include "windhover/tools/daemon/model_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "windhover/tools/daemon/new_model.h"

namespace windhover {
namespace {

namespace fs = std::filesystem;

constexpr const char* kListFile = "added.toml";
constexpr std::string_view kAsideEnd = ".before";
constexpr std::string_view kGoneEnd = ".gone";
constexpr std::string_view kNewEnd = ".new";

std::string folder_of(const std::string& data_folder, const std::string& name) {
  return data_folder.empty() ? "" : data_folder + "/" + name;
}

std::string hidden(const std::string& data_folder, const std::string& name, std::string_view end) {
  return data_folder + "/." + name + std::string(end);
}

bool is_there(const std::string& path) noexcept {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0;
}

// Renames within the data folder, and syncs that. 0, or an errno.
int move(const std::string& data_folder, const std::string& from, const std::string& to) noexcept {
  if (std::rename(from.c_str(), to.c_str()) != 0) return errno;
  return sync_folder(data_folder.c_str());
}

// Makes an empty file in the data folder, and syncs that. 0, or an errno.
int touch(const std::string& data_folder, const std::string& path) noexcept {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
  if (file < 0) return errno;
  ::close(file);
  return sync_folder(data_folder.c_str());
}

// Deletes .NAME.before, first renamed to .NAME.gone, which decides that it goes. Where it cannot
// have that name it is deleted all the same.
FileFault delete_aside(const std::string& data_folder, const std::string& name) {
  const std::string aside = hidden(data_folder, name, kAsideEnd);
  const std::string gone = hidden(data_folder, name, kGoneEnd);
  (void)delete_all(gone);
  (void)move(data_folder, aside, gone);
  return is_there(aside) ? delete_all(aside) : delete_all(gone);
}

// Adds a sentence about a folder that is about to be deleted, if it exists.
void tell_deletion(const std::string& path, std::vector<std::string>& told) {
  if (!is_there(path)) return;
  told.push_back(path + " is deleted, which an earlier process has left behind");
}

// NAME of a file ".NAME" + `end`; empty: the file is none of these.
std::string name_in(const std::string& file, std::string_view end) {
  if (!file.starts_with('.') || !file.ends_with(end) || file.size() <= 1 + end.size()) return "";
  return file.substr(1, file.size() - 1 - end.size());
}

}  // namespace

ModelFolder::ModelFolder(const std::string& data_folder, const std::string& name)
    : data_folder_(data_folder),
      name_(name),
      path_(folder_of(data_folder, name)),
      aside_(hidden(data_folder, name, kAsideEnd)),
      new_(hidden(data_folder, name, kNewEnd)),
      list_(path_, kListFile) {}

ModelFolder::~ModelFolder() {
  if (open_) undo();
}

FileFault ModelFolder::begin(bool anew, std::string_view toml) {
  if (data_folder_.empty()) return {};
  // A folder that lies aside already could not be moved back by an undo: it stays until somebody
  // looks at it.
  if (is_there(aside_)) return {aside_, EEXIST};
  was_listed_ = !anew && is_there(list_.path());
  if (was_listed_) {
    if (const int why = read_whole(list_.path(), before_); why != 0) return {list_.path(), why};
  }
  if (anew) {
    is_aside_ = std::rename(path_.c_str(), aside_.c_str()) == 0;
    if (!is_aside_ && errno != ENOENT) return {path_, errno};
  }
  open_ = true;
  // A folder that is set aside tells as much as .NAME.new would.
  if (!is_aside_ && !is_there(path_)) {
    if (const int why = touch(data_folder_, new_); why != 0) return {new_, why};
  }
  made_ = ::mkdir(path_.c_str(), 0700) == 0;
  if (!made_ && errno != EEXIST) return {path_, errno};
  if (const int why = sync_folder(data_folder_.c_str()); why != 0) return {data_folder_, why};
  is_listed_ = was_listed_ && before_ == toml;
  return {list_.path(), is_listed_ ? 0 : list_.prepare(toml)};
}

FileFault ModelFolder::keep() {
  if (data_folder_.empty()) return {};
  // Syncs the folder also where there is nothing to write: an earlier file may have been renamed
  // and not synced.
  const int why = is_listed_ ? sync_folder(path_.c_str()) : list_.commit();
  open_ = why != 0;
  // Where .NAME.new cannot be removed it does no harm beside a listed model.
  if (!open_ && ::unlink(new_.c_str()) == 0) (void)sync_folder(data_folder_.c_str());
  return {list_.path(), why};
}

FileFault ModelFolder::delete_before() {
  return is_aside_ ? delete_aside(data_folder_, name_) : FileFault();
}

// After each step put_right() could do the rest: the model leaves the list before what was set
// aside returns.
void ModelFolder::undo() noexcept {
  if (!is_listed_) list_.abandon();
  std::string now;
  if (!was_listed_) {
    (void)list_.remove();
  } else if (read_whole(list_.path(), now) != 0 || now != before_) {
    (void)list_.write(before_);
  }
  const bool gone = made_ ? delete_all(path_).why == 0 : !is_there(path_);
  if (gone) (void)::unlink(new_.c_str());
  if (is_aside_) (void)move(data_folder_, aside_, path_);
}

FileFault ModelFolder::put_right_new(const std::string& data_folder, const std::string& name,
                                     std::vector<std::string>& told) {
  const ModelFolder folder(data_folder, name);
  if (!is_there(folder.new_)) return {};
  // Where the folder is listed, or has rows or unknown files, the model is not new, and .NAME.new
  // is wrong.
  if (!is_listed(data_folder, name) && !holds_more_than_a_new_model(folder.path_)) {
    tell_deletion(folder.path_, told);
    if (FileFault fault = delete_all(folder.path_); fault.why != 0) return fault;
    if (const int why = sync_folder(data_folder.c_str()); why != 0) return {data_folder, why};
  }
  return delete_all(folder.new_);
}

FileFault ModelFolder::put_right_replaced(const std::string& data_folder, const std::string& name,
                                          std::vector<std::string>& told) {
  const ModelFolder folder(data_folder, name);
  if (is_listed(data_folder, name)) {
    tell_deletion(folder.aside_, told);
    return delete_aside(data_folder, name);
  }
  // added.toml is written last: without it the replacement did not happen, and the model that was
  // set aside returns. A folder that has learned something was listed once, so it does not replace
  // what lies aside.
  if (holds_more_than_a_new_model(folder.path_)) {
    told.push_back(folder.aside_ + " lies beside " + name +
                   ", which holds more than a new model: both stay until one is removed");
    return {};
  }
  tell_deletion(folder.path_, told);
  if (FileFault fault = delete_all(folder.path_); fault.why != 0) return fault;
  return {folder.aside_, move(data_folder, folder.aside_, folder.path_)};
}

std::vector<FileFault> ModelFolder::put_right(const std::string& data_folder,
                                              std::vector<std::string>& told) {
  std::vector<FileFault> faults;
  std::error_code why;
  std::vector<std::string> files;
  for (fs::directory_iterator at(data_folder, why); at != fs::directory_iterator();
       at.increment(why)) {
    files.push_back(at->path().filename());
  }
  if (why) faults.push_back({data_folder, why.value()});
  for (const std::string& file : files) {
    FileFault fault;
    if (!name_in(file, kGoneEnd).empty()) {
      const std::string gone = folder_of(data_folder, file);
      tell_deletion(gone, told);
      fault = delete_all(gone);
    }
    if (const std::string name = name_in(file, kNewEnd); !name.empty()) {
      fault = put_right_new(data_folder, name, told);
    }
    if (const std::string name = name_in(file, kAsideEnd); !name.empty()) {
      fault = put_right_replaced(data_folder, name, told);
    }
    if (fault.why != 0) faults.push_back(fault);
  }
  return faults;
}

std::vector<std::string> ModelFolder::added_in(const std::string& data_folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(data_folder, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with('.') && is_listed(data_folder, name)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

bool ModelFolder::is_listed(const std::string& data_folder, const std::string& name) {
  return is_there(folder_of(data_folder, name) + "/" + kListFile);
}

bool ModelFolder::is_aside(const std::string& data_folder, const std::string& name) {
  return is_there(hidden(data_folder, name, kAsideEnd));
}

FileFault ModelFolder::read_toml(const std::string& data_folder, const std::string& name,
                                 std::string& toml) {
  const std::string path = folder_of(data_folder, name) + "/" + kListFile;
  return {path, read_whole(path, toml)};
}

FileFault ModelFolder::leave_list(const std::string& data_folder, const std::string& name,
                                  bool to_delete) {
  if (data_folder.empty()) return {};
  // A folder that lies aside would come back once this one is no longer listed.
  if (is_aside(data_folder, name)) {
    FileFault fault = delete_aside(data_folder, name);
    if (is_aside(data_folder, name)) return fault;
  }
  // .NAME.new goes too: not even a power cut may bring it back.
  const std::string is_new = hidden(data_folder, name, kNewEnd);
  if (::unlink(is_new.c_str()) == 0) {
    if (const int why = sync_folder(data_folder.c_str()); why != 0) return {data_folder, why};
  } else if (errno != ENOENT) {
    return {is_new, errno};
  }
  const std::string path = folder_of(data_folder, name);
  WholeFile list(path, kListFile);
  if (!to_delete) return {list.path(), list.remove()};
  // The rename is one step: before it the model is listed, after it its data is to be deleted.
  if (FileFault fault = delete_gone(data_folder, name); fault.why != 0) return fault;
  return {path, move(data_folder, path, hidden(data_folder, name, kGoneEnd))};
}

FileFault ModelFolder::delete_gone(const std::string& data_folder, const std::string& name) {
  return data_folder.empty() ? FileFault() : delete_all(hidden(data_folder, name, kGoneEnd));
}

}  // namespace windhover
