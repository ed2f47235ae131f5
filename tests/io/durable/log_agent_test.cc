#include "windhover/io/durable/log_agent.h"

#include <gtest/gtest.h>

#include "windhover/tests/io/durable/log_rig.h"
#include "windhover/tests/io/durable/recording_folder.h"
#include "windhover/tests/io/durable/stream_on_disk.h"

namespace windhover::log_agent_test {
namespace {

constexpr std::int64_t kSealAfterNs = 1'000'000;

// An agent whose thread is the test, and frames without rows.
class LogAgentTest : public ::testing::Test {
 protected:
  LogAgentTest()
      : engine_block_(Engine::footprint(config()).value()),
        engine_(Engine::create(config(), engine_block_.bytes(), clock_).value()),
        block_(1 << 16),
        arena_(block_.bytes()),
        ring_(arena_, 8) {
    EXPECT_EQ(testing::create_small_log(folder_).status, Status::kOk);
    writer_.emplace(folder_);
    ring_.reset(0);
    LogAgent::Options options;
    options.seal_after = std::chrono::nanoseconds(kSealAfterNs);
    agent_.emplace(ring_, writer_->log.value(), engine_->follower().value(), engine_->labels(),
                   FrameSizes{.row = 1}, progress_, clock_, options);
  }

  static EngineConfig config() {
    EngineConfig config = testing::exact_engine();
    config.max_followers = 1;
    return config;
  }
  void push() { ring_.push({.producer = 7, .refused = 1}); }
  std::uint64_t durable() const { return progress_.durable_frames.load(); }

  ManualClock clock_{5'000'000'000};
  testing::RecordingFolder folder_;
  MappedBlock engine_block_;
  Engine* engine_;
  MappedBlock block_;
  Arena arena_;
  FrameRing ring_;
  std::optional<testing::OpenWriter> writer_;
  LogProgress progress_;
  std::optional<LogAgent> agent_;
};

TEST_F(LogAgentTest, MarksTheEndOnceWhenNothingHasComeForAMoment) {
  ASSERT_EQ(agent_->do_work(), 0);  // the log's end as it was found
  push();
  while (agent_->do_work() > 0) {
  }
  ASSERT_EQ(durable(), 1U);
  const std::uint64_t committed = folder_.changes();
  clock_.advance_ns(kSealAfterNs - 1);
  ASSERT_EQ(agent_->do_work(), 0);
  EXPECT_EQ(folder_.changes(), committed) << "the next frame's commit would say the same";
  clock_.advance_ns(1);
  ASSERT_EQ(agent_->do_work(), 0);
  EXPECT_EQ(folder_.changes(), committed + 1);
  clock_.advance_ns(10 * kSealAfterNs);
  ASSERT_EQ(agent_->do_work(), 0);
  EXPECT_EQ(folder_.changes(), committed + 1);
}

TEST_F(LogAgentTest, SaysWhenTheLastCommitWas) {
  ASSERT_EQ(agent_->do_work(), 0);
  EXPECT_EQ(progress_.committed_ns.load(), 0);
  push();
  while (agent_->do_work() > 0) {
  }
  EXPECT_EQ(progress_.committed_ns.load(), clock_.now_ns());
  const std::int64_t then_ns = clock_.now_ns();
  clock_.advance_ns(10 * kSealAfterNs);
  ASSERT_EQ(agent_->do_work(), 0);
  EXPECT_EQ(progress_.committed_ns.load(), then_ns) << "a mark of the end is no commit";
}

// Each commit begins the wait anew: one write and one sync each, and nothing between them.
TEST_F(LogAgentTest, FramesThatComeSoonerFindNoMark) {
  ASSERT_EQ(agent_->do_work(), 0);
  const std::uint64_t before = folder_.changes();
  constexpr std::uint64_t kFrames = 5;
  for (std::uint64_t i = 0; i < kFrames; ++i) {
    push();
    while (agent_->do_work() > 0) {
    }
    clock_.advance_ns(kSealAfterNs * 3 / 4);
    ASSERT_EQ(agent_->do_work(), 0);
  }
  EXPECT_EQ(durable(), kFrames);
  EXPECT_EQ(folder_.changes() - before, 2 * kFrames);
}

// Judged as FrameFeed judges it: a frame may come when its bytes are not more than there is room
// for.
TEST_F(LogAgentTest, IsFullWhenTheNextFrameHasNoPlaceAndUntilSegmentsAreLetGo) {
  const std::uint64_t frame = LogWriter::frame_bytes(0);
  const auto has_room = [&] { return (durable() + 1) * frame <= progress_.room_until; };
  ASSERT_EQ(agent_->do_work(), 0);
  while (has_room()) {
    EXPECT_FALSE(progress_.full) << durable();
    EXPECT_EQ(progress_.obstacle(), Status::kOk);
    ASSERT_LT(durable(), 100U);
    push();
    while (agent_->do_work() > 0) {
    }
  }
  EXPECT_TRUE(progress_.full);
  EXPECT_EQ(progress_.obstacle(), Status::kLogFull);
  EXPECT_EQ(progress_.status, Status::kOk) << "no commit has failed";
  // One of the five segments is not full, and one is kept for a place that fails.
  EXPECT_LE(progress_.used_bytes, 4 * testing::kSmallLog.segment_bytes);
  agent_->release_below(durable());
  ASSERT_EQ(agent_->do_work(), 0);
  EXPECT_TRUE(has_room());
  EXPECT_FALSE(progress_.full);
  EXPECT_EQ(progress_.obstacle(), Status::kOk);
}

// What helps is another thing in each case: a disk that is mended, or a checkpoint.
TEST(LogProgress, TellsADiskThatFailsBeforeALogThatIsFull) {
  LogProgress progress;
  progress.full = true;
  progress.status.store(Status::kIoError);
  EXPECT_EQ(progress.obstacle(), Status::kIoError);
  // Segments were left after places that failed, and a commit has found none.
  progress.full = false;
  progress.status.store(Status::kLogFull);
  EXPECT_EQ(progress.obstacle(), Status::kLogFull);
}

}  // namespace
}  // namespace windhover::log_agent_test
