#include "windhover/platform/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace windhover {
namespace {

constexpr double kResolution = 1.0 / 32;

TEST(Histogram, EmptyIsAllZero) {
  Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.max(), 0);
  EXPECT_EQ(histogram.quantile(0.5), 0);
}

TEST(Histogram, EachValueComesBackWithinTheResolutionAndNeverLower) {
  Histogram histogram;
  for (std::int64_t value = Histogram::kLowest; value < Histogram::kHighest;
       value = value + std::max<std::int64_t>(1, value / 37)) {
    histogram.reset();
    histogram.record(value);
    histogram.record(Histogram::kHighest);  // so that the bound is not clipped to the maximum
    const std::int64_t reported = histogram.quantile(0.5);
    ASSERT_GE(reported, value);
    ASSERT_LE(static_cast<double>(reported - value), kResolution * static_cast<double>(value));
  }
}

TEST(Histogram, QuantilesAgreeWithSortedValues) {
  Histogram histogram;
  std::mt19937_64 generator(1);
  std::lognormal_distribution<double> distribution(9.0, 2.5);
  std::vector<std::int64_t> values(50'000);
  for (std::int64_t& value : values) {
    value = std::max<std::int64_t>(1, static_cast<std::int64_t>(distribution(generator)));
    histogram.record(value);
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
    const double wanted = std::ceil(q * static_cast<double>(values.size()));
    const auto rank = std::max<std::size_t>(1, static_cast<std::size_t>(wanted));
    const std::int64_t exact = values[rank - 1];
    EXPECT_GE(histogram.quantile(q), exact) << q;
    EXPECT_LE(static_cast<double>(histogram.quantile(q)),
              (1 + kResolution) * static_cast<double>(exact))
        << q;
  }
  EXPECT_EQ(histogram.count(), values.size());
  EXPECT_EQ(histogram.max(), values.back());
  EXPECT_EQ(histogram.quantile(1.0), values.back());
}

TEST(Histogram, ValuesOutsideTheRangeCountAtItsEnds) {
  Histogram histogram;
  histogram.record(-5);
  histogram.record(0);
  EXPECT_EQ(histogram.quantile(1.0), Histogram::kLowest);
  histogram.record(std::int64_t{1} << 62);
  EXPECT_EQ(histogram.max(), Histogram::kHighest);
  EXPECT_EQ(histogram.quantile(1.0), Histogram::kHighest);
  EXPECT_EQ(histogram.count(), 3u);
}

TEST(Histogram, ResetForgetsEverything) {
  Histogram histogram;
  histogram.record(1000);
  histogram.reset();
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.max(), 0);
  EXPECT_EQ(histogram.quantile(0.99), 0);
}

TEST(Histogram, CanBeReadWhileItIsWritten) {
  Histogram histogram;
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop.load()) {
      const std::int64_t median = histogram.quantile(0.5);
      EXPECT_TRUE(median == 0 || (median >= 100 && median <= 1000)) << median;
    }
  });
  for (int turn = 0; turn < 100'000; ++turn) histogram.record(100 + turn % 900);
  stop.store(true);
  reader.join();
  EXPECT_EQ(histogram.count(), 100'000u);
}

TEST(Histogram, FitsInNineKilobytes) { EXPECT_LE(sizeof(Histogram), 9u * 1024); }

}  // namespace
}  // namespace windhover
