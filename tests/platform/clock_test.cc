#include "windhover/platform/clock.h"

#include <gtest/gtest.h>

namespace windhover {
namespace {

TEST(RealClock, MovesForwardInNanoseconds) {
  RealClock clock;
  const std::int64_t start = clock.now_ns();
  constexpr timespec kTwoMilliseconds{0, 2'000'000};
  nanosleep(&kTwoMilliseconds, nullptr);
  const std::int64_t elapsed = clock.now_ns() - start;
  EXPECT_GE(elapsed, 2'000'000);
  EXPECT_LT(elapsed, 10'000'000'000);
}

TEST(ManualClock, StandsStillUntilTold) {
  ManualClock manual(5);
  Clock& clock = manual;
  EXPECT_EQ(clock.now_ns(), 5);
  EXPECT_EQ(clock.now_ns(), 5);
  manual.advance_ns(10);
  EXPECT_EQ(clock.now_ns(), 15);
  manual.set_ns(1);
  EXPECT_EQ(clock.now_ns(), 1);
}

}  // namespace
}  // namespace windhover
