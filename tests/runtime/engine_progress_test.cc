// How far an engine says it has come.
#include "windhover/runtime/engine_progress.h"

#include <gtest/gtest.h>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::engine_progress_test {
namespace {

struct Started {
  Started() : engine(small_config("linear", 2, 100)), data(linear_data(60, 2, 1.0, 9)) {}
  TestEngine engine;
  Data data;
};

TEST(EngineProgress, CountsThePollsThatHaveComeBack) {
  Started s;
  EXPECT_EQ(s.engine->progress().polls(), 0U);
  s.engine->poll(0);
  s.engine->poll(5);
  s.engine->progress().pause(true);
  s.engine->poll(5);
  EXPECT_EQ(s.engine->progress().polls(), 3U);
}

TEST(EngineProgress, RowsWaitUntilTheLearnerHasTakenThemIn) {
  Started s;
  EXPECT_EQ(s.engine->progress().waiting_rows(), 0U);
  s.engine.feed(s.data, 0, 40);
  EXPECT_EQ(s.engine->progress().offered_rows(), 40U);
  EXPECT_EQ(s.engine->progress().waiting_rows(), 40U);
  s.engine.poll_until_idle();
  EXPECT_EQ(s.engine->progress().waiting_rows(), 0U);
  s.engine.feed(s.data, 40, 60);
  EXPECT_EQ(s.engine->progress().offered_rows(), 60U);
  EXPECT_EQ(s.engine->progress().waiting_rows(), 20U);
}

TEST(EngineProgress, CountsWhatWaitsInTheEngineThatItFollows) {
  EngineConfig config = small_config("linear", 2, 100);
  config.max_followers = 1;
  TestEngine leader(config);
  config.max_followers = 0;
  config.follows = true;
  TestEngine follower(config);
  ASSERT_EQ(follower->follow(*leader), Status::kOk);
  leader.feed(linear_data(30, 2, 1.0, 9), 0, 30);
  EXPECT_EQ(follower->head(), 0U);
  EXPECT_EQ(follower->progress().offered_rows(), 30U);
  EXPECT_EQ(follower->progress().waiting_rows(), 30U);
  follower.poll_until_idle();
  EXPECT_EQ(follower->head(), 30U);
  EXPECT_EQ(follower->progress().offered_rows(), 30U);
  EXPECT_EQ(follower->progress().waiting_rows(), 0U);
}

TEST(EngineProgress, PausedNothingIsTakenIn) {
  Started s;
  s.engine->progress().pause(true);
  EXPECT_TRUE(s.engine->progress().paused());
  s.engine.feed(s.data, 0, 40);
  EXPECT_EQ(s.engine->poll(100), 0);
  EXPECT_EQ(s.engine->progress().waiting_rows(), 40U);
  s.engine->progress().pause(false);
  EXPECT_FALSE(s.engine->progress().paused());
  s.engine.poll_until_idle();
  EXPECT_EQ(s.engine->progress().waiting_rows(), 0U);
}

TEST(EngineProgress, AnswersRecoverUpToTheTarget) {
  Started s;
  s.engine.feed(s.data, 0, 40);
  s.engine.poll_until_idle();
  s.engine->progress().set_recovery_target(60);
  EXPECT_EQ(s.engine.provenance().status, PosteriorStatus::kRecovering);
  EXPECT_EQ(s.engine.provenance().recovery_target, 60U);
  s.engine.feed(s.data, 40, 60);
  s.engine.poll_until_idle();
  EXPECT_NE(s.engine.provenance().status, PosteriorStatus::kRecovering);
  EXPECT_EQ(s.engine->progress().recovery_target(), 0U);
}

}  // namespace
}  // namespace windhover::test::engine_progress_test
