// Row blocks whatever the size of values and weights: x theta does not depend on it.
#include <algorithm>
#include <cmath>

#include "windhover/samplers/row_blocks/row_block_langevin.h"
#include "windhover/tests/samplers/row_block_fixture.h"

namespace windhover::row_block_langevin_test {
namespace {

constexpr std::size_t kRows = 400;

// A model of one column, without an intercept.
ModelConfig model_at(double value, double precision, bool weight) {
  ModelConfig model = model_of(1, 1, precision * value * value);
  model.weight = weight;
  model.intercept = false;
  return model;
}

// A third of the targets are 0.
SparseData rows_at(const ModelConfig& model, double value, const std::vector<double>& weights) {
  SparseData data(model);
  for (std::size_t i = 0; i < kRows; ++i) data.add({0}, {value}, i % 3 == 0 ? 0 : 1, weights[i]);
  return data;
}

// x theta of each chain after rows that came, moves, half of the rows that left, and moves.
std::vector<double> predictors(double value, bool weight) {
  const ModelConfig model = model_at(value, 0.5, weight);
  std::vector<double> weights(kRows, 1);
  for (std::size_t i = 0; i < kRows; i += 10) weights[i] = 4;
  const SparseData data = rows_at(model, value, weights);
  Chains chains(model, 4, kRows, 3);
  for (std::uint32_t i = 0; i < kRows; ++i) chains->enter(data.row(i), i);
  for (int round = 0; round < 10; ++round) chains.move(data, 0, kRows, 100);
  for (std::uint32_t i = 0; i < kRows / 2; ++i) chains->leave(data.row(i), i);
  for (int round = 0; round < 10; ++round) chains.move(data, kRows / 2, kRows, 100);
  std::vector<double> all;
  for (std::uint16_t c = 0; c < 4; ++c) all.push_back(value * chains->theta(c, 0));
  return all;
}

// Powers of two about 10^-6 and 10^6: without weights to the bit, with weights but for the rounding
// of G, which is that of single precision.
TEST(RowBlockScale, PredictorsDoNotDependOnThatOfValues) {
  for (const bool weight : {false, true}) {
    const std::vector<double> one = predictors(1, weight);
    for (const double value : {0x1p-20, 0x1p-10, 0x1p19}) {
      const std::vector<double> other = predictors(value, weight);
      for (std::size_t c = 0; c < one.size(); ++c) {
        EXPECT_NEAR(other[c], one[c], weight ? 1e-4 : 0) << value << " " << weight;
      }
    }
  }
}

struct Law {
  double mean = 0;
  double sd = 0;
};

// Mean and sd of x theta, on a grid of sds about the mode.
Law exact_law(const std::vector<double>& weights, double precision) {
  double ones = 0;
  double zeros = 0;
  for (std::size_t i = 0; i < kRows; ++i) (i % 3 == 0 ? zeros : ones) += weights[i];
  const auto slope = [&](double eta) {
    const double p = 1 / (1 + std::exp(-eta));
    return ones * (1 - p) - zeros * p - precision * eta;
  };
  double low = -100;
  double high = 100;
  for (int i = 0; i < 100; ++i) (slope((low + high) / 2) > 0 ? low : high) = (low + high) / 2;
  const auto log_density = [&](double eta) {
    const double softplus = std::max(eta, 0.0) + std::log1p(std::exp(-std::abs(eta)));
    return ones * eta - (ones + zeros) * softplus - 0.5 * precision * eta * eta;
  };
  const double p = 1 / (1 + std::exp(-low));
  const double sd = 1 / std::sqrt(precision + (ones + zeros) * p * (1 - p));
  double sum = 0;
  double first = 0;
  double second = 0;
  for (int i = -20'000; i <= 20'000; ++i) {
    const double z = i * 1e-3;
    const double density = std::exp(log_density(low + sd * z) - log_density(low));
    sum += density;
    first += density * z;
    second += density * z * z;
  }
  const double mean = first / sum;
  return {low + sd * mean, sd * std::sqrt(second / sum - mean * mean)};
}

// The posterior of each as it is on a grid, from independent chains.
void expect_law_of(double value, const std::vector<double>& weights, double precision, bool weight,
                   int rounds = 60) {
  const ModelConfig model = model_at(value, precision, weight);
  const SparseData data = rows_at(model, value, weights);
  const Law exact = exact_law(weights, precision);
  double sum = 0;  // in exact sds from the exact mean
  double squares = 0;
  constexpr int kSeeds = 60;
  constexpr double kDraws = kSeeds * 8.0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Chains chains(model, 8, kRows, seed);
    for (std::uint32_t i = 0; i < kRows; ++i) EXPECT_TRUE(chains->enter(data.row(i), i));
    for (int round = 0; round < rounds; ++round) chains.move(data, 0, kRows, 200);
    for (std::uint16_t c = 0; c < 8; ++c) {
      const double z = (value * chains->theta(c, 0) - exact.mean) / exact.sd;
      sum += z;
      squares += z * z;
    }
  }
  const double mean = sum / kDraws;
  const double sd = std::sqrt(squares / kDraws - mean * mean);
  const double error = 1 / std::sqrt(kDraws);
  EXPECT_NEAR(mean, 0, 5 * error + 0.05) << value;
  EXPECT_NEAR(sd, 1, 5 * error / std::sqrt(2) + 0.05) << value;
}

TEST(RowBlockScale, WeightsOfOneAreAsNone) {
  const std::vector<double> ones(kRows, 1);
  for (const double value : {1e-6, 1.0, 1e6}) {
    expect_law_of(value, ones, 0.5, false);
    expect_law_of(value, ones, 0.5, true);
  }
}

// The rows are at the ends of what they may have: w |x| of 10^-12 and of 10^12.
TEST(RowBlockScale, LawIsThePosteriorWhateverRowsWeigh) {
  const std::vector<double> light(kRows, 1e-6);
  expect_law_of(1e-6, light, 1e-4, true);
  expect_law_of(1e6, light, 1e-4, true);
  const std::vector<double> heavy(kRows, 1e6);
  expect_law_of(1e-6, heavy, 1e4, true);
  expect_law_of(1e6, heavy, 1e4, true);
}

// Weights go from 10^-6 to 10^6 in one window. The prior is 2,000 sds wide: chains take a hundred
// passes.
TEST(RowBlockScale, LawIsThePosteriorOfWeightsOfAllSizes) {
  std::vector<double> weights(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    weights[i] = std::pow(10, -6 + 12 * static_cast<double>(i % 97) / 96);
  }
  expect_law_of(1, weights, 1, true, 250);
}

// Rows of w x^2 = 10^18 have been there: those that are left, of 10^-6 each, have the posterior
// that they would have had.
TEST(RowBlockScale, NothingIsLeftOfTheHeaviestRows) {
  constexpr double kPrecision = 1e-4;
  const ModelConfig model = model_at(1, kPrecision, true);
  const std::vector<double> light(kRows, 1e-6);
  SparseData data = rows_at(model, 1, light);
  for (std::size_t i = 0; i < 40; ++i) data.add({0}, {1e6}, i % 2 == 0 ? 1 : 0, 1e6);
  const std::size_t all = data.size();
  const Law exact = exact_law(light, kPrecision);
  constexpr int kSeeds = 40;
  constexpr double kDraws = kSeeds * 8.0;
  double sum = 0;
  double squares = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Chains chains(model, 8, all, seed);
    for (std::uint32_t i = 0; i < all; ++i) EXPECT_TRUE(chains->enter(data.row(i), i));
    for (int round = 0; round < 30; ++round) chains.move(data, 0, all, 200);
    for (auto i = static_cast<std::uint32_t>(kRows); i < all; ++i) chains->leave(data.row(i), i);
    for (int round = 0; round < 80; ++round) chains.move(data, 0, kRows, 200);
    for (std::uint16_t c = 0; c < 8; ++c) {
      const double z = (chains->theta(c, 0) - exact.mean) / exact.sd;
      sum += z;
      squares += z * z;
    }
  }
  const double mean = sum / kDraws;
  const double error = 1 / std::sqrt(kDraws);
  EXPECT_NEAR(mean, 0, 5 * error + 0.05);
  EXPECT_NEAR(std::sqrt(squares / kDraws - mean * mean), 1, 5 * error / std::sqrt(2) + 0.05);
}

}  // namespace
}  // namespace windhover::row_block_langevin_test
