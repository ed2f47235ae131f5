// The part of an engine that saves and restores it: what each call leaves behind where it fails.
#include <gtest/gtest.h>

#include <cstdint>

#include "windhover/tests/runtime/checkpoint_fixture.h"

namespace windhover::test::engine_state_test {
namespace {

constexpr std::uint64_t kSlack = 1024;

class EngineStateTest : public testing::Test {
 protected:
  explicit EngineStateTest(const EngineConfig& config = captured_config())
      : clock_(1'000'000), engine_(config, &clock_), state_(engine_->state()) {
    engine_.feed(data_, 0, 300);
    engine_.poll_until_idle();
  }
  // Rows that the window takes while the learner takes in all it can: all of them, or as many as
  // the slack is, where a capture holds its rows.
  std::uint64_t room(std::uint64_t most = 3 * kSlack) {
    std::uint64_t rows = 0;
    while (rows < most && ok(engine_->observe({data_.x.data(), 4}, 1.0))) {
      ++rows;
      engine_->poll(1);
    }
    return rows;
  }
  void capture() {
    ASSERT_EQ(state_.request_capture(), Status::kOk);
    engine_->poll(0);
    ASSERT_TRUE(state_.captured());
  }

  Data data_ = linear_data(600, 4, 1.0, 6);
  ManualClock clock_;
  TestEngine engine_;
  EngineState& state_;
};

TEST_F(EngineStateTest, WithoutACaptureThereIsNothingToReleaseOrToWrite) {
  EXPECT_FALSE(state_.captured());
  state_.release_capture();
  state_.release_capture();
  EXPECT_FALSE(state_.captured());
  MemorySink sink;
  EXPECT_EQ(state_.save_captured(sink, 0), Status::kUnavailable);
  EXPECT_EQ(sink.calls(), 0u);
  EXPECT_EQ(room(), 3 * kSlack) << "nothing holds the writer";
}

TEST_F(EngineStateTest, ACaptureHoldsRowsUntilItIsReleasedHoweverOftenItIsTaken) {
  for (int i = 0; i < 3; ++i) {
    capture();
    EXPECT_EQ(room(), kSlack) << i;
    state_.release_capture();
    EXPECT_EQ(room(), 3 * kSlack) << i;
  }
}

TEST_F(EngineStateTest, ASinkThatFailsAnywhereLeavesNoRowsHeld) {
  MemorySink all;
  ASSERT_EQ(state_.save(all), Status::kOk);
  ASSERT_GT(all.calls(), 5u);
  for (std::size_t call = 0; call < all.calls(); ++call) {
    MemorySink broken(call);
    EXPECT_EQ(state_.save(broken), Status::kIoError) << call;
    EXPECT_EQ(state_.request_capture(), Status::kOk) << "none is under way";
    state_.release_capture();
  }
  EXPECT_EQ(room(), 3 * kSlack);
}

TEST_F(EngineStateTest, ACaptureWhoseSinkFailedIsReleasedAndTheNextOneIsWhole) {
  const Bytes before = bytes_of(*engine_);
  capture();
  MemorySink broken(2);
  EXPECT_EQ(state_.save_captured(broken, state_.captured_head()), Status::kIoError);
  EXPECT_EQ(state_.request_capture(), Status::kUnavailable) << "until it is released";
  state_.release_capture();
  capture();
  EXPECT_EQ(saved_capture(*engine_, state_.captured_head()), before);
  state_.release_capture();
}

TEST_F(EngineStateTest, SavingIsRefusedWhileACaptureIsUnderWayAndDoesNotTouchIt) {
  const Bytes before = bytes_of(*engine_);
  MemorySink sink;
  ASSERT_EQ(state_.request_capture(), Status::kOk);
  EXPECT_EQ(state_.save(sink), Status::kUnavailable) << "one that is asked for";
  engine_->poll(0);
  EXPECT_EQ(state_.save(sink), Status::kUnavailable) << "one that is there";
  EXPECT_EQ(sink.calls(), 0u);
  EXPECT_EQ(saved_capture(*engine_, state_.captured_head()), before);
  EXPECT_EQ(state_.save(sink), Status::kUnavailable) << "one that has been written";
  state_.release_capture();
  EXPECT_EQ(bytes_of(*engine_), before);
}

// Nothing of it has been read then.
TEST_F(EngineStateTest, RestoringIsRefusedWhileACaptureIsUnderWayAndTheEngineStaysAsItIs) {
  const Bytes before = bytes_of(*engine_);
  capture();
  MemorySource source(before);
  const Result<bool> restored = state_.restore(source);
  ASSERT_FALSE(restored.ok());
  EXPECT_EQ(restored.error().status, Status::kUnavailable);
  EXPECT_EQ(source.left(), before.size());
  EXPECT_EQ(engine_->head(), 300u);
  state_.release_capture();
  EXPECT_EQ(bytes_of(*engine_), before);
}

TEST_F(EngineStateTest, ARefusalLeavesANewEngineThatTakesTheNextOne) {
  const Bytes good = bytes_of(*engine_);
  Bytes bad = good;
  bad[bad.size() / 2] ^= std::byte{1};
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(ok(restore_error(*engine_, bad).status));
    EXPECT_EQ(engine_->head(), 0u);
    EXPECT_FALSE(engine_->state().captured());
    EXPECT_EQ(restore_error(*engine_, good).status, Status::kOk);
    EXPECT_EQ(engine_->head(), 300u);
    EXPECT_EQ(bytes_of(*engine_), good);
  }
  EXPECT_EQ(room(), 3 * kSlack);
}

TEST_F(EngineStateTest, ACaptureIsWrittenFromItsHeadToThatOfTheEngine) {
  capture();
  ASSERT_EQ(room(10), 10u);
  MemorySink sink;
  EXPECT_EQ(state_.save_captured(sink, 299), Status::kInvalidArgument);
  EXPECT_EQ(state_.save_captured(sink, 311), Status::kInvalidArgument);
  EXPECT_EQ(sink.calls(), 0u);
  EXPECT_EQ(state_.save_captured(sink, 310), Status::kOk) << "after what was refused";
  state_.release_capture();
  TestEngine other(captured_config(), &clock_);
  EXPECT_EQ(restore_error(*other, sink.bytes).status, Status::kOk);
  EXPECT_EQ(other->head(), 310u);
  EXPECT_EQ(other->counters().get(RuntimeCounter::kRowsAccepted), 310u);
}

class WithoutCheckpoints : public EngineStateTest {
 protected:
  static EngineConfig config() {
    EngineConfig config = captured_config();
    config.checkpoints = false;
    return config;
  }
  WithoutCheckpoints() : EngineStateTest(config()) {}
};

TEST_F(WithoutCheckpoints, NothingIsTakenWrittenOrRestoredAndTheEngineGoesOn) {
  MemorySink sink;
  EXPECT_EQ(state_.request_capture(), Status::kUnsupported);
  EXPECT_FALSE(state_.captured());
  state_.release_capture();
  EXPECT_EQ(state_.save(sink), Status::kUnsupported);
  EXPECT_EQ(state_.save_captured(sink, 300), Status::kUnsupported);
  EXPECT_EQ(restore_error(*engine_, {}).status, Status::kUnsupported);
  EXPECT_EQ(sink.calls(), 0u);
  EXPECT_EQ(engine_->head(), 300u);
  EXPECT_EQ(room(), 3 * kSlack);
}

}  // namespace
}  // namespace windhover::test::engine_state_test
