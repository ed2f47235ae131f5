// What rows that have left leave behind: a normal density a column.
#include "windhover/samplers/row_blocks/condensed_past.h"
#include "windhover/samplers/row_blocks/past_memory.h"
#include "windhover/tests/samplers/heap_calls.h"
#include "windhover/tests/samplers/row_block_fixture.h"

namespace windhover::row_block_past_test {
namespace {

using namespace windhover::row_block_langevin_test;

constexpr std::uint32_t kColumns = 8;
constexpr std::size_t kWindow = 200;
constexpr std::uint64_t kNeverFades = 1'000'000'000;

// Rows of one column each and no intercept: the columns know nothing of one another.
ModelConfig lone_columns() {
  ModelConfig model = model_of(kColumns, 1, 1);
  model.intercept = false;
  return model;
}

SparseData lone_rows(const ModelConfig& model, std::size_t rows) {
  SparseData data(model);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto column = static_cast<std::uint32_t>(i % kColumns);
    const double p = 0.1 + 0.1 * column;
    data.add({column}, {1}, uniform(i) < p ? 1 : 0);
  }
  return data;
}

// Mean and variance of each column given all rows, on a grid.
Moments posterior_of_lone(const SparseData& data) {
  VectorXd ones = VectorXd::Zero(kColumns);
  VectorXd rows = VectorXd::Zero(kColumns);
  const VectorXd y = data.targets(0, data.size());
  for (Index i = 0; i < y.size(); ++i) {
    ones[i % kColumns] += y[i];
    rows[i % kColumns] += 1;
  }
  Moments exact{VectorXd::Zero(kColumns), MatrixXd::Zero(kColumns, kColumns)};
  for (Index j = 0; j < Index{kColumns}; ++j) {
    double mass = 0;
    double sum = 0;
    double squares = 0;
    for (double t = -6; t < 6; t += 0.002) {
      const double at = ones[j] * t - rows[j] * std::log1p(std::exp(t)) - 0.5 * t * t;
      const double density = std::exp(at + 0.7 * rows[j]);  // a factor that cancels
      mass += density;
      sum += density * t;
      squares += density * t * t;
    }
    exact.mean[j] = sum / mass;
    exact.covariance(j, j) = squares / mass - exact.mean[j] * exact.mean[j];
  }
  return exact;
}

// The rows in their order through a window, with so many moves for each.
void stream(Chains& chains, const SparseData& data, std::size_t moves) {
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (i >= kWindow) {
      chains->leave(data.row(i - kWindow), static_cast<std::uint32_t>(i - kWindow));
    }
    chains->enter(data.row(i), static_cast<std::uint32_t>(i));
    chains.move(data, i < kWindow ? 0 : i + 1 - kWindow, i + 1, moves);
  }
}

// A window of an eighth of the rows, and all that is known of the others.
TEST(RowBlockPast, LawIsThatOfAllRowsWhereColumnsAreAlone) {
  const ModelConfig model = lone_columns();
  const SparseData data = lone_rows(model, 1'600);
  row_block_langevin_test::Draws draws;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Chains chains(model, 8, data.size(), seed, kNeverFades);
    stream(chains, data, 4);
    for (int round = 0; round < 20; ++round) {
      chains.move(data, data.size() - kWindow, data.size(), 100);
    }
    EXPECT_NEAR(chains->spread_ratio(), 1, 0.3);
    EXPECT_DOUBLE_EQ(std::round(chains->prior().past().worth()), 1'400);
    for (std::uint16_t c = 0; c < 8; ++c) draws.add(chains.theta(c));
  }
  expect_law(draws, posterior_of_lone(data), MatrixXd::Identity(kColumns, kColumns));
}

// Once nothing is heard of a column any more it is expected where it was, and as unknown as before.
TEST(RowBlockPast, WhatFadesKeepsItsCentre) {
  const ModelConfig model = lone_columns();
  SparseData data(model);
  for (std::size_t i = 0; i < 400; ++i) data.add({0}, {1}, uniform(i) < 0.9 ? 1 : 0);
  for (std::size_t i = 0; i < 2'000; ++i) data.add({1}, {1}, uniform(i) < 0.5 ? 1 : 0);
  Chains chains(model, 8, data.size(), 3, 100);
  std::vector<float> draws(std::size_t{8} * model.dimension());
  const auto moments = [&] {
    chains->copy_to(draws.data(), 8);
    double mean = 0;
    double variance = 0;
    for (int c = 0; c < 8; ++c) mean += draws[static_cast<std::size_t>(c)] / 8.0;
    for (int c = 0; c < 8; ++c) {
      variance += std::pow(draws[static_cast<std::size_t>(c)] - mean, 2) / 8;
    }
    return std::pair{mean, variance};
  };
  std::pair<double, double> left;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (i >= kWindow) {
      chains->leave(data.row(i - kWindow), static_cast<std::uint32_t>(i - kWindow));
    }
    if (i == 400 + kWindow) left = moments();
    chains->enter(data.row(i), static_cast<std::uint32_t>(i));
    chains.move(data, i < kWindow ? 0 : i + 1 - kWindow, i + 1, 4);
  }
  const auto [mean, variance] = moments();
  EXPECT_GT(left.first, 1);
  EXPECT_LT(left.second, 0.5);
  EXPECT_NEAR(mean, left.first, 1e-4);
  EXPECT_NEAR(variance, 1, 1e-3);  // the prior's
}

// Which memory is chosen of rows whose truth changes its sign every so many.
double chosen(std::size_t every) {
  constexpr std::size_t kRows = 20'000;
  const ModelConfig model = model_of(40, 3, 1);
  const RowLayout layout(model);
  const RowLikelihood likelihood(model);
  SparseData data(model);
  for (std::size_t i = 0; i < kRows; ++i) {
    std::vector<std::uint32_t> columns;
    double eta = 0;
    for (std::uint32_t f = 0; f < 3; ++f) {
      columns.push_back(13 * f + static_cast<std::uint32_t>(13 * uniform(4 * i + f)));
      eta += std::sin(2.0 * columns.back());
    }
    if (i / every % 2 == 1) eta = -eta;
    data.add(columns, {1, 1, 1}, uniform(4 * i + 3) < 1 / (1 + std::exp(-eta)) ? 1 : 0);
  }
  Memory memory;
  PastMemory past(memory.arena(), model.columns());
  past.reset(10'000);
  for (std::size_t i = 0; i < kRows; ++i) {
    past.take(RowColumns(layout, likelihood, true, data.row(i)), 1, 1);
  }
  return past.rows();
}

TEST(PastMemory, IsLongWhereNothingMoves) { EXPECT_EQ(chosen(1'000'000), 10'000); }

TEST(PastMemory, IsShortWhereAllMoves) { EXPECT_EQ(chosen(1'000), 400); }

TEST(RowBlockPast, HeapIsNotCalled) {
  const ModelConfig model = lone_columns();
  const SparseData data = lone_rows(model, 600);
  Chains chains(model, 8, data.size(), 1, 100);
  std::vector<float> draws(std::size_t{8} * model.dimension());
  const auto before = test_heap_calls();
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (i >= kWindow) {
      chains->leave(data.row(i - kWindow), static_cast<std::uint32_t>(i - kWindow));
    }
    chains->enter(data.row(i), static_cast<std::uint32_t>(i));
  }
  chains->retain();
  chains->copy_to(draws.data(), 8);
  EXPECT_EQ(test_heap_calls(), before);
}

}  // namespace
}  // namespace windhover::row_block_past_test
