// What the parts of `complete-recipe` share.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "windhover/platform/random.h"
#include "windhover/tools/reproduce/recipe_parts.h"

namespace windhover::reproduce::recipe_test {
namespace {

std::vector<double> normals(std::size_t count, std::uint64_t step) {
  std::vector<double> z(count);
  fill_normals(7, {.step = step}, z);
  return z;
}

TEST(PairedRatio, OfAMultipleHasNoErrorHoweverNoisyTheRuns) {
  std::vector<double> a;
  std::vector<double> b;
  for (const double z : normals(40, 1)) {
    b.push_back(10 + z);
    a.push_back(3 * b.back());
  }
  const Estimate ratio = paired_ratio(a, b);
  EXPECT_NEAR(ratio.value, 3, 1e-12);
  EXPECT_LT(ratio.mcse, 1e-12);
}

TEST(PairedRatio, OfIndependentRunsHasTheErrorsOfBoth) {
  const std::vector<double> x = normals(400, 1);
  const std::vector<double> y = normals(400, 2);
  std::vector<double> a;
  std::vector<double> b;
  for (const double z : x) a.push_back(20 + z);
  for (const double z : y) b.push_back(10 + z);
  const Estimate mean_a = mean_of(a);
  const Estimate mean_b = mean_of(b);
  const Estimate ratio = paired_ratio(a, b);
  EXPECT_NEAR(ratio.value, mean_a.value / mean_b.value, 1e-12);
  // What correlation 400 runs have by chance is left: a tenth.
  const double both =
      ratio.value * std::hypot(mean_a.mcse / mean_a.value, mean_b.mcse / mean_b.value);
  EXPECT_NEAR(ratio.mcse, both, 0.1 * both);
}

TEST(JackknifeMinus, TakesOffWhatTheRunsHaveInCommon) {
  // The difference of the means of 100 x and 100 x + y is the mean of y.
  const std::vector<double> x = normals(50, 1);
  const std::vector<double> y = normals(50, 2);
  const auto jackknife_of = [](const std::vector<double>& values) {
    Jackknife mean{mean_of(values).value, {}};
    for (const double v : values) mean.without.push_back((50 * mean.all - v) / 49);
    return mean;
  };
  std::vector<double> common;
  std::vector<double> both;
  for (std::size_t i = 0; i < x.size(); ++i) {
    common.push_back(100 * x[i]);
    both.push_back(100 * x[i] + y[i]);
  }
  const Estimate difference = jackknife_of(both).minus(jackknife_of(common));
  EXPECT_NEAR(difference.value, mean_of(y).value, 1e-10);
  EXPECT_NEAR(difference.mcse, mean_of(y).mcse, 1e-10);
}

TEST(Sentence, FollowsTheFigureAndItsError) {
  const Sentences words{.above = "above", .below = "below", .neither = "neither"};
  EXPECT_EQ(sentence({1.31, 0.1}, 1, words), "above");
  EXPECT_EQ(sentence({0.69, 0.1}, 1, words), "below");
  EXPECT_EQ(sentence({1.29, 0.1}, 1, words), "neither");
  EXPECT_EQ(sentence({0.71, 0.1}, 1, words), "neither");
  EXPECT_EQ(sentence({1.001, 0}, 1, words), "above");
  EXPECT_EQ(sentence({1, 0}, 1, words), "neither");
  EXPECT_EQ(sentence({NAN, 0.1}, 1, words), "neither");
  EXPECT_EQ(sentence({2, NAN}, 1, words), "neither");
}

}  // namespace
}  // namespace windhover::reproduce::recipe_test
