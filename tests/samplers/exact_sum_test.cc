#include "windhover/samplers/row_blocks/exact_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace windhover {
namespace {

TEST(ExactSum, QuantaAreTheNearestWholeNumber) {
  EXPECT_TRUE(quanta_of(2.4) == 2);
  EXPECT_TRUE(quanta_of(-2.6) == -3);
  EXPECT_TRUE(quanta_of(0.49) == 0);
  for (const double number : {1.0, 3e17, 4611686018427387904.0, 1.5e25, 0x1.fffffffffffffp123}) {
    EXPECT_EQ(number_of(quanta_of(number)), number);
    EXPECT_TRUE(quanta_of(-number) == -quanta_of(number)) << number;
  }
}

// A lower half of either sign stands beside 2^62: no digit is lost where the halves all but cancel.
TEST(ExactSum, NumbersKeepTheirDigits) {
  const Quanta high = Quanta{1} << 62;
  for (const std::int64_t low : {-5, -1, 0, 1, 5}) {
    EXPECT_EQ(number_of(Quanta{low}), static_cast<double>(low));
    EXPECT_EQ(number_of(high + low - high), static_cast<double>(low));
    EXPECT_EQ(number_of(high + low), 0x1p62);
  }
}

// 10^18 and 10^-18, the sizes that w x^2 can have, in any order: what stays is as if the others had
// not been.
TEST(ExactSum, NothingIsLeftOfWhatIsTakenOut) {
  ExactSum alone{};
  alone.add(0.3e-18);
  EXPECT_NEAR(alone.value(), 0.3e-18, 1e-25);
  ExactSum sum{};
  const std::vector<double> numbers = {0.25e18, 0.7e6, 1.0 / 3, 0.1e-6, 0.3e12};
  for (int i = 0; i < 1'000; ++i) {
    for (const double number : numbers) sum.add(number * (1 + i));
    if (i == 500) sum.add(0.3e-18);
  }
  EXPECT_GT(sum.value(), 1e18);
  for (int i = 0; i < 1'000; ++i) {
    for (const double number : numbers) sum.add(-(number * (1 + i)));
  }
  EXPECT_EQ(sum.value(), alone.value());
}

}  // namespace
}  // namespace windhover
