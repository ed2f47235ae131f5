// Engines that take turns on one thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "windhover/runtime/engine_queue.h"
#include "windhover/runtime/learner_pool.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::engine_queue_test {
namespace {

EngineConfig small(std::uint32_t features = 3) {
  EngineConfig config;
  config.model.name = "linear";
  config.model.features = features;
  config.window_size = 2'000;
  config.window_slack = 4'096;
  config.max_frame_rows = 1'024;
  config.sampler.chains = 2;
  return config;
}

struct Engines {
  explicit Engines(std::size_t count, std::uint32_t features = 3) {
    for (std::size_t i = 0; i < count; ++i) {
      blocks.emplace_back(Engine::footprint(small(features)).value());
      all.push_back(Engine::create(small(features), blocks.back().bytes(), clock).value());
    }
    entries.resize(count);
    for (std::size_t i = 0; i < count; ++i) entries[i].engine = all[i];
  }
  void observe(std::size_t engine, std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i) {
      const double x = static_cast<double>((7 * i) % 11) / 5 - 1;
      std::vector<double> row(small().model.features, x);
      row.back() = x * x;
      ASSERT_EQ(all[engine]->observe(row, 2 * x + static_cast<double>(i % 3)), Status::kOk);
    }
  }

  // With the machine's clock the time of an answer, which ends a turn, would depend on the machine.
  ManualClock clock{1};
  std::vector<MappedBlock> blocks;
  std::vector<Engine*> all;
  std::vector<EngineQueue::Entry> entries;
};

void serve_all(EngineQueue& queue) {
  while (queue.serve() > 0) {
  }
}

TEST(EngineQueue, ServesAllUntilNoneHasAnythingToDo) {
  Engines engines(5);
  EngineQueue queue(engines.entries, engines.clock);
  for (std::size_t i = 0; i < 5; ++i) engines.observe(i, 200 * (i + 1));
  EXPECT_EQ(engines.all[3]->progress().waiting_rows(), 800U);
  serve_all(queue);
  for (Engine* engine : engines.all) {
    EXPECT_EQ(engine->progress().waiting_rows(), 0U);
    EXPECT_EQ(engine->poll(1), 0) << "nothing is left";
  }
}

