#include "windhover/runtime/scoring/outcome_ratios.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace windhover::test::outcome_ratios_test {
namespace {

TEST(OutcomeRatios, OfWhatIsNearEnoughAreAtMostOneOnAverage) {
  constexpr std::size_t kForecast = kReferenceAlternative;
  // PIT evenly over 0 to 1: a right model.
  OutcomeRatios sum{};
  constexpr int kSteps = 2'000;
  for (int i = 0; i < kSteps; ++i) {
    const OutcomeRatios one = ratios_of({(i + 0.5) / kSteps, 0, {}});
    for (std::size_t k = 0; k < kAlternatives; ++k) sum[k] += one[k] / kSteps;
  }
  for (std::size_t k = 0; k < kForecast; ++k) EXPECT_LT(sum[k], 1) << k;
  for (std::size_t k = kForecast; k < kAlternatives; ++k) EXPECT_NEAR(sum[k], 1, 1e-12) << k;
}

OutcomeRatios all(double ratio) {
  OutcomeRatios ratios;
  ratios.fill(ratio);
  return ratios;
}

TEST(RatiosOfOnePosterior, SayNothingBeforeTheNextPosterior) {
  RatiosOfOnePosterior rows;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rows.add(100, all(2), 0), nullptr);
  const OutcomeRatios* before = rows.add(200, all(0.5), 0);
  ASSERT_NE(before, nullptr);
  EXPECT_NEAR((*before)[0], 8, 1e-12) << "three independent ones";
  EXPECT_EQ(rows.add(200, all(0.5), 0), nullptr);
  before = rows.add(201, all(1), 0);
  ASSERT_NE(before, nullptr);
  EXPECT_NEAR((*before)[9], 0.25, 1e-12);
  rows.reset();
  EXPECT_EQ(rows.add(100, all(2), 0), nullptr) << "those of before a restart are gone";
}

TEST(RatiosOfOnePosterior, OfRowsThatHangTogetherAreOfFewer) {
  const auto of = [](int rows, double share) {
    RatiosOfOnePosterior evidence;
    for (int i = 0; i < rows; ++i) evidence.add(1, all(2), share);
    return std::log2((*evidence.add(2, all(1), 0))[0]);
  };
  EXPECT_NEAR(of(1, 1), 1, 1e-12);
  EXPECT_NEAR(of(50, 1), 1, 1e-12) << "one and the same";
  EXPECT_NEAR(of(50, 0), 50, 1e-12);
  EXPECT_NEAR(of(51, 0.02), 25.5, 1e-12);
  EXPECT_LT(of(1'000'000, 0.01), 100);
}

// z of a row is a part that all of a posterior share and one of its own: PIT is even over each by
// itself. Their evidence comes to no more than chance allows.
TEST(RatiosOfOnePosterior, OfARightModelAreAtMostOneOnAverage) {
  constexpr int kPosteriors = 4'000;
  constexpr int kRows = 20;
  for (const double share : {0.05, 0.3, 0.9}) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    RatiosOfOnePosterior rows;
    OutcomeRatios sum{};
    OutcomeRatios squares{};
    for (int p = 0; p <= kPosteriors; ++p) {
      const double shared = std::sqrt(share) * normal(random);
      for (int i = 0; i < kRows; ++i) {
        const double z = shared + std::sqrt(1 - share) * normal(random);
        const double pit = 0.5 * std::erfc(-z / std::sqrt(2.0));
        const OutcomeRatios* before =
            rows.add(static_cast<std::uint64_t>(p) + 1, ratios_of({pit, 0, {}}), share);
        for (std::size_t k = 0; before != nullptr && k < kReferenceAlternative; ++k) {
          sum[k] += (*before)[k];
          squares[k] += (*before)[k] * (*before)[k];
        }
      }
    }
    for (std::size_t k = 0; k < kReferenceAlternative; ++k) {
      const double mean = sum[k] / kPosteriors;
      const double error = std::sqrt(squares[k]) / kPosteriors;
      EXPECT_LE(mean, 1 + 4 * error) << share << " " << k;
    }
  }
}

}  // namespace
}  // namespace windhover::test::outcome_ratios_test
