#include "windhover/runtime/reader_places.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <latch>
#include <optional>
#include <thread>
#include <vector>

namespace windhover::test::reader_places_test {
namespace {

TEST(ReaderPlaces, ReadersComeFirstAndWatchersAfterThem) {
  ReaderPlaces places(2, 1);
  EXPECT_EQ(places.take_watcher(), 2U);
  EXPECT_EQ(places.take_reader(), 0U);
  EXPECT_EQ(places.take_reader(), 1U);
  EXPECT_EQ(places.take_reader(), std::nullopt);
  EXPECT_TRUE(places.predicts(1));
  EXPECT_FALSE(places.predicts(2));
}

TEST(ReaderPlaces, AWatcherTakesAReadersPlaceWhereNoneOfItsOwnIsLeft) {
  ReaderPlaces places(1, 1);
  EXPECT_EQ(places.take_watcher(), 1U);
  EXPECT_EQ(places.take_watcher(), 0U);
  EXPECT_EQ(places.take_watcher(), std::nullopt);
  EXPECT_EQ(places.take_reader(), std::nullopt);
}

TEST(ReaderPlaces, AreTakenAsThoseOfOthersAre) {
  ReaderPlaces others(2, 2);
  others.take_reader();
  others.take_watcher();
  ReaderPlaces places(2, 2);
  places.take_as(others);
  EXPECT_EQ(places.take_reader(), 1U);
  EXPECT_EQ(places.take_watcher(), 3U);
  EXPECT_EQ(places.take_reader(), std::nullopt);
}

// More of them ask than there are places, also after all have been refused.
TEST(ReaderPlaces, NoTwoThreadsGetTheSame) {
  constexpr std::uint32_t kPlaces = 200'000;
  ReaderPlaces places(kPlaces, 0);
  std::vector<std::atomic<int>> taken(kPlaces);
  std::latch all_there(4);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      all_there.arrive_and_wait();
      for (std::uint32_t i = 0; i < kPlaces; ++i) {
        if (const auto place = places.take_reader()) taken[*place].fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::atomic<int>& times : taken) EXPECT_EQ(times.load(), 1);
}

}  // namespace
}  // namespace windhover::test::reader_places_test
