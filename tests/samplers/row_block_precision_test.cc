// The precision of the prior of many columns, learned from how well rows are predicted, and what
// intervals then hold.
#include "windhover/samplers/row_blocks/learned_precision.h"

#include <string>

#include "windhover/samplers/row_blocks/precision_evidence.h"
#include "windhover/tests/long_tests.h"
#include "windhover/tests/samplers/row_block_fixture.h"

namespace windhover::row_block_precision_test {
namespace {

using namespace windhover::row_block_langevin_test;

TEST(PrecisionEvidence, IsWhereRowsAndThePriorHaveIt) {
  PrecisionEvidence evidence;
  evidence.reset(1e12);
  EXPECT_NEAR(evidence.most_likely(2), 2, 1e-12);
  // -information (log lambda - log 10)^2 / 2, wherever it is looked at.
  for (int row = 0; row < 300; ++row) {
    const double value = 1 + row % 7;
    evidence.add(value, 0.1 * std::log(10 / value), 0.1);
  }
  EXPECT_NEAR(std::log(evidence.most_likely(2)), (30 * std::log(10) + std::log(2)) / 31, 1e-9);
}

TEST(PrecisionEvidence, WhatRowsSaidFades) {
  PrecisionEvidence evidence;
  evidence.reset(100);
  for (int row = 0; row < 100; ++row) evidence.add(1, std::log(50), 1);
  EXPECT_GT(evidence.most_likely(1), 40);
  for (int row = 0; row < 2'000; ++row) evidence.add(1, 0, 0);
  EXPECT_NEAR(evidence.most_likely(1), 1, 1e-4);
}

TEST(LearnedPrecision, FollowsByHalfAtATimeWithinItsBounds) {
  LearnedPrecision precision;
  precision.reset(1, 0.5, 1.5);
  precision.follow(1.01);
  EXPECT_EQ(precision.value(), 1);
  precision.follow(100);
  EXPECT_EQ(precision.value(), 1.5);
  precision.follow(1e-9);
  EXPECT_NEAR(precision.value(), 1.5 * std::exp(-0.5), 1e-12);
}

// Rows of ten fields, a coefficient each of N(0, 1 / precision); the truth, and its predictors.
struct Simulated {
  SparseData data;
  std::vector<double> coefficients;
  std::vector<double> predictors;
};

constexpr std::uint32_t kFields = 10;

ModelConfig learning_model(std::uint32_t levels) {
  ModelConfig model = model_of(kFields * levels, kFields, 1);
  model.learn_prior_precision = true;
  return model;
}

Simulated simulate(const ModelConfig& model, double precision, std::size_t rows,
                   std::uint64_t seed) {
  Simulated all{SparseData(model), std::vector<double>(model.features), {}};
  fill_normals(seed, {1, 0, Purpose::kTest}, all.coefficients);
  for (double& one : all.coefficients) one /= std::sqrt(precision);
  const std::uint32_t levels = model.features / kFields;
  std::vector<double> uniforms(kFields + 1);
  for (std::size_t i = 0; i < rows; ++i) {
    fill_uniforms(seed, {2 + i, 0, Purpose::kTest}, uniforms);
    std::vector<std::uint32_t> columns;
    double eta = 0;
    for (std::uint32_t f = 0; f < kFields; ++f) {
      columns.push_back(f * levels + static_cast<std::uint32_t>(levels * uniforms[f]));
      eta += all.coefficients[columns.back()];
    }
    all.predictors.push_back(eta);
    all.data.add(columns, std::vector<double>(kFields, 1),
                 uniforms[kFields] < 1 / (1 + std::exp(-eta)) ? 1 : 0);
  }
  return all;
}

// What the draws of a stream say at its end, of rows that have not come.
struct Held {
  double log_precision = 0;
  double coefficients = 0;  // parts of the truths that intervals of 90 % hold
  double predictors = 0;
};

constexpr std::size_t kAsked = 2'000;

// The rows in order, four moves each; `window` of them are there at a time, and their past is kept
// where these are not all; then draws.
Held held_of(const ModelConfig& model, double precision, std::size_t rows, std::size_t window,
             std::uint64_t seed) {
  constexpr std::size_t kDraws = 12;  // of each chain, two passes apart
  const Simulated all = simulate(model, precision, rows + kAsked, seed);
  Chains chains(model, 8, rows, seed, window < rows ? rows : 0);
  std::size_t first = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    if (i >= window) {
      chains->leave(all.data.row(first), static_cast<std::uint32_t>(first));
      ++first;
    }
    chains->enter(all.data.row(i), static_cast<std::uint32_t>(i));
    chains.move(all.data, first, i + 1, 4);
    if (i % 64 == 0) chains->retain();
  }
  const std::size_t width = model.dimension();
  std::vector<float> draws(width * 8 * kDraws, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t d = 0; d < kDraws; ++d) {
    chains.move(all.data, first, rows, 2 * (rows - first));
    chains->retain();
    chains->copy_to(&draws[8 * d], 8 * kDraws);
  }
  const auto column = [&](std::uint32_t j) {
    return std::span(draws).subspan(j * 8 * kDraws, 8 * kDraws);
  };
  // Normal intervals, of the draws' mean and sd, and of the prior where nothing was heard.
  const auto holds = [&](const std::vector<double>& values, double unheard, double truth) {
    double mean = 0;
    double square = 0;
    for (const double value : values) mean += value / static_cast<double>(values.size());
    for (const double value : values) square += std::pow(value - mean, 2);
    const double variance = square / static_cast<double>(values.size() - 1) + unheard;
    return std::abs(truth - mean) < 1.6449 * std::sqrt(variance) ? 1.0 : 0.0;
  };
  Held held;
  held.log_precision = std::log(chains->prior_precision());
  double met = 0;
  for (std::uint32_t j = 0; j < model.features; ++j) {
    if (std::isnan(column(j)[0])) continue;
    met += 1;
    held.coefficients += holds({column(j).begin(), column(j).end()}, 0, all.coefficients[j]);
  }
  held.coefficients /= met;
  for (std::size_t i = rows; i < rows + kAsked; ++i) {
    const SparseRow row(RowLayout(model), all.data.row(i));
    std::vector<double> eta(8 * kDraws);
    double unheard = 0;
    for (std::size_t k = 0; k <= row.count; ++k) {
      const auto of = column(k < row.count ? row.indices[k] : model.features);
      if (std::isnan(of[0])) {
        unheard += 1 / chains->prior_precision();
      } else {
        for (std::size_t d = 0; d < eta.size(); ++d) eta[d] += double{of[d]};
      }
    }
    held.predictors += holds(eta, unheard, all.predictors[i]) / kAsked;
  }
  return held;
}

Held mean_held(std::uint32_t levels, double precision, std::size_t rows, std::size_t window) {
  const auto record = [&](const std::string& what, double number) {
    ::testing::Test::RecordProperty(what + "_" + std::to_string(window), std::to_string(number));
  };
  constexpr int kSeeds = 4;
  Held mean;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Held one = held_of(learning_model(levels), precision, rows, window, seed);
    mean.log_precision += one.log_precision / kSeeds;
    mean.coefficients += one.coefficients / kSeeds;
    mean.predictors += one.predictors / kSeeds;
  }
  record("precision", std::exp(mean.log_precision));
  record("coefficients", mean.coefficients);
  record("predictors", mean.predictors);
  return mean;
}

// A column has 6 rows, each of which alone says nothing about the precision. What the rows say of
// it makes one stream know its logarithm to 0.1, and what is held then to 0.01; questions are of so
// many rows that 0.007 is chance.
TEST(RowBlockPrecision, IsThatOfTheTruthWhereColumnsHaveFewRows) {
  const Held mean = mean_held(2'000, 2.8, 12'000, 12'000);
  EXPECT_NEAR(mean.log_precision, std::log(2.8), 3 * 0.1 / std::sqrt(4) + 0.05);
  EXPECT_NEAR(mean.coefficients, 0.9, 0.02);
  EXPECT_NEAR(mean.predictors, 0.9, 0.02);
}

// Of the newest rows, and what those before have left: predictors as in the long test below.
TEST(RowBlockPrecision, IsLearnedOnWhereThePastIsCondensed) {
  const Held mean = mean_held(2'000, 2.8, 12'000, 2'000);
  EXPECT_NEAR(mean.log_precision, std::log(2.8), 3 * 0.1 / std::sqrt(4) + 0.05);
  EXPECT_NEAR(mean.predictors, 0.9, 0.03);
}

// Where columns have many rows, most of them in the past, rows that turn into their opposite say
// that all was wrong, not that coefficients are small.
TEST(RowBlockPrecision, StandsWhereThePastKnowsTheColumnsAndRowsTurn) {
  constexpr std::size_t kRows = 16'000;
  constexpr std::size_t kWindow = 1'000;
  const ModelConfig model = learning_model(25);
  const Simulated all = simulate(model, 2.8, kRows, 1);
  SparseData turned(model);
  for (std::size_t i = 0; i < kRows; ++i) {
    const SparseRow row(RowLayout(model), all.data.row(i));
    const double y = all.data.row(i)[0];
    turned.add({row.indices, row.indices + row.count}, std::vector<double>(row.count, 1),
               i < kRows / 2 ? y : 1 - y);
  }
  Chains chains(model, 8, kRows, 1, kRows);
  double before = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    const std::size_t first = i < kWindow ? 0 : i - kWindow;
    if (first > 0) {
      chains->leave(turned.row(first - 1), static_cast<std::uint32_t>(first - 1));
    }
    chains->enter(turned.row(i), static_cast<std::uint32_t>(i));
    chains.move(turned, first, i + 1, 4);
    if (i % 64 == 0) chains->retain();
    if (i + 1 == kRows / 2) before = chains->prior_precision();
  }
  EXPECT_LT(std::abs(std::log(before / 2.8)), std::log(3));
  EXPECT_LT(std::abs(std::log(chains->prior_precision() / before)), std::log(3));
}

// 200,000 columns, of which each has two rows; a stream knows log precision to 0.1. A condensed
// past forgets how columns hang together along its rows, which predictors of frequent ones feel.
TEST(LongRowBlockPrecision, IntervalsHoldWhatTheySayOf200000Columns) {
  WINDHOVER_SKIP_UNLESS_LONG();
  for (const std::size_t window : {40'000, 4'096}) {
    const Held mean = mean_held(20'000, 2.8, 40'000, window);
    EXPECT_NEAR(mean.log_precision, std::log(2.8), 3 * 0.1 / std::sqrt(4) + 0.05) << window;
    EXPECT_NEAR(mean.coefficients, 0.9, 0.02) << window;
    EXPECT_NEAR(mean.predictors, 0.9, window < 40'000 ? 0.03 : 0.02) << window;
  }
}

}  // namespace
}  // namespace windhover::row_block_precision_test
