#include "windhover/io/ack_queue.h"

#include <gtest/gtest.h>

namespace windhover::ack_queue_test {
namespace {

constexpr std::uint64_t kNothing = 0;

TEST(AckQueue, FramesOfOneProducerInMemoryMakeOneAcknowledgement) {
  AckQueue queue;
  for (int i = 0; i < 100; ++i) ++queue.add(7, 0, 0).frames;
  ASSERT_NE(queue.ready(kNothing), nullptr);
  EXPECT_EQ(queue.ready(kNothing)->frames, 100U);
  queue.pop();
  EXPECT_TRUE(queue.empty());
}

TEST(AckQueue, AnotherProducerHasItsOwnInTheOrderOfTheFrames) {
  AckQueue queue;
  queue.add(1, 0, 0);
  queue.add(2, 0, 0);
  queue.add(1, 0, 0);
  for (const std::uint64_t producer : {1U, 2U, 1U}) {
    ASSERT_NE(queue.ready(kNothing), nullptr);
    EXPECT_EQ(queue.ready(kNothing)->producer, producer);
    queue.pop();
  }
  EXPECT_TRUE(queue.empty());
}

TEST(AckQueue, OneWaitsUntilAllItsFramesAreOnDisk) {
  AckQueue queue;
  queue.add(1, 5, 0);
  queue.add(1, 6, 0);
  EXPECT_EQ(queue.ready(4), nullptr);
  EXPECT_EQ(queue.ready(5), nullptr);
  EXPECT_NE(queue.ready(6), nullptr);
}

// A commit of frames below 5 is under way: the sixth must not hold up the first five.
TEST(AckQueue, NothingJoinsOneWhoseCommitIsUnderWay) {
  AckQueue queue;
  queue.add(1, 5, 3);
  queue.add(1, 6, 5);
  ASSERT_NE(queue.ready(5), nullptr);
  queue.pop();
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(queue.ready(5), nullptr);
}

TEST(AckQueue, LaterOnesWaitForEarlierOnes) {
  AckQueue queue;
  queue.add(1, 9, 0);
  queue.add(2, 0, 0);
  EXPECT_EQ(queue.ready(8), nullptr);
  ASSERT_NE(queue.ready(9), nullptr);
  EXPECT_EQ(queue.ready(9)->producer, 1U);
}

TEST(AckQueue, CountsBeginAtZeroWhereOneHasBeenUsedBefore) {
  AckQueue queue;
  for (std::uint64_t i = 0; i < 3 * AckQueue::kCapacity; ++i) {
    ObserveAckReply& reply = queue.add(i + 1, 0, 0);
    EXPECT_EQ(reply.frames + reply.accepted + reply.refused + reply.duplicate + reply.listed_count,
              0U);
    reply.frames = reply.listed_count = 3;
    reply.accepted = reply.refused = reply.duplicate = 5;
    queue.pop();
  }
}

TEST(AckQueue, IsFullAtItsCapacityAndNoSooner) {
  AckQueue queue;
  for (std::uint64_t i = 0; i < AckQueue::kCapacity; ++i) {
    EXPECT_FALSE(queue.full());
    queue.add(i + 1, 1, 0);
  }
  EXPECT_TRUE(queue.full());
}

}  // namespace
}  // namespace windhover::ack_queue_test
