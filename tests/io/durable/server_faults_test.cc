// A disk that fails, stalls and heals under a server at work: nothing is acknowledged that is not
// on disk, the status says why, and when the fault has passed all goes on.
#include <gtest/gtest.h>

#include <cerrno>
#include <random>

#include "windhover/tests/io/durable/faulty_folder.h"
#include "windhover/tests/io/durable/stream_on_disk.h"

namespace windhover::testing::server_faults_test {
namespace {

constexpr std::uint64_t kForGood = 1U << 30;

class ServerFaults : public ::testing::Test {
 protected:
  ServerConfig config() { return small_log_on_disk(&faulty_); }

  // Waits until everything that was sent is acknowledged.
  void settle(StreamSender& sender) {
    ASSERT_EQ(sender.client().wait_acknowledged(), Status::kOk) << sender.client().error_text();
  }
  // Several frames, each on disk.
  void fill(ServerLife& life, int frames, std::uint64_t first = 0) {
    StreamSender sender(1, life, first);
    ASSERT_TRUE(sender.connected());
    for (int i = 0; i < frames; ++i) {
      ASSERT_TRUE(sender.send(20));
      settle(sender);
    }
  }
  // What a power cut leaves is what the next life stands at, and it is all of `rows`.
  void expect_kept(std::uint64_t next) {
    disk_.cut_power(random_);
    LoggedHistory history;
    ASSERT_EQ(history.read(disk_), "");
    ASSERT_EQ(history.next(1), next);
    ServerLife life(config(), exact_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    expect_stands_at(life, history);
  }

  std::mt19937_64 random_{5};
  RecordingFolder disk_;
  FaultyFolder faulty_{disk_};
};

// Each call fails with each error: frames wait while it lasts, and the server says what they wait
// for.
TEST_F(ServerFaults, NothingIsAcknowledgedWhileCommitsFailAndAllGoesOnAfterwards) {
  std::uint64_t next = 0;
  for (const Call call : {Call::kWrite, Call::kSync}) {
    for (const int error : {EIO, ENOSPC}) {
      {
        ServerLife life(config(), exact_engine());
        ASSERT_TRUE(life.opens()) << life.error();
        StreamSender sender(1, life, next);
        ASSERT_TRUE(sender.connected());
        ASSERT_TRUE(sender.send(10));
        settle(sender);
        next += 10;

        const std::uint64_t failed = faulty_.failed();
        faulty_.only("segment-");
        faulty_.fail(call, 0, error, kForGood);
        ASSERT_TRUE(sender.send(10));
        ASSERT_TRUE(eventually([&] { return life.server().kept().log().failures.load() >= 2; }));
        ASSERT_TRUE(sender.send(10));
        ASSERT_TRUE(eventually([&] { return life.server().kept().log().failures.load() >= 3; }));
        ASSERT_GE(faulty_.failed() - failed, 3U);
        ASSERT_TRUE(sender.listen_awhile());
        EXPECT_EQ(sender.outstanding(), 2U);
        EXPECT_EQ(sender.acknowledged(), next);
        const v1::Durable durable = durable_of(life);
        EXPECT_EQ(durable.log_status(), v1::REASON_IO_ERROR);
        EXPECT_EQ(durable.log_errno(), error);
        EXPECT_GE(durable.log_failures(), 3U);
        EXPECT_EQ(durable.durable_through(), life.server().kept().log().durable_head.load());
        EXPECT_LT(durable.durable_through(), life.engine().head());

        faulty_.heal();
        settle(sender);
        next += 20;
        EXPECT_EQ(sender.acknowledged(), next);
        EXPECT_EQ(durable_of(life).log_status(), v1::REASON_OK);
        EXPECT_EQ(durable_of(life).log_errno(), 0);
        EXPECT_EQ(durable_of(life).durable_through(), life.engine().head());
      }
      expect_kept(next);
      disk_.kill_process();
    }
  }
}

// The mark at the log's end is of no account to who sends; that it is missing is counted.
TEST_F(ServerFaults, ASealThatCannotBeWrittenIsCountedOnceAndTheLogGoesOn) {
  {
    ServerLife life(config(), exact_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    faulty_.only("segment-");
    faulty_.fail(Call::kWrite, 1, EIO);  // behind the first commit
    fill(life, 1);
    ASSERT_TRUE(eventually([&] { return life.server().kept().log().seal_failures.load() == 1; }));
    EXPECT_EQ(life.server().kept().log().seal_error_number.load(), EIO);
    EXPECT_EQ(durable_of(life).log_status(), v1::REASON_OK);
    EXPECT_EQ(durable_of(life).log_seal_failures(), 1U);
    fill(life, 3, 20);
    EXPECT_EQ(life.server().kept().log().seal_failures.load(), 1U);
    EXPECT_EQ(life.server().kept().log().failures.load(), 0U) << "of commits none has failed";
  }
  expect_kept(80);
}

// Whatever a power cut after a clean stop takes, the log is known to end where it did: so damage to
// its last commit is no commit that was never finished.
TEST_F(ServerFaults, ACleanStopLeavesAnEndThatAPowerCutCannotTake) {
  for (int cut = 0; cut < 20; ++cut) {
    RecordingFolder disk;
    std::string segment;
    {
      ServerLife life(small_log_on_disk(&disk), exact_engine());
      ASSERT_TRUE(life.opens()) << life.error();
      fill(life, 3);
    }
    disk.cut_power(random_);
    auto bytes = disk.contents("segment-0000");
    std::size_t last = 0;
    for (std::size_t at = 0; at < bytes.size(); at += kLogBlock) {
      if (looks_like_commit(std::span(bytes).subspan(at)) &&
          load_number(&bytes[at + 48]) > 0) {  // frames: no seal
        last = at;
      }
    }
    bytes[last + kCommitHeaderBytes] ^= std::byte{1};
    disk.set_contents("segment-0000", bytes);
    ServerLife life(small_log_on_disk(&disk), exact_engine());
    ASSERT_FALSE(life.opens()) << cut;
    EXPECT_NE(life.error().find("segment-0000 at byte " + std::to_string(last) + ": the log is "),
              std::string::npos)
        << life.error();
  }
}

TEST_F(ServerFaults, AnEndThatCannotBeMarkedAtAStopIsCounted) {
  ServerLife life(config(), exact_engine());
  ASSERT_TRUE(life.opens()) << life.error();
  fill(life, 1);
  // The last commit is acknowledged, and nothing else syncs a segment but the stop.
  faulty_.only("segment-");
  faulty_.fail(Call::kSync, 0, ENOSPC);
  ASSERT_EQ(life.end(false), Status::kOk);
  EXPECT_EQ(life.server().kept().log().seal_failures.load(), 1U);
  EXPECT_EQ(life.server().kept().log().seal_error_number.load(), ENOSPC);
  faulty_.heal();
  expect_kept(20);
}

// A life that ends while the fault lasts: what was not acknowledged may be there or not.
TEST_F(ServerFaults, AServerThatEndsWhileCommitsFailKeepsWhatItAcknowledged) {
  for (const Call call : {Call::kWrite, Call::kSync}) {
    RecordingFolder disk;
    FaultyFolder faulty(disk);
    LoggedHistory history;
    {
      ServerLife life(small_log_on_disk(&faulty), exact_engine());
      ASSERT_TRUE(life.opens()) << life.error();
      fill(life, 5);
      faulty.only("segment-");
      faulty.fail(call, 0, EIO, kForGood);
      StreamSender sender(1, life, 100);
      ASSERT_TRUE(sender.send(10));
      ASSERT_TRUE(eventually([&] { return life.server().kept().log().failures.load() > 0; }));
      ASSERT_TRUE(sender.listen_awhile());
      EXPECT_EQ(sender.outstanding(), 1U);
      EXPECT_EQ(life.end(true), Status::kUnavailable);  // no checkpoint holds what the log lacks
      sender.listen_to_the_end();
      EXPECT_EQ(sender.outstanding(), 1U);
    }
    faulty.heal();
    disk.cut_power(random_);
    ASSERT_EQ(history.read(disk), "");
    EXPECT_GE(history.next(1), 100U);
    ServerLife life(small_log_on_disk(&faulty), exact_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    expect_stands_at(life, history);
  }
}

TEST_F(ServerFaults, ShortWritesAreMadeWhole) {
  {
    ServerLife life(config(), exact_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    faulty_.fail(Call::kWrite, 0, EIO, kForGood, true);
    fill(life, 20);
    ASSERT_TRUE(life.checkpoint());
    fill(life, 5, 400);
    EXPECT_GT(faulty_.failed(), 100U);
    EXPECT_EQ(life.server().kept().log().failures.load(), 0U);
    EXPECT_EQ(life.server().kept().checkpoints().failures.load(), 0U);
    faulty_.heal();
  }
  expect_kept(500);
}

// The disk that has no room, or fails, for a checkpoint: rows are acknowledged all the same.
TEST_F(ServerFaults, ACheckpointThatFailsIsSaidAndHoldsUpNobody) {
  ServerLife life(config(), exact_engine());
  ASSERT_TRUE(life.opens()) << life.error();
  std::uint64_t failures = 0;
  std::uint64_t next = 0;
  for (const Call call : {Call::kOpen, Call::kWrite, Call::kSync, Call::kRename}) {
    for (const int error : {EIO, ENOSPC}) {
      faulty_.only("checkpoint");
      faulty_.fail(call, 0, error, kForGood);
      const std::uint64_t failed = faulty_.failed();
      EXPECT_FALSE(life.checkpoint());
      EXPECT_GT(faulty_.failed(), failed);
      fill(life, 1, next);
      next += 20;
      const v1::Durable durable = durable_of(life);
      EXPECT_EQ(durable.checkpoint_status(), v1::REASON_IO_ERROR);
      EXPECT_EQ(durable.checkpoint_errno(), error);
      EXPECT_GT(durable.checkpoint_failures(), failures);
      EXPECT_EQ(durable.log_status(), v1::REASON_OK);
      failures = durable.checkpoint_failures();
      faulty_.heal();
      ASSERT_TRUE(life.checkpoint()) << static_cast<int>(call);
      EXPECT_EQ(durable_of(life).checkpoint_status(), v1::REASON_OK);
      EXPECT_EQ(durable_of(life).checkpoint_head(), life.engine().head());
    }
  }
  (void)life.end(false);
  expect_kept(next);
}

// Whatever cannot be read at a start: it is said, with the folder's name, and costs nothing.
TEST_F(ServerFaults, AStartThatCannotReadIsRefusedByNameAndTheNextLosesNothing) {
  {
    ServerLife life(config(), exact_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    fill(life, 20);
    ASSERT_TRUE(life.checkpoint());
    fill(life, 20, 400);
  }
  for (const char* files : {"segment-", "identity"}) {
    for (const std::uint64_t n : {0U, 1U, 5U, 20U, 50U}) {
      disk_.kill_process();
      faulty_.only(files);
      const std::uint64_t failed = faulty_.failed();
      faulty_.fail(Call::kRead, n, EIO, kForGood);
      const ServerLife life(config(), exact_engine());
      if (faulty_.failed() == failed) {  // it had read all before
        ASSERT_GT(n, 1U);
        ASSERT_TRUE(life.opens()) << life.error();
      } else if (!life.opens()) {
        EXPECT_NE(life.error().find("disk: "), std::string::npos) << life.error();
        EXPECT_EQ(life.error_number(), EIO) << life.error();
      }
      EXPECT_TRUE(n > 0 || !life.opens());
      faulty_.heal();
    }
  }
  // The newest checkpoint: the one before and the log do as well.
  disk_.kill_process();
  faulty_.only("checkpoint-000000000002");
  faulty_.fail(Call::kRead, 0, EIO, kForGood);
  {
    ServerLife life(config(), exact_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    EXPECT_NE(std::string(life.server().kept().remarks()).find("passed over"), std::string::npos);
    EXPECT_EQ(life.server().kept().checkpoints().head.load(), 0U);
  }
  faulty_.heal();
  expect_kept(800);
}

TEST_F(ServerFaults, AFolderThatMayNotBeWrittenIsRefusedWithWhy) {
  for (const int error : {EACCES, EROFS, ENOSPC}) {
    for (const Call call : {Call::kLock, Call::kOpen, Call::kWrite, Call::kSyncFolder}) {
      RecordingFolder disk;
      FaultyFolder faulty(disk);
      faulty.fail(call, 0, error, kForGood);
      const ServerLife life(small_log_on_disk(&faulty), exact_engine());
      EXPECT_FALSE(life.opens());
      EXPECT_NE(life.error().find("disk: "), std::string::npos) << life.error();
      EXPECT_EQ(life.error_number(), error) << life.error();
    }
  }
}

// Remounted read-only under the server, and made writable again.
TEST_F(ServerFaults, AFolderThatBecomesReadOnlyHoldsUpSendersUntilItIsNotAnyMore) {
  {
    ServerLife life(config(), exact_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    fill(life, 5);
    for (const Call call : {Call::kOpen, Call::kWrite, Call::kRename, Call::kRemove}) {
      faulty_.fail(call, 0, EROFS, kForGood);
    }
    StreamSender sender(1, life, 100);
    ASSERT_TRUE(sender.send(10));
    ASSERT_TRUE(eventually([&] { return life.server().kept().log().failures.load() > 0; }));
    EXPECT_FALSE(life.checkpoint());
    ASSERT_TRUE(sender.listen_awhile());
    EXPECT_EQ(sender.outstanding(), 1U);
    const v1::Durable durable = durable_of(life);
    EXPECT_EQ(durable.log_status(), v1::REASON_NOT_PERMITTED);
    EXPECT_EQ(durable.log_errno(), EROFS);
    EXPECT_EQ(durable.checkpoint_errno(), EROFS);
    faulty_.heal();
    settle(sender);
    ASSERT_TRUE(life.checkpoint());
  }
  expect_kept(110);
}

}  // namespace
}  // namespace windhover::testing::server_faults_test
