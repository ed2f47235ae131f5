// An engine that follows another: the same rows, in order, each once, and its own posterior.
#include <gtest/gtest.h>

#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"
#include "windhover/tests/runtime/saved_state.h"

namespace windhover::test::follow_test {
namespace {

EngineConfig leader_config() {
  EngineConfig config = small_config("linear", 3, 400);
  config.max_followers = 2;
  return config;
}
EngineConfig follower_config() {
  EngineConfig config = small_config("linear", 3, 400);
  config.follows = true;
  return config;
}

void feed(Engine& engine, std::uint64_t rows, std::uint64_t seed) {
  const VectorXd z = normals(seed, static_cast<Index>(4 * rows));
  for (std::uint64_t i = 0; i < rows; ++i) {
    const double* x = z.data() + 4 * i;
    ASSERT_EQ(engine.observe({x, 3}, x[0] - 2 * x[1] + x[3]), Status::kOk);
  }
}

TEST(Follow, HasTheBitsOfOneThatWasGivenTheRowsItself) {
  ManualClock clock(1'000'000);
  TestEngine leader(leader_config(), &clock);
  TestEngine follower(follower_config(), &clock);
  TestEngine own(follower_config(), &clock);
  ASSERT_EQ(follower->follow(*leader), Status::kOk);
  for (int turn = 0; turn < 8; ++turn) {
    feed(*leader, 100, static_cast<std::uint64_t>(turn));
    feed(*own, 100, static_cast<std::uint64_t>(turn));
    leader->poll(20);
    follower->poll(20);
    own->poll(20);
    EXPECT_EQ(follower->head(), leader->head());
  }
  EXPECT_EQ(difference(save(*follower), save(*own)), "");
}

TEST(Follow, BeginsWithTheRowsThatTheLeaderHolds) {
  TestEngine leader(leader_config());
  TestEngine follower(follower_config());
  for (std::uint64_t i = 0; i < 10; ++i) {
    feed(*leader, 500, i);
    while (leader->poll(100) > 0) continue;
  }
  ASSERT_EQ(follower->follow(*leader), Status::kOk);
  Reader reader = follower->reader().value();
  std::vector<ParameterSummary> summaries(follower->dimension());
  Provenance provenance;
  ASSERT_EQ(reader.posterior(summaries, provenance), Status::kOk);
  EXPECT_EQ(provenance.status, PosteriorStatus::kRecovering) << "it does not hold them yet";
  while (follower->poll(100) > 0) continue;
  ASSERT_EQ(reader.posterior(summaries, provenance), Status::kOk);
  EXPECT_EQ(follower->head(), 400U);
  EXPECT_NE(provenance.status, PosteriorStatus::kRecovering);
  EXPECT_NEAR(summaries[0].mean, 1, 0.3);
  EXPECT_NEAR(summaries[1].mean, -2, 0.3);
}

TEST(Follow, TheLeadersWriterWaitsForOneThatIsBehind) {
  TestEngine leader(leader_config());
  TestEngine follower(follower_config());
  ASSERT_EQ(follower->follow(*leader), Status::kOk);
  const std::vector<double> x = {1, 2, 3};
  std::uint64_t rows = 0;
  while (leader->observe(x, 0.5) == Status::kOk) {
    ++rows;
    ASSERT_LT(rows, 1'000'000U);
    if (rows % 10 == 0) leader->poll(1);
  }
  while (follower->head() < rows) ASSERT_GE(follower->poll(5), 0);
  EXPECT_EQ(follower->progress().offered_rows(), rows);
  EXPECT_EQ(leader->observe(x, 0.5), Status::kOk);
}

TEST(Follow, RefusesWhatItsModelDoesNotAllow) {
  EngineConfig counts = follower_config();
  counts.model.name = "poisson";
  TestEngine leader(leader_config());
  TestEngine follower(counts);
  ASSERT_EQ(follower->follow(*leader), Status::kOk);
  const std::vector<double> x = {1, 2, 3};
  ASSERT_EQ(leader->observe(x, 2), Status::kOk);
  ASSERT_EQ(leader->observe(x, -2), Status::kOk);
  ASSERT_EQ(leader->observe(x, 3), Status::kOk);
  follower->poll(1);
  EXPECT_EQ(follower->head(), 2U);
  EXPECT_EQ(follower->counters().get(RuntimeCounter::kRowsRefusedTarget), 1U);
}

TEST(Follow, SaysWhyItCannot) {
  TestEngine leader(leader_config());
  TestEngine without_room(leader_config());
  EXPECT_EQ(without_room->follow(*leader), Status::kUnsupported);
  EngineConfig wider = follower_config();
  wider.model.features = 4;
  TestEngine other_rows(wider);
  EXPECT_EQ(other_rows->follow(*leader), Status::kWrongDimension);
  TestEngine one(follower_config());
  EXPECT_EQ(one->follow(*one), Status::kInvalidArgument);
  EXPECT_EQ(one->follow(*leader), Status::kOk);
  EXPECT_EQ(one->follow(*leader), Status::kInvalidArgument) << "it follows already";
  TestEngine two(follower_config());
  TestEngine three(follower_config());
  EXPECT_EQ(two->follow(*leader), Status::kOk);
  EXPECT_EQ(three->follow(*leader), Status::kUnavailable);
}

TEST(Pause, OneThatFollowsMissesRowsAndHoldsNobodyUp) {
  TestEngine leader(leader_config());
  TestEngine follower(follower_config());
  ASSERT_EQ(follower->follow(*leader), Status::kOk);
  feed(*leader, 100, 1);
  follower->poll(1);
  follower->progress().pause(true);
  for (std::uint64_t i = 0; i < 20; ++i) {
    feed(*leader, 500, i);
    while (leader->poll(100) > 0) continue;
    follower->poll(1);
  }
  follower->progress().pause(false);
  feed(*leader, 50, 3);
  follower->poll(1);
  EXPECT_EQ(leader->head(), 10'150U);
  EXPECT_EQ(follower->head(), 150U);
}

TEST(Pause, LearnsNothingMeanwhileAndLosesNothing) {
  TestEngine engine(follower_config());
  feed(*engine, 500, 1);
  while (engine->poll(100) > 0) continue;
  engine->progress().pause(true);
  EXPECT_TRUE(engine->progress().paused());
  feed(*engine, 100, 2);
  EXPECT_EQ(engine->poll(100), 0);
  EXPECT_EQ(engine->progress().waiting_rows(), 100U);
  engine->progress().pause(false);
  while (engine->poll(100) > 0) continue;
  EXPECT_EQ(engine->progress().waiting_rows(), 0U);
  EXPECT_EQ(engine->head(), 600U);
}

}  // namespace
}  // namespace windhover::test::follow_test
