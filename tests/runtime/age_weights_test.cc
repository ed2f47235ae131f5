// What rows count for by their age: sums against their definition, row by row.
#include "windhover/runtime/window/age_weights.h"

#include <gtest/gtest.h>

#include <cmath>

#include "windhover/tests/runtime/forgetting_fixture.h"

namespace windhover::test::forgetting_test {
namespace {

AgeWeights ages_of(std::uint64_t size, ForgettingSpread spread = ForgettingSpread::kSampling) {
  EngineConfig config = forgetting(small_config("linear", 3, size));
  config.forgetting_spread = spread;
  return AgeWeights(config);
}

TEST(AgeWeights, AreOneWithoutForgetting) {
  const AgeWeights ages(small_config("linear", 3, 100));
  EXPECT_TRUE(ages.flat());
  EXPECT_EQ(ages.weight(3, 1'000), 1.0);
  EXPECT_EQ(ages.worth(7, 107), 100.0);
  EXPECT_GT(ages.end_of_step(1'000'000), std::uint64_t{1} << 60);
}

TEST(AgeWeights, SumsAreThoseOfTheRows) {
  for (const Index size : {5, 64, 100, 1'000, 6'400}) {
    const AgeWeights sampling = ages_of(static_cast<std::uint64_t>(size));
    const AgeWeights posterior =
        ages_of(static_cast<std::uint64_t>(size), ForgettingSpread::kPosterior);
    const VectorXd u = uniforms(3, 400);
    for (Index i = 0; i < 200; ++i) {
      const auto first = static_cast<Index>(3'000 * u[2 * i]);
      const auto rows = 1 + static_cast<Index>(2.2 * static_cast<double>(size) * u[2 * i + 1]);
      const VectorXd r = ages(first, rows, size);
      const auto begin = static_cast<std::uint64_t>(first);
      const auto end = static_cast<std::uint64_t>(first + rows);
      const AgeWeights::Sums sums = sampling.sums(begin, end);
      ASSERT_NEAR(sums.weight, r.sum(), 1e-10 * r.sum());
      ASSERT_NEAR(sums.squares, r.squaredNorm(), 1e-10 * r.squaredNorm());
      ASSERT_NEAR(sampling.weight(begin, end - 1), r[0], 1e-12);
      const double kish = r.sum() * r.sum() / r.squaredNorm();
      ASSERT_NEAR(sampling.worth(begin, end), kish, 1e-9 * kish);
      // The newest row counts once; half a step is what the newest one counts too much or too
      // little beside an exponential.
      const double step = std::max(1.0, std::floor(static_cast<double>(size) / 32));
      ASSERT_NEAR(posterior.worth(begin, end), r.sum(), 0.5 * step + 0.01 * r.sum());
    }
  }
  EXPECT_EQ(ages_of(100).worth(20, 20), 0.0);
}

TEST(AgeWeights, TwiceTheSizeIsWorthTheSize) {
  for (const std::uint64_t size : {100, 1'000, 100'000}) {
    for (const std::uint64_t first : {0, 17, 4'711}) {
      const double n = static_cast<double>(size);
      EXPECT_NEAR(ages_of(size).worth(first, first + 2 * size), n, 1e-3 * n);
      EXPECT_NEAR(ages_of(size, ForgettingSpread::kPosterior).worth(first, first + 2 * size),
                  0.5108 * n, 1e-3 * n);
    }
  }
}

}  // namespace
}  // namespace windhover::test::forgetting_test
