// Do intervals cover as often as they say? Window replay at R = 4 draws per new observation, D =
// 10, N = 1000, features with AR(1) correlation 0.5, everything else at its default.
#include <gtest/gtest.h>

#include <cstdio>

#include "windhover/tests/runtime/coverage.h"

namespace windhover::test::coverage_test {
namespace {

constexpr Index kWindow = 1000;

struct Tallies {
  Tally plain, robust, drawn;
  Tally plain_intercept, robust_intercept;
};

// The window turns over once after it is full, the learner keeping up.
Tallies replicate(int replications, Noise noise) {
  Tallies tallies;
  for (int r = 0; r < replications; ++r) {
    const auto seed = static_cast<std::uint64_t>(10'000 + r);
    const Data data = replication_data(seed, noise, 2 * kWindow);
    const Replication said =
        replicate(small_config("linear", kCoverageFeatures, kWindow), data, seed);
    double plain = 0;
    double robust = 0;
    double drawn = 0;
    for (Index j = 0; j <= kCoverageFeatures; ++j) {
      plain += said.plain(j, data.truth[j]);
      robust += said.robust(j, data.truth[j]);
      drawn += said.drawn(j, data.truth[j]);
    }
    tallies.plain_intercept.add(said.plain(kCoverageFeatures, data.truth[kCoverageFeatures]));
    tallies.robust_intercept.add(said.robust(kCoverageFeatures, data.truth[kCoverageFeatures]));
    tallies.plain.add(plain / (kCoverageFeatures + 1));
    tallies.robust.add(robust / (kCoverageFeatures + 1));
    tallies.drawn.add(drawn / (kCoverageFeatures + 1));
  }
  return tallies;
}

void print(const char* what, const Tallies& t) {
  std::printf("%s: mean +- 1.645 sd covers %.4f +- %.4f, sd_robust %.4f +- %.4f, draws' sd %.4f\n",
              what, t.plain.coverage().rate, t.plain.coverage().error, t.robust.coverage().rate,
              t.robust.coverage().error, t.drawn.coverage().rate);
}

// A short version: within four standard errors (about 0.006 each) of where it should be.
TEST(Coverage, IsAboutNinetyPercentInThreeHundredReplications) {
  const Tallies t = replicate(300, Noise::kIndependent);
  print("300 replications", t);
  EXPECT_NEAR(t.plain.coverage().rate, 0.9, 4 * t.plain.coverage().error);
  EXPECT_NEAR(t.robust.coverage().rate, 0.9, 4 * t.robust.coverage().error);
}

// Dependent rows: the posterior's own sd is for independent ones, sd_robust is not.
void expect_robust_coverage_of_dependent_rows(int replications) {
  const Tallies t = replicate(replications, Noise::kDependent);
  print("dependent rows", t);
  const Coverage plain = t.plain_intercept.coverage();
  const Coverage robust = t.robust_intercept.coverage();
  std::printf("the intercept: sd %.4f +- %.4f, sd_robust %.4f +- %.4f\n", plain.rate, plain.error,
              robust.rate, robust.error);
  EXPECT_LT(plain.rate, 0.75);  // 0.66 = P(|z| < 1.645 / sqrt 3)
  EXPECT_GE(robust.rate, 0.88 - 3 * robust.error);
  EXPECT_GE(t.robust.coverage().rate, 0.88 - 3 * t.robust.coverage().error);
}

TEST(Coverage, OfTheRobustSdHoldsForDependentRows) {
  expect_robust_coverage_of_dependent_rows(300);
}

TEST(LongCoverage, OfTheRobustSdHoldsForDependentRows) {
  WINDHOVER_SKIP_UNLESS_LONG();
  expect_robust_coverage_of_dependent_rows(3000);
}

TEST(LongCoverage, IsNinetyPercentWhenTheModelHolds) {
  WINDHOVER_SKIP_UNLESS_LONG();
  const Tallies t = replicate(3000, Noise::kIndependent);
  print("well specified", t);
  EXPECT_GE(t.plain.coverage().rate, 0.885);
  EXPECT_LE(t.plain.coverage().rate, 0.925);
}

TEST(LongCoverage, OfTheRobustSdIsNinetyPercentWhenTheModelFails) {
  WINDHOVER_SKIP_UNLESS_LONG();
  const Tallies t = replicate(3000, Noise::kHeteroscedastic);
  print("heteroscedastic", t);
  EXPECT_GE(t.robust.coverage().rate, 0.88);
  EXPECT_LE(t.robust.coverage().rate, 0.93);
}

}  // namespace
}  // namespace windhover::test::coverage_test
