// Row blocks against exact posteriors: the law of the chains, alone and over a sliding window.
#include "windhover/samplers/row_blocks/row_block_langevin.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "windhover/tests/samplers/heap_calls.h"
#include "windhover/tests/samplers/row_block_fixture.h"

namespace windhover::row_block_langevin_test {
namespace {

TEST(RowBlockLangevin, LawIsThePosterior) {
  const ModelConfig model = model_of(kCrossed, 3, 1);
  const SparseData data = crossed_rows(model, 1'500);
  const MatrixXd x = data.design(0, data.size());
  const Moments exact = exact_moments(data, 0, data.size(), 1);
  const MatrixXd rows = x.topRows(200);
  const VectorXd sd = (rows * exact.covariance * rows.transpose()).diagonal().cwiseSqrt();
  Draws draws;
  double spread = 0;
  double together = 0;
  double squares = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Chains chains(model, 4, data.size(), seed);
    for (std::size_t i = 0; i < data.size(); ++i) {
      chains->enter(data.row(i), static_cast<std::uint32_t>(i));
    }
    for (int round = 0; round < 150; ++round) chains.move(data, 0, data.size(), 100);
    for (std::uint16_t c = 0; c < 4; ++c) draws.add(chains.theta(c));
    spread += chains->spread_ratio() / 100;
    // Linear predictors of all chains, off their exact means in sds: of each pair of chains.
    MatrixXd off(200, 4);
    for (std::uint16_t c = 0; c < 4; ++c) {
      off.col(c) = (rows * (chains.theta(c) - exact.mean)).cwiseQuotient(sd);
    }
    const double pairs = (off.rowwise().sum().squaredNorm() - off.squaredNorm()) / (12 * 200);
    together += pairs / 100;
    squares += pairs * pairs / 100;
  }
  EXPECT_NEAR(spread, 1, 0.05);
  // Their noise sums to 0: were -log p quadratic and its centre exact, all pairs would have -1/3.
  // What curvature and scatter leave of the centre's variance is a fifth of that of four chains
  // that know nothing of one another, 1/4, at most: (1 + 3 together) / 4.
  const double error = std::sqrt((squares - together * together) / 100);
  EXPECT_LT(error, 0.02);
  EXPECT_GT(together, -1.0 / 3 - 4 * error);
  EXPECT_LT((1 + 3 * together) / 4, 0.25 / 5);
  expect_law(draws, exact, MatrixXd::Identity(x.cols(), x.cols()));
  expect_law(draws, exact, x.topRows(200));
}

// The rows of a window come and go: the law is that of those that are there.
TEST(RowBlockLangevin, LawFollowsAWindow) {
  const ModelConfig model = model_of(kCrossed, 3, 0.5);
  constexpr std::size_t kWindow = 600;
  const SparseData data = crossed_rows(model, 1'200, 1.5);
  Draws draws;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Chains chains(model, 4, data.size(), seed);
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (i >= kWindow) {
        chains->leave(data.row(i - kWindow), static_cast<std::uint32_t>(i - kWindow));
      }
      chains->enter(data.row(i), static_cast<std::uint32_t>(i));
      chains.move(data, i < kWindow ? 0 : i - kWindow + 1, i + 1, 4);
    }
    for (int round = 0; round < 80; ++round) chains.move(data, kWindow, data.size(), 100);
    for (std::uint16_t c = 0; c < 4; ++c) draws.add(chains.theta(c));
  }
  const MatrixXd x = data.design(kWindow, data.size());
  const Moments exact = exact_moments(data, kWindow, data.size(), 0.5);
  expect_law(draws, exact, MatrixXd::Identity(x.cols(), x.cols()));
  expect_law(draws, exact, x.topRows(200));
}

// Columns that are all the same: steps that are right for each would be too long for their sum.
TEST(RowBlockLangevin, StepsOfEqualColumnsAreShort) {
  constexpr std::uint32_t kColumns = 40;
  const ModelConfig model = model_of(kColumns, kColumns, 1);
  SparseData data(model);
  std::vector<std::uint32_t> columns(kColumns);
  for (std::uint32_t j = 0; j < kColumns; ++j) columns[j] = j;
  for (std::size_t i = 0; i < 400; ++i) {
    data.add(columns, std::vector<double>(kColumns, 1), uniform(i) < 0.3 ? 1 : 0);
  }
  Draws draws;
  double spread = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Chains chains(model, 4, data.size(), seed);
    for (std::size_t i = 0; i < data.size(); ++i) {
      chains->enter(data.row(i), static_cast<std::uint32_t>(i));
      chains.move(data, 0, i + 1, 4);
    }
    for (int round = 0; round < 120; ++round) chains.move(data, 0, data.size(), 100);
    for (std::uint16_t c = 0; c < 4; ++c) draws.add(chains.theta(c));
    spread += chains->spread_ratio() / 50;
  }
  // All columns are one: of 4 chains a spread is known to a half, of 50 times 4 to 0.07.
  EXPECT_NEAR(spread, 1, 0.21);
  const MatrixXd x = data.design(0, data.size());
  const Moments exact = exact_moments(data, 0, data.size(), 1);
  const Moments seen = draws.moments(x.topRows(1));
  const double sd = std::sqrt((x.row(0) * exact.covariance * x.row(0).transpose())(0, 0));
  EXPECT_NEAR(seen.mean[0], x.row(0).dot(exact.mean), 0.5 * sd);
  EXPECT_NEAR(std::sqrt(seen.covariance(0, 0)) / sd, 1, 0.25);
}

