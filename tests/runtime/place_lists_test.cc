#include "windhover/runtime/labels/place_lists.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

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
    lists.wait(place.value_or(0), until_ns, 0);
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
  t.lists.settle(0, 0, 5);
  t.lists.settle(1);
  t.lists.settle(2, 1, 6);
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
  t.lists.settle(1, 0, 0);
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
  t.lists.wait(1, 40, 0);
  t.lists.stop_waiting(0);  // the first
  t.lists.wait(0, 50, 0);
  t.lists.stop_waiting(0);  // the last
  t.lists.wait(0, 60, 0);
  for (const std::uint32_t place : {2U, 1U, 0U}) {
    EXPECT_EQ(t.lists.overdue(99), place);
    t.lists.settle(place);
  }
  EXPECT_EQ(t.lists.overdue(99), std::nullopt);
}

TEST(PlaceLists, SaysWhichRowsThereWere) {
  Lists t(3);
  for (int i = 0; i < 3; ++i) t.wait(i);
  EXPECT_EQ(t.lists.next_row(), 0U);
  t.lists.settle(1, 7, PlaceLists::kNoEntry);
  EXPECT_EQ(t.lists.row(1), 7U);
  EXPECT_EQ(t.lists.next_row(), 8U);
  t.lists.settle(0);
  EXPECT_EQ(t.lists.row(0), 8U) << "it became none";
  EXPECT_EQ(t.lists.next_row(), 8U);
  t.lists.settle(2, 8, PlaceLists::kNoEntry);
  EXPECT_EQ(t.lists.take(0), 1U);
  EXPECT_EQ(t.lists.take(0), 0U);
  EXPECT_EQ(t.lists.take(0), 2U);
  t.lists.wait(2, 50, 9);
  EXPECT_EQ(t.lists.since(2), 9U);
  EXPECT_EQ(t.lists.until_ns(2), 50);
}

// In whatever order they are restored, they are as those that came one after another.
TEST(PlaceLists, AreArrangedByTheirTimeAndTheirRow) {
  for (const std::uint32_t places : {0U, 1U, 2U, 3U, 7U, 64U, 1'000U}) {
    Lists t(places + 1);
    std::mt19937_64 random(places);
    std::vector<std::uint64_t> order(places);
    for (std::uint64_t& n : order) n = random() % 500;
    const auto waits = [&](std::uint32_t place) { return place % 3 != 0; };
    for (std::uint32_t place = 0; place < places; ++place) {
      if (waits(place)) {
        t.lists.restore_waiting(place, static_cast<std::int64_t>(order[place]), place);
      } else {
        t.lists.restore_settled(place, order[place]);
      }
    }
    std::uint64_t last_row = 0;
    t.lists.arrange(places, waits, [&](std::uint32_t place) {
      EXPECT_GE(t.lists.row(place), last_row);
      last_row = t.lists.row(place);
      return place % 2 == 0 ? place : PlaceLists::kNoEntry;
    });
    EXPECT_EQ(t.lists.take(0), places) << "has never been taken";
    std::vector<std::uint32_t> waiting;
    std::vector<std::uint32_t> settled;
    std::vector<std::uint32_t> all(places);
    std::iota(all.begin(), all.end(), 0U);
    std::ranges::stable_sort(all, {}, [&](std::uint32_t place) { return order[place]; });
    for (const std::uint32_t place : all) (waits(place) ? waiting : settled).push_back(place);
    std::vector<std::uint64_t> taken;
    std::vector<std::uint64_t> rows;
    while (const auto place = t.lists.take(UINT64_MAX)) taken.push_back(order[*place]);
    for (const std::uint32_t place : settled) rows.push_back(order[place]);
    EXPECT_EQ(taken, rows);
    for (const std::uint32_t place : waiting) {
      ASSERT_EQ(t.lists.overdue(500), place);
      EXPECT_EQ(t.lists.since(place), place);
      t.lists.stop_waiting(place);
    }
    EXPECT_EQ(t.lists.overdue(500), std::nullopt);
  }
}

}  // namespace
}  // namespace windhover::test::place_lists_test
