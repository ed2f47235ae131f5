// A server that is killed, cut off or cannot read while it comes back, and what it says meanwhile.
#include <gtest/gtest.h>

#include <cerrno>
#include <random>
#include <thread>

#include "windhover/tests/io/durable/faulty_folder.h"
#include "windhover/tests/io/durable/stream_on_disk.h"

namespace windhover::testing::server_comeback_test {
namespace {

constexpr std::uint64_t kFrames = 40;
constexpr std::uint64_t kFrameRows = 20;
constexpr std::uint64_t kHalf = kFrames / 2;  // frames that the newest checkpoint holds

class ServerComeback : public ::testing::Test {
 protected:
  ServerComeback() {
    ServerLife life(config(), exact_engine());
    EXPECT_TRUE(life.opens()) << life.error();
    StreamSender sender(1, life, 0);
    for (std::uint64_t frame = 0; frame < kFrames; ++frame) {
      if (frame == kHalf) {
        life.settled(life.engine().head());
        EXPECT_TRUE(life.checkpoint());
        checkpointed_ = life.engine().head();
      }
      EXPECT_TRUE(sender.send(kFrameRows));
      EXPECT_EQ(sender.client().wait_acknowledged(), Status::kOk);
    }
    rows_ = life.engine().head();
    (void)life.end(false);
    disk_.kill_process();
    EXPECT_EQ(history_.read(disk_), "");
    EXPECT_EQ(history_.rows(), rows_);
  }

