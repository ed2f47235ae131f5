#include "windhover/tools/daemon/model_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "windhover/tests/temporary_folder.h"

namespace windhover {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

// A data folder with the models "old", which is listed, and "stays", which is not any more.
class ModelFolders : public ::testing::Test {
 protected:
  ModelFolders() {
    fs::remove_all(data_);
    for (const char* name : {"old", "stays"}) {
      fs::create_directories(data_ + "/" + name);
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
  // All there is, folders without what is in them.
  Names all() {
    Names names;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(data_)) {
      names.push_back(fs::relative(entry.path(), data_));
    }
    std::ranges::sort(names);
    return names;
  }

  const std::string data_ = testing::temporary_path("model_folders");
};

TEST_F(ModelFolders, WhatIsNotKeptIsAsItWas) {
  const Names before = all();
  for (const char* name : {"old", "stays", "new"}) {
    for (const bool anew : {false, true}) {
      {
        ModelFolder folder(data_, name);
        EXPECT_EQ(folder.begin(anew, "another's"), 0);
      }
      EXPECT_EQ(all(), before) << name << anew;
      EXPECT_EQ(read("old/added.toml"), "old's");
      EXPECT_EQ(read("old/segment-0000"), "old");
    }
  }
}

TEST_F(ModelFolders, WhatIsKeptGoesOnOrBeginsAnew) {
  ModelFolder goes_on(data_, "old");
  ASSERT_EQ(goes_on.begin(false, "another's"), 0);
  EXPECT_EQ(read("old/added.toml"), "old's") << "until it is kept";
  ASSERT_EQ(goes_on.keep(), 0);
  EXPECT_EQ(ModelFolder::toml_in(data_, "old"), "another's");
  EXPECT_EQ(read("old/segment-0000"), "old");
  ModelFolder anew(data_, "old");
  ASSERT_EQ(anew.begin(true, "a third's"), 0);
  EXPECT_EQ(read("old/segment-0000"), "");
  ASSERT_EQ(anew.keep(), 0);
  EXPECT_EQ(all(), (Names{"old", "old/added.toml", "stays", "stays/segment-0000"}));
  EXPECT_EQ(ModelFolder::added_in(data_), Names{"old"});
  EXPECT_EQ(ModelFolder::leave_list(data_, "old"), 0);
  EXPECT_EQ(ModelFolder::added_in(data_), Names{});
  EXPECT_EQ(ModelFolder::leave_list(data_, "old"), 0) << "again";
}

TEST_F(ModelFolders, WhatAProcessLeftThatEndedInBetweenIsPutRight) {
  const Names before = all();
  // What was to go, and could not be deleted then.
  fs::create_directories(data_ + "/.old.gone");
  write(".old.gone/segment-0000", "gone");
  EXPECT_EQ(ModelFolder::added_in(data_), Names{"old"});
  EXPECT_EQ(all(), before);
  // Before the list was written: the one before is back.
  fs::rename(data_ + "/old", data_ + "/.old.before");
  fs::create_directories(data_ + "/old");
  write("old/segment-0000", "new");
  write("old/added.toml.new", "new's");
  EXPECT_EQ(ModelFolder::added_in(data_), Names{"old"});
  EXPECT_EQ(all(), before);
  EXPECT_EQ(read("old/segment-0000"), "old");
  // Afterwards: the new one is there.
  fs::rename(data_ + "/old", data_ + "/.old.before");
  fs::create_directories(data_ + "/old");
  write("old/segment-0000", "new");
  write("old/added.toml", "new's");
  EXPECT_EQ(ModelFolder::added_in(data_), Names{"old"});
  EXPECT_EQ(all(), before);
  EXPECT_EQ(read("old/segment-0000"), "new");
}

TEST_F(ModelFolders, WhatCouldNotBeMovedBackIsNotOverwritten) {
  fs::create_directories(data_ + "/.old.before");
  write(".old.before/segment-0000", "kept");
  {
    ModelFolder folder(data_, "old");
    EXPECT_NE(folder.begin(true, "another's"), 0);
  }
  EXPECT_EQ(read(".old.before/segment-0000"), "kept");
  EXPECT_EQ(read("old/segment-0000"), "old");
}

// A full disk is told before anybody is let in; what needs no room does not need it.
TEST_F(ModelFolders, NoRoomForTheListIsToldByBegin) {
  fs::create_directories(data_ + "/old/added.toml.new");  // where it would be written
  ModelFolder folder(data_, "old");
  EXPECT_NE(folder.begin(false, "another's"), 0);
  ModelFolder same(data_, "old");
  EXPECT_EQ(same.begin(false, "old's"), 0);
  EXPECT_EQ(same.keep(), 0);
}

TEST(ModelFolder, WithoutADataFolderNothingHappens) {
  ModelFolder folder("", "old");
  EXPECT_EQ(folder.begin(true, "another's"), 0);
  EXPECT_EQ(folder.keep(), 0);
  EXPECT_EQ(ModelFolder::leave_list("", "old"), 0);
}

}  // namespace
}  // namespace windhover
