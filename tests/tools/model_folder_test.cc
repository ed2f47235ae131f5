#include "windhover/tools/daemon/model_folder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "windhover/tests/temporary_folder.h"
#include "windhover/tools/daemon/answer_choice.h"

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
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(data_)) {
      names.push_back(fs::relative(entry.path(), data_));
    }
    std::ranges::sort(names);
    return names;
  }

  const std::string data_ = testing::temporary_path("model_folders");
  Names told_;
};

// A segment of a log as it is made.
const std::string kZeros(8192, '\0');

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
