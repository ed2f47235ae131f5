#include "windhover/platform/fork_join.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace windhover {
namespace {

// Counts how often each task was done, without atomics: run() must make that safe.
struct Tally {
  std::array<std::array<int, 2>, 64> done{};  // task, by leader or helper
  std::atomic<int> under_way{0};
  std::atomic<int> most_under_way{0};
  int spins = 0;

  static void task(void* self, int task, int worker) noexcept {
    auto& tally = *static_cast<Tally*>(self);
    const int now = tally.under_way.fetch_add(1) + 1;
    if (now > tally.most_under_way.load()) tally.most_under_way.store(now);
    for (int i = 0; i < tally.spins; ++i) pause_processor();
    ++tally.done[static_cast<std::size_t>(task)][worker == 0 ? 0 : 1];
    tally.under_way.fetch_sub(1);
  }
  int total(std::size_t task) const { return done[task][0] + done[task][1]; }
};

class Helpers {
 public:
  Helpers(ForkJoin& team, int count) {
    for (int worker = 1; worker <= count; ++worker) {
      threads_.emplace_back([this, &team, worker] {
        while (!stop_.load()) {
          if (team.help(worker) == 0) std::this_thread::yield();
        }
      });
    }
  }
  ~Helpers() {
    stop_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }
  Helpers(const Helpers&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

TEST(ForkJoin, WithoutHelpersTheLeaderDoesAllInOrder) {
  struct Order {
    std::vector<int> tasks;
  } order;
  ForkJoin team(
      [](void* self, int task, int worker) noexcept {
        EXPECT_EQ(worker, 0);
        static_cast<Order*>(self)->tasks.push_back(task);
      },
      &order);
  team.run(3);
  team.run(0);
  team.run(2);
  EXPECT_EQ(order.tasks, (std::vector<int>{0, 1, 2, 0, 1}));
  EXPECT_EQ(team.help(1), 0);
}

TEST(ForkJoin, EveryTaskIsDoneOnceAndBeforeRunReturns) {
  constexpr int kRuns = 20'000;
  for (const int helpers : {1, 3}) {
    Tally tally;
    ForkJoin team(Tally::task, &tally);
    const Helpers threads(team, helpers);
    std::array<int, 64> expected{};
    for (int run = 0; run < kRuns; ++run) {
      const int tasks = run % 9;
      team.run(tasks);
      EXPECT_EQ(tally.under_way.load(), 0);
      for (int task = 0; task < tasks; ++task) ++expected[static_cast<std::size_t>(task)];
      // Read without synchronisation of its own.
      if (run % 97 == 0) {
        for (std::size_t task = 0; task < 9; ++task) {
          ASSERT_EQ(tally.total(task), expected[task]) << "run " << run;
        }
      }
    }
    for (std::size_t task = 0; task < 9; ++task) EXPECT_EQ(tally.total(task), expected[task]);
  }
}

TEST(ForkJoin, HelpersTakeTheirShare) {
  Tally tally;
  tally.spins = 1000;
  ForkJoin team(Tally::task, &tally);
  const Helpers threads(team, 1);
  int helped = 0;
  for (int run = 0; run < 10'000 && helped == 0; ++run) {
    team.run(4);
    for (std::size_t task = 0; task < 4; ++task) helped += tally.done[task][1];
  }
  EXPECT_GT(helped, 0);
  EXPECT_EQ(tally.most_under_way.load(), 2);
}

}  // namespace
}  // namespace windhover
