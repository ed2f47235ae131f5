#include "windhover/io/outgoing_replies.h"

#include <array>

#include <gtest/gtest.h>

namespace windhover::outgoing_replies_test {
namespace {

class OutgoingRepliesTest : public ::testing::Test {
 protected:
  OutgoingRepliesTest() : outgoing_(memory_) {
    limits_.write_timeout_ns = 10;
    limits_.answer_timeout_ns = 30;
    outgoing_.begin(0);
  }

  std::array<std::byte, 100> memory_{};
  Limits limits_;
  OutgoingReplies outgoing_;
};

TEST_F(OutgoingRepliesTest, WhoHasNothingToTakeIsNotStuck) {
  EXPECT_FALSE(outgoing_.is_stuck(limits_, 1'000));
  outgoing_.buffer().append(20);
  EXPECT_FALSE(outgoing_.is_stuck(limits_, 1'000));
  outgoing_.wait(1'000);
  EXPECT_FALSE(outgoing_.is_stuck(limits_, 1'010));
  EXPECT_TRUE(outgoing_.is_stuck(limits_, 1'011));
  outgoing_.end_wait();
  EXPECT_FALSE(outgoing_.is_stuck(limits_, 1'011));
}

TEST_F(OutgoingRepliesTest, ByteNowAndThenIsNotEnough) {
  outgoing_.buffer().append(20);
  for (std::int64_t now = 0; now <= 30; now += 5) {
    outgoing_.wait(now);
    EXPECT_FALSE(outgoing_.is_stuck(limits_, now)) << now;
    outgoing_.end_wait();
    outgoing_.taken(1);
    outgoing_.buffer().append(1);
  }
  outgoing_.wait(31);
  EXPECT_TRUE(outgoing_.is_stuck(limits_, 31));
}

TEST_F(OutgoingRepliesTest, ThoseBehindAreLookedAtWhenTheFirstAreTaken) {
  outgoing_.buffer().append(20);
  outgoing_.wait(0);
  outgoing_.buffer().append(5);
  outgoing_.end_wait();
  outgoing_.taken(20);
  outgoing_.wait(29);
  EXPECT_FALSE(outgoing_.is_stuck(limits_, 39));
  outgoing_.end_wait();
  outgoing_.wait(59);
  EXPECT_FALSE(outgoing_.is_stuck(limits_, 59));
  EXPECT_TRUE(outgoing_.is_stuck(limits_, 60));
}

TEST_F(OutgoingRepliesTest, NextPeerOwesNothing) {
  outgoing_.buffer().append(20);
  outgoing_.wait(0);
  outgoing_.end_wait();
  outgoing_.begin(100);
  EXPECT_TRUE(outgoing_.buffer().empty());
  outgoing_.buffer().append(5);
  outgoing_.wait(100);
  EXPECT_FALSE(outgoing_.is_stuck(limits_, 110));
}

}  // namespace
}  // namespace windhover::outgoing_replies_test
