#include "windhover/runtime/scoring/coverage_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numbers>
#include <random>

#include "windhover/tests/long_tests.h"

namespace windhover::test::coverage_check_test {
namespace {

// Rows until the check fails, or so many.
template <class Pit>
std::uint64_t rows_to_alarm(CoverageCheck& check, std::uint64_t most, Pit&& pit) {
  for (std::uint64_t row = 1; row <= most; ++row) {
    check.add(pit());
    if (check.failing()) return row;
  }
  return most + 1;
}

// Honest rows, an alarm ended by a new check.
std::uint64_t false_alarms(std::uint64_t rows, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform;
  std::uint64_t alarms = 0;
  for (std::uint64_t left = rows; left > 0;) {
    CoverageCheck check;
    const std::uint64_t took = rows_to_alarm(check, left, [&] { return uniform(random); });
    if (took > left) break;
    ++alarms;
    left -= took;
  }
  return alarms;
}

// At most one in kRows: so many and four standard deviations of a Poisson number.
void expect_few(std::uint64_t rows, std::uint64_t seed) {
  const double most = static_cast<double>(rows) / CoverageCheck::kRows;
  EXPECT_LE(static_cast<double>(false_alarms(rows, seed)), most + 4 * std::sqrt(most));
}

TEST(CoverageCheck, FalseAlarmsAreRare) { expect_few(3'000'000, 1); }

TEST(CoverageCheck, FalseAlarmsAreRareOverManyRows) {
  WINDHOVER_SKIP_UNLESS_LONG();
  expect_few(100'000'000, 2);
}

// Of a normal y where the predictions have `factor` times its standard deviation.
double pit_of(std::mt19937_64& random, double factor) {
  std::normal_distribution<double> normal;
  return 0.5 * std::erfc(-normal(random) / factor / std::numbers::sqrt2);
}

TEST(CoverageCheck, SeesIntervalsThatAreTooNarrowOrTooWide) {
  for (const double factor : {0.6, 1.7}) {
    std::mt19937_64 random(3);
    CoverageCheck check;
    EXPECT_LE(rows_to_alarm(check, 2'000, [&] { return pit_of(random, factor); }), 600U) << factor;
  }
}

TEST(CoverageCheck, LeavesAloneWhatIsNearEnough) {
  for (const double factor : {0.95, 1.06}) {
    std::mt19937_64 random(4);
    CoverageCheck check;
    EXPECT_EQ(rows_to_alarm(check, 300'000, [&] { return pit_of(random, factor); }), 300'001U)
        << factor;
  }
}

TEST(CoverageCheck, GoesOutWhenThePredictionsAreHonestAgain) {
  std::mt19937_64 random(5);
  CoverageCheck check;
  for (int i = 0; i < 5'000; ++i) check.add(pit_of(random, 0.5));
  EXPECT_TRUE(check.failing());
  int rows = 0;
  while (check.failing() && rows < 10'000) {
    check.add(pit_of(random, 1));
    ++rows;
  }
  EXPECT_LT(rows, 3'000);
}

}  // namespace
}  // namespace windhover::test::coverage_check_test
