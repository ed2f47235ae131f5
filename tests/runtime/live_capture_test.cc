// Captures of an engine whose writer, learner and readers are at work on threads of their own.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "windhover/runtime/learner_thread.h"
#include "windhover/tests/runtime/checkpoint_fixture.h"

namespace windhover::test::live_capture_test {
namespace {

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
             section.name == "learner" || section.name == "window" ||
             section.name == "times of rows" || section.name == "events";
    });
    // Whether rows have outrun the learner says which head it takes next. A driven engine is told.
    for (SavedState::Section& section : all.sections) {
      if (section.name == "schedule") section.bits.back() = 0;
    }
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
    ASSERT_EQ(live->state().request_capture(), Status::kOk);
    while (!live->state().captured()) std::this_thread::yield();
    // Some of the rows that have come since.
    const std::uint64_t head = live->state().captured_head();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    captures.push_back(saved_capture(*live, head + (live->head() - head) / 2));
    live->state().release_capture();
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
    // The restored engine goes on.
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
      while (live->state().request_capture() == Status::kUnavailable) std::this_thread::yield();
      if (i % 3 == 0) {
        while (!live->state().captured()) std::this_thread::yield();
      }
      if (i % 7 == 0) std::this_thread::yield();
      live->state().release_capture();
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
  EXPECT_FALSE(live->state().captured());
  EXPECT_EQ(live->head(), 10'000u);
}

}  // namespace
}  // namespace windhover::test::live_capture_test
