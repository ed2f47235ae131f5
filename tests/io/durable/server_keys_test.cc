// Keys of questions whose outcome is still to come, where a server ends and is there again: none is
// learned twice, and those that a checkpoint has are not lost.
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/durable/key_client.h"
#include "windhover/tests/io/durable/recording_folder.h"

namespace windhover::testing::server_keys_test {
namespace {

TEST(ServerKeys, AStopInOrderLosesNone) {
  for (const bool logged : {true, false}) {
    ServerConfig config = server_on_disk(new_folder());
    config.durable.log = logged;
    {
      ServerLife life(config, keyed_engine());
      ASSERT_TRUE(life.opens()) << life.error();
      KeyClient client(life);
      for (std::uint64_t i = 0; i < 120; ++i) EXPECT_EQ(client.ask(i), PendingKey::kKept);
      for (std::uint64_t i = 0; i < 60; ++i) EXPECT_EQ(of(client.tell(i)), Became::kAccepted);
      ASSERT_EQ(life.end(true), Status::kOk);
    }
    ServerLife again(config, keyed_engine());
    ASSERT_TRUE(again.opens()) << again.error();
    EXPECT_EQ(again.engine().labels().pending(), 60U);
    KeyClient client(again);
    for (std::uint64_t i = 0; i < 60; ++i) EXPECT_EQ(of(client.tell(i)), Became::kDuplicate);
    for (std::uint64_t i = 60; i < 120; ++i) EXPECT_EQ(of(client.tell(i)), Became::kAccepted);
    EXPECT_EQ(again.engine().head(), 120U);
  }
}

// Those joined since the checkpoint are in the log, and so is which key they were.
TEST(ServerKeys, AKillLosesThoseAskedAboutSinceTheCheckpoint) {
  const ServerConfig config = server_on_disk(new_folder());
  {
    ServerLife life(config, keyed_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    KeyClient client(life);
    for (std::uint64_t i = 0; i < 100; ++i) (void)client.ask(i);
    for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(of(client.tell(i)), Became::kAccepted);
    ASSERT_TRUE(life.checkpoint());
    for (std::uint64_t i = 100; i < 110; ++i) (void)client.ask(i);
    for (std::uint64_t i = 10; i < 40; ++i) EXPECT_EQ(of(client.tell(i)), Became::kAccepted);
    EXPECT_EQ(of(client.tell(100)), Became::kAccepted);
  }
  ServerLife again(config, keyed_engine());
  ASSERT_TRUE(again.opens()) << again.error();
  KeyClient client(again);
  for (std::uint64_t i = 0; i < 40; ++i) EXPECT_EQ(of(client.tell(i)), Became::kDuplicate);
  for (std::uint64_t i = 40; i < 100; ++i) EXPECT_EQ(of(client.tell(i)), Became::kAccepted);
  for (std::uint64_t i = 100; i < 110; ++i) EXPECT_EQ(of(client.tell(i)), Became::kUnknown);
  EXPECT_EQ(again.engine().head(), 101U);
  EXPECT_EQ(again.engine().labels().pending(), 0U);
}

// Questions alone bring no rows, and are a reason for a checkpoint all the same; once.
TEST(ServerKeys, ThePeriodIsForKeysToo) {
  ServerConfig config = server_on_disk(new_folder());
  config.durable.checkpoint_period = std::chrono::milliseconds(1);
  {
    ServerLife life(config, keyed_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    const auto& taken = life.server().kept().checkpoints().taken;
    const std::uint64_t before = taken.load();
    KeyClient client(life);
    (void)client.ask(1);
    ASSERT_TRUE(eventually([&] { return taken.load() > before; }));
    const std::uint64_t number = life.server().kept().request_checkpoint().value();
    ASSERT_TRUE(
        eventually([&] { return life.server().kept().checkpoints().answered.load() >= number; }));
    const std::uint64_t after = taken.load();
    life.clock().step(std::chrono::seconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // three looks of its thread
    EXPECT_EQ(taken.load(), after) << "there is nothing new";
  }
  ServerLife again(config, keyed_engine());
  ASSERT_TRUE(again.opens()) << again.error();
  EXPECT_EQ(again.engine().labels().pending(), 1U);
}

// Silence that became a row is in the log, too: an outcome that comes after it is late in the next
// life as well.
TEST(ServerKeys, WhatTimedOutStaysSo) {
  const ServerConfig config = server_on_disk(new_folder());
  EngineConfig engine = keyed_engine();
  engine.labels.timeout_outcome = 0;
  {
    ServerLife life(config, engine);
    ASSERT_TRUE(life.opens()) << life.error();
    KeyClient client(life);
    for (std::uint64_t i = 0; i < 30; ++i) (void)client.ask(i);
    ASSERT_TRUE(life.checkpoint());
    EXPECT_EQ(of(client.tell(0)), Became::kAccepted);
    life.clock().step(std::chrono::seconds(61));
    ASSERT_TRUE(eventually([&] { return life.engine().head() == 30U; }));
    ASSERT_TRUE(eventually([&] { return life.server().kept().log().durable_head.load() == 30U; }));
  }
  ServerLife again(config, engine);
  ASSERT_TRUE(again.opens()) << again.error();
  KeyClient client(again);
  EXPECT_EQ(of(client.tell(0)), Became::kDuplicate);
  for (std::uint64_t i = 1; i < 30; ++i) EXPECT_EQ(of(client.tell(i)), Became::kTimedOut);
  EXPECT_EQ(again.engine().head(), 30U);
}

// A server without keys reads a folder with keys, and one with keys reads one without.
TEST(ServerKeys, KeysComeAndGoWithTheConfiguration) {
  const ServerConfig config = server_on_disk(new_folder());
  const auto live = [&](std::uint32_t pending, std::uint64_t rows, bool ask) {
    ServerLife life(config, keyed_engine(pending));
    ASSERT_TRUE(life.opens()) << life.error();
    EXPECT_EQ(life.settled(rows).size(), kFeatures);
    if (ask) {
      KeyClient client(life);
      for (std::uint64_t i = rows; i < rows + 50; ++i) (void)client.ask(i);
      for (std::uint64_t i = rows; i < rows + 40; ++i) {
        EXPECT_EQ(of(client.tell(i)), Became::kAccepted);
      }
    }
    EXPECT_EQ(life.end(true), Status::kOk);
  };
  {
    ServerLife first(config, keyed_engine(0));
    Client client;
    ASSERT_EQ(client.connect(first.observe()), Status::kOk);
    ASSERT_EQ(client.observe(TestRows(300).rows()), Status::kOk);
    ASSERT_TRUE(
        eventually([&] { return first.server().kept().log().durable_head.load() == 300U; }));
  }
  live(64, 300, true);
  live(0, 340, false);
  live(64, 340, true);
}

// The log has outcomes of the largest frame that it takes, and comes back from it.
TEST(ServerKeys, ManyOutcomesInAFrame) {
  ServerConfig config = server_on_disk(new_folder());
  config.frame_cap = 32 << 10;
  EngineConfig engine = keyed_engine(4'096);
  engine.window_slack = 8'192;
  engine.max_frame_rows = 4'096;
  {
    ServerLife life(config, engine);
    ASSERT_TRUE(life.opens()) << life.error();
    KeyClient client(life);
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < 1'500; ++i) {
      (void)client.ask(i);
      numbers.push_back(i);
    }
    ASSERT_TRUE(life.checkpoint());
    client.shout(numbers);
    ASSERT_TRUE(
        eventually([&] { return life.server().kept().log().durable_head.load() == 1'500U; }));
  }
  ServerLife again(config, engine);
  ASSERT_TRUE(again.opens()) << again.error();
  ASSERT_TRUE(eventually([&] { return again.engine().head() == 1'500U; }));
  KeyClient client(again);
  for (std::uint64_t i = 0; i < 1'500; i += 100) {
    EXPECT_EQ(of(client.tell(i)), Became::kDuplicate);
  }
}

// --- Lives that end by a cut or a kill at any change of the disk.

class KeysOnDisk {
 public:
  explicit KeysOnDisk(std::uint64_t seed) : random_(seed) {}

  void live() {
    ServerLife life(small_log_on_disk(&disk_), keyed_engine(200));
    ASSERT_TRUE(life.opens()) << life.error();
    KeyClient client(life);
    ASSERT_NO_FATAL_FAILURE(take_stock(life, client));
    for (std::uint64_t round = below(6); round > 0; --round) {
      for (std::uint64_t n = below(12); n > 0; --n) ask(client);
      for (std::uint64_t n = below(8); n > 0 && !pending_.empty(); --n) {
        const std::uint64_t number = any_pending();
        ASSERT_EQ(of(client.tell(number)), Became::kAccepted) << number;
        joined_.insert(number);
        forget(number);
      }
      if (below(3) == 0) (void)life.server().kept().request_checkpoint();
      if (below(3) == 0) {
        ASSERT_TRUE(life.checkpoint());
        saved_ = pending_;
      }
    }
    // From here on the disk may stop at any change.
    disk_.stop_after(disk_.changes() + below(8));
    if (below(2) == 0) (void)life.server().kept().request_checkpoint();
    std::vector<std::uint64_t> last;
    for (std::uint64_t n = below(6); n > 0 && !pending_.empty(); --n) {
      last.push_back(any_pending());
      shouted_.insert(last.back());
      forget(last.back());
    }
    if (!last.empty()) client.shout(last);
    (void)life.end(below(4) == 0);
  }
  void end() { below(3) == 0 ? disk_.kill_process() : disk_.cut_power(random_); }

  std::uint64_t joined() const { return joined_.size(); }
  std::uint64_t found_again() const { return found_again_; }
  std::uint64_t lost() const { return lost_; }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  std::uint64_t any_pending() {
    return *std::next(pending_.begin(), static_cast<std::ptrdiff_t>(below(pending_.size())));
  }
  void ask(KeyClient& client) {
    if (client.ask(next_) == PendingKey::kKept) pending_.insert(next_);
    ++next_;
  }
  void forget(std::uint64_t number) {
    pending_.erase(number);
    saved_.erase(number);
  }

  // What the log holds of the keys: each row at most once.
  void read_log() {
    const Result<LogIdentity> identity = read_log_identity(disk_);
    ASSERT_TRUE(identity.ok());
    LogMemory memory(LogReader::footprint(identity.value().options));
    Result<LogReader> reader = LogReader::open(disk_, frames_, memory.arena());
    ASSERT_TRUE(reader.ok()) << reader.error().sentence;
    LoggedFrame frame;
    std::span<const std::byte> payload;
    while (ok(reader.value().next(frame, payload))) {
      for (std::uint64_t i = 0; i < frame.accepted; ++i) {
        double number = 0;
        std::memcpy(&number, &payload[i * (kFeatures + 1) * sizeof(double)], sizeof(number));
        ASSERT_TRUE(logged_.insert(static_cast<std::uint64_t>(number)).second) << number;
      }
      ++frames_;
    }
  }

  // After a start: nothing is there twice, what was acknowledged is there, and each key that was in
  // a checkpoint is pending or joined.
  void take_stock(ServerLife& life, KeyClient& client) {
    ASSERT_NO_FATAL_FAILURE(read_log());
    ASSERT_TRUE(eventually([&] { return life.engine().head() == logged_.size(); }))
        << life.engine().head() << " of " << logged_.size();
    for (const std::uint64_t number : joined_) ASSERT_TRUE(logged_.contains(number)) << number;
    for (const std::uint64_t number : shouted_) {
      const Became became = of(client.tell(number));
      if (logged_.contains(number)) {
        ASSERT_NE(became, Became::kAccepted) << number << " is learned twice";
      }
      if (became != Became::kUnknown) joined_.insert(number);
    }
    shouted_.clear();
    for (const std::uint64_t number : std::set(pending_)) {
      if (below(2) == 0) continue;
      const Became became = of(client.tell(number));
      ASSERT_TRUE(became == Became::kAccepted || became == Became::kUnknown) << number;
      ASSERT_TRUE(became == Became::kAccepted || !saved_.contains(number)) << number << " is lost";
      ++(became == Became::kAccepted ? found_again_ : lost_);
      if (became == Became::kAccepted) joined_.insert(number);
      forget(number);
    }
    for (const std::uint64_t number : joined_) {
      if (below(8) == 0) {
        ASSERT_NE(of(client.tell(number)), Became::kAccepted) << number;
      }
    }
    // Those that were not told of: the ones asked about since the checkpoint are gone.
    for (const std::uint64_t number : std::set(pending_)) {
      if (!saved_.contains(number)) pending_.erase(number);
    }
  }

  std::mt19937_64 random_;
  RecordingFolder disk_;
  std::uint64_t next_ = 1;
  std::uint64_t frames_ = 0;
  std::set<std::uint64_t> logged_;
  std::set<std::uint64_t> pending_;  // asked about, and not told
  std::set<std::uint64_t> saved_;    // of these, in a checkpoint
  std::set<std::uint64_t> joined_;   // acknowledged
  std::set<std::uint64_t> shouted_;  // told, and nothing was heard
  std::uint64_t found_again_ = 0;
  std::uint64_t lost_ = 0;
};

TEST(ServerKeys, NoneIsLearnedTwiceAndNoneOfACheckpointIsLost) {
  std::uint64_t joined = 0;
  std::uint64_t found_again = 0;
  std::uint64_t lost = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    KeysOnDisk keys(seed);
    for (int life = 0; life < 12; ++life) {
      keys.live();
      ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "seed " << seed << ", life " << life;
      keys.end();
    }
    joined += keys.joined();
    found_again += keys.found_again();
    lost += keys.lost();
  }
  EXPECT_GT(joined, 300U);
  EXPECT_GT(found_again, 100U);
  EXPECT_GT(lost, 10U) << "those asked about since the checkpoint";
}

}  // namespace
}  // namespace windhover::testing::server_keys_test
