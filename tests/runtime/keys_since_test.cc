// Keys of which something became after the moment that was saved: they are as they were then, and
// are settled when their rows come again.
#include <cmath>
#include <limits>

#include "windhover/tests/runtime/saved_keys_fixture.h"

namespace windhover::test::saved_keys_test {
namespace {

// What became of keys after the moment of the checkpoint is not in it: a log may tell it again.
class KeysSince : public testing::Test {
 protected:
  KeysSince() : served_(config(), 11) {
    for (const char* key : {"a", "b", "c"}) served_.ask(key, served_.data, 300, &y());
    EXPECT_EQ(served_.tell("c", y()).accepted, 1u);
    served_.learn();
    EXPECT_EQ(served_.engine->state().request_capture(), Status::kOk);
    served_.engine->poll(0);
    EXPECT_TRUE(served_.engine->state().captured());
    head_ = served_.engine->head();
  }
  static EngineConfig config() {
    EngineConfig config = saved_config_of("linear");
    config.labels.timeout_outcome = 0;
    return config;
  }
  const double& y() const { return served_.data.y[300]; }
  Bytes saved() { return saved_capture(*served_.engine, head_); }
  std::uint64_t hash_of(std::uint64_t row) { return served_.engine->labels().hash_of(row); }

  Learned served_;
  std::uint64_t head_ = 0;
};

TEST_F(KeysSince, AreAsTheyWereThen) {
  EXPECT_EQ(served_.tell("a", y()).accepted, 1u);
  Restored again(config(), saved());
  EXPECT_EQ(again.engine->labels().pending(), 2u);
  EXPECT_EQ(again.tell("c", y()).duplicate, 1u);
  EXPECT_EQ(again.tell("a", y()).accepted, 1u) << "its row is not there";
}

TEST_F(KeysSince, AreSettledWithTheRowsThatTheyBecame) {
  EXPECT_EQ(served_.tell("a", y()).accepted, 1u);
  served_.clock.advance_ns(60 * kSecond);
  EXPECT_EQ(served_.engine->labels().settle(9).accepted, 1u) << "b";
  const std::uint64_t a = hash_of(head_);
  const std::uint64_t b = hash_of(head_ + 1);
  EXPECT_NE(a, b);
  Restored again(config(), saved());
  LateLabels& labels = again.engine->labels();
  labels.settle_again(a ^ 1, KeyState::kJoined, head_);
  EXPECT_EQ(labels.pending(), 2u) << "nobody's";
  for (int times = 0; times < 2; ++times) {  // as where the window was full
    labels.settle_again(a, KeyState::kJoined, head_);
    labels.settle_again(b, KeyState::kTimedOut, head_ + 1);
    EXPECT_EQ(labels.pending(), 0u);
  }
  EXPECT_EQ(again.tell("a", y()).duplicate, 1u);
  EXPECT_EQ(again.tell("b", y()).refused, 1u);
  EXPECT_EQ(again.refused.reason, Status::kKeyTimedOut);
  again.expect_counted();
}

// The rows come again, and are scored by what was answered in the life before.
TEST_F(KeysSince, HaveTheirRowsScoredByTheAnswerOfThen) {
  const double& outcome = served_.data.y[301];
  const PredictiveSummary then = served_.ask("a", served_.data, 301, &outcome);
  EXPECT_EQ(served_.tell("a", outcome).accepted, 1u);
  Restored again(config(), saved());
  again.stream(served_.data, 320, 500);
  const double now = again.ask("", served_.data, 301, &outcome).log_score;
  ASSERT_GT(std::abs(now - then.log_score), 1'000 * kOff);
  const double before = again.sum_of(&ScoreMeans::log_score);
  again.engine->labels().settle_again(hash_of(head_), KeyState::kJoined, again.engine->head());
  again.engine.feed(served_.data, 301, 302);
  again.learn();
  EXPECT_NEAR(again.sum_of(&ScoreMeans::log_score) - before, then.log_score, kOff);
}

// Asked about again it is another key, whose outcome is still to come.
TEST_F(KeysSince, OneThatWasAskedAboutAgainIsPending) {
  EXPECT_EQ(served_.tell("a", y()).accepted, 1u);
  const std::uint64_t a = hash_of(head_);
  EXPECT_EQ(served_.ask("a", served_.data, 302).pending, PendingKey::kKept);
  Restored again(config(), saved());
  again.engine->labels().settle_again(a, KeyState::kJoined, head_);
  EXPECT_EQ(again.engine->labels().pending(), 2u);
  again.engine->labels().settle_again(a, KeyState::kJoined, head_ + 1);
  EXPECT_EQ(again.engine->labels().pending(), 1u);
}

// While a log is learned again questions are answered, and their keys are none of the log's.
TEST_F(KeysSince, OneAskedAboutWhileTheLogIsReadIsPending) {
  EXPECT_EQ(served_.ask("new", served_.data, 302).pending, PendingKey::kKept);
  EXPECT_EQ(served_.tell("new", y()).accepted, 1u);
  const std::uint64_t hash = hash_of(head_);
  Restored again(config(), saved());
  again.engine->progress().set_recovery_target(head_ + 1);
  EXPECT_EQ(again.ask("new", served_.data, 303).pending, PendingKey::kReplaced);
  again.engine->labels().settle_again(hash, KeyState::kJoined, head_);
  EXPECT_EQ(again.tell("new", y()).accepted, 1u);
}

// A question does not drop a key that is overdue while its row may still be in the log.
TEST_F(KeysSince, AreNotDroppedWhileTheLogIsRead) {
  EngineConfig config = KeysSince::config();
  config.labels.pending = 2;
  config.labels.timeout_outcome = std::numeric_limits<double>::quiet_NaN();
  Restored again(config, saved());
  EXPECT_EQ(again.engine->labels().pending(), 2u);
  again.engine->progress().set_recovery_target(head_ + 1);
  again.clock.advance_ns(60 * kSecond);
  EXPECT_EQ(again.ask("d", served_.data, 302).pending, PendingKey::kTableFull);
  again.engine->progress().set_recovery_target(0);
  EXPECT_EQ(again.ask("d", served_.data, 302).pending, PendingKey::kKept);
  EXPECT_EQ(again.engine->labels().pending(), 2u);
}

TEST_F(KeysSince, AreRowsBelowTheEndOfThem) {
  const LateLabels& labels = served_.engine->labels();
  EXPECT_EQ(labels.rows_end(), head_);
  served_.engine.feed(served_.data, 310, 312);
  EXPECT_EQ(labels.rows_end(), head_);
  EXPECT_EQ(served_.tell("a", y()).accepted, 1u);
  EXPECT_EQ(labels.rows_end(), served_.engine->head());
  Restored again(config(), saved());
  EXPECT_EQ(again.engine->labels().rows_end(), head_);
}

}  // namespace
}  // namespace windhover::test::saved_keys_test
