// What waits for a disk that stalls: acknowledgements, peers that go away meanwhile, a server that
// is told to stop; and a clock that is set back.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <thread>

#include "windhover/tests/io/durable/faulty_folder.h"
#include "windhover/tests/io/durable/stream_on_disk.h"
#include "windhover/tests/io/raw_peer.h"

namespace windhover::testing::server_waiting_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

class ServerWaiting : public ::testing::Test {
 protected:
  ServerConfig config() { return small_log_on_disk(&faulty_); }
  // The disk takes writes to the log and never says that they are there.
  void stall_log(FaultyFolder& disk) {
    disk.only("segment-");
    disk.hold(Call::kSync);
  }
  std::uint64_t sessions(ServerLife& life) { return life.server().observe().sessions; }

  std::mt19937_64 random_{9};
  RecordingFolder disk_;
  FaultyFolder faulty_{disk_};
};

v1::Request frame_of_rows(std::uint64_t id, std::uint64_t producer, std::uint64_t first) {
  v1::Request request;
  request.set_id(id);
  v1::Observe& observe = *request.mutable_observe();
  observe.set_producer(producer);
  observe.set_first_sequence(first);
  const StreamRow row(producer, first);
  observe.set_rows(1);
  for (const double x : row.x) observe.add_features_f64(x);
  observe.add_targets_f64(row.y);
  return request;
}

v1::Request status_request(std::uint64_t id) {
  v1::Request request;
  request.set_id(id);
  request.mutable_status();
  return request;
}

class ServerPeers : public ServerWaiting {
 protected:
  ServerPeers() {
    one_place_ = config();
    one_place_.max_sessions = 1;
    one_place_.write_timeout = milliseconds(40);  // so it looks often
  }
  // A row that waits for the disk. With a question behind it the server does not read any more.
  void send_and_wait(ServerLife& life, FaultyFolder& disk, RawPeer& peer, bool question) {
    ASSERT_TRUE(peer.connected() && peer.hello());
    stall_log(disk);
    ASSERT_TRUE(peer.send(frame_of_rows(1, 1, 0)));
    ASSERT_TRUE(eventually([&] { return disk.waiting() == 1; }));
    const auto received = [&] { return life.server().counters().get(IoCounter::kBytesReceived); };
    const std::uint64_t before = received();
    if (!question) return;
    ASSERT_TRUE(peer.send(status_request(2)));
    ASSERT_TRUE(eventually([&] { return received() > before; }));
  }
  // The row was judged, so it is there; and its producer is free to go on.
  void expect_row_is_kept(ServerLife& life, FaultyFolder& disk) {
    disk.heal();
    StreamSender sender(1, life, 0);
    ASSERT_TRUE(sender.connected()) << sender.client().error_text();
    ASSERT_TRUE(sender.send(3));
    ASSERT_EQ(sender.client().wait_acknowledged(), Status::kOk) << sender.client().error_text();
    EXPECT_EQ(sender.duplicates(), 1U);
    EXPECT_EQ(sender.acknowledged(), 3U);
  }

  ServerConfig one_place_;
};

TEST_F(ServerPeers, OneThatIsResetWhileItsQuestionWaitsForTheDiskKeepsNoPlace) {
  ServerLife life(one_place_, exact_engine());
  {
    RawPeer peer(life.observe());
    // What it does not read makes its kernel reset the connection when it closes.
    ASSERT_TRUE(peer.connected() && peer.hello() && peer.send(status_request(9)));
    ASSERT_TRUE(eventually([&] { return life.server().counters().get(IoCounter::kQueries) == 1; }));
    stall_log(faulty_);
    ASSERT_TRUE(peer.send(frame_of_rows(1, 1, 0)));
    ASSERT_TRUE(eventually([&] { return faulty_.waiting() == 1; }));
    ASSERT_TRUE(peer.send(status_request(2)));
    EXPECT_EQ(sessions(life), 1U);
  }
  ASSERT_TRUE(eventually([&] { return sessions(life) == 0; }));
  expect_row_is_kept(life, faulty_);
}

