#include "windhover/tools/daemon/model_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "windhover/tests/tools/model_folders.h"
#include "windhover/tools/daemon/answer_choice.h"

namespace windhover {
namespace {

namespace fs = std::filesystem;
using testing::ModelFolders;
using testing::Names;
using testing::NoDescriptors;

TEST_F(ModelFolders, WhatIsNotKeptIsAsItWas) {
  const Names before = all();
  for (const char* name : {"old", "stays", "new"}) {
    for (const bool anew : {false, true}) {
      {
        ModelFolder folder(data_, name);
        EXPECT_EQ(folder.begin(anew, "another's").why, 0);
      }
      EXPECT_EQ(all(), before) << name << anew;
      EXPECT_EQ(read("old/added.toml"), "old's");
      EXPECT_EQ(read("old/segment-0000"), "old");
    }
  }
}

TEST_F(ModelFolders, WhatIsKeptGoesOnOrBeginsAnew) {
  ModelFolder goes_on(data_, "old");
  ASSERT_EQ(goes_on.begin(false, "another's").why, 0);
  EXPECT_EQ(read("old/added.toml"), "old's") << "until it is kept";
  ASSERT_EQ(goes_on.keep().why, 0);
  std::string toml;
  EXPECT_EQ(ModelFolder::read_toml(data_, "old", toml).why, 0);
  EXPECT_EQ(toml, "another's");
  EXPECT_EQ(read("old/segment-0000"), "old");
  ModelFolder anew(data_, "old");
  ASSERT_EQ(anew.begin(true, "a third's").why, 0);
  EXPECT_EQ(read("old/segment-0000"), "");
  ASSERT_EQ(anew.keep().why, 0);
  EXPECT_EQ(read(".old.before/segment-0000"), "old") << "until it may go";
  EXPECT_EQ(anew.delete_before().why, 0);
  EXPECT_EQ(all(), (Names{"old", "old/added.toml", "stays", "stays/segment-0000"}));
  EXPECT_EQ(ModelFolder::added_in(data_), Names{"old"});
  EXPECT_EQ(ModelFolder::leave_list(data_, "old", false).why, 0);
  EXPECT_EQ(ModelFolder::added_in(data_), Names{});
  EXPECT_EQ(ModelFolder::leave_list(data_, "old", false).why, 0) << "again";
  EXPECT_EQ(all(), (Names{"old", "stays", "stays/segment-0000"}));
  EXPECT_EQ(ModelFolder::leave_list(data_, "stays", true).why, 0);
  EXPECT_EQ(all(), (Names{".stays.gone", ".stays.gone/segment-0000", "old"}));
  EXPECT_EQ(ModelFolder::delete_gone(data_, "stays").why, 0);
  EXPECT_EQ(all(), Names{"old"});
}

TEST_F(ModelFolders, WhatCouldNotBeMovedBackIsNotOverwritten) {
  fs::create_directories(data_ + "/.old.before");
  write(".old.before/segment-0000", "kept");
  {
    ModelFolder folder(data_, "old");
    const FileFault fault = folder.begin(true, "another's");
    EXPECT_EQ(fault.why, EEXIST);
    EXPECT_EQ(fault.path, data_ + "/.old.before");
  }
  EXPECT_EQ(read(".old.before/segment-0000"), "kept");
  EXPECT_EQ(read("old/segment-0000"), "old");
}

// A full disk is told before anybody is let in; what needs no room does not need it.
TEST_F(ModelFolders, NoRoomForTheListIsToldByBegin) {
  fs::create_directories(data_ + "/old/added.toml.new");  // where it would be written
  ModelFolder folder(data_, "old");
  EXPECT_NE(folder.begin(false, "another's").why, 0);
  ModelFolder same(data_, "old");
  EXPECT_EQ(same.begin(false, "old's").why, 0);
  EXPECT_EQ(same.keep().why, 0);
}

TEST_F(ModelFolders, AListThatIsRenamedAndNotSyncedIsUndone) {
  const Names before = all();
  for (const char* name : {"old", "stays", "new"}) {
    for (const bool anew : {false, true}) {
      {
        ModelFolder folder(data_, name);
        ASSERT_EQ(folder.begin(anew, "another's").why, 0);
        const NoDescriptors none;
        const FileFault fault = folder.keep();
        EXPECT_EQ(fault.why, EMFILE);
        EXPECT_EQ(fault.path, data_ + "/" + name + "/added.toml");
        EXPECT_TRUE(ModelFolder::is_listed(data_, name)) << "as it was to be";
      }
      EXPECT_EQ(all(), before) << name << anew;
      EXPECT_EQ(read("old/added.toml"), "old's");
      EXPECT_EQ(read("old/segment-0000"), "old");
    }
  }
}

// An earlier process renamed it, and nobody knows whether it is on the disk.
TEST_F(ModelFolders, AListThatIsThereAlreadyIsSyncedBeforeItIsReliedOn) {
  ModelFolder folder(data_, "old");
  ASSERT_EQ(folder.begin(false, "old's").why, 0);
  {
    const NoDescriptors none;
    EXPECT_EQ(folder.keep().why, EMFILE);
  }
  EXPECT_EQ(folder.keep().why, 0);
}

TEST_F(ModelFolders, AListThatCannotBeRenamedIsUndone) {
  const Names before = all();
  {
    ModelFolder folder(data_, "stays");
    ASSERT_EQ(folder.begin(false, "another's").why, 0);
    fs::create_directories(data_ + "/stays/added.toml/in-the-way");
    EXPECT_EQ(folder.keep().why, EISDIR);
    fs::remove_all(data_ + "/stays/added.toml");
  }
  EXPECT_EQ(all(), before);
}

// Opening one waits for whoever has it open on the other side, which may be nobody.
TEST_F(ModelFolders, NobodyWaitsAtAPipe) {
  for (const char* pipe : {"stays/added.toml", "stays/answered_by", "stays/answered_by.new"}) {
    ASSERT_EQ(::mkfifo((data_ + "/" + pipe).c_str(), 0600), 0);
  }
  std::string toml;
  EXPECT_EQ(ModelFolder::read_toml(data_, "stays", toml).why, ENXIO);
  EXPECT_EQ(AnswerChoice::kept_in(data_ + "/stays"), "");
  EXPECT_EQ(AnswerChoice(data_ + "/stays").keep("old"), ENXIO);
  AnswerChoice choice(data_ + "/old");
  EXPECT_EQ(AnswerChoice::kept_in(data_ + "/old"), "");
  EXPECT_EQ(choice.keep("stays"), 0);
  EXPECT_EQ(AnswerChoice::kept_in(data_ + "/old"), "stays");
}

TEST_F(ModelFolders, AListThatCannotBeReadIsNeverReplaced) {
  fs::rename(data_ + "/old/added.toml", data_ + "/old/moved");
  fs::create_directories(data_ + "/old/added.toml/in-the-way");
  const Names before = all();
  std::string toml;
  EXPECT_EQ(ModelFolder::read_toml(data_, "old", toml).why, EISDIR);
  {
    ModelFolder folder(data_, "old");
    EXPECT_EQ(folder.begin(false, "another's").why, EISDIR);
  }
  const FileFault stays = ModelFolder::leave_list(data_, "old", false);
  EXPECT_EQ(stays.why, EISDIR);
  EXPECT_EQ(stays.path, data_ + "/old/added.toml");
  EXPECT_TRUE(ModelFolder::is_listed(data_, "old"));
  EXPECT_EQ(all(), before);
}

TEST_F(ModelFolders, ARemovalThatIsNotSyncedIsThereAndSaid) {
  const NoDescriptors none;
  EXPECT_EQ(ModelFolder::leave_list(data_, "old", false).why, EMFILE);
  EXPECT_FALSE(ModelFolder::is_listed(data_, "old"));
}

TEST(ModelFolder, WithoutADataFolderNothingHappens) {
  ModelFolder folder("", "old");
  EXPECT_EQ(folder.begin(true, "another's").why, 0);
  EXPECT_EQ(folder.keep().why, 0);
  EXPECT_EQ(folder.delete_before().why, 0);
  EXPECT_EQ(ModelFolder::leave_list("", "old", true).why, 0);
  EXPECT_EQ(ModelFolder::delete_gone("", "old").why, 0);
}

}  // namespace
}  // namespace windhover