// The same rows by poll() alone and in turns with others: the same bits.
TEST(EngineQueue, TurnsChangeNoAnswer) {
  Engines alone(1);
  alone.observe(0, 1'000);
  while (alone.all[0]->poll(1) > 0) {
  }
  Engines many(3);
  for (std::size_t i = 0; i < 3; ++i) many.observe(i, 1'000);
  EngineQueue queue(many.entries, many.clock);
  serve_all(queue);
  std::vector<ParameterSummary> expected(alone.all[0]->dimension());
  std::vector<ParameterSummary> summaries(expected.size());
  Provenance provenance;
  ASSERT_EQ(alone.all[0]->reader().value().posterior(expected, provenance), Status::kOk);
  for (Engine* engine : many.all) {
    ASSERT_EQ(engine->reader().value().posterior(summaries, provenance), Status::kOk);
    for (std::size_t j = 0; j < summaries.size(); ++j) {
      EXPECT_EQ(summaries[j].mean, expected[j].mean);
      EXPECT_EQ(summaries[j].sd, expected[j].sd);
    }
  }
}

// Time moves by hand, a slice and more for every look at it: a turn is one round.
class StepClock final : public Clock {
 public:
  std::int64_t now_ns() noexcept override { return now_ns_ += EngineQueue::kSliceNs; }

 private:
  std::int64_t now_ns_ = 0;
};

// They are equal but for the ages of their answers: the clock is looked at twice a turn.
TEST(EngineQueue, EqualsGetEqualTime) {
  Engines engines(4);
  StepClock clock;
  EngineQueue queue(engines.entries, clock);
  for (std::size_t i = 0; i < 4; ++i) engines.observe(i, 1'000);
  constexpr auto kMost = static_cast<double>(EngineQueue::kMostAgeNs / EngineQueue::kSliceNs) / 2;
  for (int turn = 0; turn < 4'000; ++turn) {
    for (std::size_t i = 0; i < 4; ++i) engines.observe(i, turn % 10 == 0 ? 100 : 0);
    ASSERT_EQ(queue.serve(), 1);
  }
  for (const EngineQueue::Entry& entry : engines.entries) {
    EXPECT_NEAR(static_cast<double>(entry.engine->learner().round()), 1'000, kMost + 1);
  }
}

TEST(EngineQueue, WhoseWriterIsAboutToWaitGetsMoreAndNobodyStarves) {
  Engines engines(2);
  StepClock clock;
  EngineQueue queue(engines.entries, clock);
  for (int turn = 0; turn < 1'800; ++turn) {
    engines.observe(1, small().window_slack - engines.all[1]->progress().waiting_rows());
    if (engines.all[0]->progress().waiting_rows() == 0) engines.observe(0, 1);
    ASSERT_GT(queue.serve(), 0);
  }
  const std::uint64_t urgent = engines.all[1]->learner().round();
  const std::uint64_t other = engines.all[0]->learner().round();
  EXPECT_GT(urgent, 3 * other);
  EXPECT_GE(other, 160U);
}

TEST(EngineQueue, RestIsNotSavedUp) {
  Engines engines(2);
  StepClock clock;
  EngineQueue queue(engines.entries, clock);
  engines.observe(0, 1'500);
  for (int turn = 0; turn < 100; ++turn) ASSERT_EQ(queue.serve(), 1);
  engines.observe(1, 1'500);
  const std::uint64_t before = engines.all[0]->learner().round();
  for (int turn = 0; turn < 20; ++turn) ASSERT_EQ(queue.serve(), 1);
  EXPECT_GE(engines.all[0]->learner().round() - before, 8U);
}

// Three engines are always at work: the one with the oldest answer has the next turn.
TEST(EngineQueue, NoAnswerGrowsMuchOlderThanThoseOfOthers) {
  Engines engines(3);
  class FineClock final : public Clock {
   public:
    std::int64_t now_ns() noexcept override { return now_ns_ += 1'000; }

   private:
    std::int64_t now_ns_ = 0;
  } clock;
  EngineQueue queue(engines.entries, clock);
  std::array<std::uint64_t, 3> shown{};
  std::array<int, 3> turn_of{};
  int turns_between = 0;
  const auto answers = [&](std::size_t i) {
    return engines.all[i]->counters().get(RuntimeCounter::kSnapshots);
  };
  for (int turn = 0; turn < 3'000; ++turn) {
    for (std::size_t i = 0; i < 3; ++i) {
      if (engines.all[i]->progress().waiting_rows() == 0) engines.observe(i, 100);
    }
    ASSERT_GT(queue.serve(), 0);
    for (std::size_t i = 0; i < 3; ++i) {
      if (answers(i) == shown[i]) continue;
      if (turn > 1'000) turns_between = std::max(turns_between, turn - turn_of[i]);
      shown[i] = answers(i);
      turn_of[i] = turn;
    }
  }
  EXPECT_LE(turns_between, 12);
}

TEST(LearnerPool, PollsEveryEngineOnFewThreads) {
  Engines engines(7);
  LearnerPool pool;
  EXPECT_EQ(pool.start({}, 1, {}, IdleStrategy::kPark), Status::kInvalidArgument);
  EXPECT_EQ(pool.start(engines.all, 0, {}, IdleStrategy::kPark), Status::kInvalidArgument);
  ASSERT_EQ(pool.start(engines.all, 2, {}, IdleStrategy::kPark), Status::kOk);
  EXPECT_EQ(pool.start(engines.all, 2, {}, IdleStrategy::kPark), Status::kInvalidArgument);
  for (std::size_t i = 0; i < 7; ++i) engines.observe(i, 500);
  for (Engine* engine : engines.all) {
    while (engine->progress().waiting_rows() > 0) std::this_thread::yield();
  }
  pool.stop();
  ASSERT_EQ(pool.start(engines.all, 100, {}, IdleStrategy::kPark), Status::kOk) << "as many as fit";
}

TEST(EngineQueue, TakesOneMoreAndLetsOneGoBetweenTwoTurns) {
  Engines engines(3);
  std::vector<EngineQueue::Entry> room(3);
  room[0].engine = engines.all[0];
  room[1].engine = engines.all[1];
  EngineQueue queue(room, 2, engines.clock);
  for (std::size_t i = 0; i < 3; ++i) engines.observe(i, 200);
  serve_all(queue);
  EXPECT_EQ(engines.all[1]->progress().waiting_rows(), 0U);
  EXPECT_EQ(engines.all[2]->progress().waiting_rows(), 200U) << "nobody has added it";
  queue.add(*engines.all[2]);
  queue.remove(*engines.all[0]);
  engines.observe(0, 100);
  serve_all(queue);
  EXPECT_EQ(engines.all[2]->progress().waiting_rows(), 0U);
  EXPECT_EQ(engines.all[0]->progress().waiting_rows(), 100U) << "it has been let go";
}

TEST(LearnerPool, TakesEnginesInAndOutWhileItsThreadsLearn) {
  Engines engines(4);
  LearnerPool pool;
  ASSERT_EQ(pool.start(std::span(engines.all).first(1), 2, {}, IdleStrategy::kPark, 2),
            Status::kOk);
  ASSERT_EQ(pool.add(*engines.all[1]), Status::kOk);
  ASSERT_EQ(pool.add(*engines.all[2]), Status::kOk);
  EXPECT_EQ(pool.add(*engines.all[3]), Status::kUnavailable) << "there were two spare places";
  for (std::size_t i = 0; i < 3; ++i) engines.observe(i, 500);
  const auto learned = [&](std::size_t i) {
    while (engines.all[i]->progress().waiting_rows() > 0) std::this_thread::yield();
  };
  for (std::size_t i = 0; i < 3; ++i) learned(i);
  pool.remove(*engines.all[1]);
  const std::uint64_t polls = engines.all[1]->progress().polls();
  ASSERT_EQ(pool.add(*engines.all[3]), Status::kOk);
  engines.observe(3, 500);
  learned(3);
  EXPECT_EQ(engines.all[1]->progress().polls(), polls) << "nobody polls it any more";
  // It may go while the threads learn, and its place is free again and again.
  for (int i = 0; i < 20; ++i) {
    pool.remove(*engines.all[3]);
    engines.observe(3, 50);
    ASSERT_EQ(pool.add(*engines.all[3]), Status::kOk);
    learned(3);
  }
  EXPECT_GT(pool.beat_ns(), 0);
}

}  // namespace
}  // namespace windhover::test::engine_queue_test
