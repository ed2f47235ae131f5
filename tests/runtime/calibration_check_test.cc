#include "windhover/runtime/scoring/calibration_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <random>

#include "windhover/tests/long_tests.h"

namespace windhover::test::calibration_check_test {
namespace {

// Rows until the check fails, or so many.
template <class Pit>
std::uint64_t rows_to_alarm(CalibrationCheck& check, std::uint64_t most, Pit&& pit) {
  for (std::uint64_t row = 1; row <= most; ++row) {
    check.add(ratios_of({pit(), 0, {}}));
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
    CalibrationCheck check;
    const std::uint64_t took = rows_to_alarm(check, left, [&] { return uniform(random); });
    if (took > left) break;
    ++alarms;
    left -= took;
  }
  return alarms;
}

// Expects at most one false alarm in kRows, and four standard deviations of that Poisson number.
void expect_few(std::uint64_t rows, std::uint64_t seed) {
  const double most = static_cast<double>(rows) / CalibrationCheck::kRows;
  EXPECT_LE(static_cast<double>(false_alarms(rows, seed)), most + 4 * std::sqrt(most));
}

TEST(CalibrationCheck, FalseAlarmsAreRare) { expect_few(3'000'000, 1); }

TEST(CalibrationCheck, FalseAlarmsAreRareOverManyRows) {
  WINDHOVER_SKIP_UNLESS_LONG();
  expect_few(100'000'000, 2);
}

// The PIT of a normal y where the predictions have `factor` times its standard deviation.
double pit_of(std::mt19937_64& random, double factor) {
  std::normal_distribution<double> normal;
  return 0.5 * std::erfc(-normal(random) / factor / std::numbers::sqrt2);
}

// 20 outcomes, and not while they are against it: ten of 30 outside of 90 % intervals are 10
// ln(0.22 / 0.12) - 20 ln(0.88 / 0.78) = 3.6 nats for 78 %.
TEST(BorneOut, ByTwentyOutcomes) {
  BorneOut check;
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(check.yes()) << i;
    check.add(ratios_of({0.025 + 0.05 * i, 0, {}}));
  }
  EXPECT_TRUE(check.yes());
  BorneOut against;
  for (int i = 0; i < 30; ++i) against.add(ratios_of({i % 3 == 0 ? 0.01 : 0.3, 0, {}}));
  EXPECT_FALSE(against.yes());
  for (int i = 0; i < 40; ++i) against.add(ratios_of({0.025 + 0.05 * (i % 20), 0, {}}));
  EXPECT_TRUE(against.yes());
}

TEST(CalibrationCheck, SeesIntervalsThatAreTooNarrowOrTooWide) {
  for (const double factor : {0.6, 1.7}) {
    std::mt19937_64 random(3);
    CalibrationCheck check;
    EXPECT_LE(rows_to_alarm(check, 2'000, [&] { return pit_of(random, factor); }), 600U) << factor;
  }
}

// 90 % intervals that hold 83.8 %: nearer to right than 78 %, and far from near enough.
TEST(CalibrationCheck, SeesSomewhatNarrowIntervalsInTime) {
  std::mt19937_64 random(11);
  CalibrationCheck check;
  // A row says 0.0071 nats for 85 against 88 %, with an sd of 0.095: 2,300 make log(12 kRows), and
  // four standard deviations of a first passage are 2,560.
  EXPECT_LE(rows_to_alarm(check, 10'000, [&] { return pit_of(random, 0.85); }), 4'860U);
}

// It is seen within as many rows as the alternative nearest to what happens takes to come to the
// threshold, on average, and four standard errors of a first passage.
TEST(CalibrationCheck, SeesWhatIsFarOffSoon) {
  struct Case {
    double factor, held, bound, alternative;
  };
  constexpr int kSeeds = 20;
  // With 0.3 times the sd 37.8 % are within 90 %, with 2.5 times it 90.8 % within 50 %.
  for (const Case& c : {Case{0.3, 0.378, 0.88, 0.6}, Case{2.5, 0.908, 0.54, 0.85}}) {
    std::uint64_t rows = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      std::mt19937_64 random(seed);
      CalibrationCheck check;
      rows += rows_to_alarm(check, 2'000, [&] { return pit_of(random, c.factor); });
    }
    const double inside = std::log(c.alternative / c.bound);
    const double outside = std::log((1 - c.alternative) / (1 - c.bound));
    const double mean = c.held * inside + (1 - c.held) * outside;
    const double variance = c.held * (1 - c.held) * std::pow(inside - outside, 2);
    const double threshold = std::log(kAlternatives * CalibrationCheck::kRows);
    const double error = std::sqrt(kSeeds * threshold * variance / std::pow(mean, 3));
    EXPECT_LE(static_cast<double>(rows), kSeeds * threshold / mean + 4 * error) << c.factor;
  }
}

TEST(CalibrationCheck, LeavesAloneWhatIsNearEnough) {
  for (const double factor : {0.95, 1.06}) {
    std::mt19937_64 random(4);
    CalibrationCheck check;
    EXPECT_EQ(rows_to_alarm(check, 300'000, [&] { return pit_of(random, factor); }), 300'001U)
        << factor;
  }
}

TEST(CalibrationCheck, GoesOutWhenThePredictionsAreHonestAgain) {
  std::mt19937_64 random(5);
  CalibrationCheck check;
  for (int i = 0; i < 5'000; ++i) check.add(ratios_of({pit_of(random, 0.5), 0, {}}));
  EXPECT_TRUE(check.failing());
  int rows = 0;
  while (check.failing() && rows < 10'000) {
    check.add(ratios_of({pit_of(random, 1), 0, {}}));
    ++rows;
  }
  EXPECT_LT(rows, 3'000);
}

// Rows of classes 0 and 1, predicted with `factor` times the log-odds that y has, beside a
// reference that knows the base rate.
class BinaryRows {
 public:
  BinaryRows(std::uint64_t seed, double factor) : random_(seed), factor_(factor) {}

  JudgedOutcome next() {
    const double eta = 1.5 * normal_(random_);
    const bool y = uniform_(random_) < sigmoid(eta);
    const double claimed = factor_ * (y ? eta : -eta);
    const auto log_p = [&](double times) { return std::log(sigmoid(times * claimed)); };
    const double p = sigmoid(claimed);
    const double tie = uniform_(random_);
    return {y ? 1 - tie * p : tie * p,
            std::log(0.5) - std::log(p),
            {log_p(0.5), log_p(0.75), log_p(1.25), log_p(2)}};
  }

 private:
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  double factor_;
};

template <class Rows>
std::uint64_t rows_to_fail(Rows&& rows, std::uint64_t most) {
  CalibrationCheck check;
  for (std::uint64_t row = 1; row <= most; ++row) {
    check.add(ratios_of(rows.next()));
    if (check.failing()) return row;
  }
  return most + 1;
}

TEST(CalibrationCheck, FalseAlarmsOfClassesAreRare) {
  constexpr std::uint64_t kRows = 3'000'000;
  BinaryRows rows(6, 1);
  std::uint64_t alarms = 0;
  for (std::uint64_t left = kRows; left > 0;) {
    const std::uint64_t took = rows_to_fail(rows, left);
    if (took > left) break;
    ++alarms;
    left -= took;
  }
  const double most = kRows / CalibrationCheck::kRows;
  EXPECT_LE(static_cast<double>(alarms), most + 4 * std::sqrt(most));
}

TEST(CalibrationCheck, SeesProbabilitiesThatAreTooBoldOrTooTimid) {
  for (const double factor : {0.5, 2.0}) {
    EXPECT_LE(rows_to_fail(BinaryRows(7, factor), 2'000), 1'000U) << factor;
  }
}

TEST(CalibrationCheck, LeavesAloneProbabilitiesThatAreNearEnough) {
  for (const double factor : {0.85, 1.2}) {
    EXPECT_EQ(rows_to_fail(BinaryRows(8, factor), 300'000), 300'001U) << factor;
  }
}

// y is N(0, 1), as the reference says; ours is N(error, 1), whose intervals hold nearly their
// share.
TEST(CalibrationCheck, SeesThatWhoKnowsNoXPredictsBetter) {
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  CalibrationCheck check;
  int rows = 0;
  while (!check.failing() && rows < 5'000) {
    const double y = normal(random);
    const double off = y - 0.3 * normal(random);
    check.add(
        ratios_of({0.5 * std::erfc(-off / std::numbers::sqrt2), 0.5 * (off * off - y * y), {}}));
    ++rows;
  }
  EXPECT_LT(rows, 2'000);  // it gains 0.045 nats a row, of 13.5
}

TEST(CalibrationCheck, WhatIsNoNumberEndsNothing) {
  CalibrationCheck check;
  check.add(ratios_of({0.5, std::nan(""), {std::nan(""), 0, 0, 0}}));
  for (int i = 0; i < 100; ++i) check.add(ratios_of({0.5, 1, {}}));
  EXPECT_TRUE(check.failing());
}

TEST(CalibrationCheck, OneImpossibleRowIsNoAlarm) {
  CalibrationCheck check;
  check.add(ratios_of({0.5, 1e3, {500, 0, 0, 0}}));
  EXPECT_FALSE(check.failing());
}

}  // namespace
}  // namespace windhover::test::calibration_check_test