// Rows that come translate the chains at once, before any move, to nearer to where the posterior's
// centre then is than they were, and bring them closer together along the row, as its covariance
// does; the same rows going take them back.
TEST(RowBlockLangevin, ChainsAreTranslatedByRowsThatComeAndGo) {
  constexpr std::size_t kRows = 1'500;
  constexpr std::size_t kMore = 30;
  const ModelConfig model = model_of(kCrossed, 3, 1);
  SparseData data = crossed_rows(model, kRows);
  for (std::size_t i = 0; i < kMore; ++i)
    data.add({1, kFirst, kFirst + kSecond + kSecond}, {1, 1, 1}, 0);
  Chains chains(model, 8, kRows + kMore, 3);
  for (std::uint32_t i = 0; i < kRows; ++i) chains->enter(data.row(i), i);
  for (int round = 0; round < 150; ++round) chains.move(data, 0, kRows, 100);
  const VectorXd x = data.design(kRows, kRows + 1).row(0);
  const auto centre = [&] {
    double sum = 0;
    for (std::uint16_t c = 0; c < 8; ++c) sum += x.dot(chains.theta(c)) / 8;
    return sum;
  };
  const double before = centre();
  const auto apart = [&] {
    double squares = 0;
    for (std::uint16_t c = 0; c < 8; ++c) squares += std::pow(x.dot(chains.theta(c)) - centre(), 2);
    return std::sqrt(squares);
  };
  const double apart_before = apart();
  for (std::uint32_t i = 0; i < kMore; ++i) chains->enter(data.row(kRows + i), kRows + i);
  const double moved = centre() - before;
  const double closer = apart() / apart_before;
  const Moments with = exact_moments(data, 0, kRows + kMore, 1);
  const Moments without = exact_moments(data, 0, kRows, 1);
  const double exact = x.dot(with.mean - without.mean);
  const double exact_closer = std::sqrt(x.dot(with.covariance * x) / x.dot(without.covariance * x));
  EXPECT_LT(exact, -0.5);
  EXPECT_LT(moved, 0);
  EXPECT_GT(moved, 2 * exact);
  EXPECT_LT(exact_closer, 0.9);
  EXPECT_NEAR(closer, exact_closer, 0.15);
  for (std::uint32_t i = 0; i < kMore; ++i) chains->leave(data.row(kRows + i), kRows + i);
  EXPECT_NEAR(centre(), before, 0.25 * std::abs(moved));
  EXPECT_NEAR(apart() / apart_before, 1, 0.1);
}

