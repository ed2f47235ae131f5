// Row blocks against exact posteriors: the law of the chains, alone and over a sliding window.
#include "windhover/samplers/row_blocks/row_block_langevin.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <memory>
#include <vector>

#include "windhover/tests/samplers/heap_calls.h"
#include "windhover/tests/samplers/support.h"

namespace windhover::row_block_langevin_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Sparse rows of a logistic model, and where they lie.
class SparseData {
 public:
  explicit SparseData(const ModelConfig& model) : layout_(model) {}

  void add(const std::vector<std::uint32_t>& columns, const std::vector<double>& values,
           double target) {
    rows_.resize(rows_.size() + layout_.stride());
    double* row = &rows_[rows_.size() - layout_.stride()];
    row[0] = target;
    row[RowLayout::kCountIndex] = static_cast<double>(columns.size());
    std::copy(values.begin(), values.end(), row + RowLayout::kValuesIndex);
    auto* indices = reinterpret_cast<std::uint32_t*>(row + layout_.indices_index());
    std::copy(columns.begin(), columns.end(), indices);
  }
  std::size_t size() const { return rows_.size() / layout_.stride(); }
  const double* row(std::size_t i) const { return &rows_[i * layout_.stride()]; }
  const double* base() const { return rows_.data(); }

  // With a last column of ones.
  MatrixXd design(std::size_t first, std::size_t last) const {
    const auto rows = static_cast<Index>(last - first);
    MatrixXd x = MatrixXd::Zero(rows, Index{layout_.features()} + 1);
    for (Index i = 0; i < rows; ++i) {
      const SparseRow sparse(layout_, row(first + static_cast<std::size_t>(i)));
      for (std::size_t k = 0; k < sparse.count; ++k) x(i, sparse.indices[k]) = sparse.values[k];
      x(i, layout_.features()) = 1;
    }
    return x;
  }
  VectorXd targets(std::size_t first, std::size_t last) const {
    VectorXd y(static_cast<Index>(last - first));
    for (Index i = 0; i < y.size(); ++i) y[i] = row(first + static_cast<std::size_t>(i))[0];
    return y;
  }

 private:
  RowLayout layout_;
  std::vector<double> rows_;
};

double uniform(std::uint64_t step) {
  double u = 0;
  fill_uniforms(5, {step, 0, Purpose::kTest}, {&u, 1});
  return u;
}

ModelConfig model_of(std::uint32_t features, std::uint32_t nonzeros, double precision) {
  ModelConfig model;
  model.name = "logistic";
  model.features = features;
  model.max_nonzeros = nonzeros;
  model.prior_precision = model.intercept_precision = precision;
  return model;
}

// Two categories and their crossing: columns that say the same twice over, of which only the prior
// tells which it was; the first categories are frequent and the last rare.
constexpr std::uint32_t kFirst = 6;
constexpr std::uint32_t kSecond = 8;
constexpr std::uint32_t kCrossed = kFirst + kSecond + kFirst * kSecond;

SparseData crossed_rows(const ModelConfig& model, std::size_t rows, double value = 1) {
  SparseData data(model);
  for (std::size_t i = 0; i < rows; ++i) {
    const double u = uniform(3 * i);
    const double v = uniform(3 * i + 1);
    const auto a = static_cast<std::uint32_t>(kFirst * u * u);
    const auto b = static_cast<std::uint32_t>(kSecond * v * v);
    const double eta = 0.5 * std::sin(a + 1.0) + 0.8 * std::cos(2.0 * b) + 0.5 * std::sin(a * b);
    const double y = uniform(3 * i + 2) < 1 / (1 + std::exp(-eta)) ? 1 : 0;
    data.add({a, kFirst + b, kFirst + kSecond + a * kSecond + b}, {value, 1, value}, y);
  }
  return data;
}

// Mean and covariance of a logistic posterior by Hamiltonian steps in units of Laplace's
// approximation, from 40,000 draws: within 0.01 sd.
struct Moments {
  VectorXd mean;
  MatrixXd covariance;
};

