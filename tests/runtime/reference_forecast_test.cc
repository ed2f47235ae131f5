#include "windhover/runtime/scoring/reference_forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <numbers>

#include "windhover/platform/memory.h"

namespace windhover::test::reference_forecast_test {
namespace {

struct World {
  explicit World(std::uint32_t classes = 2) : block(4096), arena(block.bytes()) {
    ModelConfig model;
    model.classes = classes;
    reference = arena.make<ReferenceForecast>(arena, model);
    reference->reset();
  }
  void add(Response response, std::initializer_list<double> all) {
    for (const double y : all) reference->add(response, y);
  }

  MappedBlock block;
  Arena arena;
  ReferenceForecast* reference;
};

double sum_over_counts(const ReferenceForecast& reference) {
  double sum = 0;
  for (int y = 0; y < 5'000; ++y) sum += std::exp(reference.log_score(Response::kCount, y));
  return sum;
}

TEST(ReferenceForecast, OfANumberIsNormalWithItsMeanAndVariance) {
  World world;
  world.add(Response::kGaussian, {1, 3, 5, 7});  // mean 4, variance 5
  const double expected = -0.5 * (std::log(2 * std::numbers::pi * 5) + 4.0 / 5);
  EXPECT_NEAR(world.reference->log_score(Response::kGaussian, 6), expected, 1e-12);
}

TEST(ReferenceForecast, OfAPositiveNumberIsLogNormal) {
  World world;
  const auto power = [](double z) { return std::exp(z); };
  world.add(Response::kLogNormal, {power(1), power(3), power(5), power(7)});
  const double expected = -0.5 * (std::log(2 * std::numbers::pi * 5) + 4.0 / 5) - 6;
  EXPECT_NEAR(world.reference->log_score(Response::kLogNormal, power(6)), expected, 1e-12);
}

TEST(ReferenceForecast, OfClassesIsTheBaseRate) {
  World world(3);
  world.add(Response::kCategorical, {0, 0, 0, 1});
  double sum = 0;
  for (int y = 0; y < 3; ++y) {
    sum += std::exp(world.reference->log_score(Response::kCategorical, y));
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  // Half a row of each beforehand.
  EXPECT_NEAR(world.reference->log_score(Response::kCategorical, 0), std::log(3.5 / 5.5), 1e-12);
  EXPECT_NEAR(world.reference->log_score(Response::kCategorical, 2), std::log(0.5 / 5.5), 1e-12);
}

// Overdispersed with a size above and below 1, and not overdispersed.
TEST(ReferenceForecast, OfACountIsADistribution) {
  for (const std::initializer_list<double>& counts :
       {std::initializer_list<double>{0, 10, 4, 9, 1, 12}, {0, 0, 0, 0, 0, 40}, {2, 3, 2, 3}}) {
    World world;
    world.add(Response::kCount, counts);
    EXPECT_NEAR(sum_over_counts(*world.reference), 1, 1e-9);
  }
}

TEST(ReferenceForecast, OfACountHasTheMeanAndVarianceOfTheRows) {
  World world;
  world.add(Response::kCount, {0, 10, 4, 9, 1, 12});  // mean 6, variance 21
  double mean = 0;
  double square = 0;
  for (int y = 0; y < 5'000; ++y) {
    const double p = std::exp(world.reference->log_score(Response::kCount, y));
    mean += p * y;
    square += p * y * y;
  }
  EXPECT_NEAR(mean, 6, 1e-8);
  EXPECT_NEAR(square - mean * mean, 21, 1e-6);
}

// For rates the sums are sufficient: the mean of a count is its exposure's share of the rate.
TEST(ReferenceForecast, OfACountInAnExposureIsThatOfItsRate) {
  World world;
  const double exposures[] = {1, 10, 100, 5, 50};
  const double counts[] = {2, 20, 200, 10, 100};  // 2 a unit, and no scatter beyond Poisson's
  for (int i = 0; i < 5; ++i) {
    world.reference->add(Response::kCount, counts[i], std::log(exposures[i]));
  }
  const double mean = 2 * 30;
  EXPECT_NEAR(world.reference->log_score(Response::kCount, 57, std::log(30)),
              57 * std::log(mean) - mean - std::lgamma(58), 1e-9);
  // Counts that are twice as many and none in turn have an overdispersion of 1.
  World scattered;
  for (int i = 0; i < 2'000; ++i) {
    const double exposure = i % 4 < 2 ? 1'000 : 3'000;
    scattered.reference->add(Response::kCount, i % 2 == 0 ? 4 * exposure : 0, std::log(exposure));
  }
  double sum = 0;
  double first = 0;
  for (int y = 0; y < 60'000; ++y) {
    const double p = std::exp(scattered.reference->log_score(Response::kCount, y, std::log(1'000)));
    sum += p;
    first += p * y;
  }
  EXPECT_NEAR(sum, 1, 1e-3);
  EXPECT_NEAR(first, 2'000, 5);
}

// Half a success and half a failure are there beforehand.
TEST(ReferenceForecast, OfTrialsIsThatOfTheirPooledRate) {
  World world;
  const double trials[] = {1, 10, 100, 5, 50};
  const double successes[] = {0, 3, 30, 2, 15};  // no scatter beyond the binomial's
  for (int i = 0; i < 5; ++i) world.reference->add(Response::kBinomial, successes[i], trials[i]);
  const double p = 50.5 / 167;
  const double choices = std::lgamma(31) - std::lgamma(8) - std::lgamma(24);
  EXPECT_NEAR(world.reference->log_score(Response::kBinomial, 7, 30),
              choices + 7 * std::log(p) + 23 * std::log(1 - p), 1e-9);
}

// Rates that are 0.2 and 0.6 in turn have a variance of 0.04: rho = 0.04 / (0.4 x 0.6).
TEST(ReferenceForecast, OfTrialsThatScatterMoreHasTheirVariance) {
  World world;
  for (int i = 0; i < 4'000; ++i) {
    const double trials = i % 4 < 2 ? 1'000 : 500;
    world.reference->add(Response::kBinomial, (i % 2 == 0 ? 0.2 : 0.6) * trials, trials);
  }
  double sum = 0;
  double mean = 0;
  double square = 0;
  for (int y = 0; y <= 100; ++y) {
    const double p = std::exp(world.reference->log_score(Response::kBinomial, y, 100));
    sum += p;
    mean += p * y;
    square += p * y * y;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_NEAR(mean, 40, 0.1);
  const double rho = 0.04 / 0.24;
  EXPECT_NEAR(square - mean * mean, 100 * 0.24 * (1 + 99 * rho), 8);
}

TEST(ReferenceForecast, OfANumberIsThatOfWhatItsOffsetLeaves) {
  World plain;
  World offset;
  plain.add(Response::kGaussian, {1, 3, 5, 7});
  for (const double y : {1.0, 3.0, 5.0, 7.0}) {
    offset.reference->add(Response::kGaussian, y + 100 * y, 100 * y);
  }
  EXPECT_NEAR(offset.reference->log_score(Response::kGaussian, 56, 50),
              plain.reference->log_score(Response::kGaussian, 6), 1e-9);
}

}  // namespace
}  // namespace windhover::test::reference_forecast_test
