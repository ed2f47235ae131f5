#include "windhover/io/questions.h"

#include <gtest/gtest.h>

#include "windhover/tests/io/conversation_fixture.h"

namespace windhover::questions_test {
namespace {

using testing::Shared;

TEST(Questions, BudgetIsSpentByWhatIsDoneAtOnceAndATurnLaterIsThereAgain) {
  const ConversationContext nothing;
  Questions questions(nothing);
  questions.begin_turn(100);
  questions.charge(99);
  EXPECT_TRUE(questions.may_ask());
  questions.charge(1);
  EXPECT_FALSE(questions.may_ask());
  EXPECT_TRUE(questions.may_go_on());
  EXPECT_EQ(questions.spent(), 100);
  questions.charge(kTurnNs - 100);
  EXPECT_FALSE(questions.may_go_on());
  questions.begin_turn(100);
  EXPECT_TRUE(questions.may_ask());
  EXPECT_EQ(questions.spent(), 0);
}

TEST(Questions, WhereNoneMayBeAnsweredOtherThingsMayBeDone) {
  const ConversationContext nothing;
  Questions questions(nothing);
  questions.begin_turn(0);
  EXPECT_FALSE(questions.may_ask());
  EXPECT_TRUE(questions.may_go_on());
  EXPECT_FALSE(questions.is_answering());
}

TEST(Questions, AnswersCountAndCostInTheTurnTheyAreGivenIn) {
  Shared shared;
  Questions questions(shared.context);
  PeerRights rights;
  rights.begin(nullptr, {});
  std::vector<std::byte> room(shared.limits.reply_buffer);
  ReplyBuffer replies(room);
  questions.begin_turn(kTurnNs);
  RequestView status;
  status.kind = RequestKind::kStatus;
  EXPECT_EQ(questions.answer(status, shared.about, rights, replies), TurnEnd::kNeedInput);
  EXPECT_EQ(questions.answered(), 1U);
  EXPECT_EQ(questions.spent(), shared.queries.cost(status));
  EXPECT_FALSE(replies.empty());
  questions.begin_turn(kTurnNs);
  EXPECT_EQ(questions.answered(), 0U);
}

TEST(Questions, WithoutRoomForTheAnswerNothingIsAnswered) {
  Shared shared;
  Questions questions(shared.context);
  PeerRights rights;
  rights.begin(nullptr, {});
  std::array<std::byte, 64> room{};
  ReplyBuffer replies(room);
  questions.begin_turn(kTurnNs);
  RequestView status;
  status.kind = RequestKind::kStatus;
  EXPECT_EQ(questions.answer(status, shared.about, rights, replies), TurnEnd::kNeedRoom);
  EXPECT_EQ(questions.answered(), 0U);
  EXPECT_EQ(questions.spent(), 0);
  EXPECT_TRUE(replies.empty());
}

}  // namespace
}  // namespace windhover::questions_test