Moments exact_moments(const MatrixXd& x, const VectorXd& y, double precision) {
  const Index d = x.cols();
  const auto gradient = [&](const VectorXd& theta) -> VectorXd {
    const VectorXd p = (1 + (-(x * theta)).array().exp()).inverse();
    return x.transpose() * (p - y) + precision * theta;
  };
  const auto potential = [&](const VectorXd& theta) {
    const VectorXd eta = x * theta;
    return (1 + eta.array().exp()).log().sum() - y.dot(eta) + 0.5 * precision * theta.squaredNorm();
  };
  VectorXd mode = VectorXd::Zero(d);
  MatrixXd root;
  for (int step = 0; step < 30; ++step) {
    const VectorXd p = (1 + (-(x * mode)).array().exp()).inverse();
    const VectorXd w = p.array() * (1 - p.array());
    const MatrixXd h = x.transpose() * w.asDiagonal() * x + precision * MatrixXd::Identity(d, d);
    const Eigen::LLT<MatrixXd> factor(h);
    mode -= factor.solve(gradient(mode));
    root = factor.matrixU().solve(MatrixXd::Identity(d, d));
  }
  constexpr int kDraws = 40'000;
  constexpr double kStep = 0.35;
  std::vector<double> normals(static_cast<std::size_t>(d));
  VectorXd z = VectorXd::Zero(d);
  VectorXd sum = VectorXd::Zero(d);
  MatrixXd squares = MatrixXd::Zero(d, d);
  double at = potential(mode);
  for (int draw = 0; draw < kDraws; ++draw) {
    fill_normals(11, {static_cast<std::uint64_t>(draw), 0, Purpose::kTest}, normals);
    VectorXd momentum = Eigen::Map<VectorXd>(normals.data(), d);
    const double before = at + 0.5 * momentum.squaredNorm();
    VectorXd proposal = z;
    VectorXd force = root.transpose() * gradient(mode + root * proposal);
    for (int leap = 0; leap < 4; ++leap) {
      momentum -= 0.5 * kStep * force;
      proposal += kStep * momentum;
      force = root.transpose() * gradient(mode + root * proposal);
      momentum -= 0.5 * kStep * force;
    }
    const double there = potential(mode + root * proposal);
    const double after = there + 0.5 * momentum.squaredNorm();
    if (std::log(uniform(1'000'000 + static_cast<std::uint64_t>(draw))) < before - after) {
      z = proposal;
      at = there;
    }
    const VectorXd theta = root * z;
    sum += theta;
    squares += theta * theta.transpose();
  }
  const VectorXd mean = sum / kDraws;
  return {mode + mean, squares / kDraws - mean * mean.transpose()};
}

// Chains in a block of their own.
class Chains {
 public:
  Chains(const ModelConfig& model, std::uint32_t chains, std::size_t slots, std::uint64_t seed)
      : seed_(seed), chains_(chains), memory_(bytes(model, chains, slots)) {
    Arena& arena = memory_.arena();
    sampler_ = arena.make<RowBlockLangevin>(arena, model, chains, slots, seed);
    sampler_->reset();
  }
  RowBlockLangevin& operator*() { return *sampler_; }
  RowBlockLangevin* operator->() { return sampler_; }

  // Each chain on `moves` of the rows [first, last), whose slots are their numbers.
  void move(const SparseData& data, std::size_t first, std::size_t last, std::size_t moves) {
    std::vector<std::uint32_t> slots(moves);
    for (std::uint32_t c = 0; c < chains_; ++c) {
      const auto chain = static_cast<std::uint16_t>(c);
      fill_indices(seed_, {round_, chain, Purpose::kMinibatch},
                   static_cast<std::uint32_t>(last - first), slots);
      for (std::uint32_t& slot : slots) slot += static_cast<std::uint32_t>(first);
      sampler_->move(round_, chain, {data.base(), slots.data(), moves});
    }
    ++round_;
    for (std::size_t i = 0; i < moves / 4; ++i, ++bound_) {
      if (bound_ < first || bound_ >= last) bound_ = first;
      sampler_->follow_bound(data.row(bound_), static_cast<std::uint32_t>(bound_));
    }
  }
  VectorXd theta(std::uint16_t chain) const {
    VectorXd theta(sampler_->columns());
    for (std::uint32_t j = 0; j < sampler_->columns(); ++j) theta[j] = sampler_->theta(chain, j);
    return theta;
  }