  ServerConfig config() { return small_log_on_disk(&faulty_); }
  // A life that reads so many commits again and no more, until heal().
  std::unique_ptr<ServerLife> stalled_life(std::uint64_t commits) {
    auto life = std::make_unique<ServerLife>(config(), exact_engine(), [&] {
      faulty_.only("segment-");
      faulty_.hold(Call::kRead, commits);  // small ones are read at once
    });
    EXPECT_TRUE(life->opens()) << life->error();
    EXPECT_TRUE(eventually([&] { return faulty_.waiting() == 1; }));
    EXPECT_LT(life->engine().head(), rows_);
    return life;
  }
  // It ends where it stands.
  void end_stalled(ServerLife& life) {
    life.server().request_stop();
    faulty_.heal();  // a call that waits in the kernel ends with the process
    (void)life.end(false);
  }
  void expect_comes_back() {
    ServerLife life(config(), exact_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    expect_stands_at(life, history_);
  }

  std::mt19937_64 random_{3};
  RecordingFolder disk_;
  FaultyFolder faulty_{disk_};
  LoggedHistory history_;
  std::uint64_t checkpointed_ = 0;
  std::uint64_t rows_ = 0;
};

// Starts are stopped at each change that they make, several starts in a row.
TEST_F(ServerComeback, StartsStoppedAnywhereInARowLoseNothing) {
  std::uint64_t stopped = 0;
  for (std::uint64_t at = 0;; ++at) {
    bool all = true;
    for (int again = 0; again < 5; ++again) {
      disk_.stop_after(disk_.changes() + at);
      {
        const ServerLife life(config(), exact_engine());
        all = all && life.opens();
        ASSERT_TRUE(life.opens() || disk_.has_stopped()) << life.error();
      }
      stopped += disk_.has_stopped() ? 1 : 0;
      again % 2 == 0 ? disk_.kill_process() : disk_.cut_power(random_);
    }
    ASSERT_NO_FATAL_FAILURE(expect_comes_back()) << at;
    disk_.kill_process();
    if (all) break;
    ASSERT_LT(at, 100U);
  }
  EXPECT_GE(stopped, 15U);
}

// Lives end at every commit that they read again, several lives in a row.
TEST_F(ServerComeback, LivesThatEndWhileTheyReadAgainLoseNothing) {
  std::uint64_t partly = 0;
  for (std::uint64_t commits = 0; commits < kHalf; ++commits) {
    for (int again = 0; again < 2; ++again) {
      {
        const auto life = stalled_life(commits);
        partly += life->engine().head() > checkpointed_ ? 1 : 0;
        end_stalled(*life);
      }
      again == 0 ? disk_.kill_process() : disk_.cut_power(random_);
    }
    if (commits % 5 != 0) continue;
    ASSERT_NO_FATAL_FAILURE(expect_comes_back()) << commits;
    disk_.kill_process();
  }
  EXPECT_GT(partly, kHalf);
  expect_comes_back();
}

TEST_F(ServerComeback, NoCheckpointIsTakenAtAnEndBeforeAllIsLearned) {
  const std::vector<std::string> before = disk_.names();
  {
    const auto life = stalled_life(3);
    (void)life->server().kept().request_checkpoint();
    faulty_.fail(Call::kRead, 0, EIO, UINT32_MAX);  // so it does not come to the log's end
    faulty_.release();
    ASSERT_TRUE(eventually([&] { return life->server().kept().log().failures.load() > 0; }));
    EXPECT_LT(life->engine().head(), rows_);
    EXPECT_EQ(life->end(true), Status::kNotReady);
    EXPECT_EQ(life->server().kept().checkpoints().answered.load(), 0U);
    EXPECT_EQ(life->server().kept().checkpoints().taken.load(), 0U);
    EXPECT_EQ(disk_.names(), before);
  }
  faulty_.heal();
  disk_.kill_process();
  expect_comes_back();
}

// The query endpoint answers meanwhile, and says that, and how far, there is more to come.
TEST_F(ServerComeback, HowFarItIsCanBeSeenOverTheWire) {
  const auto life = stalled_life(kHalf / 2);
  Client client;
  ASSERT_EQ(client.connect(life->query()), Status::kOk) << client.error_text();
  EXPECT_EQ(client.welcome().head(), rows_);
  EXPECT_EQ(client.welcome().durable_through(), rows_);
  std::vector<ParameterSummary> parameters;
  Provenance provenance;
  // The learner has come as far as the rows have.
  ASSERT_TRUE(eventually([&] {
    return ok(client.posterior(parameters, provenance)) &&
           provenance.sequence == life->engine().head();
  }));
  EXPECT_GT(provenance.sequence, checkpointed_);
  EXPECT_LT(provenance.sequence, rows_);
  EXPECT_EQ(provenance.status, PosteriorStatus::kRecovering);
  EXPECT_EQ(provenance.reason, StatusReason::kReplay);
  EXPECT_EQ(provenance.recovery_target, rows_);
  v1::StatusResult status;
  ASSERT_EQ(client.status(status), Status::kOk) << client.error_text();
  EXPECT_EQ(status.durable().recovering_through(), rows_);
  EXPECT_EQ(status.durable().durable_through(), rows_);
  faulty_.heal();
  expect_stands_at(*life, history_);
  ASSERT_TRUE(eventually([&] {
    return ok(client.posterior(parameters, provenance)) &&
           provenance.status != PosteriorStatus::kRecovering;
  }));
  EXPECT_EQ(provenance.recovery_target, 0U);
  ASSERT_EQ(client.status(status), Status::kOk);
  EXPECT_EQ(status.durable().recovering_through(), 0U);
}

// The disk fails between the start, which has read everything, and the learning.
TEST_F(ServerComeback, ALogThatCannotBeReadAgainHoldsUpSendersUntilItCan) {
  for (const std::uint64_t n : {0U, 1U, 7U, 15U}) {
    const std::uint64_t failed = faulty_.failed();
    ServerLife life(config(), exact_engine(), [&] {
      faulty_.only("segment-");
      faulty_.fail(Call::kRead, n, EIO, UINT32_MAX);
    });
    ASSERT_TRUE(life.opens()) << life.error();
    ASSERT_TRUE(eventually([&] { return life.server().kept().log().failures.load() > 0; }));
    EXPECT_GT(faulty_.failed(), failed);
    EXPECT_LT(life.engine().head(), rows_);

    std::atomic<bool> let_in{false};
    std::thread sending([&] {  // nobody is told where a producer stands, nor takes its rows
      StreamSender sender(1, life, history_.next(1) - kFrameRows);
      let_in = true;
      EXPECT_TRUE(sender.send(kFrameRows));
      EXPECT_EQ(sender.client().wait_acknowledged(), Status::kOk) << sender.client().error_text();
      EXPECT_EQ(sender.duplicates(), kFrameRows);
    });
    life.clock().step(std::chrono::seconds(1));  // and it tries again, and fails again
    EXPECT_TRUE(eventually([&] { return life.server().kept().log().failures.load() > 1; }));
    EXPECT_TRUE(eventually(
        [&] { return life.server().counters().get(IoCounter::kConnectionsAccepted) == 1; }));

    Client client;
    EXPECT_EQ(client.connect(life.query()), Status::kOk);
    v1::StatusResult status;
    EXPECT_EQ(client.status(status), Status::kOk);
    EXPECT_FALSE(let_in);
    EXPECT_EQ(status.durable().log_status(), v1::REASON_IO_ERROR);
    EXPECT_EQ(status.durable().log_errno(), EIO);
    EXPECT_EQ(status.durable().recovering_through(), rows_);
    EXPECT_EQ(status.provenance().state(), v1::POSTERIOR_STATE_RECOVERING);

    faulty_.heal();
    life.clock().step(std::chrono::hours(-1));  // which is no reason to wait for an hour
    std::this_thread::yield();
    EXPECT_TRUE(eventually([&] {
      life.clock().step(std::chrono::milliseconds(100));
      return let_in.load();
    }));
    sending.join();
    ASSERT_NO_FATAL_FAILURE(expect_stands_at(life, history_));
    ASSERT_EQ(client.status(status), Status::kOk);
    EXPECT_EQ(status.durable().log_status(), v1::REASON_OK);
    EXPECT_EQ(status.durable().log_errno(), 0);
    (void)life.end(false);
    disk_.kill_process();
  }
}

}  // namespace
}  // namespace windhover::testing::server_comeback_test
