#include "windhover/io/acknowledgements.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/conversation_fixture.h"

namespace windhover::acknowledgements_test {
namespace {

using testing::Shared;

class AcknowledgementsTest : public ::testing::Test {
 protected:
  AcknowledgementsTest()
      : feed_(&ring_, progress_, &wake_, {}),
        room_(shared_.limits.reply_buffer),
        replies_(room_),
        acks_(shared_.context) {
    acks_.begin();
  }

  // Enters a model whose log has come to frame 10, of which 7 are on disk.
  void enter(Durability durability) {
    feed_.open(10);
    progress_.durable_frames = 7;
    shared_.about.feed = &feed_;
    acks_.enter(shared_.about, durability);
  }
  void add(std::uint64_t producer) {
    acks_.add({.id = 1, .producer = producer, .accepted = 1}, {}, {}, false);
  }

  Shared shared_;
  MappedBlock block_{1 << 16};
  Arena arena_{block_.bytes()};
  FrameRing ring_{arena_, 16};
  LogProgress progress_;
  Wake wake_;
  FrameFeed feed_;
  std::vector<std::byte> room_;
  ReplyBuffer replies_;
  Acknowledgements acks_;
  TurnEnd why_not_ = TurnEnd::kNeedInput;
};

TEST_F(AcknowledgementsTest, AreWrittenAtOnceWhereNothingIsKept) {
  acks_.enter(shared_.about, Durability::kMemory);
  for (std::uint64_t producer = 1; producer <= AckQueue::kCapacity; ++producer) {
    EXPECT_FALSE(acks_.is_full());
    add(producer);
  }
  EXPECT_TRUE(acks_.is_full());
  EXPECT_FALSE(acks_.wait_for_log());
  EXPECT_TRUE(acks_.settle(replies_, why_not_));
  EXPECT_FALSE(acks_.is_full());
  EXPECT_EQ(shared_.count(IoCounter::kAcknowledgements), AckQueue::kCapacity);
}

TEST_F(AcknowledgementsTest, LoggedOnesWaitUntilTheirFramesAreOnDisk) {
  enter(Durability::kLogged);
  add(1);
  EXPECT_TRUE(acks_.wait_for_log());
  EXPECT_FALSE(acks_.settle(replies_, why_not_));
  EXPECT_EQ(why_not_, TurnEnd::kLogBehind);
  EXPECT_TRUE(replies_.empty());
  progress_.durable_frames = 10;
  EXPECT_EQ(acks_.durable_frames(), 10U);
  EXPECT_TRUE(acks_.settle(replies_, why_not_));
  EXPECT_FALSE(replies_.empty());
}

TEST_F(AcknowledgementsTest, WhoWantsNoMoreThanMemoryDoesNotWaitForTheLog) {
  enter(Durability::kMemory);
  add(1);
  EXPECT_FALSE(acks_.wait_for_log());
  EXPECT_TRUE(acks_.settle(replies_, why_not_));
}

TEST_F(AcknowledgementsTest, WithoutRoomTheyStay) {
  acks_.enter(shared_.about, Durability::kMemory);
  add(1);
  std::array<std::byte, 4> none{};
  ReplyBuffer small(none);
  EXPECT_FALSE(acks_.settle(small, why_not_));
  EXPECT_EQ(why_not_, TurnEnd::kNeedRoom);
  EXPECT_EQ(shared_.count(IoCounter::kAcknowledgements), 0U);
  EXPECT_TRUE(acks_.settle(replies_, why_not_));
  EXPECT_EQ(shared_.count(IoCounter::kAcknowledgements), 1U);
}

TEST_F(AcknowledgementsTest, ForgottenOnesAndThoseOfThePeerBeforeAreNotWritten) {
  enter(Durability::kLogged);
  add(1);
  acks_.forget();
  EXPECT_FALSE(acks_.wait_for_log());
  add(1);
  acks_.begin();
  EXPECT_FALSE(acks_.wait_for_log());
  EXPECT_EQ(acks_.durable_frames(), 0U);
  progress_.durable_frames = 10;
  acks_.flush(replies_);
  EXPECT_TRUE(replies_.empty());
}

}  // namespace
}  // namespace windhover::acknowledgements_test
