#include "windhover/runtime/learning/fading_dispersion.h"

#include <gtest/gtest.h>

#include <limits>

namespace windhover::test::fading_dispersion_test {
namespace {

TEST(FadingDispersion, TakesTheFirstBatchAsItIs) {
  FadingDispersion d;
  d.reset();
  EXPECT_FALSE(d.told());
  d.learn(d.value(), 5000, 5, 5);  // 1000 a row, where 1 was a guess
  EXPECT_DOUBLE_EQ(d.value(), 1000);
  EXPECT_TRUE(d.told());
}

TEST(FadingDispersion, IsTheAverageWhileNothingIsForgotten) {
  FadingDispersion d;
  d.reset();
  double all = 0;
  double rows = 0;
  for (const double squares : {4.0, 9.0, 2.0, 12.0}) {
    rows += 5;
    all += squares;
    d.learn(d.value(), squares, 5, rows);
    EXPECT_NEAR(d.value(), all / rows, 1e-12);
  }
}

TEST(FadingDispersion, ForgetsWhatRowsDoNotCountAnyMore) {
  FadingDispersion d;
  d.start(1, 100);
  d.learn(1, 15, 5, 50);  // 3 a row; it is known from 50
  EXPECT_NEAR(d.value(), 1 + 5.0 / 50 * (3 - 1), 1e-12);
}

TEST(FadingDispersion, GoesFromWhatItIsTakenFor) {
  FadingDispersion d;
  d.start(1, 95);
  d.learn(2, 5, 5, 100);  // 1 a row
  EXPECT_NEAR(d.value(), 2 + 5.0 / 100 * (1 - 2), 1e-12);
}

TEST(FadingDispersion, IsMovedByAnOutlyingBatchAsByOneOfTenTimesTheUsual) {
  FadingDispersion d;
  d.start(2, 95);
  d.learn(2, 1e9, 5, 100);
  EXPECT_NEAR(d.value(), 2 + 5.0 / 100 * (FadingDispersion::kMost * 2 - 2), 1e-12);
}

TEST(FadingDispersion, IsToldNothingByWhatIsNoNumberOrCountsNothing) {
  FadingDispersion d;
  d.start(2, 0);
  d.learn(2, std::numeric_limits<double>::infinity(), 5, 5);
  d.learn(2, std::numeric_limits<double>::quiet_NaN(), 5, 5);
  d.learn(2, 3, 0, 5);
  EXPECT_EQ(d.value(), 2);
  EXPECT_FALSE(d.told());
}

}  // namespace
}  // namespace windhover::test::fading_dispersion_test
