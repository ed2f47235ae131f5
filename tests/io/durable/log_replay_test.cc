// What the log holds is learned once: a little at a time, past a window that is full and a disk
// that fails.
#include "windhover/io/durable/log_replay.h"

#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/durable/faulty_folder.h"
#include "windhover/tests/io/durable/log_rig.h"
#include "windhover/tests/io/server_fixture.h"

namespace windhover::testing::log_replay_test {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::size_t kRowNumbers = kFeatures + 1;  // with the target

EngineConfig engine_config() {
  EngineConfig config = small_engine();
  config.window_slack = 64;
  config.max_frame_rows = 32;
  return config;
}

// A frame of rows, as a server writes it.
struct Frame {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  std::vector<double> numbers{};  // what its rows hold; none: rows that are good
};

class LogReplayTest : public ::testing::Test {
 protected:
  // A commit for each frame.
  void write(const std::vector<Frame>& frames) {
    ASSERT_EQ(create_small_log(disk_).status, Status::kOk);
    OpenWriter writer(disk_);
    std::uint64_t head = 0;
    for (const Frame& frame : frames) {
      std::vector<double> numbers = frame.numbers;
      if (numbers.empty()) numbers.assign(frame.accepted * kRowNumbers, 0.5);
      LoggedFrame logged;
      logged.number = writer->next_frame();
      logged.producer = 1;
      logged.accepted = frame.accepted;
      logged.refused = frame.refused;
      logged.head = head;
      std::span<std::byte> room;
      const std::size_t bytes = numbers.size() * sizeof(double);
      ASSERT_EQ(writer->add(logged, bytes, room), Status::kOk);
      if (bytes > 0) std::memcpy(room.data(), numbers.data(), bytes);
      ASSERT_EQ(writer->commit(), Status::kOk);
      head += frame.accepted;
    }
  }
  void begin(std::uint64_t first = 0) {
    Arena arena(memory_.bytes());
    Result<LogReader> reader = LogReader::open(faulty_, first, arena);
    ASSERT_TRUE(reader.ok()) << reader.error().sentence;
    replay_.begin(faulty_, std::move(reader.value()), first);
  }
  bool go_on() { return replay_.go_on(); }
  void learn() {
    while (engine_->poll(100) > 0) {
    }
  }
  // Expects that nothing is wrong any more, and was so often.
  void expect_well(std::uint64_t failures) {
    EXPECT_EQ(log_.status, Status::kOk);
    EXPECT_EQ(log_.error_number, 0);
    EXPECT_EQ(log_.failures, failures);
  }

