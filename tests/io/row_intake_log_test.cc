// Rows of a connection where there is a log: what goes there, and what waits for it.
#include "windhover/io/row_intake.h"

#include "windhover/tests/io/row_intake_fixture.h"

namespace windhover::testing::row_intake_test {
namespace {

// Rows of a server with a log that has come to frame 10.
class LoggedRows : public RowIntakeTest {
 protected:
  static constexpr std::uint64_t kRowBytes = (kFeatures + 1) * sizeof(double);

  LoggedRows() : feed_(&ring_, progress_, &wake_, {kRowBytes, 40 * kRowBytes}) {
    ring_.reset(10);
    progress_.durable_frames = 10;
    progress_.room_until = 1 << 20;
    shared_.about.feed = &feed_;
    shared_.model.durability = Durability::kLogged;
  }
  // The oldest frame that is on its way to the log.
  LoggedFrame take() {
    const LoggedFrame* const front = ring_.front();
    EXPECT_NE(front, nullptr);
    if (front == nullptr) return {};
    const LoggedFrame frame = *front;
    ring_.take();
    return frame;
  }

  MappedBlock block_{1 << 16};
  Arena arena_{block_.bytes()};
  FrameRing ring_{arena_, 16};
  LogProgress progress_;
  Wake wake_;
  FrameFeed feed_;
};

TEST_F(LoggedRows, NothingIsJudgedBeforeTheLogHasBeenLearnedAgain) {
  Intake intake(shared_);
  EXPECT_EQ(intake.observe(Rows(7, 0, 2)), TurnEnd::kWindowFull);
  EXPECT_EQ(intake->why_it_waits(), refusal_of(Status::kLogFull));
  EXPECT_EQ(intake->producer_status(1, 7, intake.replies()), TurnEnd::kWindowFull);
  EXPECT_EQ(count(IoCounter::kLogBehindWaits), 1U);
  EXPECT_TRUE(intake->first_in_line());
  expect_rows(0, 0, 0);
  feed_.open(10);
  EXPECT_EQ(intake.observe(Rows(7, 0, 2)), TurnEnd::kBudget);
  EXPECT_EQ(feed_.pushed(), 11U);
}

TEST_F(LoggedRows, AFrameGoesToTheLogOnceWithWhatBecameOfItsRows) {
  feed_.open(10);
  Intake intake(shared_);
  EXPECT_EQ(intake.observe(Rows(7, 0, 5, 4)), TurnEnd::kNeedInput);
  const LoggedFrame frame = take();
  EXPECT_EQ(frame.number, 10U);
  EXPECT_EQ(frame.producer, 7U);
  EXPECT_EQ(frame.next, 5U);
  EXPECT_EQ(frame.accepted, 4U);
  EXPECT_EQ(frame.refused, 1U);
  EXPECT_EQ(frame.head, 0U);
  EXPECT_EQ(intake.observe(Rows(7, 0, 5)), TurnEnd::kNeedInput);
  EXPECT_EQ(feed_.pushed(), 11U) << "duplicates are there already";
  EXPECT_EQ(intake.observe(Rows(7, 5, 2, 0)), TurnEnd::kNeedInput);
  EXPECT_EQ(take().next, 7U) << "of rows that are refused the log says where they end";
  EXPECT_EQ(intake.observe(Rows(0, 0, 1)), TurnEnd::kNeedInput);
  EXPECT_EQ(take().head, 4U);
  EXPECT_EQ(ring_.front(), nullptr);
}

TEST_F(LoggedRows, WithoutRoomInTheLogAFrameWaitsAndIsTheNextToHaveSome) {
  feed_.open(10);
  Intake first(shared_);
  Intake second(shared_);
  progress_.room_until = feed_.bytes_of(32) - 1;
  EXPECT_EQ(first.observe(Rows(1, 0, 32)), TurnEnd::kWindowFull);
  EXPECT_TRUE(first->first_in_line());
  progress_.room_until = feed_.bytes_of(32);
  EXPECT_EQ(second.observe(Rows(2, 0, 1)), TurnEnd::kWindowFull) << "the room is the other's";
  EXPECT_EQ(first.observe(Rows(1, 0, 32)), TurnEnd::kBudget) << "to the byte";
  EXPECT_EQ(second.observe(Rows(2, 0, 1)), TurnEnd::kWindowFull);
  EXPECT_TRUE(second->first_in_line());
  EXPECT_EQ(count(IoCounter::kLogBehindWaits), 2U);
  EXPECT_EQ(count(IoCounter::kWindowFullWaits), 1U);
  expect_rows(32, 0, 0);
}

// A frame is one record of one commit: the log would never be rid of a larger one, and everybody
// would wait behind it.
TEST_F(LoggedRows, AFrameThatIsTooLargeForTheLogIsRefused) {
  FrameFeed small(&ring_, progress_, &wake_, {kRowBytes, 8 * kRowBytes + 1});
  small.open(10);
  shared_.about.feed = &small;
  Intake intake(shared_, Durability::kLogged);
  EXPECT_EQ(intake.observe(Rows(7, 0, 9)), TurnEnd::kNeedInput);
  EXPECT_EQ(take().refused, 9U);
  expect_rows(0, 9, 0);
  EXPECT_EQ(next(7), 9U) << "sent again it would be as large";
  EXPECT_EQ(intake.observe(Rows(7, 9, 8)), TurnEnd::kNeedInput);
  EXPECT_EQ(take().accepted, 8U);
  progress_.durable_frames = 12;
  const std::vector<v1::Response> told = intake.told();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told[0].observe_ack().refused(), 9U);
  EXPECT_EQ(told[0].observe_ack().refused_reason(0), v1::REASON_TOO_LARGE);
}

// Outcomes are short, the rows that they bring into the log are not.
TEST_F(LoggedRows, MoreOutcomesThanTheLogHasRoomForAtOnceAreRefused) {
  FrameFeed small(&ring_, progress_, &wake_, {kRowBytes, 8 * kRowBytes + 1});
  small.open(10);
  shared_.about.feed = &small;
  Intake intake(shared_, Durability::kLogged);
  EXPECT_EQ(intake.outcome(std::vector<std::string>(9, "a")), TurnEnd::kNeedInput);
  const v1::Refusal refusal = intake.told_once().refusal();
  EXPECT_EQ(refusal.reason(), v1::REASON_TOO_LARGE);
  EXPECT_EQ(refusal.number(), 8U);
  EXPECT_EQ(intake.outcome(std::vector<std::string>(8, "a")), TurnEnd::kNeedInput);
  EXPECT_EQ(ring_.front(), nullptr) << "nobody has asked with this key";
}

TEST_F(LoggedRows, NoMoreIsJudgedThanCanBeAcknowledged) {
  feed_.open(10);
  Intake intake(shared_, Durability::kLogged);
  progress_.committing_frames = UINT64_MAX;  // each is in a commit of its own
  for (std::size_t i = 0; i < AckQueue::kCapacity; ++i) {
    EXPECT_EQ(intake.observe(Rows(0, 0, 1)), TurnEnd::kNeedInput);
  }
  EXPECT_TRUE(intake.told().empty());
  EXPECT_EQ(intake.observe(Rows(0, 0, 1)), TurnEnd::kLogBehind);
  EXPECT_EQ(intake->why_it_waits(), refusal_of(Status::kLogFull));
  EXPECT_EQ(intake.outcome({"a"}), TurnEnd::kLogBehind);
  expect_rows(AckQueue::kCapacity, 0, 0);
  EXPECT_EQ(feed_.pushed(), 10 + AckQueue::kCapacity);
  progress_.durable_frames = 11;
  EXPECT_EQ(intake.observe(Rows(0, 0, 1)), TurnEnd::kNeedInput);
  EXPECT_EQ(intake.told().size(), 1U);
}

TEST_F(LoggedRows, ARefusalComesBehindWhatStillWaitsForTheDisk) {
  feed_.open(10);
  Intake intake(shared_, Durability::kLogged);
  EXPECT_EQ(intake.observe(Rows(7, 0, 1)), TurnEnd::kNeedInput);
  EXPECT_EQ(intake.observe(Rows(7, 5, 1)), TurnEnd::kLogBehind) << "it comes again";
  expect_rows(1, 0, 0);
  progress_.durable_frames = 11;
  EXPECT_EQ(intake.observe(Rows(7, 5, 1)), TurnEnd::kNeedInput);
  const std::vector<v1::Response> told = intake.told();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_TRUE(told[0].has_observe_ack());
  EXPECT_EQ(told[1].refusal().reason(), v1::REASON_SEQUENCE_GAP);
  expect_rows(1, 1, 0);
}

TEST_F(LoggedRows, WhereAProducerIsOnDiskIsToldApart) {
  feed_.open(10);
  Intake intake(shared_, Durability::kLogged);
  const auto durable = [&] {
    (void)intake.told();
    EXPECT_EQ(intake->producer_status(1, 7, intake.replies()), TurnEnd::kNeedInput);
    return intake.told_once().producer_status_result().durable_next();
  };
  EXPECT_EQ(intake.observe(Rows(7, 0, 3)), TurnEnd::kNeedInput);
  EXPECT_EQ(durable(), 0U);
  progress_.durable_frames = 11;
  EXPECT_EQ(durable(), 3U);
  EXPECT_EQ(intake.observe(Rows(7, 3, 2)), TurnEnd::kNeedInput);
  EXPECT_EQ(durable(), 3U) << "what it was when all was last on disk";
}

}  // namespace
}  // namespace windhover::testing::row_intake_test
