#include "windhover/runtime/labels/place_lists.h"

#include <gtest/gtest.h>

#include "windhover/platform/memory.h"

namespace windhover::test::place_lists_test {
namespace {

struct Lists {
  explicit Lists(std::uint32_t places)
      : block(1 << 20), arena(block.bytes()), lists(arena, places) {
    lists.reset();
  }
  // A place that waits until then.
  std::uint32_t wait(std::int64_t until_ns, std::uint64_t read = 0) {
    const auto place = lists.take(read);
    EXPECT_TRUE(place.has_value());
    lists.wait(place.value_or(0), until_ns);
    return place.value_or(0);
  }
  MappedBlock block;
  Arena arena;
  PlaceLists lists;
};

TEST(PlaceLists, TakesThoseThatHaveNeverBeenTakenFirst) {
  Lists t(3);
  EXPECT_EQ(t.wait(10), 0U);
  t.lists.settle(0);
  EXPECT_EQ(t.wait(20), 1U);
  EXPECT_EQ(t.wait(30), 2U);
  EXPECT_EQ(t.wait(40), 0U);
  EXPECT_EQ(t.lists.take(0), std::nullopt) << "all wait";
  t.lists.reset();
  EXPECT_EQ(t.lists.overdue(99), std::nullopt);
  EXPECT_EQ(t.wait(50), 0U);
}

TEST(PlaceLists, TakesThoseSettledFirstFirst) {
  Lists t(3);
  for (int i = 0; i < 3; ++i) t.wait(i);
  t.lists.settle(1);
  t.lists.settle(2);
  t.lists.settle(0);
  EXPECT_EQ(t.lists.take(0), 1U);
  EXPECT_EQ(t.lists.take(0), 2U);
  EXPECT_EQ(t.lists.take(0), 0U);
  EXPECT_EQ(t.lists.take(0), std::nullopt);
}

TEST(PlaceLists, LeavesThoseThatTheLearnerHasToRead) {
  Lists t(3);
  for (int i = 0; i < 3; ++i) t.wait(i);
  t.lists.settle(0, 5);
  t.lists.settle(1);
  t.lists.settle(2, 6);
  EXPECT_EQ(t.lists.take(5), 1U) << "entry 5 is not read";
  EXPECT_EQ(t.lists.take(5), std::nullopt);
  EXPECT_EQ(t.lists.take(6), 0U);
  EXPECT_EQ(t.lists.take(6), std::nullopt);
  EXPECT_EQ(t.lists.take(7), 2U);
}

TEST(PlaceLists, OfBothKindsTakesTheOneSettledFirst) {
  Lists t(2);
  t.wait(0);
  t.wait(0);
  t.lists.settle(1, 0);
  t.lists.settle(0);
  EXPECT_EQ(t.lists.take(1), 1U);
  EXPECT_EQ(t.lists.take(1), 0U);
}

TEST(PlaceLists, IsOverdueInTheOrderOfWaiting) {
  Lists t(4);
  EXPECT_EQ(t.lists.overdue(100), std::nullopt);
  for (const std::int64_t until : {10, 20, 30, 40}) t.wait(until);
  EXPECT_EQ(t.lists.overdue(9), std::nullopt);
  EXPECT_EQ(t.lists.overdue(10), 0U);
  EXPECT_EQ(t.lists.count_overdue(9, 35), 3U);
  EXPECT_EQ(t.lists.count_overdue(2, 35), 2U);
  EXPECT_EQ(t.lists.count_overdue(9, 99), 4U);
  t.lists.settle(0);
  EXPECT_EQ(t.lists.overdue(35), 1U);
  EXPECT_EQ(t.lists.count_overdue(9, 35), 2U);
}

TEST(PlaceLists, WaitsAnewBehindTheOthers) {
  Lists t(3);
  for (const std::int64_t until : {10, 20, 30}) t.wait(until);
  t.lists.stop_waiting(1);  // from the middle
  t.lists.wait(1, 40);
  t.lists.stop_waiting(0);  // the first
  t.lists.wait(0, 50);
  t.lists.stop_waiting(0);  // the last
  t.lists.wait(0, 60);
  for (const std::uint32_t place : {2U, 1U, 0U}) {
    EXPECT_EQ(t.lists.overdue(99), place);
    t.lists.settle(place);
  }
  EXPECT_EQ(t.lists.overdue(99), std::nullopt);
}

}  // namespace
}  // namespace windhover::test::place_lists_test
