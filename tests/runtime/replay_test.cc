// The same input, seed and sequence of heads give the same bits.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <string_view>
#include <thread>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::replay_test {
namespace {

struct HeadChange {
  std::uint64_t round;
  std::uint64_t head;
};

void record_head(void* log, std::uint64_t round, std::uint64_t head) noexcept {
  static_cast<std::vector<HeadChange>*>(log)->push_back({round, head});
}

// Hashes all state but what depends on when snapshots were published, which a clock has a say in.
struct Hasher final : StateVisitor {
  std::uint64_t hash = 14695981039346656037ULL;
  bool leaves_out = false;
  void section(const char* name, std::uint32_t) noexcept override {
    const std::string_view section = name;
    leaves_out = section == "replay ratio" || section == "comparison of spreads" ||
                 section == "snapshot" || section == "times of rows";
  }
  void mix(std::uint64_t word) {
    if (!leaves_out) hash = (hash ^ word) * 1099511628211ULL ^ (hash >> 29);
  }
  void operator()(std::span<const double> numbers) {
    for (const double x : numbers) mix(std::bit_cast<std::uint64_t>(x));
  }
  void visit(std::span<double> numbers) noexcept override { (*this)(numbers); }
  void visit(std::span<std::uint64_t> numbers) noexcept override {
    for (const std::uint64_t x : numbers) mix(x);
  }
  void visit(std::span<std::uint32_t> numbers) noexcept override {
    for (const std::uint32_t x : numbers) mix(x);
  }
};

std::uint64_t fingerprint_of(TestEngine& engine) {
  Hasher hash;
  engine->learner().visit_state(hash);
  hash.leaves_out = false;
  const Gaussian summary = engine.summary();
  hash(std::span(summary.mean.data(), static_cast<std::size_t>(summary.mean.size())));
  hash(std::span(summary.covariance.data(), static_cast<std::size_t>(summary.covariance.size())));
  const RowMatrix draws = engine.draws();
  hash(std::span(draws.data(), static_cast<std::size_t>(draws.size())));
  for (const ParameterSummary& p : engine.parameters())
    hash(std::span(&p.mean, sizeof p / sizeof p.mean));
  return hash.hash;
}

// Rows in frames of random size, polls of random length in between: heads change anywhere.
std::vector<HeadChange> live_run(TestEngine& engine, const Data& data, std::uint64_t seed) {
  std::vector<HeadChange> log;
  engine->learner().set_head_sink(record_head, &log);
  const VectorXd u = uniforms(seed, 4 * data.rows());
  Index next = 0;
  Index at = 0;
  while (at < data.rows()) {
    const Index rows = std::min<Index>(1 + static_cast<Index>(40 * u[next++]), data.rows() - at);
    engine.feed(data, at, at + rows);
    at += rows;
    engine->poll(static_cast<int>(12 * u[next++]));
  }
  engine.poll_rounds(137);
  engine->poll(0);
  engine->learner().set_head_sink(nullptr, nullptr);
  return log;
}

// Replays from the log alone: rows up to a head come in just before the learner is given it.
void replay_run(TestEngine& engine, const Data& data, const std::vector<HeadChange>& log,
                std::uint64_t last_round) {
  Index fed = 0;
  Learner& learner = engine->learner();
  for (std::size_t i = 0; i < log.size(); ++i) {
    ASSERT_EQ(learner.round(), log[i].round);
    engine.feed(data, fed, static_cast<Index>(log[i].head));
    fed = static_cast<Index>(log[i].head);
    const std::uint64_t until = i + 1 < log.size() ? log[i + 1].round : last_round;
    const auto rounds = static_cast<int>(until - log[i].round);
    EXPECT_EQ(learner.replay(log[i].head, rounds), rounds);
  }
}

struct ReplayCase {
  const char* model;
  Standardize standardize;
  NoiseEstimator noise;
  double replay_ratio;
  bool learn_prior = false;
  Horizon horizon = Horizon::kWindow;
  std::uint32_t features = 4;
};

class ReplayTest : public testing::TestWithParam<int> {
 protected:
  static constexpr ReplayCase kCases[] = {
      {"linear", Standardize::kOff, NoiseEstimator::kWindowSweep, 4},
      {"linear", Standardize::kColdStart, NoiseEstimator::kWithinMinibatch, 1},
      {"logistic", Standardize::kColdStart, NoiseEstimator::kWindowSweep, 4},
      {"logistic", Standardize::kOff, NoiseEstimator::kRecursion, 0},
      {"linear", Standardize::kOff, NoiseEstimator::kWindowSweep, 4, true},
      {"logistic", Standardize::kColdStart, NoiseEstimator::kWindowSweep, 4, true},
      {"linear", Standardize::kColdStart, NoiseEstimator::kWindowSweep, 4, false, Horizon::kFading},
      {"logistic", Standardize::kOff, NoiseEstimator::kWindowSweep, 4, false, Horizon::kAll},
      {"logistic", Standardize::kColdStart, NoiseEstimator::kWindowSweep, 4, false,
       Horizon::kAdaptive},
      // Chains move while a refresh is under way.
      {"linear", Standardize::kOff, NoiseEstimator::kWindowSweep, 4, false, Horizon::kWindow, 180},
  };
  ReplayTest() {
    const ReplayCase& c = kCases[GetParam()];
    config = small_config(c.model, c.features, 600);
    config.model.noise_variance = 0;
    config.model.learn_prior_precision = c.learn_prior;
    config.standardize = c.standardize;
    config.sampler.noise_estimator = c.noise;
    config.sampler.minibatch_size = 32;
    config.draws_per_observation = c.replay_ratio;
    config.horizon = c.horizon;
    data = config.model.name == "linear" ? linear_data(2500, c.features, 1.0, 41)
                                         : logistic_data(2500, c.features, 0.2, 41);
  }
  EngineConfig config;
  Data data;
};

TEST_P(ReplayTest, LogOfHeadsGivesTheSameBitsInAnotherBlock) {
  TestEngine live(config);
  const auto log = live_run(live, data, 42);
  ASSERT_GT(log.size(), 100u);
  EXPECT_EQ(live->learner().view().phase, Learner::Phase::kSampling);
  TestEngine again(config);
  replay_run(again, data, log, live->learner().round());
  EXPECT_EQ(fingerprint_of(again), fingerprint_of(live));
}

TEST_P(ReplayTest, DrivenRunRepeatsItself) {
  TestEngine first(config);
  TestEngine second(config);
  (void)live_run(first, data, 43);
  (void)live_run(second, data, 43);
  EXPECT_EQ(fingerprint_of(first), fingerprint_of(second));
}

TEST_P(ReplayTest, OtherSeedOrOtherHeadsDiffer) {
  TestEngine first(config);
  (void)live_run(first, data, 44);
  TestEngine other_heads(config);
  (void)live_run(other_heads, data, 45);
  EXPECT_NE(fingerprint_of(first), fingerprint_of(other_heads));
  config.seed += 1;
  TestEngine other_seed(config);
  (void)live_run(other_seed, data, 44);
  EXPECT_NE(fingerprint_of(first), fingerprint_of(other_seed));
}

// Helpers change how soon a round is over, and no bit of what comes out.
TEST_P(ReplayTest, ThreadsOfTheLearnerChangeNoBit) {
  TestEngine alone(config);
  (void)live_run(alone, data, 46);
  config.learner_threads = 3;
  if (!keeps_window(config.horizon)) {
    EXPECT_FALSE(check(config).ok());
    return;
  }
  TestEngine unhelped(config);
  (void)live_run(unhelped, data, 46);
  EXPECT_EQ(fingerprint_of(unhelped), fingerprint_of(alone));
  EXPECT_EQ(unhelped->assist(0), 0) << "that is poll()'s";
  EXPECT_EQ(unhelped->assist(3), 0);

  TestEngine helped(config);
  std::atomic<bool> running{true};
  std::atomic<int> assistance{0};
  const auto assist = [&](std::uint32_t worker) {
    while (running.load()) {
      const int done = helped->assist(worker);
      if (done == 0) std::this_thread::yield();
      assistance.fetch_add(done);
    }
  };
  std::thread second(assist, 1U);
  std::thread third(assist, 2U);
  (void)live_run(helped, data, 46);
  running.store(false);
  second.join();
  third.join();
  EXPECT_EQ(fingerprint_of(helped), fingerprint_of(alone));
  RecordProperty("assistance", assistance.load());
}

INSTANTIATE_TEST_SUITE_P(Configurations, ReplayTest, testing::Range(0, 10));

}  // namespace
}  // namespace windhover::test::replay_test
