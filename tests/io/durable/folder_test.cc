#include "windhover/io/durable/folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "windhover/io/durable/posix_folder.h"
#include "windhover/tests/io/durable/faulty_folder.h"
#include "windhover/tests/io/durable/recording_folder.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover {
namespace {

using testing::Call;
using testing::FaultyFolder;
using testing::RecordingFolder;

std::vector<std::byte> folder_bytes(std::size_t size, int seed) {
  std::vector<std::byte> all(size);
  for (std::size_t i = 0; i < size; ++i)
    all[i] = static_cast<std::byte>(i * 7 + i / 251 + static_cast<std::size_t>(seed));
  return all;
}

class CollectedNames final : public NameVisitor {
 public:
  void name(const char* name) noexcept override { names.insert(name); }
  std::set<std::string> names;
};

// What every folder must do.
void expect_a_folder(Folder& folder) {
  EXPECT_EQ(folder.open_file("a", OpenFile::kRead), -ENOENT);
  EXPECT_EQ(folder.open_file("a", OpenFile::kWrite), -ENOENT);
  File file = File::open(folder, "a", OpenFile::kCreate, "").value();
  const auto written = folder_bytes(10'000, 1);
  EXPECT_EQ(file.write(0, written), Status::kOk);
  EXPECT_EQ(file.write(20'000, std::span(written).first(5)), Status::kOk);
  EXPECT_EQ(file.size().value(), 20'005U);
  EXPECT_EQ(file.sync(), Status::kOk);
  std::vector<std::byte> back(10'000);
  EXPECT_EQ(file.read(0, back), Status::kOk);
  EXPECT_EQ(back, written);
  EXPECT_EQ(file.read(15'000, std::span(back).first(4)), Status::kOk);
  EXPECT_EQ(back[0], std::byte{0});
  EXPECT_EQ(file.read(20'001, std::span(back).first(5)), Status::kClosed);
  EXPECT_EQ(file.read(30'000, std::span(back).first(1)), Status::kClosed);

  EXPECT_EQ(folder.rename_file("missing", "b"), -ENOENT);
  EXPECT_EQ(folder.rename_file("a", "b"), 0);
  EXPECT_EQ(folder.sync_folder(), 0);
  (void)File::open(folder, "c", OpenFile::kMake, "").value();
  File kept = File::open(folder, "b", OpenFile::kMake, "").value();
  EXPECT_EQ(kept.size().value(), 20'005U);
  CollectedNames found;
  EXPECT_EQ(folder.list(found), 0);
  EXPECT_EQ(found.names, (std::set<std::string>{"b", "c"}));
  File emptied = File::open(folder, "b", OpenFile::kCreate, "").value();
  EXPECT_EQ(emptied.size().value(), 0U);
  EXPECT_EQ(folder.remove_file("c"), 0);
  EXPECT_EQ(folder.remove_file("c"), -ENOENT);
  EXPECT_EQ(folder.lock("lock"), 0);
}

TEST(RecordingFolder, IsAFolder) {
  RecordingFolder folder;
  expect_a_folder(folder);
  EXPECT_EQ(folder.lock("lock"), -EWOULDBLOCK);
  EXPECT_EQ(folder.open_files(), 0U);
}

TEST(FaultyFolder, IsAFolderUntilToldOtherwise) {
  RecordingFolder recording;
  FaultyFolder folder(recording);
  expect_a_folder(folder);
}

TEST(RecordingFolder, PowerCutKeepsWhatWasSyncedAndNothingElseForSure) {
  int lost = 0;
  int torn = 0;
  int unnamed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    RecordingFolder folder;
    const auto first = folder_bytes(3000, 1);
    const auto second = folder_bytes(3000, 2);
    File file = File::open(folder, "a", OpenFile::kCreate, "").value();
    ASSERT_EQ(file.write(0, first), Status::kOk);
    ASSERT_EQ(file.sync(), Status::kOk);
    ASSERT_EQ(folder.sync_folder(), 0);
    ASSERT_EQ(file.write(1024, std::span(second).first(1000)), Status::kOk);
    (void)File::open(folder, "b", OpenFile::kCreate, "").value();
    folder.cut_power(random);
    const auto left = folder.contents("a");
    ASSERT_EQ(left.size(), 3000U);
    EXPECT_TRUE(std::equal(left.begin(), left.begin() + 1024, first.begin()));
    EXPECT_TRUE(std::equal(left.begin() + 2048, left.end(), first.begin() + 2048));
    const bool old = std::equal(left.begin(), left.end(), first.begin());
    const bool all = std::equal(left.begin() + 1024, left.begin() + 2024, second.begin());
    lost += old ? 1 : 0;
    torn += !old && !all ? 1 : 0;
    unnamed += folder.has("b") ? 0 : 1;
  }
  EXPECT_GT(lost, 5);
  EXPECT_GT(torn, 50);
  EXPECT_GT(unnamed, 50);
}

TEST(RecordingFolder, SyncThatFailedLosesBytesThatReadingStillShows) {
  int lost = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    RecordingFolder recording;
    FaultyFolder folder(recording);
    const auto written = folder_bytes(512, 1);
    {
      File file = File::open(folder, "a", OpenFile::kCreate, "").value();
      ASSERT_EQ(folder.sync_folder(), 0);
      ASSERT_EQ(file.write(0, written), Status::kOk);
      folder.fail(Call::kSync, 0, EIO);
      EXPECT_EQ(file.sync(), Status::kIoError);
      EXPECT_EQ(file.error_number(), EIO);
      EXPECT_EQ(file.sync(), Status::kOk);  // the system has nothing left to write
    }
    EXPECT_EQ(recording.contents("a"), written);
    recording.cut_power(random);
    lost += recording.contents("a") == written ? 0 : 1;
  }
  EXPECT_GT(lost, 10);
}

TEST(File, GoesOnAfterShortTransfersAndInterruptions) {
  RecordingFolder recording;
  FaultyFolder folder(recording);
  const auto written = folder_bytes(5000, 3);
  File file = File::open(folder, "a", OpenFile::kCreate, "").value();
  folder.fault(Call::kWrite) = {0, 5, EIO, true};
  ASSERT_EQ(file.write(0, written), Status::kOk);
  EXPECT_EQ(recording.contents("a"), written);
  EXPECT_EQ(folder.calls(Call::kWrite), 6U);
  folder.fault(Call::kRead) = {0, 5, EIO, true};
  std::vector<std::byte> back(5000);
  ASSERT_EQ(file.read(0, back), Status::kOk);
  EXPECT_EQ(back, written);
  folder.fail(Call::kWrite, 0, EINTR);
  EXPECT_EQ(file.write(0, written), Status::kOk);
  folder.fail(Call::kSync, 0, EINTR);
  EXPECT_EQ(file.sync(), Status::kIoError);
}

TEST(File, KeepsTheErrorNumberAndNamesItsKind) {
  RecordingFolder recording;
  FaultyFolder folder(recording);
  const auto opened = [&](int error) {
    folder.fail(Call::kOpen, 0, error);
    return File::open(folder, "a", OpenFile::kCreate, "it cannot be opened").error();
  };
  EXPECT_EQ(opened(EROFS).status, Status::kNotPermitted);
  EXPECT_EQ(opened(EACCES).status, Status::kNotPermitted);
  EXPECT_EQ(opened(ENOENT).status, Status::kUnavailable);
  EXPECT_EQ(opened(ENOSPC).status, Status::kIoError);
  EXPECT_EQ(opened(ENOSPC).number, ENOSPC);
  EXPECT_STREQ(opened(EIO).sentence, "it cannot be opened");
}

class PosixFolderTest : public ::testing::Test {
 protected:
  testing::TemporaryFolder temporary_;
  std::string path_ = (temporary_.path() / "data").string();
};

TEST_F(PosixFolderTest, IsAFolder) {
  PosixFolder folder = PosixFolder::open(path_.c_str(), true).value();
  expect_a_folder(folder);
}

TEST_F(PosixFolderTest, IsMadeOnlyWhenAsked) {
  EXPECT_EQ(PosixFolder::open(path_.c_str(), false).status(), Status::kUnavailable);
  EXPECT_TRUE(PosixFolder::open(path_.c_str(), true).ok());
  EXPECT_TRUE(PosixFolder::open(path_.c_str(), true).ok());
  EXPECT_TRUE(PosixFolder::open(path_.c_str(), false).ok());
  EXPECT_EQ(PosixFolder::open((path_ + "/a/b").c_str(), true).status(), Status::kUnavailable);
}

TEST_F(PosixFolderTest, IsLockedForOne) {
  {
    PosixFolder first = PosixFolder::open(path_.c_str(), true).value();
    PosixFolder second = PosixFolder::open(path_.c_str(), true).value();
    EXPECT_EQ(first.lock("lock"), 0);
    EXPECT_EQ(status_of(second.lock("lock")), Status::kRefused);
  }
  PosixFolder third = PosixFolder::open(path_.c_str(), true).value();
  EXPECT_EQ(third.lock("lock"), 0);
}

TEST_F(PosixFolderTest, SyncNoticesThatTheFileIsGone) {
  PosixFolder folder = PosixFolder::open(path_.c_str(), true).value();
  File file = File::open(folder, "a", OpenFile::kCreate, "").value();
  EXPECT_EQ(file.sync(), Status::kOk);
  std::filesystem::remove_all(path_);
  EXPECT_EQ(file.sync(), Status::kUnavailable);
  EXPECT_EQ(File::open(folder, "b", OpenFile::kCreate, "").status(), Status::kUnavailable);
}

TEST_F(PosixFolderTest, FilesAreTheirOwnersAlone) {
  PosixFolder folder = PosixFolder::open(path_.c_str(), true).value();
  File file = File::open(folder, "a", OpenFile::kCreate, "").value();
  struct stat facts {};
  ASSERT_EQ(::stat((path_ + "/a").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
}

TEST_F(PosixFolderTest, FollowsNoLink) {
  PosixFolder folder = PosixFolder::open(path_.c_str(), true).value();
  ASSERT_EQ(::symlink("/etc/hostname", (path_ + "/a").c_str()), 0);
  EXPECT_EQ(folder.open_file("a", OpenFile::kRead), -ELOOP);
}

// Opening one for reading would wait for whoever opens it for writing.
TEST_F(PosixFolderTest, DoesNotWaitAtAPipe) {
  PosixFolder folder = PosixFolder::open(path_.c_str(), true).value();
  ASSERT_EQ(::mkfifo((path_ + "/a").c_str(), 0600), 0);
  File file = File::open(folder, "a", OpenFile::kRead, "").value();
  EXPECT_EQ(file.size().value(), 0U);
  std::vector<std::byte> byte(1);
  EXPECT_NE(file.read(0, byte), Status::kOk);
}

TEST_F(PosixFolderTest, ListsManyFiles) {
  PosixFolder folder = PosixFolder::open(path_.c_str(), true).value();
  std::set<std::string> made;
  for (int i = 0; i < 700; ++i) {
    const std::string name = "a-file-with-a-longer-name-" + std::to_string(i);
    made.insert(name);
    folder.close_file(static_cast<int>(folder.open_file(name.c_str(), OpenFile::kMake)));
  }
  CollectedNames found;
  EXPECT_EQ(folder.list(found), 0);
  EXPECT_EQ(found.names, made);
}

}  // namespace
}  // namespace windhover
