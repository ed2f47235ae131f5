#include "windhover/runtime/scoring/score_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <thread>

#include "windhover/platform/memory.h"

namespace windhover::test::score_queue_test {
namespace {

struct Queue {
  explicit Queue(std::uint32_t most) : block(1 << 20), arena(block.bytes()), queue(arena, most) {
    queue.reset();
  }
  MappedBlock block;
  Arena arena;
  ScoreQueue queue;
};

TEST(ScoreQueue, SaysWhereTheAnswerToARowIs) {
  Queue t(4);
  EXPECT_EQ(t.queue.push(3, 30), 0U);
  EXPECT_EQ(t.queue.push(5, 50), 1U);
  EXPECT_EQ(t.queue.find(2), std::nullopt);
  EXPECT_EQ(t.queue.find(3), 30U);
  EXPECT_EQ(t.queue.find(3), 30U) << "still there";
  EXPECT_EQ(t.queue.find(4), std::nullopt);
  EXPECT_EQ(t.queue.find(5), 50U);
  EXPECT_EQ(t.queue.find(6), std::nullopt);
}

TEST(ScoreQueue, HasReadWhatIsPassed) {
  Queue t(4);
  for (std::uint32_t row = 0; row < 4; ++row) t.queue.push(10 * row, row);
  EXPECT_EQ(t.queue.find(10), 1U);
  EXPECT_EQ(t.queue.read(), 0U) << "a row that is found may be asked for again";
  t.queue.pass(20);
  EXPECT_EQ(t.queue.read(), 2U);
  t.queue.pass(1000);
  EXPECT_EQ(t.queue.read(), 4U);
  t.queue.reset();
  EXPECT_EQ(t.queue.read(), 0U);
  EXPECT_EQ(t.queue.find(30), std::nullopt);
  t.queue.push(0, 9);
  EXPECT_EQ(t.queue.find(0), 9U);
}

TEST(ScoreQueue, UsesItsRoomAgain) {
  Queue t(3);
  for (std::uint32_t row = 0; row < 100; ++row) {
    EXPECT_EQ(t.queue.push(row, row + 7), row);
    EXPECT_EQ(t.queue.find(row), row + 7);
    t.queue.pass(row + 1);
  }
}

// A place is written anew once its entry has been read: the reader never sees that.
TEST(ScoreQueue, PassesPlacesFromOneThreadToTheOther) {
  constexpr std::uint32_t kPlaces = 8;
  constexpr std::uint64_t kRows = 20'000;
  Queue t(kPlaces);
  std::array<std::uint64_t, kPlaces> places{};
  std::thread writer([&] {
    for (std::uint64_t row = 0; row < kRows; ++row) {
      while (row - t.queue.read() >= kPlaces) std::this_thread::yield();
      places[row % kPlaces] = row;
      t.queue.push(row, static_cast<std::uint32_t>(row % kPlaces));
    }
  });
  for (std::uint64_t row = 0; row < kRows; ++row) {
    std::optional<std::uint32_t> place;
    while (!(place = t.queue.find(row))) std::this_thread::yield();
    EXPECT_EQ(places[*place], row);
    t.queue.pass(row + 1);
  }
  writer.join();
}

}  // namespace
}  // namespace windhover::test::score_queue_test
