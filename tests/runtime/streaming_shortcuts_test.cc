// What looks like a posterior in a single pass and is not: why horizons without a window give every
// chain noise of its own, and why their gain is 1 / t. The engine offers none of these; they are
// simulated here on rows with A = C = I, where theta <- theta - h (theta - row) is the whole chain.
#include <gtest/gtest.h>

#include <cstdio>

#include "windhover/tests/runtime/coverage.h"

namespace windhover::test::streaming_shortcuts_test {
namespace {

constexpr Index kDimension = 5;
constexpr double kEffective = 1000;
constexpr Index kStep = 20;  // rows a minibatch
constexpr double kGain = 2.0 * kStep / (kEffective + kStep);

// Means of minibatches of standard normal rows, one a column.
MatrixXd minibatch_means(std::uint64_t seed, Index steps) {
  const VectorXd z = normals(seed, kDimension * steps);
  return Eigen::Map<const MatrixXd>(z.data(), kDimension, steps) / std::sqrt(double{kStep});
}

// Truth 0; share of coordinates that |centre| <= 1.645 sd covers.
double covered(const VectorXd& centre, const VectorXd& sd) {
  return (centre.array().abs() <= 1.645 * sd.array()).cast<double>().mean();
}

TEST(StreamingShortcuts, ChainsOnTheSameFreshRowsFallIntoOnePoint) {
  const MatrixXd means = minibatch_means(91, 400);
  MatrixXd chains = MatrixXd::Zero(kDimension, 32);
  const VectorXd z = normals(92, kDimension * 32);
  chains = Eigen::Map<const MatrixXd>(z.data(), kDimension, 32) / std::sqrt(kEffective);
  for (Index t = 0; t < means.cols(); ++t) {
    chains += kGain * (means.col(t).replicate(1, 32) - chains);
  }
  const MatrixXd deviations = chains.colwise() - chains.rowwise().mean();
  EXPECT_LT(deviations.squaredNorm() / (31 * kDimension) * kEffective, 1e-3);
}

// 32 past iterates of one chain, spread over 8 N rows, stand around a mean eight times as sure as
// any of them: an interval of their spread covers always, whatever it promises.
TEST(StreamingShortcuts, PastIteratesOfOneChainCoverAlways) {
  Tally tally;
  constexpr Index kSteps = static_cast<Index>(8 * kEffective / kStep);
  for (std::uint64_t r = 0; r < 200; ++r) {
    const MatrixXd means = minibatch_means(1000 + r, 2 * kSteps);
    VectorXd theta = VectorXd::Zero(kDimension);
    MatrixXd ring(kDimension, 32);
    for (Index t = 0; t < means.cols(); ++t) {
      theta += kGain * (means.col(t) - theta);
      if (t >= kSteps) ring.col((t - kSteps) * 32 / kSteps) = theta;
    }
    const VectorXd centre = ring.rowwise().mean();
    const VectorXd sd = ((ring.colwise() - centre).rowwise().squaredNorm() / 31).cwiseSqrt();
    tally.add(covered(centre, sd));
  }
  EXPECT_GT(tally.coverage().rate, 0.99);
}

// With a rate of 2 S / n while n grows the variance is 4 / 3 of what n rows are worth; with S / n
// it is that.
TEST(StreamingShortcuts, ConstantRateCalibrationIsTooWideWhileRowsGrow) {
  for (const double factor : {1.0, 2.0}) {
    double variance = 0;
    constexpr int kReplications = 400;
    Index rows = 0;
    for (std::uint64_t r = 0; r < kReplications; ++r) {
      const MatrixXd means = minibatch_means(2000 + r, 400);
      VectorXd theta = VectorXd::Zero(kDimension);
      rows = 0;
      for (Index t = 0; t < means.cols(); ++t) {
        rows += kStep;
        theta += std::min(1.0, factor * kStep / static_cast<double>(rows)) * (means.col(t) - theta);
      }
      variance += theta.squaredNorm() / kDimension / kReplications;
    }
    variance *= static_cast<double>(rows);
    std::printf("rate %.0f S / n: variance %.3f of the sampling variance\n", factor, variance);
    // Standard error sqrt(2 / 2000) = 3 %.
    EXPECT_NEAR(variance, factor == 1.0 ? 1.0 : 4.0 / 3.0, 0.13);
  }
}

}  // namespace
}  // namespace windhover::test::streaming_shortcuts_test
