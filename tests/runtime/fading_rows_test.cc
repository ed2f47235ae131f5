// What rows that fade are worth, against each row's share by itself.
#include "windhover/runtime/learning/fading_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace windhover::test::fading_rows_test {
namespace {

TEST(FadingRows, IsWorthNothingBeforeTheFirst) {
  FadingRows rows(100);
  rows.add(7);
  rows.reset();
  EXPECT_EQ(rows.sum(), 0);
  EXPECT_EQ(rows.worth(), 0);
  EXPECT_EQ(rows.as_many(), 1);
  EXPECT_EQ(rows.memory(), 100U);
}

TEST(FadingRows, CountsThoseItStartsWithOnceEach) {
  FadingRows rows(100);
  rows.start(40);
  EXPECT_EQ(rows.sum(), 40);
  EXPECT_EQ(rows.worth(), 40);
  EXPECT_EQ(rows.as_many(), 1);
}

TEST(FadingRows, IsTheSumOverRowsAndOfTheirSquares) {
  FadingRows rows(50);
  rows.start(10);
  std::vector<double> counts(10, 1.0);
  for (const std::size_t batch : {1, 5, 8, 2, 8, 8, 3}) {
    const double keep = rows.add(batch);
    EXPECT_NEAR(keep, std::pow(1 - 2.0 / 50, static_cast<double>(batch)), 1e-15) << batch;
    for (double& count : counts) count *= keep;
    counts.resize(counts.size() + batch, 1.0);
  }
  double sum = 0;
  double squares = 0;
  for (const double count : counts) {
    sum += count;
    squares += count * count;
  }
  EXPECT_NEAR(rows.sum(), sum, 1e-12 * sum);
  EXPECT_NEAR(rows.worth(), sum * sum / squares, 1e-12 * sum);
  EXPECT_NEAR(rows.as_many() * rows.sum(), rows.worth(), 1e-12 * sum);
}

// One at a time the sums are geometric: W = N / 2 and W2 = N / 4 / (1 - 1 / N).
TEST(FadingRows, TendsToItsMemory) {
  for (const std::uint64_t memory : {20, 100, 1000}) {
    FadingRows rows(memory);
    for (std::uint64_t i = 0; i < 40 * memory; ++i) rows.add(1);
    const auto n = static_cast<double>(memory);
    EXPECT_NEAR(rows.sum(), n / 2, 1e-9 * n);
    EXPECT_NEAR(rows.worth(), n - 1, 1e-9 * n);
  }
}

TEST(FadingRows, KeepsHalfOfARowHoweverShortItsMemoryIs) {
  FadingRows rows(1);
  EXPECT_EQ(rows.add(1), 0.5);
}

}  // namespace
}  // namespace windhover::test::fading_rows_test
