#include "windhover/io/turn_spacing.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "windhover/io/fair_queue.h"
#include "windhover/io/question_cost.h"
#include "windhover/platform/memory.h"
#include "windhover/platform/thread.h"
#include "windhover/tests/io/conversation_fixture.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/server_fixture.h"

namespace windhover::turn_spacing_test {
namespace {

using testing::eventually;
using testing::predict_of;
using testing::RawPeer;
using testing::TestServer;

constexpr std::int64_t kMs = 1'000'000;

TEST(TurnSpacing, EveryTurnComesAfterAPauseWhileItHelps) {
  TurnSpacing spacing;
  spacing.light_turn(0);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(spacing.pauses(i * kMs, 1)) << i;
    EXPECT_FALSE(spacing.pauses(i * kMs, 1)) << "the turn itself";
  }
}

TEST(TurnSpacing, NobodyPausesWhereNobodyGainsByIt) {
  TurnSpacing spacing;
  EXPECT_FALSE(spacing.pauses(1 * kMs, 1)) << "stopped, and all ask much";
  spacing.light_turn(150 * kMs);
  EXPECT_FALSE(spacing.pauses(150 * kMs, 1))
      << "somebody asks little, and the last stop is long ago";
  EXPECT_TRUE(spacing.pauses(151 * kMs, 2)) << "both";
  EXPECT_FALSE(spacing.pauses(151 * kMs, 2));
  spacing.light_turn(250 * kMs);
  EXPECT_FALSE(spacing.pauses(251 * kMs, 2)) << "not stopped for 100 ms";
  EXPECT_TRUE(spacing.pauses(252 * kMs, 3));
  EXPECT_FALSE(spacing.pauses(252 * kMs, 4));
  EXPECT_FALSE(spacing.pauses(350 * kMs, 5)) << "who asked little has not for 100 ms";
}

TEST(TurnSpacing, ManyStopsAreOfLateForASecond) {
  TurnSpacing spacing;
  spacing.light_turn(900 * kMs);
  EXPECT_TRUE(spacing.pauses(0, 7));
  EXPECT_FALSE(spacing.pauses(0, 7));
  EXPECT_TRUE(spacing.pauses(699 * kMs, 7));
  EXPECT_FALSE(spacing.pauses(699 * kMs, 1'000'000));
  spacing.light_turn(1'650 * kMs);
  EXPECT_TRUE(spacing.pauses(1'698 * kMs, 1'000'000));
  EXPECT_FALSE(spacing.pauses(1'698 * kMs, 1'000'000));
  EXPECT_FALSE(spacing.pauses(1'699 * kMs, 1'000'000));
}

TEST(TurnSpacing, APauseCountsOnceAsLongAsItLasted) {
  TurnSpacing spacing;
  spacing.light_turn(0);
  EXPECT_FALSE(spacing.pauses(0, 0));
  EXPECT_EQ(spacing.passed_ns(), 0) << "there was none";
  EXPECT_TRUE(spacing.pauses(1 * kMs, 1));
  EXPECT_FALSE(spacing.pauses(2 * kMs + 7, 1));
  EXPECT_EQ(spacing.passed_ns(), 1 * kMs + 7);
  EXPECT_TRUE(spacing.pauses(3 * kMs, 1));
  EXPECT_EQ(spacing.passed_ns(), 0);
  EXPECT_FALSE(spacing.pauses(90 * kMs, 1));
  EXPECT_EQ(spacing.passed_ns(), TurnSpacing::kMostPassedNs) << "the machine stood still";
}

// Twenty ask as much as they can, and one 2,000 times a second: 0.9 % of the thread, where a 21st
// is its share. The system wakes the thread a millisecond late from each pause, so that there is
// one turn in 1.15 ms. In turn with the others the one would be answered 500 times a second.
TEST(TurnSpacing, WhoAsksLittleIsAnsweredHoweverLongThePausesOfOthersAre) {
  constexpr std::uint32_t kAsker = 20;
  constexpr std::int64_t kQuestionNs = 4'400;
  constexpr std::int64_t kEveryNs = 500'000;
  MappedBlock block(1 << 20);
  Arena arena(block.bytes());
  FairQueue queue(arena, kAsker + 1);
  queue.reset();
  TurnSpacing spacing;
  for (std::uint32_t who = 0; who < kAsker; ++who) queue.wait(who, FairQueue::Line::kAny);
  std::int64_t now = 0;
  std::int64_t asked = 0;
  std::int64_t answered = 0;
  std::int64_t longest = 0;
  bool waits = false;
  while (now < 2'000 * kMs) {
    while (asked * kEveryNs <= now) ++asked;
    if (asked > answered && !std::exchange(waits, true)) queue.wait(kAsker, FairQueue::Line::kAny);
    const bool light = queue.next_is_light();
    if (light) spacing.light_turn(now);
    if (!light && spacing.pauses(now, static_cast<std::uint64_t>(now / kMs) + 1)) {
      now += 1'100'000;
      continue;
    }
    if (!light) queue.pass(spacing.passed_ns());
    const std::uint32_t who = queue.next(true);
    if (who != kAsker) {
      queue.charge(who, kTurnNs);
      queue.wait(who, FairQueue::Line::kAny);
      now += kTurnNs;
      continue;
    }
    longest = std::max(longest, now - answered * kEveryNs);
    const std::int64_t many = std::min(asked - answered, kTurnNs / kQuestionNs);
    answered += many;
    queue.charge(who, many * kQuestionNs);
    now += many * kQuestionNs;
    waits = false;
  }
  // At the start all are alike, so that it has had its turn when each of the others has.
  EXPECT_LE(longest, 21 * 1'150'000);
  EXPECT_LE(asked - answered, 4);
}

// Keeps one processor busy, beside whoever is pinned to it.
class BusyProcessor {
 public:
  explicit BusyProcessor(int cpu)
      : thread_([this, cpu] {
          (void)configure_this_thread({.name = "busy", .cpu = cpu});
          while (!done_) ++turns_;
        }) {}
  ~BusyProcessor() {
    done_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::atomic<std::uint64_t> turns_{0};
  std::thread thread_;
};

// Has the thread of this name, one of ours, on one processor alone: which it is.
int pin(const std::string& name) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  EXPECT_EQ(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
  int cpu = 0;
  while (CPU_ISSET(cpu, &cpus) == 0) ++cpu;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  int pinned = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string of;
    std::getline(std::ifstream(task.path() / "comm") >> std::ws, of);
    if (of != name) continue;
    ++pinned;
    EXPECT_EQ(sched_setaffinity(std::stoi(task.path().filename()), sizeof(cpus), &cpus), 0);
  }
  EXPECT_EQ(pinned, 1) << name;
  return cpu;
}

// Asks as fast as it can, thousands of questions ahead of the answers.
class Flood {
 public:
  explicit Flood(const std::string& address)
      : peer_(address), thread_([this] {
          std::string many;
          for (int i = 0; i < 2'000; ++i) many += RawPeer::framed(predict_of(1, false));
          v1::Response response;
          if (!peer_.hello() || !peer_.send(many)) return;
          for (std::uint64_t left = 2'000; !done_ || left > 0; --left) {
            if (left < 1'000 && !done_) {
              if (!peer_.send(many)) return;
              left += 2'000;
            }
            if (!peer_.receive(response) || !response.has_predict_result()) return;
            ++answered_;
          }
          ended_well_ = true;
        }) {}
  ~Flood() {
    done_ = true;
    thread_.join();
    EXPECT_TRUE(ended_well_);
  }
  std::uint64_t answered() const { return answered_; }

 private:
  RawPeer peer_;
  std::atomic<bool> done_{false};
  std::atomic<bool> ended_well_{false};
  std::atomic<std::uint64_t> answered_{0};
  std::thread thread_;
};

// A server whose thread for questions has to share its processor.
TEST(EndpointTurns, WhereProcessorsAreShortThoseWhoAskMuchPauseAndGoOn) {
  TestServer server;
  const BusyProcessor busy(pin("wh-query"));
  Client client;
  ASSERT_EQ(client.connect(server.query_address()), Status::kOk) << client.error_text();
  const Flood flood(server.query_address());
  const Flood other(server.query_address());
  const auto pauses = [&] { return server.counter(IoCounter::kTurnPauses); };
  v1::StatusResult status;
  ASSERT_TRUE(eventually([&] { return ok(client.status(status)) && pauses() >= 20; }))
      << pauses() << " " << flood.answered();
  const std::uint64_t before = flood.answered() + other.answered();
  const std::uint64_t paused = pauses();
  ASSERT_TRUE(eventually([&] {
    return ok(client.status(status)) && flood.answered() + other.answered() > before + 10'000 &&
           pauses() > paused;
  })) << pauses()
      << " " << flood.answered();
}

}  // namespace
}  // namespace windhover::turn_spacing_test
