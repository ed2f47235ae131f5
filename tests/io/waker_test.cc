#include "windhover/io/waker.h"

#include <thread>

#include <gtest/gtest.h>

namespace windhover::waker_test {
namespace {

TEST(Waker, WakesTheThreadInsideRun) {
  IoContext io(1);
  Counters<IoCounter> counters;
  Waker waker(io, counters);
  ASSERT_TRUE(waker.open());
  int woken = 0;
  waker.wait([&] { ++woken; });
  std::thread other([&] { waker.wake(); });
  io.run();
  other.join();
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(counters.get(IoCounter::kHandlerHeapFallbacks), 0U);
}

TEST(Waker, WhatWokeItWakesItOnce) {
  IoContext io(1);
  Counters<IoCounter> counters;
  Waker waker(io, counters);
  ASSERT_TRUE(waker.open());
  waker.wake();
  waker.wake();
  int woken = 0;
  waker.wait([&] {
    ++woken;
    waker.wait([&] { ++woken; });
  });
  while (woken == 0) io.run_one();
  EXPECT_EQ(io.poll(), 0U);
  EXPECT_EQ(woken, 1);
  waker.wake();
  while (woken == 1) io.run_one();
  EXPECT_EQ(woken, 2);
}

TEST(Waker, CancelledItCallsNobody) {
  IoContext io(1);
  Counters<IoCounter> counters;
  Waker waker(io, counters);
  ASSERT_TRUE(waker.open());
  int woken = 0;
  waker.wait([&] { ++woken; });
  waker.cancel();
  io.run();
  EXPECT_EQ(woken, 0);
}

}  // namespace
}  // namespace windhover::waker_test