 private:
  static std::size_t bytes(const ModelConfig& model, std::uint32_t chains, std::size_t slots) {
    Arena arena = Arena::measuring();
    (void)arena.make<RowBlockLangevin>(arena, model, chains, slots, 0);
    return arena.used();
  }

  std::uint64_t seed_;
  std::uint32_t chains_;
  Memory memory_;
  RowBlockLangevin* sampler_ = nullptr;
  std::uint64_t round_ = 0;
  std::size_t bound_ = 0;
};

// What chains of many seeds come to, each after its moves: independent draws.
class Draws {
 public:
  void add(const VectorXd& theta) { all_.push_back(theta); }
  double count() const { return static_cast<double>(all_.size()); }
  // Of the linear predictors x theta, or of the parameters themselves.
  Moments moments(const MatrixXd& x) const {
    VectorXd sum = VectorXd::Zero(x.rows());
    MatrixXd squares = MatrixXd::Zero(x.rows(), x.rows());
    for (const VectorXd& theta : all_) {
      const VectorXd eta = x * theta;
      sum += eta;
      squares += eta * eta.transpose();
    }
    const VectorXd mean = sum / count();
    return {mean, squares / count() - mean * mean.transpose()};
  }

 private:
  std::vector<VectorXd> all_;
};

// Means within 5 standard errors and 0.1 sd, every sd within 5 of its own and 10 %; on average over
// the directions within 3 %.
void expect_law(const Draws& draws, const Moments& exact, const MatrixXd& directions) {
  const Moments seen = draws.moments(directions);
  const VectorXd mean = directions * exact.mean;
  const VectorXd variance = (directions * exact.covariance * directions.transpose()).diagonal();
  const double error = 1 / std::sqrt(draws.count());
  double ratios = 0;
  for (Index j = 0; j < mean.size(); ++j) {
    const double sd = std::sqrt(variance[j]);
    EXPECT_NEAR(seen.mean[j], mean[j], (5 * error + 0.1) * sd) << j;
    const double ratio = std::sqrt(seen.covariance(j, j)) / sd;
    EXPECT_NEAR(ratio, 1, 5 * error / std::sqrt(2) + 0.1) << j;
    ratios += ratio / static_cast<double>(mean.size());
  }
  EXPECT_NEAR(ratios, 1, 0.03 + 3 * error / std::sqrt(2));
}

TEST(RowBlockLangevin, LawIsThePosterior) {
  const ModelConfig model = model_of(kCrossed, 3, 1);
  const SparseData data = crossed_rows(model, 1'500);
  Draws draws;
  double spread = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Chains chains(model, 4, data.size(), seed);
    for (std::size_t i = 0; i < data.size(); ++i) {
      chains->enter(data.row(i), static_cast<std::uint32_t>(i));
    }
    for (int round = 0; round < 150; ++round) chains.move(data, 0, data.size(), 100);
    for (std::uint16_t c = 0; c < 4; ++c) draws.add(chains.theta(c));
    spread += chains->spread_ratio() / 100;
  }
  EXPECT_NEAR(spread, 1, 0.05);
  const MatrixXd x = data.design(0, data.size());
  const Moments exact = exact_moments(x, data.targets(0, data.size()), 1);
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
  const Moments exact = exact_moments(x, data.targets(kWindow, data.size()), 0.5);
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
  const Moments exact = exact_moments(x, data.targets(0, data.size()), 1);
  const Moments seen = draws.moments(x.topRows(1));
  const double sd = std::sqrt((x.row(0) * exact.covariance * x.row(0).transpose())(0, 0));
  EXPECT_NEAR(seen.mean[0], x.row(0).dot(exact.mean), 0.5 * sd);
  EXPECT_NEAR(std::sqrt(seen.covariance(0, 0)) / sd, 1, 0.25);
}

