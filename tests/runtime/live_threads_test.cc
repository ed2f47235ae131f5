// Writer, learner and readers on threads of their own.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "windhover/runtime/learner_thread.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::live_threads_test {
namespace {

struct ReaderReport {
  std::uint64_t answers = 0;
  std::uint64_t failures = 0;
  std::uint64_t not_finite = 0;
  std::uint64_t backwards = 0;
  std::uint64_t inconsistent = 0;
  std::atomic<std::uint64_t> all{0};  // answers, for another thread
};

// Asks until told to stop; alternates between all kinds of question.
void read(Engine& engine, Reader reader, const std::atomic<bool>& stop, ReaderReport& report) {
  const std::uint32_t d = engine.dimension();
  const std::vector<double> x(2 * std::size_t{engine.config().model.features}, 0.5);
  std::vector<PredictiveSummary> answers(2);
  std::vector<ParameterSummary> parameters(d);
  std::vector<double> draws(std::size_t{d} * 64);
  std::vector<double> again(draws.size());
  PredictRequest request;
  request.rows = 2;
  request.features = x;
  request.thompson_id = 3;
  std::uint64_t last_id = 0;
  Provenance p;
  const auto note = [&](Status status) {
    report.failures += !ok(status);
    report.backwards += p.snapshot_id < last_id || p.sequence > p.n_seen || p.age_ns < 0;
    last_id = p.snapshot_id;
    ++report.answers;
  };
  while (!stop.load(std::memory_order_relaxed)) {
    report.all.store(report.answers, std::memory_order_relaxed);
    note(reader.predict(request, answers, p));
    for (const PredictiveSummary& s : answers) {
      report.not_finite += !std::isfinite(s.mean) || !(s.sd > 0) || !std::isfinite(s.thompson);
    }
    // Two equal rows get equal answers from one snapshot.
    report.inconsistent += answers[0].mean != answers[1].mean || answers[0].sd != answers[1].sd;
    note(reader.posterior(parameters, p));
    for (const ParameterSummary& s : parameters) {
      report.not_finite += !std::isfinite(s.mean) || !(s.sd > 0);
    }
    note(reader.draws(0, 0, 64, draws, p));
    const std::uint64_t id = p.snapshot_id;
    std::this_thread::yield();
    note(reader.draws(id, 0, 64, again, p));
    report.inconsistent += draws != again || p.snapshot_id != id;
    reader.release();
  }
}

void run_live(const char* model, IdleStrategy::Kind idle, std::uint32_t learner_threads = 1) {
  EngineConfig config = small_config(model, 6, 4000);
  config.sampler.chains = 2;
  config.learner_threads = learner_threads;
  config.max_readers = 2;
  const Data data = config.model.name == "linear" ? linear_data(4000, 6, 1.0, 81)
                                                  : logistic_data(4000, 6, 0.0, 81);
  TestEngine engine(config);
  LearnerThread learner;
  ASSERT_EQ(learner.start(*engine, {}, idle), Status::kOk);
  std::atomic<bool> stop{false};
  std::vector<ReaderReport> reports(2);
  std::vector<std::thread> readers;
  for (ReaderReport& report : reports) {
    readers.emplace_back(read, std::ref(*engine), engine->reader().value(), std::cref(stop),
                         std::ref(report));
  }
  // This thread observes.
  std::uint64_t sent = 0;
  std::uint64_t accepted = 0;
  // The threads run for a while, and on a slow machine until all have had enough to do.
  const auto begin = std::chrono::steady_clock::now();
  const auto enough = [&] {
    return accepted > 3 * 4000 && engine->counters().get(RuntimeCounter::kSnapshots) > 10 &&
           std::ranges::all_of(reports, [](const ReaderReport& r) { return r.all.load() > 100; });
  };
  for (auto now = begin; now < begin + std::chrono::milliseconds(1200) ||
                         (!enough() && now < begin + std::chrono::minutes(2));
       now = std::chrono::steady_clock::now()) {
    const auto at = static_cast<Index>(sent % 4000);
    const ObserveResult result =
        engine->observe(TestEngine::batch(data, at, std::min<Index>(100, 4000 - at)), {});
    if (result.status == Status::kWindowFull) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      continue;
    }
    EXPECT_EQ(result.status, Status::kOk);
    EXPECT_EQ(result.refused, 0u);
    sent += result.accepted;
    accepted += result.accepted;
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  stop.store(true);
  for (std::thread& reader : readers) reader.join();
  learner.stop();
  EXPECT_FALSE(learner.thread().joinable());

  EXPECT_EQ(engine->head(), accepted);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kRowsAccepted), accepted);
  EXPECT_GT(accepted, 3 * 4000u) << "the window hardly turned over";
  for (const ReaderReport& report : reports) {
    EXPECT_GT(report.answers, 100u);
    EXPECT_EQ(report.failures, 0u);
    EXPECT_EQ(report.not_finite, 0u);
    EXPECT_EQ(report.backwards, 0u);
    EXPECT_EQ(report.inconsistent, 0u);
  }
  // Nobody learns any more: a stopped thread leaves the engine to whoever polls next.
  engine->poll(1);
  EXPECT_GT(engine->counters().get(RuntimeCounter::kSnapshots), 10u);
  // The thread may start again.
  ASSERT_EQ(learner.start(*engine, {}, idle), Status::kOk);
  learner.stop();
}

TEST(LiveThreads, LinearAnswersAreWholeWhileEverybodyWorks) {
  run_live("linear", IdleStrategy::Kind::kPark);
}
TEST(LiveThreads, LogisticAnswersAreWholeWhileEverybodyWorks) {
  run_live("logistic", IdleStrategy::Kind::kPark);
}

TEST(LiveThreads, AnswersAreWholeWhileTheLearnerHasAHelper) {
  run_live("logistic", IdleStrategy::Kind::kPark, 2);
}

// A host that returns early, or throws, must not wait for threads that nobody stops.
TEST(LiveThreads, EndWithWhatOwnsThem) {
  EngineConfig config = small_config("linear", 3, 1000);
  config.learner_threads = 2;
  TestEngine engine(config);
  LearnerThread learner;
  ASSERT_EQ(learner.start(*engine, {}, IdleStrategy::Kind::kPark), Status::kOk);
}

}  // namespace
}  // namespace windhover::test::live_threads_test
