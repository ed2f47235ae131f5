#include "windhover/tools/daemon/model_folder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "windhover/io/durable/checkpoint_file.h"
#include "windhover/io/durable/log_format.h"
#include "windhover/io/durable/posix_folder.h"
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
  // As the next start does: the models that are listed then.
  Names put_right() {
    EXPECT_TRUE(ModelFolder::put_right(data_).empty());
    return ModelFolder::added_in(data_);
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
      write("new/segment-0000", "log");
      EXPECT_TRUE(fs::exists(data_ + "/.new.new"));
      fs::copy(data_, data_ + ".left", fs::copy_options::recursive);
    }
    EXPECT_EQ(all(), before);
    fs::remove_all(data_);
    fs::rename(data_ + ".left", data_);
    if (listed) fs::rename(data_ + "/new/added.toml.new", data_ + "/new/added.toml");
    EXPECT_EQ(put_right(), listed ? (Names{"new", "old"}) : Names{"old"});
    EXPECT_EQ(fs::exists(data_ + "/new/segment-0000"), listed);
    EXPECT_FALSE(fs::exists(data_ + "/.new.new"));
  }
  // What has been learned stays when the model is removed, whatever lies about.
  write(".new.new", "");
  EXPECT_EQ(ModelFolder::leave_list(data_, "new", false).why, 0);
  EXPECT_EQ(put_right(), Names{"old"});
  EXPECT_EQ(read("new/segment-0000"), "log");
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
  write(".old.new", "");
  EXPECT_EQ(ModelFolder::put_right_new(data_, "old").why, 0);
  EXPECT_EQ(read("old/segment-0000"), "old") << "which is listed";
  write(".stays.new", "");
  EXPECT_EQ(ModelFolder::put_right_new(data_, "stays").why, 0);
  EXPECT_FALSE(fs::exists(data_ + "/stays")) << "whose log holds nothing";
  EXPECT_EQ(ModelFolder::put_right_new(data_, "nothing").why, 0);
}

// The bytes of one of so many rows, with nothing in it.
std::string checkpoint_of(std::uint64_t head) {
  const std::string path = testing::temporary_path("checkpoint_of");
  fs::create_directories(path);
  PosixFolder folder = std::move(PosixFolder::open(path.c_str(), false).value());
  std::array<std::byte, kMinCheckpointBuffer> buffer{};
  CheckpointWriter writer(buffer);
  EXPECT_EQ(writer.begin(folder, "checkpoint", {.head = head}), Status::kOk);
  EXPECT_EQ(writer.finish(), Status::kOk);
  std::ifstream in(path + "/checkpoint", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A file .NAME.new that somebody has copied, or that a power cut has brought back.
TEST_F(ModelFolders, AFolderThatHoldsRowsIsNeverTakenForANewOne) {
  std::array<std::byte, kCommitHeaderBytes> commit{};
  encode(CommitHeader{.ordinal = 1, .frames = 1}, LogIdentity{}, commit);
  std::string log(kLogBlock, '\0');
  std::memcpy(log.data(), commit.data(), commit.size());
  const auto left = [&](const std::string& file, const std::string& text) {
    fs::remove_all(data_ + "/model");
    fs::create_directory(data_ + "/model");
    write("model/identity", "its");
    write("model/added.toml.new", "its");
    write("model/" + file, text);
    write(".model.new", "");
    EXPECT_EQ(put_right(), Names{"old"});
    EXPECT_FALSE(fs::exists(data_ + "/.model.new"));
    return fs::exists(data_ + "/model/" + file);
  };
  EXPECT_TRUE(left("segment-0001", log));
  EXPECT_TRUE(left("checkpoint-000000000001", "")) << "which nobody can read";
  EXPECT_TRUE(left("checkpoint-000000000001", checkpoint_of(1)));
  EXPECT_FALSE(left("checkpoint-000000000001", checkpoint_of(0)));
  EXPECT_FALSE(left("checkpoint.new", "half"));
  EXPECT_TRUE(left("notes", ""));
  fs::create_directory(data_ + "/model/own");
  write(".model.new", "");
  EXPECT_EQ(put_right(), Names{"old"});
  EXPECT_TRUE(fs::exists(data_ + "/model/own"));
  // An empty segment has a stamp, of no frames.
  encode(CommitHeader{}, LogIdentity{}, commit);
  std::memcpy(log.data(), commit.data(), commit.size());
  EXPECT_FALSE(left("segment-0001", log));
  EXPECT_FALSE(left("lock", ""));
}

TEST_F(ModelFolders, WhatAProcessLeftThatEndedInBetweenIsPutRight) {
  const Names before = all();
  // What was to go, and could not be deleted then.
  fs::create_directories(data_ + "/.old.gone");
  write(".old.gone/segment-0000", "gone");
  EXPECT_EQ(put_right(), Names{"old"});
  EXPECT_EQ(all(), before);
  // Before the list was written: the one before is back.
  fs::rename(data_ + "/old", data_ + "/.old.before");
  fs::create_directories(data_ + "/old");
  write("old/segment-0000", "new");
  write("old/added.toml.new", "new's");
  EXPECT_EQ(put_right(), Names{"old"});
  EXPECT_EQ(all(), before);
  EXPECT_EQ(read("old/segment-0000"), "old");
  // Afterwards: the new one is there.
  fs::rename(data_ + "/old", data_ + "/.old.before");
  fs::create_directories(data_ + "/old");
  write("old/segment-0000", "new");
  write("old/added.toml", "new's");
  EXPECT_EQ(put_right(), Names{"old"});
  EXPECT_EQ(all(), before);
  EXPECT_EQ(read("old/segment-0000"), "new");
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
    const std::vector<FileFault> faults = ModelFolder::put_right(data_);
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
