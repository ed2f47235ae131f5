// Row blocks of rows with weights against exact posteriors.
#include <algorithm>
#include <cmath>

#include "windhover/samplers/row_blocks/row_block_langevin.h"
#include "windhover/tests/samplers/heap_calls.h"
#include "windhover/tests/samplers/row_block_fixture.h"

namespace windhover::row_block_langevin_test {
namespace {

// Weights with a mean of 1.
std::vector<double> log_normal(std::size_t rows, double sd) {
  std::vector<double> weights(rows);
  fill_normals(6, {0, 0, Purpose::kTest}, weights);
  double sum = 0;
  for (double& weight : weights) sum += weight = std::exp(sd * weight);
  for (double& weight : weights) weight *= static_cast<double>(rows) / sum;
  return weights;
}

// Chains of many seeds, whose rows come one by one and go when there are `window`.
Draws draws_of(const ModelConfig& model, const SparseData& data, std::size_t window, int rounds) {
  constexpr std::uint64_t kSeeds = 40;
  Draws draws;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Chains chains(model, 8, data.size(), seed);
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (i >= window) {
        chains->leave(data.row(i - window), static_cast<std::uint32_t>(i - window));
      }
      chains->enter(data.row(i), static_cast<std::uint32_t>(i));
      chains.move(data, i < window ? 0 : i - window + 1, i + 1, 4);
    }
    const std::size_t first = data.size() - std::min(window, data.size());
    for (int round = 0; round < rounds; ++round) chains.move(data, first, data.size(), 100);
    for (std::uint16_t c = 0; c < 8; ++c) draws.add(chains.theta(c));
  }
  return draws;
}

ModelConfig weighted_model(double precision) {
  ModelConfig model = model_of(kCrossed, 3, precision);
  model.weight = true;
  return model;
}

void expect_posterior(const std::vector<double>& weights, std::size_t window, int rounds) {
  const ModelConfig model = weighted_model(1);
  const SparseData data = crossed_rows(model, weights.size(), 1, weights);
  const Draws draws = draws_of(model, data, window, rounds);
  const std::size_t first = weights.size() - window;
  const Moments exact = exact_moments(data, first, weights.size(), 1);
  const MatrixXd x = data.design(first, weights.size());
  expect_law(draws, exact, MatrixXd::Identity(x.cols(), x.cols()));
  expect_law(draws, exact, x.topRows(200));
}

TEST(RowBlockWeights, LawIsThePosterior) { expect_posterior(log_normal(600, 1), 600, 150); }

TEST(RowBlockWeights, LawIsThePosteriorOfVeryUnevenOnes) {
  expect_posterior(log_normal(600, 2), 600, 300);
}

// Rows that weigh little come first: they are drawn for what they weigh beside those that follow.
TEST(RowBlockWeights, LightRowsBeforeHeavyOnesCount) {
  std::vector<double> weights = log_normal(600, 1);
  std::sort(weights.begin(), weights.end());
  expect_posterior(weights, 600, 150);
}

TEST(RowBlockWeights, HeavyRowsBeforeLightOnesCount) {
  std::vector<double> weights = log_normal(600, 1);
  std::sort(weights.rbegin(), weights.rend());
  expect_posterior(weights, 600, 150);
}

// Sixty rows of 10^6 came and went: chains are where the others want them within a few passes, and
// nothing is left of them in what pulls.
TEST(RowBlockWeights, NothingIsLeftOfHeavyRowsThatHaveGone) {
  std::vector<double> weights = log_normal(1'000, 1);
  for (std::size_t i = 300; i < 360; ++i) weights[i] = 1e6;
  expect_posterior(weights, 600, 200);
}

// Rows of 30 beside a prior of 1: linear predictors are there long before what only the prior says,
// and it is told.
TEST(RowBlockWeights, WhatThePriorHasNotAnsweredIsTold) {
  const ModelConfig model = weighted_model(1);
  const SparseData data = crossed_rows(model, 600, 1, std::vector<double>(600, 30));
  Chains chains(model, 8, data.size(), 3);
  EXPECT_EQ(chains->survey().unsettled, 0);
  for (std::uint32_t i = 0; i < data.size(); ++i) chains->enter(data.row(i), i);
  const auto unsettled_after = [&](int passes) {
    for (int pass = 0; pass < passes; ++pass) chains.move(data, 0, data.size(), data.size());
    chains->retain();
    return chains->survey().unsettled;
  };
  EXPECT_GT(unsettled_after(10), 0.5);
  EXPECT_GT(unsettled_after(50), 0.2);
  EXPECT_LT(unsettled_after(3'000), 0.05);
  for (std::uint32_t i = 0; i < data.size(); ++i) chains->leave(data.row(i), i);
  chains->retain();
  EXPECT_EQ(chains->survey().unsettled, 0);
}

// A row that was nearly all that its columns had goes: chains are at once where the others want
// them, and not where it had them.
TEST(RowBlockWeights, ChainsGoBackAtOnceWhenAHeavyRowGoes) {
  ModelConfig model = model_of(1, 1, 1);
  model.weight = true;
  model.intercept = false;
  SparseData data(model);
  for (std::size_t i = 0; i < 20; ++i) data.add({0}, {1}, i % 2 == 0 ? 1 : 0, 0.5);
  data.add({0}, {1}, 1, 1'000);
  Chains chains(model, 8, 21, 3);
  for (std::uint32_t i = 0; i < 21; ++i) chains->enter(data.row(i), i);
  for (int round = 0; round < 100; ++round) chains.move(data, 0, 21, 100);
  const auto centre = [&] {
    double sum = 0;
    for (std::uint16_t c = 0; c < 8; ++c) sum += chains.theta(c)[0] / 8;
    return sum;
  };
  const double before = centre();
  EXPECT_GT(before, 3);
  chains->leave(data.row(20), 20);
  // The others are even: their posterior is about 0, with an sd of 1 / sqrt(1 + 2.5). Eight chains
  // know their centre to a third of that, and the curvature is not the same all the way.
  EXPECT_LT(std::abs(centre()), 0.35 * before);
}

TEST(RowBlockWeights, HeapIsNotCalled) {
  const ModelConfig model = weighted_model(1);
  const SparseData data = crossed_rows(model, 50, 1, log_normal(50, 1));
  Chains chains(model, 2, 64, 1);
  std::vector<std::uint32_t> slots = {3, 1, 4, 1, 5};
  double u = 0.25;
  const auto before = test_heap_calls();
  for (std::uint32_t i = 0; i < 50; ++i) chains->enter(data.row(i), i);
  for (std::uint32_t& slot : slots) slot = chains->weights().slot_of(u += 0.125, slot);
  chains->move(0, {data.base(), slots.data(), slots.size()});
  chains->steps().follow_bound(data.row(7), 7);
  chains->retain();
  chains->leave(data.row(0), 0);
  EXPECT_EQ(test_heap_calls(), before);
}

}  // namespace
}  // namespace windhover::row_block_langevin_test
