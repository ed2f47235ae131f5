// What a connection brings, without the connection: rows, outcomes, and whose they are.
#include "windhover/io/row_intake.h"

#include "windhover/tests/io/row_intake_fixture.h"

namespace windhover::testing::row_intake_test {
namespace {

TEST_F(RowIntakeTest, OfWhoOnlyAsksItIsOffAndTouchesNothing) {
  ModelContext asks = shared_.about;
  asks.producers = nullptr;
  Intake intake(shared_);
  EXPECT_TRUE(intake->is_on());
  intake->begin();
  EXPECT_FALSE(intake->is_on());
  intake->enter(asks, Durability::kMemory);
  EXPECT_FALSE(intake->is_on());
  EXPECT_FALSE(intake->first_in_line());
  intake->leave_line();
  intake->end();
  EXPECT_EQ(intake->why_it_waits(), refusal_of(Status::kWindowFull));
  EXPECT_TRUE(intake.told().empty());
}

TEST_F(RowIntakeTest, EveryRowIsCountedOnceAsWhatBecameOfIt) {
  Intake intake(shared_);
  EXPECT_EQ(intake.observe(Rows(7, 0, 5, 3)), TurnEnd::kNeedInput);
  expect_rows(3, 2, 0);
  EXPECT_EQ(intake.observe(Rows(7, 2, 5)), TurnEnd::kNeedInput) << "three of them again";
  expect_rows(5, 2, 3);
  EXPECT_EQ(intake.observe(Rows(7, 0, 7)), TurnEnd::kNeedInput) << "all of them";
  expect_rows(5, 2, 10);
  EXPECT_EQ(next(7), 7U);
  const v1::ObserveAck ack = intake.told_once().observe_ack();
  EXPECT_EQ(ack.accepted(), 5U);
  EXPECT_EQ(ack.refused(), 2U);
  EXPECT_EQ(ack.duplicate(), 10U);
  EXPECT_EQ(ack.producer_next(), 7U);
}

TEST_F(RowIntakeTest, AFrameThatIsWrongAsAWholeIsRefusedRowByRowAndNotExpectedAgain) {
  Intake intake(shared_);
  EXPECT_EQ(intake.observe(Rows(7, 0, 33)), TurnEnd::kNeedInput) << "one more than there may be";
  expect_rows(0, 33, 0);
  EXPECT_EQ(next(7), 33U);
  EXPECT_EQ(intake.told_once().observe_ack().refused(), 33U);
}

TEST_F(RowIntakeTest, AFrameWithoutRowsTellsWhereItsProducerIs) {
  Intake intake(shared_);
  EXPECT_EQ(intake.observe(Rows(7, 0, 4)), TurnEnd::kNeedInput);
  (void)intake.told();
  EXPECT_EQ(intake.observe(Rows(7, 0, 0)), TurnEnd::kNeedInput);
  EXPECT_EQ(intake.told_once().observe_ack().producer_next(), 4U);
  EXPECT_EQ(intake.observe(Rows(0, 0, 0)), TurnEnd::kNeedInput);
  EXPECT_EQ(intake.told_once().observe_ack().producer_next(), 0U);
  expect_rows(4, 0, 0);
}

TEST_F(RowIntakeTest, WhoFindsNoRoomFirstIsTheFirstToGetIt) {
  Intake first(shared_);
  Intake second(shared_);
  fill(first);
  EXPECT_EQ(first.observe(Rows(1, 0, 32)), TurnEnd::kWindowFull);
  EXPECT_TRUE(first->first_in_line());
  EXPECT_EQ(first->why_it_waits(), refusal_of(Status::kWindowFull));
  EXPECT_EQ(second.observe(Rows(2, 0, 1)), TurnEnd::kWindowFull);
  EXPECT_FALSE(second->first_in_line());
  learn();
  EXPECT_EQ(second.observe(Rows(2, 0, 1)), TurnEnd::kWindowFull) << "the room is the other's";
  EXPECT_EQ(count(IoCounter::kWindowFullWaits), 3U);
  expect_rows(64, 0, 0);
  EXPECT_FALSE(claimed(1)) << "a frame that waits claims nothing";
  EXPECT_EQ(first.observe(Rows(1, 0, 32)), TurnEnd::kBudget) << "now it is the others' turn";
  EXPECT_FALSE(first->first_in_line());
  EXPECT_EQ(second.observe(Rows(2, 0, 1)), TurnEnd::kNeedInput) << "it was not the first";
  expect_rows(97, 0, 0);
}

TEST_F(RowIntakeTest, WhoLeavesTheLineOrEndsLetsOthersHaveTheRoom) {
  Intake second(shared_);
  {
    Intake first(shared_);
    fill(first);
    EXPECT_EQ(first.observe(Rows(0, 0, 1)), TurnEnd::kWindowFull);
    second->leave_line();
    EXPECT_TRUE(first->first_in_line()) << "another one's";
    first->leave_line();
    EXPECT_FALSE(first->first_in_line());
    EXPECT_EQ(first.observe(Rows(0, 0, 1)), TurnEnd::kWindowFull);
    learn();
    EXPECT_EQ(second.observe(Rows(0, 0, 1)), TurnEnd::kWindowFull);
  }
  EXPECT_EQ(shared_.model.first_in_line, nullptr);
  EXPECT_EQ(second.observe(Rows(0, 0, 1)), TurnEnd::kNeedInput);
}

TEST_F(RowIntakeTest, WhatIsRefusedIsCountedAndClaimsNothing) {
  Intake intake(shared_);
  Intake other(shared_);
  const auto refused = [&](const Rows& rows) {
    EXPECT_EQ(intake.observe(rows), TurnEnd::kNeedInput);
    return intake.told_once().refusal();
  };
  EXPECT_EQ(other.observe(Rows(5, 0, 10)), TurnEnd::kNeedInput);
  EXPECT_EQ(refused(Rows(6, 3, 2)).reason(), v1::REASON_UNKNOWN_PRODUCER);
  EXPECT_EQ(refused(Rows(5, 10, 2)).reason(), v1::REASON_PRODUCER_BUSY);
  EXPECT_EQ(count(IoCounter::kFramesRefusedProducer), 2U);
  EXPECT_EQ(refused(Rows(kNoProducer, 0, 2)).reason(), v1::REASON_INVALID_ARGUMENT);
  EXPECT_EQ(refused(Rows(6, UINT64_MAX, 2)).reason(), v1::REASON_UNKNOWN_PRODUCER);
  other->end();
  const v1::Refusal gap = refused(Rows(5, 12, 2));
  EXPECT_EQ(gap.reason(), v1::REASON_SEQUENCE_GAP);
  EXPECT_EQ(gap.number(), 10U) << "what is expected";
  EXPECT_EQ(count(IoCounter::kFramesRefusedGap), 2U);
  EXPECT_EQ(shared_.producers.size(), 1U);
  EXPECT_FALSE(claimed(5));
  EXPECT_EQ(next(5), 10U);
  expect_rows(10, 10, 0);
}

TEST_F(RowIntakeTest, NumbersDoNotGoOnBeyondTheLastThereIs) {
  Intake intake(shared_);
  Rows rows(7, UINT64_MAX - 3, 3);
  rows.request.begins_here = true;
  EXPECT_EQ(intake.observe(rows), TurnEnd::kNeedInput);
  expect_rows(3, 0, 0);
  EXPECT_EQ(next(7), UINT64_MAX);
  (void)intake.told();
  EXPECT_EQ(intake.observe(Rows(7, UINT64_MAX, 1)), TurnEnd::kNeedInput);
  EXPECT_EQ(intake.told_once().refusal().reason(), v1::REASON_INVALID_ARGUMENT);
  expect_rows(3, 1, 0);
}

TEST_F(RowIntakeTest, WhoEndsLeavesItsProducersToOthers) {
  Intake second(shared_);
  {
    Intake first(shared_);
    EXPECT_EQ(first.observe(Rows(5, 0, 1)), TurnEnd::kNeedInput);
    EXPECT_TRUE(claimed(5));
    EXPECT_EQ(second.observe(Rows(5, 1, 1)), TurnEnd::kNeedInput);
    EXPECT_EQ(second.told_once().refusal().reason(), v1::REASON_PRODUCER_BUSY);
  }
  EXPECT_FALSE(claimed(5));
  EXPECT_EQ(second.observe(Rows(5, 1, 1)), TurnEnd::kNeedInput);
  EXPECT_EQ(second.told_once().observe_ack().accepted(), 1U);
  EXPECT_EQ(count(IoCounter::kProducersTakenOver), 0U);
}

TEST_F(RowIntakeTest, OutcomesThatCannotBeAreRefusedUnread) {
  shared_.model.limits.max_rows = 2;
  Intake intake(shared_);
  EXPECT_EQ(intake.outcome({"a", "b", "c"}), TurnEnd::kNeedInput);
  const v1::Refusal large = intake.told_once().refusal();
  EXPECT_EQ(large.reason(), v1::REASON_TOO_LARGE);
  EXPECT_EQ(large.number(), 2U);
  shared_.model.limits.pending_keys = 0;
  EXPECT_EQ(intake.outcome({"a"}), TurnEnd::kNeedInput);
  EXPECT_EQ(intake.told_once().refusal().reason(), v1::REASON_KEY_NOT_TAKEN);
  expect_rows(0, 4, 0);
}

TEST_F(RowIntakeTest, OutcomesOfUnknownKeysAreRefusedAndNoneIsNothing) {
  Intake intake(shared_);
  EXPECT_EQ(intake.outcome({"a", "b"}), TurnEnd::kNeedInput);
  EXPECT_EQ(intake.told_once().outcome_result().refused(), 2U);
  EXPECT_EQ(intake.outcome({}), TurnEnd::kNeedInput);
  EXPECT_EQ(intake.told_once().outcome_result().refused(), 0U);
  expect_rows(0, 2, 0);
}

TEST_F(RowIntakeTest, ToldWhereAProducerIs) {
  Intake intake(shared_);
  const auto status = [&](std::uint64_t producer) {
    intake->begin_turn();
    EXPECT_EQ(intake->producer_status(1, producer, intake.replies()), TurnEnd::kNeedInput);
    return intake.told_once();
  };
  EXPECT_EQ(status(0).refusal().reason(), v1::REASON_INVALID_ARGUMENT);
  EXPECT_FALSE(status(7).producer_status_result().known());
  EXPECT_EQ(intake.observe(Rows(7, 0, 4)), TurnEnd::kNeedInput);
  (void)intake.told();
  const v1::ProducerStatusResult known = status(7).producer_status_result();
  EXPECT_TRUE(known.known());
  EXPECT_EQ(known.next(), 4U);
  EXPECT_TRUE(known.live());
  EXPECT_EQ(count(IoCounter::kQueries), 2U) << "what is refused is none";
}

TEST_F(RowIntakeTest, NothingTimesOutWhereNobodyHasAsked) {
  EXPECT_FALSE(settle_labels(shared_.about, shared_.state));
  expect_rows(0, 0, 0);
}

class SmallTable : public RowIntakeTest {
 protected:
  SmallTable() : RowIntakeTest(1) {}
};

TEST_F(SmallTable, OneProducerTooManyIsToldHowManyThereMayBe) {
  Intake intake(shared_);
  EXPECT_EQ(intake.observe(Rows(1, 0, 1)), TurnEnd::kNeedInput);
  (void)intake.told();
  EXPECT_EQ(intake.observe(Rows(2, 0, 3)), TurnEnd::kNeedInput);
  const v1::Refusal full = intake.told_once().refusal();
  EXPECT_EQ(full.reason(), v1::REASON_TABLE_FULL);
  EXPECT_EQ(full.number(), 1U);
  EXPECT_EQ(count(IoCounter::kFramesRefusedTableFull), 1U);
  EXPECT_EQ(count(IoCounter::kFramesRefusedShareFull), 0U);
  expect_rows(1, 3, 0);
}

}  // namespace
}  // namespace windhover::testing::row_intake_test
