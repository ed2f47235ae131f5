#include "windhover/io/http/watchdog.h"

#include <gtest/gtest.h>

namespace windhover {
namespace watchdog_test {

constexpr std::int64_t kStall = 1000;

TEST(Watchdog, WhoHasNotBegunIsNotJudged) {
  Watchdog watchdog(kStall);
  for (std::int64_t now = 0; now < 5000; now += 100) watchdog.look(now, {1, 0, 0});
  EXPECT_GT(watchdog.still_ns(Watchdog::kObserve), 0);
  EXPECT_EQ(watchdog.still_ns(Watchdog::kQuery), 0);
  EXPECT_EQ(watchdog.still_ns(Watchdog::kLearner), 0);
}

TEST(Watchdog, StandingStillIsSeenWhenItLastsAndForgottenWhenItEnds) {
  Watchdog watchdog(kStall);
  std::uint64_t beat = 1;
  std::int64_t now = 0;
  for (; now < 3000; now += 100) watchdog.look(now, {++beat, ++beat, ++beat});
  for (std::size_t i = 0; i < Watchdog::kParts; ++i) {
    EXPECT_EQ(watchdog.still_ns(static_cast<Watchdog::Part>(i)), 0);
  }
  ++beat;
  const Watchdog::Beats still = {beat, beat, beat};
  watchdog.look(now, still);  // they moved
  watchdog.look(now + 400, still);
  watchdog.look(now + 800, still);
  EXPECT_EQ(watchdog.still_ns(Watchdog::kLearner), 0);
  watchdog.look(now + 1200, {beat, beat + 1, beat});
  EXPECT_EQ(watchdog.still_ns(Watchdog::kObserve), 1200);
  EXPECT_EQ(watchdog.still_ns(Watchdog::kQuery), 0);
  EXPECT_EQ(watchdog.still_ns(Watchdog::kLearner), 1200);
  watchdog.look(now + 1300, {beat + 1, beat + 1, beat});
  EXPECT_EQ(watchdog.still_ns(Watchdog::kObserve), 0);
  EXPECT_EQ(watchdog.still_ns(Watchdog::kLearner), 1300);
}

TEST(Watchdog, ItsOwnPauseIsNobodysFault) {
  Watchdog watchdog(kStall);
  watchdog.look(0, {1, 1, 1});
  watchdog.look(100, {2, 2, 2});
  watchdog.look(50'000, {2, 2, 2});
  EXPECT_EQ(watchdog.still_ns(Watchdog::kObserve), 0);
  for (std::int64_t now = 50'400; now <= 51'200; now += 400) watchdog.look(now, {2, 3, 3});
  EXPECT_GE(watchdog.still_ns(Watchdog::kObserve), kStall);
}

}  // namespace watchdog_test
}  // namespace windhover
