// Rows of a kind that has not been seen before, so many at once that the mode must be sought anew:
// the chains go on from where it is found, and what is served is never ok for another reason than
// draws from there.
#include <gtest/gtest.h>

#include <cmath>

#include "windhover/tests/runtime/glm_reference.h"
#include "windhover/tests/runtime/saved_state.h"

namespace windhover::test::lost_mode_test {
namespace {

constexpr Index kUsual = 400;
constexpr Index kRows = 700;

// The last feature is 0 in the usual rows, and 1 in the rest, which nearly all have one outcome.
Data rows_of_a_new_kind() {
  Data data = logistic_data(kRows, 3, 0.5, 61);
  data.x.col(2).head(kUsual).setZero();
  data.x.col(2).tail(kRows - kUsual).setOnes();
  for (Index i = kUsual; i < kRows; ++i) data.y[i] = i % 40 == 0 ? 0 : 1;
  return data;
}

EngineConfig config_of(double draws_per_observation) {
  EngineConfig config = small_config("logistic", 3, kRows);
  config.draws_per_observation = draws_per_observation;
  return config;
}

using Phase = Learner::Phase;

// Feeds the rows and polls up to the round in which the mode is found again.
void lose_the_mode(TestEngine& engine, const Data& data) {
  engine.feed(data, 0, kUsual);
  ASSERT_TRUE(engine.poll_until_sampling());
  engine.poll_rounds(3'000);
  ASSERT_EQ(engine.provenance().status, PosteriorStatus::kOk);
  engine.feed(data, kUsual, kRows);
  const auto phase = [&] { return engine->learner().view().phase; };
  for (int round = 0; round < 5'000 && phase() == Phase::kSampling; ++round) engine->poll(1);
  ASSERT_EQ(phase(), Phase::kWarmingUp);
  ASSERT_EQ(engine.provenance().status, PosteriorStatus::kWarmingUp);
  for (int round = 0; round < 5'000 && phase() == Phase::kWarmingUp; ++round) engine->poll(1);
  ASSERT_EQ(phase(), Phase::kSampling) << "no approach, no burn-in";
}

TEST(LostMode, StatusIsOkOnceDrawsFromTheModeThatWasFoundHaveBeenCompared) {
  const Data data = rows_of_a_new_kind();
  const EngineConfig config = config_of(4);
  TestEngine engine(config);
  ASSERT_NO_FATAL_FAILURE(lose_the_mode(engine, data));
  engine.poll_rounds(1);
  EXPECT_EQ(engine.provenance().status, PosteriorStatus::kDegraded);
  EXPECT_EQ(engine.provenance().reason, StatusReason::kReplayRatio);
  engine.poll_until_idle();
  const Provenance p = engine.provenance();
  EXPECT_EQ(p.status, PosteriorStatus::kOk) << to_string(p.reason) << " " << p.ou_ratio;
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kColdStarts), 2U);
  expect_modes(engine, logistic_reference(data.design(), data.y, config.model));
}

// C is that of the usual rows where the chains go on, and is measured anew.
TEST(LostMode, DrawsComeToSpreadAsThePosterior) {
  const Data data = rows_of_a_new_kind();
  const EngineConfig config = config_of(0);
  TestEngine engine(config);
  ASSERT_NO_FATAL_FAILURE(lose_the_mode(engine, data));
  engine.poll_rounds(3'000);
  Trace trace(engine.summary().mean);
  engine->learner().set_trace(Trace::add, &trace);
  engine.poll_rounds(60'000);
  engine->learner().set_trace(nullptr, nullptr);
  const Gaussian drawn = trace.moments();
  const GlmReference::Moments exact =
      logistic_reference(data.design(), data.y, config.model).moments(100'000, 62);
  for (Index j = 0; j < 4; ++j) {
    const double sd = std::sqrt(exact.gaussian.covariance(j, j));
    EXPECT_NEAR((drawn.mean[j] - exact.gaussian.mean[j]) / sd, 0, 0.1) << j;
    EXPECT_NEAR(std::sqrt(drawn.covariance(j, j)) / sd, 1, 0.08) << j;
  }
}

// A step that is given may be too long where the mode is found again. Chains begin when it no
// longer is, and nothing is left of that.
TEST(LostMode, AStepThatWasTooLongMeanwhileIsForgotten) {
  Data data = logistic_data(2'400, 3, 0.5, 61);
  data.x.col(2).setZero();
  data.x.col(2).segment(kUsual, 300).setConstant(6);
  for (Index i = kUsual; i < kRows; ++i) data.y[i] = i % 40 == 0 ? 0 : 1;
  EngineConfig config = config_of(4);
  config.sampler.name = "sgd-completed";
  config.sampler.step_size = 0.5;
  TestEngine engine(config);
  engine.feed(data, 0, kUsual);
  ASSERT_TRUE(engine.poll_until_sampling());
  engine.poll_rounds(3'000);
  engine.feed(data, kUsual, kRows);
  engine.poll_rounds(3'000);
  ASSERT_EQ(engine.provenance().reason, StatusReason::kSamplersLaw);
  ASSERT_EQ(engine->learner().view().phase, Phase::kWarmingUp);
  for (Index row = kRows; row < data.rows(); row += 50) {
    engine.feed(data, row, row + 50);
    engine.poll_rounds(400);
  }
  engine.poll_rounds(5'000);
  const Provenance p = engine.provenance();
  EXPECT_EQ(engine->learner().view().phase, Phase::kSampling);
  EXPECT_TRUE(std::isfinite(p.law_ratio)) << p.law_ratio;
  EXPECT_EQ(p.status, PosteriorStatus::kOk) << to_string(p.reason);
}

// While the mode is sought, and where draws from there are still to come: an engine that is given
// the state goes on as the one it was taken from.
TEST(LostMode, IsPartOfTheState) {
  const Data data = rows_of_a_new_kind();
  const EngineConfig config = config_of(4);
  ManualClock clock;
  TestEngine engine(config, &clock);
  ASSERT_NO_FATAL_FAILURE(lose_the_mode(engine, data));
  for (const bool seeking : {false, true}) {
    if (seeking) {
      Data again = data;
      again.x.col(2) *= -40;
      engine.feed(again, kUsual, kRows);
      const auto phase = [&] { return engine->learner().view().phase; };
      for (int i = 0; i < 5'000 && phase() == Phase::kSampling; ++i) engine->poll(1);
      ASSERT_EQ(phase(), Phase::kWarmingUp);
    }
    const SavedState state = save(*engine);
    TestEngine restored(config, &clock);
    StateRestorer restorer(state);
    restored->state().visit_state(restorer);
    ASSERT_TRUE(restorer.fits());
    engine.poll_rounds(200);
    restored.poll_rounds(200);
    EXPECT_EQ(restored->learner().view().phase, Phase::kSampling) << seeking;
    EXPECT_EQ(difference(save(*restored), save(*engine)), "") << seeking;
  }
}

}  // namespace
}  // namespace windhover::test::lost_mode_test
