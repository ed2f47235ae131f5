// How much each of several memories is believed.
#include "windhover/runtime/learning/memory_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::memory_weights_test {
namespace {

constexpr std::size_t kThree = 3;
using Losses = std::array<double, MemoryWeights::kMost>;

constexpr std::array kWorth = {1'000.0, 200.0, 50.0};

double of(const MemoryWeights& weights, std::size_t i) {
  return weights.served({true, true, true})[i];
}

void take(MemoryWeights& weights, const Losses& losses, int batches = 1, std::size_t rows = 1) {
  for (int i = 0; i < batches; ++i) weights.add(losses, rows);
  weights.end_take(kWorth);
}

// Fixed share as it stands in the paper, row by row, none of which decides anything; what goes to
// all is another share each time.
TEST(MemoryWeights, AreThoseOfFixedShare) {
  MemoryWeights weights(kThree, kThree);
  std::array<double, kThree> expected = {4.0 / 7, 2.0 / 7, 1.0 / 7};
  const VectorXd z = normals(3, 300);
  for (Index i = 0; i < z.size(); i += 3) {
    Losses losses{};
    for (std::size_t k = 0; k < kThree; ++k) {
      losses[k] = 0.3 * z[i + static_cast<Index>(k)] - 0.02 * static_cast<double>(k);
    }
    take(weights, losses);
    double believed = 0;
    for (std::size_t k = 0; k < kThree; ++k) believed += expected[k] * kWorth[k];
    const double kept = std::pow(believed / (believed + 1), MemoryWeights::kShare);
    double sum = 0;
    for (std::size_t k = 0; k < kThree; ++k) {
      const double shared = kept * expected[k] + (1 - kept) / kThree;
      sum += expected[k] = shared * std::exp(-losses[k]);
    }
    for (double& weight : expected) weight /= sum;
    for (std::size_t k = 0; k < kThree; ++k) EXPECT_NEAR(of(weights, k), expected[k], 1e-12) << i;
  }
}

TEST(MemoryWeights, StandUntilATakeIsOver) {
  MemoryWeights weights(kThree, kThree);
  weights.add(Losses{0, 1, 2}, 1);
  EXPECT_DOUBLE_EQ(of(weights, 0), 4.0 / 7);
  weights.end_take(kWorth);
  EXPECT_GT(of(weights, 0), 0.6);
}

// One take that is unlike all others decides: it counts sqrt(10) kMostATake, its square being one
// of ten that make the usual one. A hundred nats are as good as any number for what comes after it.
TEST(MemoryWeights, OneUnusualTakeDecidesAndIsForgotten) {
  for (const double size : {100.0, 1e6, HUGE_VAL}) {
    MemoryWeights weights(kThree, kThree);
    for (int i = 0; i < 100; ++i) take(weights, Losses{0, 0.01, 0.02});
    EXPECT_GT(of(weights, 0), 1.0 / 3);
    take(weights, Losses{size, size, 0});
    EXPECT_GT(of(weights, 2), 0.99) << size;
    int takes = 0;
    for (; of(weights, 0) < 0.5 && takes < 1'000; ++takes) take(weights, Losses{0, 1, 1});
    EXPECT_LT(takes, 150) << size;
  }
}

TEST(MemoryWeights, WhatIsNoNumberSaysNothing) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  MemoryWeights weights(kThree, kThree);
  take(weights, Losses{0, 1, 2});
  const double before = of(weights, 0);
  take(weights, Losses{HUGE_VAL, HUGE_VAL, HUGE_VAL});
  EXPECT_NEAR(of(weights, 0), before, MemoryWeights::kShare / kWorth[2]);
  take(weights, Losses{kNaN, 1, 1});
  EXPECT_LT(of(weights, 0), 0.1) << "that is worse than any number";
  EXPECT_NEAR(of(weights, 0) + of(weights, 1) + of(weights, 2), 1, 1e-12);
}

// Takes of a hundred batches, all of which the same one predicts better, turn about: the usual one
// counts kMostATake nats, and no memory is ever out of it.
TEST(MemoryWeights, ATakeOfTheUsualSizeCountsLittle) {
  MemoryWeights weights(kThree, kThree);
  for (int i = 0; i < 100; ++i) {
    const bool even = i % 2 == 0;
    const double before = of(weights, 0) / of(weights, 2);
    take(weights, Losses{even ? 0.0 : 1.0, 1, even ? 1.0 : 0.0}, 100, 8);
    const double ratio = of(weights, 0) / of(weights, 2) / before;
    if (i < 20) continue;
    const double nats = MemoryWeights::kMostATake;
    EXPECT_LT(std::abs(std::log(ratio)), nats + 1) << i << ": and what goes to all";
    EXPECT_GT(of(weights, even ? 0 : 2), 1.0 / 3) << i;
    EXPECT_GT(of(weights, even ? 2 : 0), 0.0) << i;
  }
}

// The third is far behind in every take: what the others say counts as if it were not there.
TEST(MemoryWeights, WhoSaysNothingOfWhatIsUsualSlowsNobodyDown) {
  for (const std::size_t usual : {std::size_t{2}, kThree}) {
    MemoryWeights weights(kThree, usual);
    for (int i = 0; i < 50; ++i) take(weights, Losses{0, 0, 90});
    const double before = of(weights, 0) / of(weights, 1);
    take(weights, Losses{2, 0, 90});
    const double said = std::log(of(weights, 0) / of(weights, 1) / before);
    const double counted = usual == 2 ? 1 : MemoryWeights::kMostATake / 90;
    EXPECT_NEAR(said, -2 * counted, 0.01) << usual;
  }
}

// Two of three that are hardly believed take no part, and what they had goes to the third.
TEST(MemoryWeights, WhoIsHardlyBelievedTakesNoPart) {
  MemoryWeights weights(kThree, kThree);
  take(weights, Losses{0, 3, 3});
  EXPECT_GT(of(weights, 1), MemoryWeights::kLeast);
  for (int i = 0; i < 3; ++i) take(weights, Losses{0, 3, 3});
  EXPECT_EQ(of(weights, 0), 1.0);
  EXPECT_EQ(of(weights, 1), 0.0);
  for (int i = 0; i < 10; ++i) take(weights, Losses{3, 0, 3});
  EXPECT_EQ(of(weights, 1), 1.0);
  EXPECT_EQ(weights.served({true})[0], 1.0) << "the only one that is asked";
  EXPECT_EQ(weights.served({true})[1], 0.0);
  EXPECT_EQ(weights.served({true, false, true})[1], 0.0);
}

}  // namespace
}  // namespace windhover::test::memory_weights_test
