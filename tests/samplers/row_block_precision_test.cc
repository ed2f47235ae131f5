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
  EXPECT_NEAR(evidence.most_likely(2).precision, 2, 1e-12);
  EXPECT_EQ(evidence.most_likely(2).tails, 0);
  // -information (log lambda - log 10)^2 / 2, wherever it is looked at.
  for (int row = 0; row < 300; ++row) {
    const double value = 1 + row % 7;
    evidence.add({value, 0}, {1, 0}, 0.1 * std::log(10 / value), 0.1);
  }
  const auto there = evidence.most_likely(2);
  EXPECT_NEAR(std::log(there.precision), (30 * std::log(10) + std::log(2)) / 31, 1e-9);
  EXPECT_EQ(there.tails, 0);
}

// Rows of two kinds, each of which knows one direction of the two; tails are never below 0 nor
// above kMostTails, and the precision is then where that leaves it.
TEST(PrecisionEvidence, FindsPrecisionAndTailsTogether) {
  const auto found = [](double truth) {
    PrecisionEvidence evidence;
    evidence.reset(1e12);
    for (int row = 0; row < 4'000; ++row) {
      const double value = 1 + row % 7;
      const double tails = row % 3 / 2.0;
      const PrecisionEvidence::Slopes slopes{1, row % 2 == 0 ? 1.0 : -0.5};
      const double off = std::log(10 / value) + slopes.tails * (truth - tails);
      evidence.add({value, tails}, slopes, off, 1);
    }
    return evidence.most_likely(10);
  };
  EXPECT_NEAR(std::log(found(0.6).precision), std::log(10), 1e-3);
  // Their prior takes as much as it knows beside what rows do: 0.625 - 0.25^2 each.
  const double taken = PrecisionEvidence::kTailsInformation / (4'000 * 0.5625);
  EXPECT_NEAR(found(0.6).tails, 0.6 * (1 - taken), 1e-4);
  // Where tails are 1 too low or too high the precision takes over what it can: 1/4 of it, the
  // mean of what rows have of tails.
  EXPECT_EQ(found(-1).tails, 0);
  EXPECT_NEAR(std::log(found(-1).precision), std::log(10) - 0.25, 1e-2);
  EXPECT_EQ(found(2).tails, PrecisionEvidence::kMostTails);
  EXPECT_NEAR(std::log(found(2).precision), std::log(10) + 0.25, 1e-2);
}

TEST(PrecisionEvidence, WhatRowsSaidFades) {
  PrecisionEvidence evidence;
  evidence.reset(100);
  for (int row = 0; row < 100; ++row) evidence.add({1, 0}, {1, 0}, std::log(50), 1);
  EXPECT_GT(evidence.most_likely(1).precision, 40);
  for (int row = 0; row < 2'000; ++row) evidence.add({1, 0}, {0, 0}, 0, 0);
  EXPECT_NEAR(evidence.most_likely(1).precision, 1, 1e-4);
}

TEST(LearnedPrecision, FollowsByHalfAtATimeWithinItsBounds) {
  LearnedPrecision precision;
  precision.reset(1, 0.5, 1.5);
  precision.follow({1.01, 0});
  EXPECT_EQ(precision.value(), 1);
  precision.follow({100, 0});
  EXPECT_EQ(precision.value(), 1.5);
  precision.follow({1e-9, 0});
  EXPECT_NEAR(precision.value(), 1.5 * std::exp(-0.5), 1e-12);
}

// Coefficients are of N(0, 1 / precision); or one in ten is, and all others are a tenth as large.
enum class Coefficients { kNormal, kFewCount };

// Rows of ten fields; the truth, and its predictors.
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

Simulated simulate(const ModelConfig& model, double precision, std::size_t rows, std::uint64_t seed,
                   Coefficients kind = Coefficients::kNormal) {
  Simulated all{SparseData(model), std::vector<double>(model.features), {}};
  fill_normals(seed, {1, 0, Purpose::kTest}, all.coefficients);
  for (double& one : all.coefficients) one /= std::sqrt(precision);
  for (std::size_t j = 0; kind == Coefficients::kFewCount && j < all.coefficients.size(); ++j) {
    if (j % 10 != 0) all.coefficients[j] /= 10;
  }
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
  double tails = 0;
  double coefficients = 0;  // parts of the truths that intervals of 90 % hold
  double predictors = 0;
};

constexpr std::size_t kAsked = 2'000;

// The rows in order, four moves each; `window` of them are there at a time, and their past is kept
// where these are not all; then draws.
Held held_of(const ModelConfig& model, double precision, std::size_t rows, std::size_t window,
             std::uint64_t seed, Coefficients kind) {
  constexpr std::size_t kDraws = 12;  // from each chain, two passes apart
  const Simulated all = simulate(model, precision, rows + kAsked, seed, kind);
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
  held.log_precision = std::log(chains->prior().precision().value());
  held.tails = chains->prior().precision().tails();
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
        unheard += 1 / chains->prior().precision().value();
      } else {
        for (std::size_t d = 0; d < eta.size(); ++d) eta[d] += double{of[d]};
      }
    }
    held.predictors += holds(eta, unheard, all.predictors[i]) / kAsked;
  }
  return held;
}

