#include "windhover/tools/daemon/model_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace windhover {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAsideEnd = ".before";
constexpr std::string_view kGoneEnd = ".gone";

std::string aside_of(const std::string& data_folder, const std::string& name) {
  return data_folder + "/." + name + std::string(kAsideEnd);
}

// What was aside of `.NAME.before`, once it is to go.
std::string gone_of(const std::string& data_folder, const std::string& aside) {
  const std::string name = aside.substr(data_folder.size());
  return data_folder + name.substr(0, name.size() - kAsideEnd.size()) + std::string(kGoneEnd);
}

bool is_there(const std::string& path) noexcept {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0;
}

void remove_all(const std::string& path) noexcept {
  std::error_code ignored;  // what stays is tried again at the next start
  fs::remove_all(path, ignored);
}

// Within the data folder, on the disk too. 0, or an errno.
int move(const std::string& data_folder, const std::string& from, const std::string& to) noexcept {
  if (std::rename(from.c_str(), to.c_str()) != 0) return errno;
  return sync_folder(data_folder.c_str());
}

std::string content_of(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

}  // namespace

ModelFolder::ModelFolder(const std::string& data_folder, const std::string& name)
    : data_folder_(data_folder),
      path_(data_folder.empty() ? "" : data_folder + "/" + name),
      aside_(aside_of(data_folder, name)),
      list_(path_, kListFile) {}

ModelFolder::~ModelFolder() {
  if (open_) undo();
}

int ModelFolder::begin(bool anew, std::string_view toml) {
  if (data_folder_.empty()) return 0;
  // What lies aside already is what an undo could not move back: it stays, until somebody looks.
  if (is_there(aside_)) return EEXIST;
  if (anew) {
    is_aside_ = std::rename(path_.c_str(), aside_.c_str()) == 0;
    if (!is_aside_ && errno != ENOENT) return errno;
  }
  was_listed_ = is_there(list_.path());
  open_ = true;
  made_ = ::mkdir(path_.c_str(), 0700) == 0;
  if (!made_ && errno != EEXIST) return errno;
  if (const int why = sync_folder(data_folder_.c_str()); why != 0) return why;
  is_listed_ = was_listed_ && content_of(list_.path()) == toml;
  return is_listed_ ? 0 : list_.prepare(toml);
}

int ModelFolder::keep() {
  if (data_folder_.empty()) return 0;
  if (const int why = is_listed_ ? 0 : list_.commit(); why != 0) return why;
  open_ = false;
  if (!is_aside_) return 0;
  // Decided: under this name the next start deletes what cannot be deleted now.
  const std::string gone = gone_of(data_folder_, aside_);
  remove_all(move(data_folder_, aside_, gone) == 0 ? gone : aside_);
  return 0;
}

void ModelFolder::undo() noexcept {
  if (!is_listed_) list_.abandon();
  if (!was_listed_) (void)list_.remove();
  if (made_) remove_all(path_);
  if (is_aside_) (void)move(data_folder_, aside_, path_);
}

std::vector<std::string> ModelFolder::added_in(const std::string& data_folder) {
  std::vector<std::string> names;
  std::vector<std::string> aside;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(data_folder, ignored)) {
    const std::string name = entry.path().filename();
    if (name.starts_with('.') && name.ends_with(kAsideEnd) && name.size() > kAsideEnd.size() + 1) {
      aside.push_back(name.substr(1, name.size() - 1 - kAsideEnd.size()));
    } else if (name.starts_with('.') && name.ends_with(kGoneEnd)) {
      remove_all(entry.path());
    } else if (is_there(entry.path() / kListFile)) {
      names.push_back(name);
    }
  }
  // The list is written last: without it the model in place of which another was to be is back.
  for (const std::string& name : aside) {
    const ModelFolder folder(data_folder, name);
    if (std::ranges::count(names, name) > 0) {
      remove_all(folder.aside_);
    } else {
      remove_all(folder.path_);
      const bool moved = move(data_folder, folder.aside_, folder.path_) == 0;
      if (moved && is_there(folder.list_.path())) names.push_back(name);
    }
  }
  std::ranges::sort(names);
  return names;
}

std::string ModelFolder::toml_in(const std::string& data_folder, const std::string& name) {
  return content_of(data_folder + "/" + name + "/" + kListFile);
}

int ModelFolder::leave_list(const std::string& data_folder, const std::string& name) {
  return WholeFile(data_folder.empty() ? "" : data_folder + "/" + name, kListFile).remove();
}

}  // namespace windhover
