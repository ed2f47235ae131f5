// Folders of the real file system that are taken away, or may not be used.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "windhover/io/durable/log_format.h"
#include "windhover/io/durable/posix_folder.h"
#include "windhover/tests/io/durable/stream_on_disk.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::testing::server_folder_test {
namespace {

// Another each time a test is run.
std::string new_path(const std::string& name) {
  static int number = 0;
  return temporary_path(name + "-" + std::to_string(++number));
}

ServerConfig on_folder(const std::string& folder) {
  ServerConfig config = small_log_on_disk(nullptr);
  config.durable.folder = folder;
  return config;
}

// The system goes on writing to files that have no name any more; that is no disk to promise.
TEST(ServerFolder, RemovedUnderAServerEndsAcknowledgingAndIsSaid) {
  const std::string folder = new_path("removed");
  std::uint64_t instance = 0;
  {
    ServerLife life(on_folder(folder), exact_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    instance = life.server().models().instance_id();
    StreamSender sender(1, life, 0);
    ASSERT_TRUE(sender.send(20));
    ASSERT_EQ(sender.client().wait_acknowledged(), Status::kOk);
    ASSERT_GT(std::filesystem::remove_all(folder), 5U);
    ASSERT_TRUE(sender.send(20));
    ASSERT_TRUE(eventually([&] { return life.server().kept().log().failures.load() >= 2; }));
    ASSERT_TRUE(sender.listen_awhile());
    EXPECT_EQ(sender.outstanding(), 1U);
    EXPECT_EQ(sender.acknowledged(), 20U);
    EXPECT_FALSE(life.checkpoint());
    const v1::Durable durable = durable_of(life);
    EXPECT_EQ(durable.log_status(), v1::REASON_UNAVAILABLE);
    EXPECT_EQ(durable.log_errno(), ENOENT);
    EXPECT_EQ(durable.checkpoint_errno(), ENOENT);
    EXPECT_GE(durable.checkpoint_failures(), 1U);
    EXPECT_FALSE(std::filesystem::exists(folder));
  }
  // The next start begins another history, and a sender can tell.
  ServerLife life(on_folder(folder), exact_engine());
  ASSERT_TRUE(life.opens()) << life.error();
  EXPECT_NE(life.server().models().instance_id(), instance);
  EXPECT_EQ(life.engine().head(), 0U);
}

// The same place with another folder in it is not the folder that was opened.
TEST(ServerFolder, ReplacedUnderAServerIsNotWritten) {
  const std::string folder = new_path("replaced");
  ServerLife life(on_folder(folder), exact_engine());
  ASSERT_TRUE(life.opens()) << life.error();
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  StreamSender sender(1, life, 0);
  ASSERT_TRUE(sender.send(20));
  ASSERT_TRUE(eventually([&] { return life.server().kept().log().failures.load() >= 1; }));
  ASSERT_TRUE(sender.listen_awhile());
  EXPECT_EQ(sender.outstanding(), 1U);
  EXPECT_EQ(sender.acknowledged(), 0U);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

// Moved, it is still there.
TEST(ServerFolder, MovedUnderAServerKeepsEverything) {
  const std::string folder = new_path("moved");
  const std::string place = new_path("moved-to");
  LoggedHistory history;
  {
    ServerLife life(on_folder(folder), exact_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    std::filesystem::rename(folder, place);
    StreamSender sender(1, life, 0);
    ASSERT_TRUE(sender.send(20));
    ASSERT_EQ(sender.client().wait_acknowledged(), Status::kOk);
    ASSERT_TRUE(life.checkpoint());
    ASSERT_TRUE(sender.send(200));
    ASSERT_EQ(sender.client().wait_acknowledged(), Status::kOk);
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
  Result<PosixFolder> opened = PosixFolder::open(place.c_str(), false);
  ASSERT_TRUE(opened.ok());
  ASSERT_EQ(history.read(opened.value()), "");
  EXPECT_EQ(history.next(1), 220U);
  ServerLife life(on_folder(place), exact_engine());
  ASSERT_TRUE(life.opens()) << life.error();
  expect_stands_at(life, history);
}

// Sets modes, and gives everything back to its owner at the end, so that it can be removed.
class Modes {
 public:
  ~Modes() {
    for (const std::string& path : paths_) (void)::chmod(path.c_str(), 0700);
  }
  bool set(const std::string& path, mode_t mode) {
    paths_.push_back(path);
    return ::chmod(path.c_str(), mode) == 0;
  }

 private:
  std::vector<std::string> paths_;
};

// Calls `work` as a user who may not do everything: root's thread becomes nobody's for a while.
template <class Work>
void as_nobody(Work&& work) {
  constexpr uid_t kNobody = 65'534;
  std::thread([&] {
    // The system call, not the library's, which changes all threads.
    if (::geteuid() == 0) {
      ASSERT_EQ(::syscall(SYS_setresuid, -1, kNobody, -1), 0) << errno;
    }
    work();
  }).join();
}

TEST(ServerFolder, OfAnotherOwnerOrReadOnlyIsRefusedByNameAndStaysAsItIs) {
  const std::string around = new_path("around");
  const std::string folder = around + "/of-another";
  std::filesystem::create_directory(around);
  std::filesystem::create_directory(folder);
  // Found by everybody, written by nobody but root; and neither below.
  const std::string top = std::filesystem::path(around).parent_path().string();
  Modes modes;
  ASSERT_TRUE(modes.set(top, 0711));
  ASSERT_TRUE(modes.set(around, 0755));
  int found = ENOENT;
  as_nobody([&] {
    struct stat status {};
    found = ::stat(folder.c_str(), &status) == 0 ? 0 : errno;
  });
  if (found == EACCES) GTEST_SKIP() << "a folder above " << top << " lets nobody in";
  ASSERT_EQ(found, 0);
  for (const mode_t mode : {0555, 0711, 0500}) {
    if (::geteuid() != 0 && mode == 0711) continue;  // our own may be written
    ASSERT_TRUE(modes.set(folder, mode));
    as_nobody([&] {
      const ServerLife life(on_folder(folder), exact_engine());
      EXPECT_FALSE(life.opens());
      EXPECT_NE(life.error().find(folder), std::string::npos) << life.error();
      EXPECT_EQ(life.error_number(), EACCES) << life.error();
    });
    ASSERT_TRUE(modes.set(folder, 0700));
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
  const std::string missing = around + "/not-there";
  ASSERT_TRUE(modes.set(around, 0555));
  as_nobody([&] {
    const ServerLife life(on_folder(missing), exact_engine());
    EXPECT_FALSE(life.opens());
    EXPECT_NE(life.error().find(missing), std::string::npos) << life.error();
    EXPECT_EQ(life.error_number(), EACCES) << life.error();
  });
  EXPECT_FALSE(std::filesystem::exists(missing));
}

TEST(ServerFolder, WithALogIsNotKeptInMemory) {
  const std::string folder = new_path("with-a-log");
  ServerConfig config = server_on_disk(folder);
  { ServerLife life(config); }
  config.durable.log = false;
  ServerLife life(config);
  EXPECT_NE(life.error().find("data.durability"), std::string::npos) << life.error();
}

// Nothing stands behind it but its seal.
TEST(ServerFolder, WhoseOnlyCommitIsDamagedIsRefusedByName) {
  const std::string folder = new_path("only_commit");
  std::uint64_t head = 0;
  {
    ServerLife life(on_folder(folder), exact_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    StreamSender sender(1, life, 0);
    ASSERT_TRUE(sender.send(20));
    ASSERT_EQ(sender.client().wait_acknowledged(), Status::kOk);
    head = life.server().kept().log().durable_head.load();
    ASSERT_GT(head, 0U);
  }
  for (const std::streamoff at : {0, 30, 79, 100, 200}) {
    flip(folder + "/segment-0000", at);
    {
      ServerLife life(on_folder(folder), exact_engine());
      EXPECT_FALSE(life.opens()) << at;
      EXPECT_NE(life.error().find("segment-0000 at byte 0: the log is damaged"), std::string::npos)
          << life.error();
      EXPECT_NE(life.error().find("windhover log verify"), std::string::npos) << life.error();
    }
    flip(folder + "/segment-0000", at);
  }
  ServerLife life(on_folder(folder), exact_engine());
  ASSERT_TRUE(life.opens()) << life.error();
  EXPECT_EQ(life.server().kept().log().durable_head.load(), head);
}

TEST(ServerFolder, WithASegmentThatIsMissingOrCutIsRefusedByName) {
  const std::string folder = new_path("segments");
  { ServerLife life(on_folder(folder), exact_engine()); }
  const std::string segment = folder + "/segment-0007";
  std::filesystem::resize_file(segment, 5'000);
  {
    ServerLife life(on_folder(folder), exact_engine());
    EXPECT_NE(life.error().find("segment-0007: "), std::string::npos) << life.error();
    EXPECT_NE(life.error().find("its size is 5000"), std::string::npos) << life.error();
  }
  std::filesystem::remove(segment);
  ServerLife life(on_folder(folder), exact_engine());
  EXPECT_NE(life.error().find("segment-0007"), std::string::npos) << life.error();
  EXPECT_EQ(life.error_number(), ENOENT);
}

// A power cut in the midst of a commit: what was there of it goes, and that is said.
TEST(ServerFolder, WithACommitThatWasNeverFinishedSaysSo) {
  const std::string folder = new_path("unfinished");
  {
    ServerLife life(on_folder(folder), exact_engine());
    ASSERT_TRUE(life.opens()) << life.error();
  }
  // A header whose commit is not there: the first of this log's, with another body.
  {
    PosixFolder files = PosixFolder::open(folder.c_str(), false).value();
    const LogIdentity identity = read_log_identity(files).value();
    std::vector<std::byte> block(kLogBlock);
    encode(CommitHeader{1, 0, identity.first_frame, 1, kRecordHeaderBytes, 12345}, identity, block);
    File file = File::open(files, "segment-0000", OpenFile::kWrite, "").value();
    ASSERT_EQ(file.write(0, block), Status::kOk);
  }
  {
    ServerLife life(on_folder(folder), exact_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    EXPECT_NE(std::string(life.server().kept().remarks()).find("never finished"), std::string::npos)
        << life.server().kept().remarks();
  }
  ServerLife life(on_folder(folder), exact_engine());
  EXPECT_STREQ(life.server().kept().remarks(), "");
}

TEST(ServerFolder, InUseByAnotherServerIsRefusedByName) {
  const std::string folder = new_path("in-use");
  ServerLife first(server_on_disk(folder));
  ASSERT_TRUE(first.opens()) << first.error();
  ServerLife second(server_on_disk(folder));
  EXPECT_NE(second.error().find(folder), std::string::npos) << second.error();
  EXPECT_NE(second.error().find("another windhoverd"), std::string::npos) << second.error();
}

TEST(ServerFolder, OfAnotherModelIsRefused) {
  const std::string folder = new_path("of-a-model");
  const ServerConfig config = server_on_disk(folder);
  { ServerLife life(config); }
  EngineConfig other = engine_on_disk();
  other.model.features = kFeatures + 1;
  ServerLife life(config, other);
  EXPECT_FALSE(life.opens());
  EXPECT_NE(life.error().find("the checkpoint has another model.features; there it is " +
                              std::to_string(kFeatures)),
            std::string::npos)
      << life.error();
}

}  // namespace
}  // namespace windhover::testing::server_folder_test
