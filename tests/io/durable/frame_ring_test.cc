#include "windhover/io/durable/frame_ring.h"

#include <thread>

#include <gtest/gtest.h>

#include "windhover/platform/memory.h"

namespace windhover::frame_ring_test {
namespace {

struct Rig {
  Rig() : block(1 << 16), arena(block.bytes()), ring(arena, 5) {}
  MappedBlock block;
  Arena arena;
  FrameRing ring;
};

TEST(FrameRing, NumbersFramesFromWhereItBeginsAndHoldsAPowerOfTwo) {
  Rig rig;
  rig.ring.reset(100);
  EXPECT_EQ(rig.ring.front(), nullptr);
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(rig.ring.has_room());
    rig.ring.push({.producer = static_cast<std::uint64_t>(i)});
  }
  EXPECT_FALSE(rig.ring.has_room());
  for (std::uint64_t i = 0; i < 8; ++i) {
    ASSERT_NE(rig.ring.front(), nullptr);
    EXPECT_EQ(rig.ring.front()->number, 100 + i);
    EXPECT_EQ(rig.ring.front()->producer, i);
    rig.ring.take();
    EXPECT_TRUE(rig.ring.has_room());
  }
  EXPECT_EQ(rig.ring.front(), nullptr);
  EXPECT_EQ(rig.ring.pushed(), 108U);
}

TEST(FrameRing, AnotherThreadSeesEveryFrameWholeAndInOrder) {
  constexpr std::uint64_t kFrames = 200'000;
  Rig rig;
  rig.ring.reset(0);
  std::thread pusher([&] {
    for (std::uint64_t i = 0; i < kFrames; ++i) {
      while (!rig.ring.has_room()) std::this_thread::yield();
      rig.ring.push({.producer = i, .next = 3 * i, .accepted = i % 5, .head = 7 * i});
    }
  });
  for (std::uint64_t i = 0; i < kFrames; ++i) {
    const LoggedFrame* frame = nullptr;
    while ((frame = rig.ring.front()) == nullptr) std::this_thread::yield();
    ASSERT_EQ(frame->number, i);
    ASSERT_EQ(frame->producer, i);
    ASSERT_EQ(frame->next, 3 * i);
    ASSERT_EQ(frame->accepted, i % 5);
    ASSERT_EQ(frame->head, 7 * i);
    rig.ring.take();
  }
  pusher.join();
}

}  // namespace
}  // namespace windhover::frame_ring_test
