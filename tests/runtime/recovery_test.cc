// After a restart answers say how far the rows of before have come back.
#include <gtest/gtest.h>

#include "windhover/tests/runtime/engine_fixture.h"
#include "windhover/tests/runtime/memory_stream.h"

namespace windhover::test::recovery_test {
namespace {

EngineConfig recovering_config() {
  EngineConfig config = small_config("linear", 3, 300);
  config.checkpoints = true;
  return config;
}

void expect_recovering(const Provenance& p, std::uint64_t target) {
  EXPECT_EQ(p.status, PosteriorStatus::kRecovering);
  EXPECT_EQ(p.reason, StatusReason::kReplay);
  EXPECT_EQ(p.recovery_target, target);
  EXPECT_LT(p.sequence, target);
}

TEST(Recovery, AnswersSayItUntilTheRowsAreIn) {
  const Data data = linear_data(700, 3, 1.0, 5);
  TestEngine before(recovering_config());
  before.feed(data, 0, 500);
  before.poll_until_idle();
  ASSERT_EQ(before.provenance().status, PosteriorStatus::kOk);
  EXPECT_EQ(before.provenance().recovery_target, 0u);
  const Bytes checkpoint = bytes_of(*before);
  before.feed(data, 500, 620);
  before.poll_until_idle();

  TestEngine engine(recovering_config());
  engine->progress().set_recovery_target(620);
  expect_recovering(engine.provenance(), 620);
  ASSERT_EQ(restore_error(*engine, checkpoint).status, Status::kOk);
  engine->progress().set_recovery_target(620);
  expect_recovering(engine.provenance(), 620);
  EXPECT_EQ(engine.provenance().sequence, 500u);
  // All kinds of answer.
  const double x[3] = {1, 2, 3};
  Provenance p;
  (void)engine.answers(question(1, x), &p);
  expect_recovering(p, 620);
  std::vector<double> draws(4 * 64);
  ASSERT_EQ(engine.reader().draws(0, 0, 64, draws, p), Status::kOk);
  expect_recovering(p, 620);
  engine.reader().release();

  engine.feed(data, 500, 619);
  engine.poll_until_idle();
  expect_recovering(engine.provenance(), 620);
  EXPECT_EQ(engine.provenance().sequence, 619u);
  engine.feed(data, 619, 620);
  engine.poll_until_idle();
  p = engine.provenance();
  EXPECT_EQ(p.status, PosteriorStatus::kOk) << to_string(p.reason);
  EXPECT_EQ(p.recovery_target, 0u);
  EXPECT_EQ(p.sequence, 620u);
  EXPECT_EQ(engine.parameters()[0].mean, before.parameters()[0].mean);
}

// Two rows are too few for a mode to be looked for again, or for chains: when the learner rests
// with all there are, the answer says so, and not that it is still on its way.
TEST(Recovery, EndsWhenTheLearnerRestsWithAllRows) {
  const Data data = linear_data(700, 3, 1.0, 5);
  for (const Index rows : {1, 2, 5, 30, 73, 200}) {
    EngineConfig config = recovering_config();
    config.window_size = 1000;
    TestEngine engine(config);
    engine->progress().set_recovery_target(static_cast<std::uint64_t>(rows));
    engine.feed(data, 0, rows - 1);
    engine.poll_until_idle();
    engine->poll(8);
    expect_recovering(engine.provenance(), static_cast<std::uint64_t>(rows));
    engine.feed(data, rows - 1, rows);
    engine.poll_until_idle();
    EXPECT_NE(engine.provenance().status, PosteriorStatus::kRecovering) << rows;
  }
  TestEngine engine(recovering_config());
  engine->progress().set_recovery_target(3);
  engine->poll(0);
  expect_recovering(engine.provenance(), 3);
  engine->progress().set_recovery_target(0);
  EXPECT_EQ(engine.provenance().status, PosteriorStatus::kWarmingUp);
}

// A learner that never rests comes to it by its passes.
TEST(Recovery, EndsWithoutARestWhereThereIsNone) {
  EngineConfig config = recovering_config();
  config.draws_per_observation = 0;
  const Data data = linear_data(700, 3, 1.0, 5);
  for (const Horizon horizon : {Horizon::kWindow, Horizon::kAll}) {
    config.horizon = horizon;
    TestEngine engine(config);
    engine->progress().set_recovery_target(700);
    engine.feed(data);
    for (int i = 0; i < 20'000 && engine.provenance().sequence < 700; ++i) engine->poll(1);
    EXPECT_NE(engine.provenance().status, PosteriorStatus::kRecovering);
  }
}

}  // namespace
}  // namespace windhover::test::recovery_test