// Rows that come translate the chains at once, before any move, to nearer to where the posterior's
// centre then is than they were, and all alike; the same rows going take them back.
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
  const VectorXd apart = chains.theta(1) - chains.theta(0);
  for (std::uint32_t i = 0; i < kMore; ++i) chains->enter(data.row(kRows + i), kRows + i);
  const double moved = centre() - before;
  const double exact =
      x.dot(exact_moments(data.design(0, kRows + kMore), data.targets(0, kRows + kMore), 1).mean -
            exact_moments(data.design(0, kRows), data.targets(0, kRows), 1).mean);
  EXPECT_LT(exact, -0.5);
  EXPECT_LT(moved, 0);
  EXPECT_GT(moved, 2 * exact);
  EXPECT_LT((chains.theta(1) - chains.theta(0) - apart).cwiseAbs().maxCoeff(), 1e-5);
  for (std::uint32_t i = 0; i < kMore; ++i) chains->leave(data.row(kRows + i), kRows + i);
  EXPECT_NEAR(centre(), before, 0.25 * std::abs(moved));
}

TEST(RowBlockLangevin, ColumnsWithoutRowsAreThePriors) {
  const ModelConfig model = model_of(5'000, 3, 4);
  const SparseData data = crossed_rows(model, 50);
  Chains chains(model, 8, 64, 3);
  for (std::uint32_t i = 0; i < 50; ++i) chains->enter(data.row(i), i);
  chains.move(data, 0, 50, 100);
  for (std::uint32_t i = 0; i < 50; ++i) chains->leave(data.row(i), i);
  std::vector<float> draws(5'001 * std::size_t{8});
  chains->retain(0);
  chains->copy_to(draws.data(), 8);
  const std::vector<float> before = draws;
  chains->retain(1);
  chains->copy_to(draws.data(), 8);
  double sum = 0;
  double squares = 0;
  double product = 0;
  std::size_t numbers = 0;
  for (std::uint32_t column = 0; column < 5'000; ++column) {
    const bool met = !std::isnan(chains->theta(0, column));
    for (std::size_t i = column * 8; i < (column + 1) * 8; ++i) {
      EXPECT_EQ(draws[i] != 0, met);
      sum += draws[i];
      squares += double{draws[i]} * draws[i];
      product += double{draws[i]} * before[i];
      if (met) ++numbers;
    }
  }
  EXPECT_EQ(numbers, 8 * (chains->met_columns() - 1));  // the intercept's are not among them
  const auto n = static_cast<double>(numbers);
  EXPECT_NEAR(sum / n, 0, 5 * 0.5 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 0.25, 5 * 0.25 * std::sqrt(2 / n));
  EXPECT_NEAR(product / n, 0, 5 * 0.25 / std::sqrt(n));
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
    if (round % 10 == 9) {
      chains->retain(static_cast<std::uint64_t>(round));
    }
  }
  // 400 coefficients know their sd of 0.5 to 3.5 %, their precision of 4 to 7 %, those of rows
  // less.
  EXPECT_NEAR(chains->prior_precision(), 4, 1.2);
}

TEST(RowBlockLangevin, HeapIsNotCalled) {
  const ModelConfig model = model_of(kCrossed, 3, 1);
  const SparseData data = crossed_rows(model, 50);
  Chains chains(model, 2, 64, 1);
  std::vector<float> draws((kCrossed + 1) * std::size_t{2});
  std::vector<std::uint32_t> slots = {3, 1, 4, 1, 5};
  const auto before = test_heap_calls();
  for (std::uint32_t i = 0; i < 50; ++i) chains->enter(data.row(i), i);
  chains->move(0, 0, {data.base(), slots.data(), slots.size()});
  chains->follow_bound(data.row(7), 7);
  chains->retain(0);
  chains->copy_to(draws.data(), 2);
  chains->leave(data.row(0), 0);
  EXPECT_EQ(test_heap_calls(), before);
}

}  // namespace
}  // namespace windhover::row_block_langevin_test
