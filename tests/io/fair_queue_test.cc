#include "windhover/io/fair_queue.h"

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/platform/memory.h"

namespace windhover::fair_queue_test {
namespace {

using Line = FairQueue::Line;

struct Places {
  explicit Places(std::size_t count) : block(1 << 20), arena(block.bytes()), queue(arena, count) {
    EXPECT_FALSE(arena.exhausted());
    queue.reset();
    for (std::uint32_t who = 0; who < count; ++who) queue.begin(who);
  }
  // The turns of connections that all want another as soon as they have had one.
  std::vector<std::uint32_t> turns(const std::vector<std::int64_t>& costs, int many) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t who = 0; who < costs.size(); ++who) queue.wait(who, Line::kAny);
    for (int i = 0; i < many; ++i) {
      const std::uint32_t who = queue.next(true);
      queue.charge(who, costs[who]);
      queue.wait(who, Line::kAny);
      out.push_back(who);
    }
    return out;
  }

  MappedBlock block;
  Arena arena;
  FairQueue queue;
};

TEST(FairQueue, EqualCostsTakeTurns) {
  Places places(3);
  EXPECT_EQ(places.turns({5, 5, 5}, 7), (std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2, 0}));
}

TEST(FairQueue, EverybodyGetsTheSameShareWhateverItsTurnsCost) {
  Places places(3);
  std::array<std::int64_t, 3> had{};
  const std::vector<std::int64_t> costs = {200'000, 1'000, 50'000};
  for (const std::uint32_t who : places.turns(costs, 10'000)) had[who] += costs[who];
  for (const std::int64_t share : had) EXPECT_LE(std::abs(share - had[0]), 400'000);
}

TEST(FairQueue, WhoAsksLittleIsNextHoweverManyAskMuch) {
  Places places(61);
  std::vector<std::int64_t> costs(60, 200'000);
  places.turns(costs, 300);
  for (int i = 0; i < 100; ++i) {
    places.queue.wait(60, Line::kAny);
    EXPECT_EQ(places.queue.next(true), 60U) << i;
    places.queue.charge(60, 1'000);
    const std::uint32_t hog = places.queue.next(true);
    places.queue.charge(hog, costs[hog]);
    places.queue.wait(hog, Line::kAny);
  }
}

TEST(FairQueue, NobodySavesUpTurnsAndNobodyPaysForAnIdleServer) {
  Places places(2);
  for (int i = 0; i < 1'000; ++i) places.queue.charge(0, 200'000);  // alone, nobody waits
  std::array<int, 2> had{};
  for (const std::uint32_t who : places.turns({200'000, 200'000}, 100)) ++had[who];
  EXPECT_NEAR(had[0], had[1], 2);
}

TEST(FairQueue, TimeThatPassesWithoutATurnIsEverybodysWhoWaits) {
  Places places(3);
  places.turns({50'000, 50'000}, 100);
  places.queue.wait(2, Line::kAny);  // has had nothing since it came, and is next
  EXPECT_TRUE(places.queue.next_is_light());
  EXPECT_EQ(places.queue.next(true), 2U);
  places.queue.charge(2, 2 * FairQueue::kCreditNs);
  places.queue.wait(2, Line::kAny);
  EXPECT_FALSE(places.queue.next_is_light());
  places.queue.leave(2);
  places.queue.pass(2 * 4 * FairQueue::kCreditNs);
  places.queue.wait(2, Line::kAny);
  EXPECT_TRUE(places.queue.next_is_light()) << "the two others waited for twice what it has had";
  EXPECT_EQ(places.queue.next(true), 2U);
  EXPECT_FALSE(places.queue.next_is_light()) << "who waited has no more claim than before";
}

TEST(FairQueue, ThoseForThePlaceWaitForItAndOthersPassThem) {
  Places places(4);
  places.queue.wait(0, Line::kForPlace);
  places.queue.wait(1, Line::kAny);
  places.queue.wait(2, Line::kForPlace);
  EXPECT_EQ(places.queue.next(false), 1U);
  EXPECT_EQ(places.queue.next(false), FairQueue::kNobody);
  EXPECT_FALSE(places.queue.empty());
  EXPECT_EQ(places.queue.next(true), 0U);
  EXPECT_EQ(places.queue.next(true), 2U);
  EXPECT_TRUE(places.queue.empty());
}

TEST(FairQueue, WhoLeavesIsNotCalled) {
  Places places(5);
  for (std::uint32_t who = 0; who < 5; ++who) {
    places.queue.wait(who, who % 2 == 0 ? Line::kAny : Line::kForPlace);
  }
  places.queue.leave(0);
  places.queue.leave(3);
  places.queue.leave(3);
  std::string order;
  while (!places.queue.empty()) order += std::to_string(places.queue.next(true));
  EXPECT_EQ(order, "241");
}

TEST(FairQueue, NewConnectionOwesNothing) {
  Places places(2);
  places.queue.wait(1, Line::kAny);
  places.queue.charge(0, 1'000'000'000);  // has had much while 1 waits
  places.queue.begin(0);                  // and is somebody else now
  places.queue.wait(0, Line::kAny);
  EXPECT_EQ(places.queue.next(true), 1U);
  places.queue.charge(1, 10);
  places.queue.wait(1, Line::kAny);
  EXPECT_EQ(places.queue.next(true), 0U);
}

}  // namespace
}  // namespace windhover::fair_queue_test
