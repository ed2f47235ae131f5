#include "windhover/platform/counters.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace windhover {

enum class Fruit { kApples, kPears, kCount };

template <>
struct CounterLabels<Fruit> {
  static constexpr std::array kLabels = {"apples", "pears"};
};

namespace {

TEST(Counters, StartAtZeroAndAddUp) {
  Counters<Fruit> counters;
  EXPECT_EQ(counters.get(Fruit::kApples), 0u);
  counters.add(Fruit::kApples);
  counters.add(Fruit::kApples, 41);
  EXPECT_EQ(counters.get(Fruit::kApples), 42u);
  EXPECT_EQ(counters.get(Fruit::kPears), 0u);
  counters.set(Fruit::kApples, 3);
  EXPECT_EQ(counters.get(Fruit::kApples), 3u);
}

TEST(Counters, MaximumKeepsTheLargest) {
  Counters<Fruit> counters;
  for (const std::uint64_t value : {3u, 9u, 4u}) counters.maximum(Fruit::kPears, value);
  EXPECT_EQ(counters.get(Fruit::kPears), 9u);
}

TEST(Counters, LabelsBelongToTheEnum) {
  EXPECT_STREQ(Counters<Fruit>::label(Fruit::kApples), "apples");
  EXPECT_STREQ(Counters<Fruit>::label(Fruit::kPears), "pears");
  EXPECT_EQ(Counters<Fruit>::size(), 2u);
}

TEST(Counters, ManyThreadsLoseNothing) {
  constexpr std::uint64_t kThreads = 4;
  constexpr std::uint64_t kTurns = 20'000;
  Counters<Fruit> counters;
  std::vector<std::thread> threads;
  for (std::uint64_t id = 0; id < kThreads; ++id) {
    threads.emplace_back([&counters, id] {
      for (std::uint64_t turn = 0; turn < kTurns; ++turn) {
        counters.add(Fruit::kApples);
        counters.maximum(Fruit::kPears, turn * kThreads + id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counters.get(Fruit::kApples), kThreads * kTurns);
  EXPECT_EQ(counters.get(Fruit::kPears), kThreads * kTurns - 1);
}

}  // namespace
}  // namespace windhover