  RecordingFolder disk_;
  FaultyFolder faulty_{disk_};
  ManualClock clock_{kSecond};
  MappedBlock block_{Engine::footprint(engine_config()).value()};
  Engine* engine_ = Engine::create(engine_config(), block_.bytes(), clock_).value();
  MappedBlock memory_{LogReader::footprint(kSmallLog)};
  LogProgress log_;
  LogReplay replay_{memory_.bytes(), *engine_, log_, clock_};
};

TEST_F(LogReplayTest, NothingIsUnderWayBeforeItBegins) { EXPECT_FALSE(replay_.is_under_way()); }

TEST_F(LogReplayTest, AllRowsOfAllFramesAreLearnedOnce) {
  write({{2}, {0, 3}, {1, 1}, {5}});
  begin();
  EXPECT_TRUE(replay_.is_under_way());
  EXPECT_FALSE(go_on());
  EXPECT_FALSE(replay_.is_under_way());
  EXPECT_EQ(engine_->head(), 8U);
  expect_well(0);
}

TEST_F(LogReplayTest, AFrameThatACheckpointHoldsIsNotLearnedAgain) {
  write({{2}, {3}, {4}});
  const std::vector<double> x(kFeatures, 0.5);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(engine_->observe(x, 0.5), Status::kOk);
  begin(2);
  EXPECT_FALSE(go_on());
  EXPECT_EQ(engine_->head(), 9U);
  expect_well(0);
}

TEST_F(LogReplayTest, FromTheEndOfTheLogThereIsNothingToLearn) {
  write({{2}});
  const std::vector<double> x(kFeatures, 0.5);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(engine_->observe(x, 0.5), Status::kOk);
  begin(1);
  EXPECT_FALSE(go_on());
  EXPECT_EQ(engine_->head(), 2U);
}

// A clock on which each look costs more than half of what there is at a time.
TEST_F(LogReplayTest, OthersAreServedAfterAMoment) {
  class Busy final : public Clock {
   public:
    std::int64_t now_ns() noexcept override { return now_ns_ += 600'000; }

   private:
    std::int64_t now_ns_ = 0;
  } busy;
  LogReplay replay(memory_.bytes(), *engine_, log_, busy);
  write({{1}, {1}, {1}, {1}, {1}});
  Arena arena(memory_.bytes());
  replay.begin(faulty_, std::move(LogReader::open(faulty_, 0, arena).value()), 0);
  std::uint64_t before = 0;
  while (replay.go_on()) {
    ASSERT_GT(engine_->head(), before);
    EXPECT_LE(engine_->head(), before + 2);
    before = engine_->head();
  }
  EXPECT_EQ(engine_->head(), 5U);
}

TEST_F(LogReplayTest, ALargeFrameWaitsForTheLearnerWithWhatIsLeftOfIt) {
  write({{200}, {1}});
  begin();
  std::uint64_t before = 0;
  while (go_on()) {
    ASSERT_GT(engine_->head(), before) << "as much as there is room for";
    before = engine_->head();
    EXPECT_TRUE(go_on());
    EXPECT_EQ(engine_->head(), before) << "until the learner has gone on";
    learn();
  }
  EXPECT_EQ(engine_->head(), 201U);
  expect_well(0);
}

TEST_F(LogReplayTest, ADiskThatFailsIsToldAndReadAgainAfterAWhile) {
  write({{1}, {2}, {3}, {4}});
  begin();
  faulty_.fail(Call::kRead, 0, EIO, UINT64_MAX / 2);
  EXPECT_TRUE(go_on());
  const std::uint64_t head = engine_->head();
  EXPECT_LT(head, 10U);
  EXPECT_EQ(log_.status, Status::kIoError);
  EXPECT_EQ(log_.error_number, EIO);
  EXPECT_EQ(log_.failures, 1U);
  EXPECT_TRUE(replay_.is_under_way());
  faulty_.heal();
  clock_.advance_ns(kSecond - 1);
  EXPECT_TRUE(go_on());
  EXPECT_EQ(engine_->head(), head) << "it is left alone for a second";
  EXPECT_EQ(log_.failures, 1U);
  clock_.advance_ns(1);
  EXPECT_FALSE(go_on());
  EXPECT_EQ(engine_->head(), 10U) << "none twice";
  expect_well(1);
}

TEST_F(LogReplayTest, AfterADiskHasFailedItGoesOnBehindWhatHasBeenLearned) {
  write({{64}, {5}, {6}});
  begin();
  EXPECT_TRUE(go_on());
  ASSERT_EQ(engine_->head(), 64U) << "as many as there is room for";
  faulty_.fail(Call::kRead, 0, EIO, UINT64_MAX / 2);
  learn();
  EXPECT_TRUE(go_on());
  EXPECT_EQ(engine_->head(), 69U) << "the rows that had been read";
  EXPECT_EQ(log_.failures, 1U);
  faulty_.heal();
  clock_.advance_ns(kSecond);
  EXPECT_FALSE(go_on());
  EXPECT_EQ(engine_->head(), 75U);
  expect_well(1);
}

TEST_F(LogReplayTest, ADiskThatStaysAwayKeepsItUnderWay) {
  write({{1}, {2}, {3}});
  begin();
  faulty_.fail(Call::kRead, 0, EIO, UINT64_MAX / 2);
  EXPECT_TRUE(go_on());
  for (std::uint64_t i = 2; i < 6; ++i) {
    clock_.advance_ns(kSecond);
    EXPECT_TRUE(go_on());
    EXPECT_TRUE(replay_.is_under_way()) << i;
    EXPECT_EQ(log_.failures, i);
    EXPECT_EQ(log_.status, Status::kIoError);
    EXPECT_EQ(log_.error_number, EIO);
  }
  faulty_.heal();
  clock_.advance_ns(kSecond);
  EXPECT_FALSE(go_on());
  EXPECT_FALSE(replay_.is_under_way());
  EXPECT_EQ(engine_->head(), 6U);
  expect_well(5);
  EXPECT_EQ(disk_.open_files(), 0U);
}

TEST_F(LogReplayTest, ALogThatDoesNotGoOnWhereTheEngineIsIsNotLearned) {
  write({{2}, {3}});
  begin(1);
  for (std::uint64_t i = 1; i < 4; ++i) {
    EXPECT_TRUE(go_on());
    EXPECT_EQ(log_.status, Status::kMalformed);
    EXPECT_EQ(log_.failures, i);
    EXPECT_EQ(engine_->head(), 0U);
    clock_.advance_ns(kSecond);
  }
}

// A stricter engine than the one that wrote them. What it has taken of them it has once.
TEST_F(LogReplayTest, RowsThatAreRefusedEndItAndThoseBesideThemAreNotLearnedTwice) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  write({{1}, {3, 0, {1, 1, 1, 1, 2, 2, 2, nan, 3, 3, 3, 3}}, {1}});
  begin();
  for (std::uint64_t i = 1; i < 5; ++i) {
    EXPECT_TRUE(go_on());
    EXPECT_EQ(log_.status, Status::kMalformed);
    EXPECT_EQ(log_.failures, i);
    EXPECT_EQ(engine_->head(), 3U) << i;
    EXPECT_TRUE(replay_.is_under_way());
    clock_.advance_ns(kSecond);
  }
}

TEST_F(LogReplayTest, AFrameWithFewerRowsThanItSaysIsNotLearned) {
  write({{2, 0, {1, 1, 1, 1, 2, 2}}});
  begin();
  for (std::uint64_t i = 1; i < 4; ++i) {
    EXPECT_TRUE(go_on());
    EXPECT_EQ(log_.status, Status::kMalformed);
    EXPECT_EQ(engine_->head(), 0U);
    EXPECT_EQ(log_.failures, i);
    clock_.advance_ns(kSecond);
  }
}

TEST_F(LogReplayTest, AClockThatIsSetBackHoldsNothingUpForLonger) {
  write({{1}, {2}});
  begin();
  faulty_.fail(Call::kRead, 0, EIO, UINT64_MAX / 2);
  EXPECT_TRUE(go_on());
  faulty_.heal();
  clock_.set_ns(0);
  EXPECT_TRUE(go_on());
  clock_.advance_ns(kSecond);
  EXPECT_FALSE(go_on());
  EXPECT_EQ(engine_->head(), 3U);
}

}  // namespace
}  // namespace windhover::testing::log_replay_test
