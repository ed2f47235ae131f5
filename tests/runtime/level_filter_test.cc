// The filter of a level that walks against Kalman's.
#include "windhover/runtime/learning/level_filter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "windhover/tests/runtime/filter_fixture.h"

namespace windhover::test::filter_test {
namespace {

// Kalman's filter as it stands in Harvey (1989), section 3.2, the intercept a random walk: where it
// is, and P in units of the noise. What the noise is taken for on the way is of no account but for
// the prior, which says nothing.
TEST(LevelFilter, IsKalmans) {
  constexpr double kLevelRows = 4;
  constexpr double kPrior = 1e-6;
  Data data = linear_data(3000, kFeatures, 1.0, 43);
  const VectorXd steps = normals(44, data.rows());
  double level = 0;
  for (Index i = 0; i < data.rows(); ++i) data.y[i] += level += steps[i] / kLevelRows;
  Filter<LevelFilter> of("linear", 1'000'000'000'000, kPrior,
                         static_cast<std::uint64_t>(kLevelRows));
  of.learn(data);
  const MatrixXd x = data.design();
  VectorXd mean = VectorXd::Zero(kDimension);
  MatrixXd covariance = MatrixXd::Identity(kDimension, kDimension) / kPrior;
  for (Index i = 0; i < data.rows(); ++i) {
    covariance(kDimension - 1, kDimension - 1) += 1 / (kLevelRows * kLevelRows);
    const VectorXd row = x.row(i);
    const VectorXd gain = covariance * row / (1 + row.dot(covariance * row));
    mean += gain * (data.y[i] - row.dot(mean));
    covariance -= gain * (row.transpose() * covariance);
  }
  const Shown found = of.shown();
  for (Index j = 0; j < kDimension; ++j) {
    EXPECT_NEAR(found.centre[j], mean[j], 0.01 * std::sqrt(covariance(j, j))) << j;
  }
  EXPECT_NEAR(found.centre[kDimension - 1], data.truth[kDimension - 1] + level, 2.5) << "5 sd";
  // 64 rows have a relative error of sqrt(2 / 64); the bound is four of them.
  EXPECT_NEAR(found.dispersion, 1.0, 0.7);
  const double level_variance = found.covariance(kDimension - 1, kDimension - 1);
  of.filter.look_ahead(8);
  EXPECT_NEAR(of.shown().covariance(kDimension - 1, kDimension - 1),
              level_variance + 0.5 * found.dispersion, 1e-9);
  of.filter.look_ahead(0);
  EXPECT_NEAR(of.shown().covariance(kDimension - 1, kDimension - 1), level_variance, 1e-9);
}

}  // namespace
}  // namespace windhover::test::filter_test
