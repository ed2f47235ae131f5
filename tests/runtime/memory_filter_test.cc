// One memory's filter against the exact posterior of rows that count by their age.
#include "windhover/runtime/learning/memory_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "windhover/tests/runtime/filter_fixture.h"

namespace windhover::test::filter_test {
namespace {

// What rows count for: those of one batch alike, and of equal rows as many as they are worth where
// `counts_as_many`.
VectorXd weights(Index rows, double memory, bool counts_as_many) {
  VectorXd w(rows);
  for (Index i = 0; i < rows; ++i) {
    const Index batch = static_cast<Index>(kBatch);
    const Index after = (rows / batch - 1 - i / batch) * batch;
    w[i] = std::pow(1 - 2 / memory, static_cast<double>(after));
  }
  return counts_as_many ? VectorXd(w * (w.sum() / w.squaredNorm())) : w;
}

// A prior so weak that it has faded: what is left is least squares, whatever noise variance the
// filter has learned on the way, to rounding.
TEST(MemoryFilter, IsThePosteriorOfRowsThatFadeWhereYIsNormal) {
  constexpr double kMemory = 200;
  const Data data = linear_data(3000, kFeatures, 1.0, 41);
  const MatrixXd x = data.design();
  for (const bool as_many : {true, false}) {
    Filter<MemoryFilter> of("linear", static_cast<std::uint64_t>(kMemory), 1e-6, as_many);
    of.learn(data);
    const Shown found = of.shown();
    const VectorXd w = weights(data.rows(), kMemory, as_many);
    const MatrixXd squares = x.transpose() * w.asDiagonal() * x;
    const VectorXd mean = squares.ldlt().solve(x.transpose() * w.asDiagonal() * data.y);
    const MatrixXd covariance = of.before.dispersion * squares.inverse();
    for (Index j = 0; j < kDimension; ++j) {
      EXPECT_NEAR(found.centre[j], mean[j], 1e-6 * std::sqrt(covariance(j, j))) << j;
    }
    EXPECT_LT((found.covariance - covariance).norm() / covariance.norm(), 1e-6) << as_many;
    // An average that forgets, of a memory's 100 newest rows, has a relative error of sqrt(2 /
    // 200); four of them.
    EXPECT_NEAR(found.dispersion, 1.0, 0.4) << as_many;
  }
}

// With a prior that counts, of logits of a scale that needs no dispersion.
Gaussian logistic_posterior(const MatrixXd& x, const VectorXd& y, const VectorXd& w, double prior) {
  Gaussian found{VectorXd::Zero(x.cols()), {}};
  for (int i = 0; i < 50; ++i) {
    const VectorXd p = (1 + (-(x * found.mean)).array().exp()).inverse();
    const VectorXd gradient = x.transpose() * w.cwiseProduct(p - y) + prior * found.mean;
    const VectorXd curvature = w.array() * p.array() * (1 - p.array());
    found.covariance = (x.transpose() * curvature.asDiagonal() * x +
                        prior * MatrixXd::Identity(x.cols(), x.cols()))
                           .inverse();
    found.mean -= found.covariance * gradient;
  }
  return found;
}

// An extended Kalman filter linearizes each row where its centre stood then, some sd from where it
// stands now: in a loss whose curvature changes by 1 / sqrt(n) a sd, n what the memory is worth,
// that is worth D / sqrt(n) sd here, 0.13.
TEST(MemoryFilter, IsNearThePosteriorOfRowsThatFadeOfClasses) {
  constexpr double kMemory = 1000;
  constexpr double kPrior = 4;
  constexpr int kRuns = 20;
  const double bound = static_cast<double>(kDimension) / std::sqrt(kMemory);
  double squared = 0;
  double wide = 0;
  for (int run = 0; run < kRuns; ++run) {
    const Data data = logistic_data(6000, kFeatures, 0.5, 50 + run);
    Filter<MemoryFilter> of("logistic", static_cast<std::uint64_t>(kMemory), kPrior, true);
    of.learn(data);
    const Shown found = of.shown();
    const Gaussian exact =
        logistic_posterior(data.design(), data.y, weights(data.rows(), kMemory, true), kPrior);
    const VectorXd off = found.centre - exact.mean;
    squared += off.dot(exact.covariance.ldlt().solve(off)) / kDimension / kRuns;
    wide += (exact.covariance.inverse() * found.covariance).trace() / kDimension / kRuns;
  }
  std::printf("centre off by %.3f sd, variances %.3f times the posterior's\n", std::sqrt(squared),
              wide);
  EXPECT_LT(std::sqrt(squared), bound);
  EXPECT_NEAR(wide, 1.0, bound);
}

// What a batch is worth is asked of the posterior of those before it.
TEST(MemoryFilter, LosesWhatThePredictiveDistributionSays) {
  const Data data = linear_data(1000, kFeatures, 1.0, 42);
  Filter<MemoryFilter> of("linear", 200, 1e-6, true);
  of.learn(data);
  const Shown now = of.shown();
  const RowLayout layout(of.config.model);
  std::vector<double> row(layout.stride());
  const std::uint32_t slot = 0;
  VectorXd x = VectorXd::Ones(kDimension);
  for (const double y : {-2.0, 0.0, 5.0}) {
    for (Index j = 0; j < Index{kFeatures}; ++j) row[static_cast<std::size_t>(j)] = x[j];
    row[kFeatures] = y;
    const double variance = now.dispersion + x.dot(now.covariance * x);
    const double off = y - x.dot(now.centre);
    const double expected = 0.5 * (std::log(variance) + off * off / variance);
    EXPECT_NEAR(of.filter.posterior().loss({row.data(), &slot, 1}, 1.0, *of.model), expected, 1e-9)
        << y;
  }
}

}  // namespace
}  // namespace windhover::test::filter_test
