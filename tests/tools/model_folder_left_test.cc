// What a daemon that has ended left in its data folder, put right by the next start.
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "windhover/tests/tools/model_folders.h"
#include "windhover/tools/daemon/model_folder.h"

namespace windhover {
namespace {

namespace fs = std::filesystem;
using testing::kZeros;
using testing::ModelFolders;
using testing::Names;
using testing::NoDescriptors;

// A process that ended between begin() and keep(), where there had been nothing.
TEST_F(ModelFolders, AFolderThatWasNewIsGoneUnlessItsModelIsListed) {
  const Names before = all();
  for (const bool listed : {false, true}) {
    {
      ModelFolder folder(data_, "new");
      ASSERT_EQ(folder.begin(false, "its").why, 0);
      write("new/segment-0000", kZeros);
      EXPECT_TRUE(fs::exists(data_ + "/.new.new"));
      fs::copy(data_, data_ + ".left", fs::copy_options::recursive);
    }
    EXPECT_EQ(all(), before);
    fs::remove_all(data_);
    fs::rename(data_ + ".left", data_);
    if (listed) fs::rename(data_ + "/new/added.toml.new", data_ + "/new/added.toml");
    EXPECT_EQ(put_right(), listed ? (Names{"new", "old"}) : Names{"old"});
    EXPECT_EQ(fs::exists(data_ + "/new/segment-0000"), listed);
    EXPECT_EQ(told_of("new"), !listed);
    EXPECT_FALSE(fs::exists(data_ + "/.new.new"));
  }
  // What has been learned stays when the model is removed, whatever lies about.
  write(".new.new", "");
  EXPECT_EQ(ModelFolder::leave_list(data_, "new", false).why, 0);
  EXPECT_EQ(put_right(), Names{"old"});
  EXPECT_EQ(read("new/segment-0000"), kZeros);
  // What was there before is no folder that was new.
  {
    ModelFolder folder(data_, "stays");
    ASSERT_EQ(folder.begin(false, "its").why, 0);
    EXPECT_FALSE(fs::exists(data_ + "/.stays.new"));
  }
  {
    ModelFolder folder(data_, "stays");
    ASSERT_EQ(folder.begin(true, "its").why, 0);
    EXPECT_FALSE(fs::exists(data_ + "/.stays.new"));
  }
  EXPECT_EQ(read("stays/segment-0000"), "stays");
}

TEST_F(ModelFolders, AFolderThatWasNewIsPutRightAlone) {
  write("old/segment-0000", kZeros);
  write(".old.new", "");
  EXPECT_EQ(put_right_new("old").why, 0);
  EXPECT_EQ(read("old/segment-0000"), kZeros) << "which is listed";
  EXPECT_EQ(told_, Names{});
  write("stays/segment-0000", kZeros);
  write(".stays.new", "");
  EXPECT_EQ(put_right_new("stays").why, 0);
  EXPECT_FALSE(fs::exists(data_ + "/stays")) << "whose log holds nothing";
  EXPECT_TRUE(told_of("stays"));
  write(".nothing.new", "");
  EXPECT_EQ(put_right_new("nothing").why, 0);
  EXPECT_EQ(told_, Names{});
}

// A file .NAME.new that somebody has copied, or that a power cut has brought back.
TEST_F(ModelFolders, AFolderThatHoldsRowsIsNeverTakenForANewOne) {
  write(".stays.new", "");
  EXPECT_EQ(put_right(), Names{"old"});
  EXPECT_EQ(read("stays/segment-0000"), "stays");
  EXPECT_EQ(told_, Names{});
  EXPECT_FALSE(fs::exists(data_ + "/.stays.new"));
}

// Found from outside: an old .NAME.before took the place of a model that had left the list with its
// rows.
TEST_F(ModelFolders, AFolderThatHoldsRowsIsNeverReplacedByWhatWasSetAside) {
  fs::create_directories(data_ + "/.stays.before");
  write(".stays.before/segment-0000", kZeros);
  const Names before = all();
  EXPECT_EQ(put_right(), Names{"old"});
  EXPECT_EQ(all(), before);
  EXPECT_EQ(read("stays/segment-0000"), "stays");
  EXPECT_TRUE(told_of(".stays.before"));
  ModelFolder folder(data_, "stays");
  EXPECT_EQ(folder.begin(true, "another's").why, EEXIST) << "until somebody has looked";
}

TEST_F(ModelFolders, WhatAProcessLeftThatEndedInBetweenIsPutRight) {
  const Names before = all();
  // What was to go, and could not be deleted then.
  fs::create_directories(data_ + "/.old.gone");
  write(".old.gone/segment-0000", "gone");
  EXPECT_EQ(put_right(), Names{"old"});
  EXPECT_EQ(all(), before);
  EXPECT_TRUE(told_of(".old.gone"));
  // The process ended before the list was written: the model before is back.
  fs::rename(data_ + "/old", data_ + "/.old.before");
  fs::create_directories(data_ + "/old");
  write("old/segment-0000", kZeros);
  write("old/added.toml.new", "new's");
  EXPECT_EQ(put_right(), Names{"old"});
  EXPECT_EQ(all(), before);
  EXPECT_EQ(read("old/segment-0000"), "old");
  EXPECT_TRUE(told_of("old"));
  // Afterwards: the new one is there.
  fs::rename(data_ + "/old", data_ + "/.old.before");
  fs::create_directories(data_ + "/old");
  write("old/segment-0000", "new");
  write("old/added.toml", "new's");
  EXPECT_EQ(put_right(), Names{"old"});
  EXPECT_EQ(all(), before);
  EXPECT_EQ(read("old/segment-0000"), "new");
  EXPECT_TRUE(told_of(".old.before"));
}

TEST_F(ModelFolders, WhatIsDeletedInPartIsSaidAndDeletedByTheNextStart) {
  fs::create_directories(data_ + "/old/deep");
  write("old/deep/file", "deep");
  const Names before{"stays", "stays/segment-0000"};
  ASSERT_EQ(ModelFolder::leave_list(data_, "old", true).why, 0);
  {
    const NoDescriptors none;
    const FileFault fault = ModelFolder::delete_gone(data_, "old");
    EXPECT_EQ(fault.why, EMFILE);
    EXPECT_EQ(fault.path, data_ + "/.old.gone");
  }
  EXPECT_EQ(read(".old.gone/deep/file"), "deep");
  EXPECT_EQ(put_right(), Names{});
  EXPECT_EQ(all(), before);
}

// What is beside a folder that is not listed would be what comes back.
TEST_F(ModelFolders, OneLeavesTheListOnlyWhenNothingIsSetAside) {
  fs::create_directories(data_ + "/.old.before/deep");
  fs::create_directories(data_ + "/.old.gone/deep");
  {
    const NoDescriptors none;
    const FileFault fault = ModelFolder::leave_list(data_, "old", false);
    EXPECT_EQ(fault.why, EMFILE);
    EXPECT_EQ(fault.path, data_ + "/.old.before");
  }
  EXPECT_TRUE(ModelFolder::is_listed(data_, "old"));
  EXPECT_EQ(ModelFolder::leave_list(data_, "old", false).why, 0);
  EXPECT_EQ(put_right(), Names{});
  EXPECT_EQ(all(), (Names{"old", "old/segment-0000", "stays", "stays/segment-0000"}));
}

TEST_F(ModelFolders, WhatCannotBePutRightIsSaidAndStays) {
  fs::rename(data_ + "/old", data_ + "/.old.before");
  fs::create_directories(data_ + "/old");
  {
    const NoDescriptors none;
    const std::vector<FileFault> faults = ModelFolder::put_right(data_, told_);
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].path, data_);
    EXPECT_EQ(faults[0].why, EMFILE);
  }
  EXPECT_EQ(read(".old.before/segment-0000"), "old");
  EXPECT_EQ(put_right(), Names{"old"});
  EXPECT_EQ(read("old/segment-0000"), "old");
}

}  // namespace
}  // namespace windhover
