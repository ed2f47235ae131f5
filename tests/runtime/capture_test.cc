// A capture taken while an engine is at work is what a save at that moment would have been, with
// the rows that have come since.
#include <gtest/gtest.h>

#include "windhover/tests/runtime/checkpoint_fixture.h"

namespace windhover::test::capture_test {
namespace {

class CaptureTest : public testing::Test {
 protected:
  CaptureTest() : clock(1'000'000), engine(captured_config(), &clock) { go_on(600); }

  void go_on(Index rows, int rounds = 4) {
    for (Index i = 0; i < rows; ++i, ++at) {
      engine.feed(data, at, at + 1);
      if (rounds > 0) engine->poll(rounds);
    }
  }

  Data data = linear_data(4000, 4, 1.0, 6);
  Index at = 0;
  ManualClock clock;
  TestEngine engine;
};

TEST_F(CaptureTest, IsWhatASaveAtThatMomentIs) {
  const Bytes saved = bytes_of(*engine);
  ASSERT_EQ(engine->state().request_capture(), Status::kOk);
  EXPECT_FALSE(engine->state().captured());
  engine->poll(0);  // nothing to do but that
  ASSERT_TRUE(engine->state().captured());
  EXPECT_EQ(engine->state().captured_head(), 600u);
  EXPECT_EQ(saved_capture(*engine, 600), saved);
  engine->state().release_capture();
  EXPECT_FALSE(engine->state().captured());
  EXPECT_EQ(bytes_of(*engine), saved);
}

// The capture is taken at the end of the round under way, not of the poll; and the engine goes on
// like one that nobody captured.
TEST_F(CaptureTest, IsTakenWhenTheRoundEndsAndChangesNothing) {
  TestEngine other(captured_config(), &clock);
  ASSERT_EQ(restore_error(*other, bytes_of(*engine)).status, Status::kOk);
  for (int i = 0; i < 20; ++i) {
    for (TestEngine* e : {&engine, &other}) e->feed(data, at + i, at + i + 1);
    const std::uint64_t round = engine->learner().round();
    ASSERT_EQ(engine->state().request_capture(), Status::kOk);
    const int done = engine->poll(9);
    EXPECT_EQ(other->poll(9), done);
    ASSERT_TRUE(engine->state().captured());
    const Bytes bytes = saved_capture(*engine, engine->head());
    TestEngine restored(captured_config(), &clock);
    ASSERT_EQ(restore_error(*restored, bytes).status, Status::kOk);
    EXPECT_EQ(restored->learner().round(), done > 0 ? round + 1 : round);
    engine->state().release_capture();
    ASSERT_EQ(difference(save(*engine), save(*other)), "") << i;
  }
}

TEST_F(CaptureTest, HoldsTheRowsThatHaveComeSince) {
  const Bytes saved = bytes_of(*engine);
  ASSERT_EQ(engine->state().request_capture(), Status::kOk);
  engine->poll(0);
  go_on(90);
  const Bytes later = saved_capture(*engine, 670);
  engine->state().release_capture();
  TestEngine restored(captured_config(), &clock), driven(captured_config(), &clock);
  ASSERT_EQ(restore_error(*restored, later).status, Status::kOk);
  ASSERT_EQ(restore_error(*driven, saved).status, Status::kOk);
  EXPECT_EQ(restored->head(), 670u);
  driven.feed(data, 600, 670);
  EXPECT_EQ(difference(save(*restored), save(*driven)), "");
  EXPECT_EQ(restored->poll(50), driven->poll(50));
  EXPECT_EQ(difference(save(*restored), save(*driven)), "");
}

TEST_F(CaptureTest, HoldsTheWriterUntilItsRowsAreWritten) {
  ASSERT_EQ(engine->state().request_capture(), Status::kOk);
  engine->poll(0);
  std::uint64_t taken = 0;
  const auto write_all = [&] {
    while (ok(engine->observe({data.x.data(), 4}, 1.0)) && taken < 5000) {
      ++taken;
      engine->poll(1);
    }
  };
  write_all();
  EXPECT_EQ(taken, 1024u) << "the slack";
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kWindowFull), 1u);
  MemorySink sink;
  EXPECT_EQ(engine->state().save_captured(sink, engine->head()), Status::kOk);
  EXPECT_EQ(OpenCheckpoint(sink.bytes).header.first, 400u);
  write_all();
  EXPECT_EQ(taken, 5000u) << "written: nothing is held, before it is released";
  engine->state().release_capture();
}