Held mean_held(std::uint32_t levels, double precision, std::size_t rows, std::size_t window,
               Coefficients kind = Coefficients::kNormal) {
  const auto record = [&](const std::string& what, double number) {
    ::testing::Test::RecordProperty(what + "_" + std::to_string(window), std::to_string(number));
  };
  constexpr int kSeeds = 4;
  Held mean;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Held one = held_of(learning_model(levels), precision, rows, window, seed, kind);
    mean.log_precision += one.log_precision / kSeeds;
    mean.tails += one.tails / kSeeds;
    mean.coefficients += one.coefficients / kSeeds;
    mean.predictors += one.predictors / kSeeds;
  }
  record("precision", std::exp(mean.log_precision));
  record("tails", mean.tails);
  record("coefficients", mean.coefficients);
  record("predictors", mean.predictors);
  return mean;
}

// A column has 6 rows, each of which alone says nothing about the precision. What the rows say of
// it makes one stream know its logarithm to 0.1, and what is held then to 0.01; questions are of so
// many rows that 0.007 is chance.
TEST(RowBlockPrecision, IsThatOfTheTruthWhereColumnsHaveFewRows) {
  const Held mean = mean_held(2'000, 2.8, 12'000, 12'000);
  EXPECT_LT(mean.tails, 0.3);
  EXPECT_NEAR(mean.log_precision, std::log(2.8), 3 * 0.1 / std::sqrt(4) + 0.05);
  EXPECT_NEAR(mean.coefficients, 0.9, 0.02);
  EXPECT_NEAR(mean.predictors, 0.9, 0.02);
}

// It is learned from the newest rows and what those before have left: predictors as in the long
// test below.
TEST(RowBlockPrecision, IsLearnedOnWhereThePastIsCondensed) {
  const Held mean = mean_held(2'000, 2.8, 12'000, 2'000);
  EXPECT_NEAR(mean.log_precision, std::log(2.8), 3 * 0.1 / std::sqrt(4) + 0.05);
  EXPECT_NEAR(mean.predictors, 0.9, 0.03);
}

// The coefficients are neither normal nor Student's t, but nearer to the latter: intervals of
// predictors hold what they say but for a little, where those of a normal prior hold 75 %.
TEST(RowBlockPrecision, TailsAreLearnedWhereFewColumnsCount) {
  const Held mean = mean_held(500, 0.1, 12'000, 12'000, Coefficients::kFewCount);
  EXPECT_GT(mean.tails, 0.9);
  EXPECT_NEAR(mean.coefficients, 0.9, 0.03);
  EXPECT_NEAR(mean.predictors, 0.9, 0.03);
}

// A past of which most has faded stays where it was, however large a column is: what it pulls with
// goes along with the column's precision. Otherwise the larger a column is the farther it goes.
TEST(RowBlockPrecision, APastThatFadesStaysWhereItWas) {
  constexpr std::size_t kRows = 20'000;
  constexpr std::size_t kWindow = 1'000;
  const ModelConfig model = learning_model(200);
  const Simulated all = simulate(model, 0.1, kRows, 1, Coefficients::kFewCount);
  Chains chains(model, 8, kRows, 1, 2'000);
  for (std::size_t i = 0; i < kRows; ++i) {
    if (i >= kWindow) {
      chains->leave(all.data.row(i - kWindow), static_cast<std::uint32_t>(i - kWindow));
    }
    chains->enter(all.data.row(i), static_cast<std::uint32_t>(i));
    chains.move(all.data, i < kWindow ? 0 : i - kWindow + 1, i + 1, 4);
    if (i % 64 == 0) chains->retain();
  }
  EXPECT_GT(chains->prior().precision().tails(), 0.5);
  double off = 0;
  for (std::uint32_t j = 0; j < model.features; ++j) {
    double mean = 0;
    for (std::uint16_t c = 0; c < 8; ++c) mean += chains->theta(c, j) / 8;
    off += std::pow(mean - all.coefficients[j], 2) / model.features;
  }
  // The coefficients have an sd of 1.04; it is 0.75 where what the past pulls with stays behind.
  EXPECT_LT(std::sqrt(off), 0.6);
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
    if (i + 1 == kRows / 2) before = chains->prior().precision().value();
  }
  EXPECT_LT(std::abs(std::log(before / 2.8)), std::log(3));
  EXPECT_LT(std::abs(std::log(chains->prior().precision().value() / before)), std::log(3));
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