// It closes with and without a question behind its row: its end is seen in different ways.
TEST_F(ServerPeers, OneThatClosesWhileItsRowWaitsForTheDiskKeepsItsPlaceNoLongerThanASilentOne) {
  one_place_.wait_timeout = hours(1'000);  // however often it is waited below
  for (const bool question : {false, true}) {
    RecordingFolder disk;
    FaultyFolder faulty(disk);
    one_place_.durable.disk = &faulty;
    ServerLife life(one_place_, exact_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    {
      RawPeer peer(life.observe());
      ASSERT_NO_FATAL_FAILURE(send_and_wait(life, faulty, peer, question));
    }
    EXPECT_EQ(sessions(life), 1U);  // the only place
    // The end may be seen only after the clock was looked at.
    ASSERT_TRUE(eventually([&] {
      life.clock().step(one_place_.idle_timeout);
      return sessions(life) == 0;
    }));
    EXPECT_EQ(life.server().counters().get(IoCounter::kTimeouts), 1U);
    ASSERT_NO_FATAL_FAILURE(expect_row_is_kept(life, faulty));
    (void)life.end(false);
  }
}

TEST_F(ServerPeers, OneThatWaitsForTheDiskLongerThanItMayBeSilentIsNotLetGo) {
  one_place_.max_sessions = 2;
  ServerLife life(one_place_, exact_engine());
  StreamSender sender(1, life, 0);
  RawPeer silent(life.observe());
  ASSERT_TRUE(silent.connected() && silent.hello());
  stall_log(faulty_);
  ASSERT_TRUE(sender.send(5));
  ASSERT_TRUE(eventually([&] { return faulty_.waiting() == 1; }));
  ASSERT_EQ(sessions(life), 2U);
  // The step is longer than it may be silent, and no longer than it may wait for a disk.
  life.clock().step(2 * one_place_.idle_timeout);
  ASSERT_TRUE(eventually([&] { return sessions(life) == 1; }));  // the silent one is gone
  EXPECT_EQ(life.server().counters().get(IoCounter::kTimeouts), 1U);
  ASSERT_TRUE(sender.listen_awhile());
  EXPECT_EQ(sender.outstanding(), 1U);
  faulty_.heal();
  EXPECT_EQ(sender.client().wait_acknowledged(), Status::kOk) << sender.client().error_text();
}

// A disk that neither confirms nor fails: the row is there, and was not acknowledged.
TEST_F(ServerPeers, OneThatWaitsForTheDiskLongerThanItMayIsRefusedAndItsRowKept) {
  ServerLife life(one_place_, exact_engine());
  {
    RawPeer peer(life.observe());
    ASSERT_NO_FATAL_FAILURE(send_and_wait(life, faulty_, peer, false));
    ASSERT_TRUE(eventually([&] {
      life.clock().step(one_place_.wait_timeout);
      return life.server().counters().get(IoCounter::kWaitTimeouts) == 1;
    }));
    EXPECT_TRUE(peer.refused_and_closed(v1::REASON_LOG_FULL));
  }
  life.clock().step(std::chrono::seconds(10));  // it need not linger
  ASSERT_TRUE(eventually([&] { return sessions(life) == 0; }));
  expect_row_is_kept(life, faulty_);
}

class ServerStop : public ServerWaiting {
 protected:
  // Told to stop while a call waits, it ends when the call comes back. `before` is called while the
  // call still waits.
  void end_while_waiting(
      ServerLife& life, const std::function<void()>& before = [] {}) {
    ASSERT_TRUE(eventually([&] { return faulty_.waiting() == 1; }));
    std::atomic<bool> ended{false};
    const std::string observe = life.observe();
    std::thread ender([&] {
      (void)life.end(false);
      ended = true;
    });
    EXPECT_TRUE(eventually([&] { return !RawPeer(observe).connected(); }));
    before();
    EXPECT_EQ(faulty_.waiting(), 1U);
    EXPECT_FALSE(ended);
    faulty_.heal();
    ender.join();
  }
};

TEST_F(ServerStop, WhileACheckpointIsBeingWrittenEndsCleanlyAndEitherCanBeUsed) {
  std::uint64_t next = 0;
  for (const Call call : {Call::kOpen, Call::kWrite, Call::kSync, Call::kRename}) {
    for (const bool cut : {false, true}) {
      ServerLife life(config(), exact_engine());
      ASSERT_TRUE(life.opens()) << life.error();
      StreamSender sender(1, life, next);
      ASSERT_TRUE(sender.send(200));
      ASSERT_EQ(sender.client().wait_acknowledged(), Status::kOk);
      sender.client().close();
      next += 200;
      faulty_.only("checkpoint.new");
      faulty_.hold(call);
      (void)life.server().kept().request_checkpoint();
      ASSERT_NO_FATAL_FAILURE(end_while_waiting(life));
      cut ? disk_.cut_power(random_) : disk_.kill_process();
      LoggedHistory history;
      ASSERT_EQ(history.read(disk_), "");
      ASSERT_EQ(history.next(1), next);
      ServerLife again(config(), exact_engine());
      ASSERT_TRUE(again.opens()) << again.error();
      EXPECT_STREQ(again.server().kept().remarks(), "");
      ASSERT_NO_FATAL_FAILURE(expect_stands_at(again, history));
      (void)again.end(false);
      disk_.kill_process();
    }
  }
}

TEST_F(ServerStop, WhileRowsWaitForTheDiskLeavesThemInTheLog) {
  ServerLife life(config(), exact_engine());
  StreamSender sender(1, life, 0);
  stall_log(faulty_);
  ASSERT_TRUE(sender.send(5));
  ASSERT_NO_FATAL_FAILURE(end_while_waiting(life, [&] {
    sender.listen_to_the_end();
    EXPECT_FALSE(sender.client().connected());
    EXPECT_EQ(sender.outstanding(), 1U);
    EXPECT_EQ(sender.acknowledged(), 0U);
  }));
  disk_.cut_power(random_);
  LoggedHistory history;
  ASSERT_EQ(history.read(disk_), "");
  EXPECT_EQ(history.next(1), 5U);
}

class ServerClock : public ServerWaiting {};

TEST_F(ServerClock, SetBackHoldsUpNoCheckpoint) {
  ServerConfig periodic = config();
  periodic.durable.checkpoint_period = milliseconds(10);
  std::uint64_t next = 0;
  for (int lives = 0; lives < 3; ++lives) {
    LoggedHistory history;
    ASSERT_EQ(history.read(disk_), "");
    // Each life's clock is behind the one before.
    ServerLife life(periodic, exact_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    life.clock().step(hours(-100 * lives));
    ASSERT_NO_FATAL_FAILURE(expect_stands_at(life, history));
    StreamSender sender(1, life, next);
    for (int steps = 0; steps < 3; ++steps) {
      ASSERT_TRUE(sender.send(10));
      next += 10;
      ASSERT_EQ(sender.client().wait_acknowledged(), Status::kOk);
      ASSERT_TRUE(eventually([&] {
        return life.server().kept().checkpoints().head.load() == life.engine().head();
      })) << "life "
          << lives << ", step " << steps;
      life.clock().step(hours(-1));
    }
    (void)life.end(false);
    disk_.kill_process();
  }
}

TEST_F(ServerClock, SetBackHoldsUpNoCommitThatFailed) {
  ServerLife life(config(), exact_engine());
  StreamSender sender(1, life, 0);
  faulty_.only("segment-");
  faulty_.fail(Call::kSync, 0, EIO, UINT32_MAX);
  ASSERT_TRUE(sender.send(10));
  ASSERT_TRUE(eventually([&] { return life.server().kept().log().failures.load() > 0; }));
  life.clock().step(hours(-1));
  faulty_.heal();
  EXPECT_EQ(sender.client().wait_acknowledged(), Status::kOk) << sender.client().error_text();
}

}  // namespace
}  // namespace windhover::testing::server_waiting_test
