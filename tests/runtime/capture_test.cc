// A capture taken while an engine is at work is what a save at that moment would have been, with
// the rows that have come since.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "windhover/runtime/learner_thread.h"
#include "windhover/tests/runtime/engine_fixture.h"
#include "windhover/tests/runtime/memory_stream.h"
#include "windhover/tests/runtime/saved_state.h"

namespace windhover::test::capture_test {
namespace {

EngineConfig captured_config(std::uint64_t window = 200) {
  EngineConfig config = small_config("linear", 4, window);
  config.sampler.chains = 2;
  config.retained_draws = 4;
  config.checkpoints = true;
  return config;
}

Bytes saved_capture(Engine& engine, std::uint64_t head) {
  MemorySink sink;
  EXPECT_EQ(engine.save_captured(sink, head), Status::kOk);
  return sink.bytes;
}

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
  ASSERT_EQ(engine->request_capture(), Status::kOk);
  EXPECT_FALSE(engine->captured());
  engine->poll(0);  // nothing to do but that
  ASSERT_TRUE(engine->captured());
  EXPECT_EQ(engine->captured_head(), 600u);
  EXPECT_EQ(saved_capture(*engine, 600), saved);
  engine->release_capture();
  EXPECT_FALSE(engine->captured());
  EXPECT_EQ(bytes_of(*engine), saved);
}

// At the end of the round under way, not of the poll; and the engine goes on as one that nobody
// captured.
TEST_F(CaptureTest, IsTakenWhenTheRoundEndsAndChangesNothing) {
  TestEngine other(captured_config(), &clock);
  ASSERT_EQ(restore_error(*other, bytes_of(*engine)).status, Status::kOk);
  for (int i = 0; i < 20; ++i) {
    for (TestEngine* e : {&engine, &other}) e->feed(data, at + i, at + i + 1);
    const std::uint64_t round = engine->learner().round();
    ASSERT_EQ(engine->request_capture(), Status::kOk);
    const int done = engine->poll(9);
    EXPECT_EQ(other->poll(9), done);
    ASSERT_TRUE(engine->captured());
    const Bytes bytes = saved_capture(*engine, engine->head());
    TestEngine restored(captured_config(), &clock);
    ASSERT_EQ(restore_error(*restored, bytes).status, Status::kOk);
    EXPECT_EQ(restored->learner().round(), done > 0 ? round + 1 : round);
    engine->release_capture();
    ASSERT_EQ(difference(save(*engine), save(*other)), "") << i;
  }
}

TEST_F(CaptureTest, HoldsTheRowsThatHaveComeSince) {
  const Bytes saved = bytes_of(*engine);
  ASSERT_EQ(engine->request_capture(), Status::kOk);
  engine->poll(0);
  go_on(90);
  const Bytes later = saved_capture(*engine, 670);
  engine->release_capture();
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
  ASSERT_EQ(engine->request_capture(), Status::kOk);
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
  EXPECT_EQ(engine->save_captured(sink, engine->head()), Status::kOk);
  EXPECT_EQ(OpenCheckpoint(sink.bytes).header.first, 400u);
  write_all();
  EXPECT_EQ(taken, 5000u) << "written: nothing is held, before it is released";
  engine->release_capture();
}

// Rows are given up as they are written, the oldest first.
TEST_F(CaptureTest, GivesRowsUpAsItGoes) {
  struct GreedySink final : Sink {
    Status write(std::span<const std::byte> bytes) noexcept override {
      sections += bytes.size() > 60'000;
      if (bytes.size() > 60'000) room.push_back(observe_all());
      return Status::kOk;
    }
    // Until the learner has taken all in and the writer still has to wait.
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
  ASSERT_EQ(large->request_capture(), Status::kOk);
  while (large->poll(100) > 0) {
  }
  GreedySink sink(*large);
  EXPECT_EQ(sink.observe_all(), 1024u);
  ASSERT_EQ(large->save_captured(sink, large->head()), Status::kOk);
  large->release_capture();
  ASSERT_GE(sink.sections, 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sink.room[static_cast<std::size_t>(i)], 65'536u / 40);
}

TEST_F(CaptureTest, RefusesWhatIsOutOfTurn) {
  MemorySink sink;
  EXPECT_EQ(engine->save_captured(sink, 600), Status::kUnavailable);
  ASSERT_EQ(engine->request_capture(), Status::kOk);
  EXPECT_EQ(engine->request_capture(), Status::kUnavailable);
  EXPECT_EQ(engine->save(sink), Status::kUnavailable);
  EXPECT_EQ(restore_error(*engine, {}).status, Status::kUnavailable);
  EXPECT_EQ(engine->save_captured(sink, 600), Status::kUnavailable) << "not taken yet";
  engine->poll(0);
  go_on(10);
  EXPECT_EQ(engine->save_captured(sink, 599), Status::kInvalidArgument);
  EXPECT_EQ(engine->save_captured(sink, 611), Status::kInvalidArgument);
  EXPECT_TRUE(sink.bytes.empty());
  MemorySink broken(3);
  EXPECT_EQ(engine->save_captured(broken, 605), Status::kIoError);
  EXPECT_EQ(engine->save_captured(sink, 605), Status::kUnavailable) << "its rows are gone";
  engine->release_capture();
  engine->release_capture();
  EXPECT_EQ(engine->save(sink), Status::kOk);
}

TEST_F(CaptureTest, ARequestCanBeCalledOff) {
  ASSERT_EQ(engine->request_capture(), Status::kOk);
  engine->release_capture();
  engine->poll(1);
  EXPECT_FALSE(engine->captured());
  ASSERT_EQ(engine->request_capture(), Status::kOk);
  engine->poll(0);
  EXPECT_TRUE(engine->captured());
  engine->release_capture();
  const std::uint64_t head = engine->head();
  go_on(1300);
  EXPECT_EQ(engine->head(), head + 1300) << "nothing holds the writer";
}

struct HeadChange {
  std::uint64_t round;
  std::uint64_t head;
};

// Publications follow a clock, and counters of other threads the threads.
std::string difference_of_learners(TestEngine& one, TestEngine& other) {
  const auto state = [](TestEngine& engine) {
    SavedState all = save(*engine);
    std::erase_if(all.sections, [](const SavedState::Section& section) {
      return section.name == "snapshot" || section.name == "counters" ||
             section.name == "replay ratio" || section.name == "comparison of spreads" ||
             section.name == "learner" || section.name == "window";
    });
    return all;
  };
  return difference(state(one), state(other));
}

// Writer, learner with a helper, and a thread that captures again and again: each capture is the
// state of an engine that was driven by the same heads to the same round.
TEST(LiveCapture, EqualsADrivenEngineAtTheSameRound) {
  EngineConfig config = captured_config(400);
  config.learner_threads = 2;
  config.window_slack = 1024;
  config.model.noise_variance = 0;
  const Data data = linear_data(1000, 4, 1.0, 16);
  TestEngine live(config);
  std::vector<HeadChange> heads;
  heads.reserve(200'000);
  live->learner().set_head_sink(
      [](void* log, std::uint64_t round, std::uint64_t head) noexcept {
        static_cast<std::vector<HeadChange>*>(log)->push_back({round, head});
      },
      &heads);
  LearnerThread learner;
  ASSERT_EQ(learner.start(*live, {}, IdleStrategy::Kind::kPark), Status::kOk);
  std::atomic<bool> stop{false};
  std::thread observer([&] {
    for (Index i = 0; !stop.load(std::memory_order_relaxed);) {
      const Index row = i % 1000;
      if (ok(live->observe({data.x.data() + 4 * row, 4}, data.y[row]))) ++i;
      if (i % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
  });
  // Somebody who reads the snapshot that is copied.
  std::thread asker([&, reader = live->reader().value()]() mutable {
    std::vector<ParameterSummary> parameters(live->dimension());
    Provenance p;
    while (!stop.load(std::memory_order_relaxed)) {
      EXPECT_EQ(reader.posterior(parameters, p), Status::kOk);
      std::this_thread::yield();
    }
  });
  constexpr std::size_t kCaptures = 12;
  std::vector<Bytes> captures;
  while (captures.size() < kCaptures) {
    ASSERT_EQ(live->request_capture(), Status::kOk);
    while (!live->captured()) std::this_thread::yield();
    // Some of the rows that have come since.
    const std::uint64_t head = live->captured_head();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    captures.push_back(saved_capture(*live, head + (live->head() - head) / 2));
    live->release_capture();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  stop.store(true);
  observer.join();
  asker.join();
  learner.stop();

  config.learner_threads = 1;
  TestEngine driven(config);
  std::size_t next = 0;
  const auto observe_up_to = [&](std::uint64_t head) {
    while (driven->head() < head) {
      const auto row = static_cast<Index>(driven->head() % 1000);
      ASSERT_EQ(driven->observe({data.x.data() + 4 * row, 4}, data.y[row]), Status::kOk);
    }
  };
  std::uint64_t head = 0;
  std::size_t sampling = 0;
  for (const Bytes& bytes : captures) {
    TestEngine restored(config);
    ASSERT_EQ(restore_error(*restored, bytes).status, Status::kOk);
    const checkpoint::Header header = OpenCheckpoint(bytes).header;
    EXPECT_EQ(restored->head(), header.head);
    EXPECT_EQ(restored->counters().get(RuntimeCounter::kRowsAccepted), header.head);
    const std::uint64_t round = restored->learner().round();
    // The head that was taken for the round after the capture is not in it.
    while (driven->learner().round() < round) {
      const std::uint64_t at = driven->learner().round();
      while (next < heads.size() && heads[next].round <= at) head = heads[next++].head;
      ASSERT_NO_FATAL_FAILURE(observe_up_to(head));
      ASSERT_EQ(driven->learner().replay(head, 1), 1);
    }
    // Heads taken in rounds that had nothing to do, and were captured there.
    while (next < heads.size() && heads[next].round == round && heads[next].head <= header.lease) {
      head = heads[next++].head;
      ASSERT_NO_FATAL_FAILURE(observe_up_to(head));
      driven->learner().replay(head, 1);
    }
    ASSERT_EQ(driven->learner().round(), round);
    EXPECT_EQ(difference_of_learners(restored, driven), "") << "round " << round;
    sampling += restored->learner().view().phase == Learner::Phase::kSampling;
    // And it goes on.
    restored.poll_until_idle();
    EXPECT_EQ(restored.provenance().sequence, header.head);
  }
  EXPECT_GT(sampling, 0u);
}

// Requests that come and go at any moment neither hang nor hold the writer for good.
TEST(LiveCapture, CallingOffAtAnyMomentHoldsNothing) {
  TestEngine live(captured_config());
  const Data data = linear_data(1000, 4, 1.0, 16);
  LearnerThread learner;
  ASSERT_EQ(learner.start(*live, {}, IdleStrategy::Kind::kPark), Status::kOk);
  std::thread requester([&] {
    for (int i = 0; i < 3000; ++i) {
      while (live->request_capture() == Status::kUnavailable) std::this_thread::yield();
      if (i % 3 == 0) {
        while (!live->captured()) std::this_thread::yield();
      }
      if (i % 7 == 0) std::this_thread::yield();
      live->release_capture();
    }
  });
  Index i = 0;
  const auto observe_rows = [&](Index rows) {
    for (const Index end = i + rows; i < end;) {
      const Index row = i % 1000;
      if (ok(live->observe({data.x.data() + 4 * row, 4}, data.y[row]))) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  };
  observe_rows(5000);
  requester.join();
  observe_rows(5000);
  learner.stop();
  EXPECT_FALSE(live->captured());
  EXPECT_EQ(live->head(), 10'000u);
}

}  // namespace
}  // namespace windhover::test::capture_test
