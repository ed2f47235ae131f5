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
  WindowFixture(std::uint32_t features, std::uint64_t size, std::uint64_t slack)
      : memory(layout_of(features).stride() * (size + slack) * sizeof(double) + 128),
        arena(aligned()),
        window(arena, layout_of(features), size, slack) {
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
  // On a busy machine the threads may not meet for longer than that.
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

}  // namespace
}  // namespace windhover::window_test
