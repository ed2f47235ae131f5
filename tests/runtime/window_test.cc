#include "windhover/runtime/window/window.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace windhover::window_test {
namespace {

RowLayout layout_of(std::uint32_t features) {
  ModelConfig model;
  model.features = features;
  return RowLayout(model);
}

// A window on memory of its own.
struct WindowFixture {
  WindowFixture(std::uint32_t features, std::uint64_t size, std::uint64_t slack,
                std::uint32_t leases = 0)
      : memory(layout_of(features).stride() * (size + slack) * sizeof(double) + 128 +
               64 * (leases + 1)),
        arena(aligned()),
        window(arena, layout_of(features), size, slack, leases) {
    window.reset();
  }
  std::span<std::byte> aligned() {
    void* start = memory.data();
    std::size_t room = memory.size();
    std::align(Arena::kAlignment, room - 64, start, room);
    return {static_cast<std::byte*>(start), room};
  }

  std::vector<std::byte> memory;
  Arena arena;
  Window window;
};

TEST(Window, RoomEndsWithTheSlackUntilTheLeaseAdvances) {
  WindowFixture f(3, 10, 6);
  EXPECT_EQ(f.window.room(0, 4), 6u);
  EXPECT_EQ(f.window.room(6, 1), 0u);
  f.window.advance_lease(4);
  EXPECT_EQ(f.window.room(6, 4), 4u);
  EXPECT_EQ(f.window.room(6, 5), 4u);
  EXPECT_EQ(f.window.room(10, 1), 0u);
}

TEST(Window, TheSmallestLeaseHoldsTheWriter) {
  WindowFixture f(3, 10, 6, 2);
  f.window.advance_lease(5);
  f.window.take_lease(1);
  EXPECT_EQ(f.window.kept_from(1), 0u);
  f.window.advance_lease(100);
  EXPECT_EQ(f.window.room(5, 100), 6u) << "where the learner stood";
  f.window.keep_from(1, 0);
  EXPECT_EQ(f.window.room(11, 100), 5u) << "row 16 overwrites row 0";
  f.window.keep_from(1, 3);
  EXPECT_EQ(f.window.kept_from(1), 3u);
  EXPECT_EQ(f.window.room(16, 100), 3u);
  f.window.keep_from(1, 2);
  EXPECT_EQ(f.window.kept_from(1), 3u) << "it only ever advances";
  f.window.take_lease(0);
  EXPECT_EQ(f.window.kept_from(0), 90u);
  f.window.end_lease(1);
  EXPECT_EQ(f.window.room(19, 1000), 87u) << "the learner's and the other's: 106";
  f.window.advance_lease(200);
  EXPECT_EQ(f.window.room(106, 1), 0u);
  f.window.end_lease(0);
  EXPECT_EQ(f.window.room(106, 1), 100u);
  f.window.reset();
  EXPECT_EQ(f.window.room(0, 1000), 6u);
}

TEST(Window, HeldLeasesBeginAnewAtARestoredHead) {
  WindowFixture f(3, 10, 6, 2);
  f.window.take_lease(0);
  f.window.restore(40, 37);
  EXPECT_EQ(f.window.head(), 40u);
  EXPECT_EQ(f.window.kept_from(0), 27u);
  EXPECT_EQ(f.window.room(40, 100), 3u);
  f.window.advance_lease(40);
  EXPECT_EQ(f.window.room(43, 100), 0u) << "held";
  f.window.keep_from(0, 30);
  EXPECT_EQ(f.window.room(43, 100), 3u);
}

TEST(Window, SlotsRepeatAfterTheCapacity) {
  WindowFixture f(3, 10, 6);
  EXPECT_EQ(f.window.capacity(), 16u);
  EXPECT_EQ(f.window.slot_of(3), f.window.slot_of(19));
  EXPECT_NE(f.window.slot_of(3), f.window.slot_of(18));
  EXPECT_EQ(f.window.slot_of(1) - f.window.slot_of(0),
            static_cast<std::ptrdiff_t>(f.window.layout().stride()));
}

// Every value of row s is s. The learner reads what its lease protects, again and again, while the
// writer goes as fast as the lease lets it: a torn or overwritten row shows at once.
void stress(std::uint64_t size, std::uint64_t slack, std::uint64_t most_a_frame, bool lagging) {
  constexpr std::uint32_t kFeatures = 7;
  WindowFixture f(kFeatures, size, slack);
  Window& window = f.window;
  const std::size_t stride = window.layout().stride();
  std::atomic<bool> stop{false};
  std::uint64_t refused = 0;
  std::thread writer([&] {
    std::uint64_t head = 0;
    std::uint64_t frame = 1;
    while (!stop.load(std::memory_order_relaxed)) {
      frame = frame % most_a_frame + 1;
      if (window.room(head, frame) < frame) {
        ++refused;
        std::this_thread::yield();
        continue;
      }
      for (std::uint64_t i = 0; i < frame; ++i, ++head) {
        std::fill_n(window.slot_of(head), stride, static_cast<double>(head));
      }
      window.publish(head);
    }
  });
  std::uint64_t torn = 0;
  std::uint64_t rows_read = 0;
  std::uint64_t head = 0;
  std::uint64_t previous = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto turned_over = [&] { return head > 2 * (size + slack) && rows_read > size; };
  // On a busy machine the threads may not meet for longer than 600 ms.
  while (std::chrono::steady_clock::now() < start + std::chrono::milliseconds(600) ||
         (!turned_over() && std::chrono::steady_clock::now() < start + std::chrono::seconds(30))) {
    head = window.head();
    EXPECT_GE(head, previous);
    previous = head;
    window.advance_lease(head);
    if (lagging) std::this_thread::sleep_for(std::chrono::microseconds(300));
    for (std::uint64_t s = head > size ? head - size : 0; s < head; ++s) {
      const double* row = window.slot_of(s);
      for (std::size_t j = 0; j < stride; ++j) torn += row[j] != static_cast<double>(s);
      ++rows_read;
    }
  }
  stop.store(true);
  writer.join();
  EXPECT_EQ(torn, 0u);
  EXPECT_GT(rows_read, size);
  EXPECT_GT(head, 2 * (size + slack)) << "the window hardly turned over";
  if (lagging) {
    EXPECT_GT(refused, 0u) << "the writer never met the lease";
  }
}

TEST(Window, RowsWithinTheLeaseAreNeverTorn) { stress(64, 32, 16, false); }
TEST(Window, RowsWithinTheLeaseAreNeverTornWithATinySlack) { stress(50, 2, 1, false); }
TEST(Window, WriterWaitsForALaggingLearner) { stress(100, 40, 20, true); }

// Beside the learner one thread follows the head and gives rows up as it goes, and another takes
// and ends a lease again and again, as captures do: the learner takes it, the other reads every row
// under it, oldest first, and gives it back.
TEST(Window, RowsWithinEveryLeaseAreNeverTorn) {
  constexpr std::uint64_t kSize = 64, kSlack = 40, kFrame = 8;
  WindowFixture f(7, kSize, kSlack, 2);
  Window& window = f.window;
  const std::size_t stride = window.layout().stride();
  std::atomic<bool> stop{false};
  const auto torn_in = [&](std::uint64_t first, std::uint64_t last) {
    std::uint64_t torn = 0;
    for (std::uint64_t s = first; s < last; ++s) {
      const double* row = window.slot_of(s);
      for (std::size_t j = 0; j < stride; ++j) torn += row[j] != static_cast<double>(s);
    }
    return torn;
  };
  window.take_lease(0);
  std::thread writer([&] {
    std::uint64_t head = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      if (window.room(head, kFrame) < kFrame) {
        std::this_thread::yield();
        continue;
      }
      for (std::uint64_t i = 0; i < kFrame; ++i, ++head) {
        std::fill_n(window.slot_of(head), stride, static_cast<double>(head));
      }
      window.publish(head);
    }
  });
  std::atomic<std::uint64_t> followed{0};
  std::uint64_t followed_torn = 0;
  std::thread follower([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      const std::uint64_t head = window.head();
      followed_torn += torn_in(followed.load(std::memory_order_relaxed), head);
      followed.store(head, std::memory_order_relaxed);
      window.keep_from(0, head);
      std::this_thread::yield();
    }
  });
  enum : int { kFree, kTaken };
  std::atomic<int> capture{kFree};
  std::atomic<std::uint64_t> captures{0};
  std::uint64_t captured_torn = 0;
  std::thread saver([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      if (capture.load(std::memory_order_acquire) == kFree) {
        std::this_thread::yield();
        continue;
      }
      const std::uint64_t last = window.head();
      for (std::uint64_t row = window.kept_from(1); row < last; row += 5) {
        window.keep_from(1, row);
        captured_torn += torn_in(row, std::min(row + 5, last));
        std::this_thread::yield();
      }
      window.end_lease(1);
      captures.fetch_add(1, std::memory_order_relaxed);
      capture.store(kFree, std::memory_order_release);
    }
  });
  std::uint64_t torn = 0, head = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto enough = [&] {
    constexpr std::uint64_t kRows = 20 * (kSize + kSlack);
    return head > kRows && followed.load(std::memory_order_relaxed) > kRows &&
           captures.load(std::memory_order_relaxed) > 20;
  };
  while (std::chrono::steady_clock::now() < start + std::chrono::milliseconds(600) ||
         (!enough() && std::chrono::steady_clock::now() < start + std::chrono::seconds(30))) {
    if (capture.load(std::memory_order_acquire) == kFree) {
      window.take_lease(1);
      capture.store(kTaken, std::memory_order_release);
    }
    head = window.head();
    window.advance_lease(head);
    torn += torn_in(head > kSize ? head - kSize : 0, head);
  }
  stop.store(true);
  for (std::thread* thread : {&writer, &follower, &saver}) thread->join();
  EXPECT_EQ(torn, 0u);
  EXPECT_EQ(followed_torn, 0u);
  EXPECT_EQ(captured_torn, 0u);
  EXPECT_GT(captures.load(), 20u);
  EXPECT_GT(followed.load(), 20 * (kSize + kSlack));
}

}  // namespace
}  // namespace windhover::window_test