// Rows of next to no values, which say nothing: columns are draws from the prior when they come,
// and others when they come again. In between nothing is said of them.
TEST(RowBlockLangevin, ColumnsWithoutRowsAreThePriors) {
  const ModelConfig model = model_of(5'000, 3, 4);
  SparseData data(model);
  for (std::uint32_t i = 0; i < 50; ++i) data.add({i, 100 + i, 200 + i}, {1e-6, 1e-6, 1e-6}, 1);
  Chains chains(model, 8, 64, 3);
  const auto come = [&] {
    for (std::uint32_t i = 0; i < 50; ++i) chains->enter(data.row(i), i);
    std::vector<double> thetas;
    for (std::uint32_t column = 0; column < 5'000; ++column) {
      if (std::isnan(chains->theta(0, column))) continue;
      for (std::uint16_t c = 0; c < 8; ++c) thetas.push_back(chains->theta(c, column));
    }
    return thetas;
  };
  const std::vector<double> before = come();
  chains.move(data, 0, 50, 100);
  for (std::uint32_t i = 0; i < 50; ++i) chains->leave(data.row(i), i);
  std::vector<float> draws(5'001 * std::size_t{8}, 7);
  std::vector<float> retained = draws;
  chains->retain(retained.data(), 8);
  chains->copy_to(draws.data(), 8);
  EXPECT_EQ(std::memcmp(retained.data(), draws.data(), draws.size() * sizeof(float)), 0);
  for (std::uint32_t column = 0; column < 5'001; ++column) {
    const bool met = !std::isnan(chains->theta(0, column));
    EXPECT_EQ(std::isnan(draws[column * std::size_t{8}]), met) << column;
  }
  const std::vector<double> after = come();
  ASSERT_EQ(before.size(), 8 * 150U);
  ASSERT_EQ(after.size(), before.size());
  const double n = 8 * 150;
  for (const std::vector<double>& thetas : {before, after}) {
    double sum = 0;
    double squares = 0;
    double product = 0;
    for (std::size_t i = 0; i < thetas.size(); ++i) {
      sum += thetas[i];
      squares += thetas[i] * thetas[i];
      product += before[i] * after[i];
    }
    EXPECT_NEAR(sum / n, 0, 5 * 0.5 / std::sqrt(n));
    EXPECT_NEAR(squares / n, 0.25, 5 * 0.25 * std::sqrt(2 / n));
    EXPECT_NEAR(product / n, 0, 5 * 0.25 / std::sqrt(n));
  }
}

// Coefficients of known spread, and a prior that says something else.
TEST(RowBlockLangevin, PrecisionOfThePriorIsLearned) {
  ModelConfig model = model_of(400, 5, 0.16);
  model.learn_prior_precision = true;
  SparseData data(model);
  std::vector<double> truth(400);
  fill_normals(17, {0, 0, Purpose::kTest}, truth);
  for (std::size_t i = 0; i < 8'000; ++i) {
    std::vector<std::uint32_t> columns;
    double eta = 0.3;
    for (std::uint32_t k = 0; k < 5; ++k) {
      columns.push_back(80 * k + static_cast<std::uint32_t>(80 * uniform(6 * i + k)));
      eta += 0.5 * truth[columns.back()];
    }
    data.add(columns, std::vector<double>(5, 1), uniform(6 * i + 5) < 1 / (1 + std::exp(-eta)));
  }
  Chains chains(model, 8, data.size(), 1);
  std::vector<float> draws(401 * std::size_t{8});
  for (std::size_t i = 0; i < data.size(); ++i) {
    chains->enter(data.row(i), static_cast<std::uint32_t>(i));
  }
  for (int round = 0; round < 2'000; ++round) {
    chains.move(data, 0, data.size(), 100);
    if (round % 10 == 9) chains->retain();
  }
  // 400 coefficients give their sd of 0.5 to 3.5 % and their precision of 4 to 7 %; coefficients
  // known from rows give less.
  EXPECT_NEAR(chains->prior().precision().value(), 4, 1.2);
}

// Rows have three non-zeros and the intercept where there might be 62, share no column and say
// nothing: the prior is that of four columns, as soon as draws are taken.
TEST(RowBlockLangevin, PrecisionBeginsAtWhatRowsHave) {
  ModelConfig model = model_of(kCrossed, kCrossed, 0.1);
  model.learn_prior_precision = true;
  SparseData data(model);
  for (std::uint32_t i = 0; i < 20; ++i) data.add({3 * i, 3 * i + 1, 3 * i + 2}, {1, 1, 1}, i % 2);
  Chains chains(model, 4, 20, 1);
  EXPECT_NEAR(chains->prior().precision().value(), kCrossed / 6.25, 1e-9);
  for (std::uint32_t i = 0; i < 20; ++i) chains->enter(data.row(i), i);
  chains->retain();
  EXPECT_NEAR(chains->prior().precision().value(), 4 / 6.25, 1e-9);
}

TEST(RowBlockLangevin, HeapIsNotCalled) {
  const ModelConfig model = model_of(kCrossed, 3, 1);
  const SparseData data = crossed_rows(model, 50);
  Chains chains(model, 2, 64, 1);
  std::vector<float> draws((kCrossed + 1) * std::size_t{2});
  std::vector<std::uint32_t> slots = {3, 1, 4, 1, 5};
  const auto before = test_heap_calls();
  for (std::uint32_t i = 0; i < 50; ++i) chains->enter(data.row(i), i);
  chains->move(0, {data.base(), slots.data(), slots.size()});
  chains->steps().follow_bound(data.row(7), 7);
  chains->retain();
  chains->copy_to(draws.data(), 2);
  chains->leave(data.row(0), 0);
  EXPECT_EQ(test_heap_calls(), before);
}

}  // namespace
}  // namespace windhover::row_block_langevin_test
