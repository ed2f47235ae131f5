#include "windhover/runtime/learning/memory_evidence.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::memory_evidence_test {
namespace {

constexpr std::uint32_t kTwo = 2;
using Losses = std::array<double, MemoryEvidence::kMost>;

// A take of batches in which the second forecaster is better by `better` nats each.
void take(MemoryEvidence& evidence, double better, int batches = 1) {
  for (int i = 0; i < batches; ++i) evidence.add(Losses{better, 0});
  evidence.end_take();
}

TEST(MemoryEvidence, OfSingleRowsNatsAddUp) {
  MemoryEvidence evidence;
  int takes = 0;
  while (evidence.choose(0, kTwo) == 0 && takes < 1000) {
    take(evidence, 0.1);
    ++takes;
  }
  EXPECT_NEAR(takes, 200, 1);
  EXPECT_EQ(evidence.choose(1, kTwo), 1u);
}

TEST(MemoryEvidence, OneOutlyingBatchDecidesNothing) {
  MemoryEvidence evidence;
  take(evidence, 1e9);
  take(evidence, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(evidence.choose(0, kTwo), 0u);
}

// The scores are like those of a short memory under noise with long tails: better in the usual row,
// and far worse in one of fifty, by 0.07 nats a row in the mean.
TEST(MemoryEvidence, WhatIsLostInRareRowsCountsToo) {
  MemoryEvidence evidence;
  for (int row = 1; row <= 20'000; ++row) {
    take(evidence, row % 50 == 0 ? -6 : 0.05);
    EXPECT_EQ(evidence.choose(0, kTwo), 0u) << row;
  }
  EXPECT_EQ(evidence.choose(1, kTwo), 0u);
}

// From one row on all are predicted better by the short memory: at once, and when that is over the
// other one is chosen soon.
TEST(MemoryEvidence, AJumpIsSeenAtOnceAndIsOver) {
  MemoryEvidence evidence;
  for (int row = 0; row < 10; ++row) take(evidence, 12);
  EXPECT_EQ(evidence.choose(0, kTwo), 1u);
  for (int row = 0; row < 300; ++row) take(evidence, 12);
  int rows = 0;
  while (evidence.choose(1, kTwo) == 1 && rows < 5'000) {
    take(evidence, -0.2);
    ++rows;
  }
  EXPECT_LE(rows, 101);
}

// Rows that fail for a while, and are over: it takes no longer to choose again than by usual rows.
TEST(MemoryEvidence, ABurstOfOutlyingRowsIsOver) {
  MemoryEvidence evidence;
  for (int row = 0; row < 200; ++row) take(evidence, 100);
  EXPECT_EQ(evidence.choose(0, kTwo), 1u);
  std::uint32_t chosen = 1;
  int rows = 0;
  for (; chosen == 1 && rows < 5000; ++rows) {
    take(evidence, -0.05);
    chosen = evidence.choose(chosen, kTwo);
  }
  EXPECT_LE(rows, 401);
}

// What is better in one take is worse in the next, by 1,000 nats each.
TEST(MemoryEvidence, TakesThatDifferByChanceDecideNothing) {
  MemoryEvidence evidence;
  for (int i = 0; i < 100; ++i) {
    take(evidence, i % 2 == 0 ? 2 : -2, 500);
    EXPECT_EQ(evidence.choose(0, kTwo), 0u) << i;
    EXPECT_EQ(evidence.choose(1, kTwo), 1u) << i;
  }
}

TEST(MemoryEvidence, TakesThatAgreeDecide) {
  MemoryEvidence evidence;
  take(evidence, 2, 500);
  EXPECT_EQ(evidence.choose(0, kTwo), 0u) << "the first take is no more than usual";
  take(evidence, 2, 500);
  EXPECT_EQ(evidence.choose(0, kTwo), 1u);
}

TEST(MemoryEvidence, AnUnusualTakeDecidesAtOnce) {
  MemoryEvidence evidence;
  take(evidence, -0.01, 500);
  take(evidence, 2, 500);
  EXPECT_EQ(evidence.choose(0, kTwo), 1u);
}

// A mean of 0.4 standard deviations a take: what has beaten the other is then left with odds of
// some exp(2 x 0.4 kEnough / 15), 2.9, or 0.74 of the time. Choices last for some four takes: the
// standard error of 4,000 takes is 0.014.
TEST(MemoryEvidence, TheBetterOfTwoIsChosenMostOfTheTime) {
  constexpr int kTakes = 4000;
  MemoryEvidence evidence;
  const VectorXd z = normals(5, kTakes);
  std::uint32_t chosen = 0;
  int better = 0;
  for (int i = 0; i < kTakes; ++i) {
    take(evidence, 0.5 * (z[i] + 0.4), 400);
    chosen = evidence.choose(chosen, kTwo);
    better += chosen == 1 ? 1 : 0;
  }
  EXPECT_GT(better, kTakes * 6 / 10);
}

TEST(MemoryEvidence, OfThreeTheOneThatBeatsTheOthersIsChosen) {
  MemoryEvidence evidence;
  for (int i = 0; i < 400; ++i) {
    evidence.add(Losses{0.4, 0.2, 0.1});
    evidence.end_take();
  }
  for (std::uint32_t from = 0; from < 3; ++from) EXPECT_EQ(evidence.choose(from, 3), 2u) << from;
}

}  // namespace
}  // namespace windhover::test::memory_evidence_test
