// Data folders of a daemon, for the tests of what becomes of them as models come and go.
#ifndef WINDHOVER_TESTS_TOOLS_MODEL_FOLDERS_H_
#define WINDHOVER_TESTS_TOOLS_MODEL_FOLDERS_H_

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "windhover/tests/temporary_folder.h"
#include "windhover/tools/daemon/model_folder.h"

namespace windhover::testing {

using Names = std::vector<std::string>;

// A data folder with the models "old", which is listed, and "stays", which is not any more.
class ModelFolders : public ::testing::Test {
 protected:
  ModelFolders() {
    std::filesystem::remove_all(data_);
    for (const char* name : {"old", "stays"}) {
      std::filesystem::create_directories(data_ + "/" + name);
      write(std::string(name) + "/segment-0000", name);
    }
    write("old/added.toml", "old's");
  }
  void write(const std::string& file, const std::string& text) {
    std::ofstream(data_ + "/" + file) << text;
  }
  std::string read(const std::string& file) {
    std::ifstream in(data_ + "/" + file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // Puts right what the next start would; the models that are listed then.
  Names put_right() {
    told_.clear();
    EXPECT_TRUE(ModelFolder::put_right(data_, told_).empty());
    return ModelFolder::added_in(data_);
  }
  // Whether it was said of this file or folder, and nothing of others.
  bool told_of(const std::string& file) const {
    return told_.size() == 1 && told_[0].starts_with(data_ + "/" + file + " ");
  }
  FileFault put_right_new(const std::string& name) {
    told_.clear();
    return ModelFolder::put_right_new(data_, name, told_);
  }
  // All there is, folders without what is in them.
  Names all() {
    Names names;
    for (const std::filesystem::directory_entry& entry :
         std::filesystem::recursive_directory_iterator(data_)) {
      names.push_back(std::filesystem::relative(entry.path(), data_));
    }
    std::ranges::sort(names);
    return names;
  }

  const std::string data_ = temporary_path("model_folders");
  Names told_;
};

// A segment of a log as it is made.
inline const std::string kZeros(8192, '\0');

// No file can be opened meanwhile. Renaming and removing do not need that, but syncing a folder and
// looking into it do.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit none = before_;
    const int least = ::dup(0);  // that is free
    ::close(least);
    none.rlim_cur = static_cast<rlim_t>(least);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoDescriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_TOOLS_MODEL_FOLDERS_H_
