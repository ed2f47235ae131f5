#include "windhover/runtime/diagnostics/change_point.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::change_point_test {
namespace {

// The best of all splits, by the definition.
std::uint64_t split_of(const std::vector<double>& x) {
  const auto n = static_cast<double>(x.size());
  double sum = 0, before = 0, largest = -1;
  for (const double value : x) sum += value;
  std::uint64_t best = 0;
  for (std::size_t k = 1; k < x.size(); ++k) {
    before += x[k - 1];
    const auto so_far = static_cast<double>(k);
    const double off = before - so_far / n * sum;
    const double likelihood = off * off / (so_far * (n - so_far));
    if (likelihood <= largest) continue;
    largest = likelihood;
    best = k;
  }
  return best;
}

TEST(ChangePoint, IsTheBestSplitOfAllWhileTheyAreFew) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    for (const Index n : {2, 3, 48, 400, 511}) {
      const VectorXd z = normals(seed, n);
      std::vector<double> x(z.data(), z.data() + n);
      for (std::size_t i = x.size() * seed / 5; i < x.size(); ++i) x[i] += 1;
      ChangePoint change;
      change.begin();
      for (const double value : x) change.add(value);
      EXPECT_EQ(change.split().before, split_of(x)) << n;
    }
  }
}

// The step is 1 sd: an error of more than 40 numbers has the probability that a random walk of
// drift 1/2 and variance 1 is above 0 then, on either side 2 Phi(-sqrt(40) / 2), 0.0016; the grid
// adds up to n / 256, and only where it adds all of it would such an error show.
TEST(ChangePoint, FindsAStepOfALongSeries) {
  for (const std::uint64_t at : {1'000U, 17'777U, 60'000U, 99'000U}) {
    const std::uint64_t n = 100'000;
    const VectorXd z = normals(at, static_cast<Index>(n));
    ChangePoint change;
    change.begin();
    for (std::uint64_t i = 0; i < n; ++i)
      change.add(z[static_cast<Index>(i)] + (i >= at ? -1.0 : 0.0));
    EXPECT_NEAR(static_cast<double>(change.split().before), static_cast<double>(at),
                40 + n / 256.0);
    EXPECT_EQ(change.count(), n);
    // From 32 to 64 stretches the standard deviation is known to 13 % at best: 50 % is 4 of these.
    const auto after = static_cast<double>(n - at), before = static_cast<double>(at);
    const double contrast = std::sqrt(before * after / static_cast<double>(n));
    EXPECT_NEAR(change.split().contrast, contrast, 0.5 * contrast);
  }
}

// Moving averages of 30 numbers: independent ones of their variance would differ by 20 and more. In
// 2,000 such series of 20,000 numbers 9 had a contrast above 4.4, the largest 5.6.
TEST(ChangePoint, NumbersThatDependOnOneAnotherAreNoChange) {
  for (const std::uint64_t seed : {5U, 6U, 7U, 8U, 9U, 10U}) {
    const VectorXd z = normals(seed, 50'030);
    ChangePoint change;
    change.begin();
    for (Index i = 0; i < 50'000; ++i) change.add(z.segment(i, 30).sum());
    EXPECT_LT(change.split().contrast, 5) << seed;
    EXPECT_GT(change.split().contrast, 0) << seed;
  }
}

TEST(ChangePoint, OfFewerThanTwoThereIsNone) {
  ChangePoint change;
  change.begin();
  EXPECT_EQ(change.split().before, 0U);
  change.add(3);
  EXPECT_EQ(change.split().before, 0U);
  change.add(3);
  EXPECT_EQ(change.split().before, 1U);
  change.begin();
  EXPECT_EQ(change.count(), 0U);
  EXPECT_EQ(change.split().before, 0U);
}

}  // namespace
}  // namespace windhover::test::change_point_test