// Rows are given up as they are written, the oldest first.
TEST_F(CaptureTest, GivesRowsUpAsItGoes) {
  struct GreedySink final : Sink {
    Status write(std::span<const std::byte> bytes) noexcept override {
      sections += bytes.size() > 60'000;
      if (bytes.size() > 60'000) room.push_back(observe_all());
      return Status::kOk;
    }
    // Observes until the learner has taken all in and the writer still has to wait.
    std::uint64_t observe_all() {
      const double x[4] = {1, 2, 3, 4};
      std::uint64_t rows = 0;
      do {
        while (ok(engine->observe(x, 1.0))) ++rows;
      } while (engine->poll(100) > 0);
      return rows;
    }
    explicit GreedySink(Engine& of) : engine(&of) {}
    Engine* engine;
    int sections = 0;
    std::vector<std::uint64_t> room;
  };
  TestEngine large(captured_config(6000), &clock);
  for (int i = 0; i < 3; ++i) large.feed(data, 0, 4000);
  ASSERT_EQ(large->state().request_capture(), Status::kOk);
  while (large->poll(100) > 0) {
  }
  GreedySink sink(*large);
  EXPECT_EQ(sink.observe_all(), 1024u);
  ASSERT_EQ(large->state().save_captured(sink, large->head()), Status::kOk);
  large->state().release_capture();
  ASSERT_GE(sink.sections, 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sink.room[static_cast<std::size_t>(i)], 65'536u / 40);
}

TEST_F(CaptureTest, RefusesWhatIsOutOfTurn) {
  MemorySink sink;
  EXPECT_EQ(engine->state().save_captured(sink, 600), Status::kUnavailable);
  ASSERT_EQ(engine->state().request_capture(), Status::kOk);
  EXPECT_EQ(engine->state().request_capture(), Status::kUnavailable);
  EXPECT_EQ(engine->state().save(sink), Status::kUnavailable);
  EXPECT_EQ(restore_error(*engine, {}).status, Status::kUnavailable);
  EXPECT_EQ(engine->state().save_captured(sink, 600), Status::kUnavailable) << "not taken yet";
  engine->poll(0);
  go_on(10);
  EXPECT_EQ(engine->state().save_captured(sink, 599), Status::kInvalidArgument);
  EXPECT_EQ(engine->state().save_captured(sink, 611), Status::kInvalidArgument);
  EXPECT_TRUE(sink.bytes.empty());
  MemorySink broken(3);
  EXPECT_EQ(engine->state().save_captured(broken, 605), Status::kIoError);
  EXPECT_EQ(engine->state().save_captured(sink, 605), Status::kUnavailable) << "its rows are gone";
  engine->state().release_capture();
  engine->state().release_capture();
  EXPECT_EQ(engine->state().save(sink), Status::kOk);
}

TEST_F(CaptureTest, ARequestCanBeCalledOff) {
  ASSERT_EQ(engine->state().request_capture(), Status::kOk);
  engine->state().release_capture();
  engine->poll(1);
  EXPECT_FALSE(engine->state().captured());
  ASSERT_EQ(engine->state().request_capture(), Status::kOk);
  engine->poll(0);
  EXPECT_TRUE(engine->state().captured());
  engine->state().release_capture();
  const std::uint64_t head = engine->head();
  go_on(1300);
  EXPECT_EQ(engine->head(), head + 1300) << "nothing holds the writer";
}

}  // namespace
}  // namespace windhover::test::capture_test
