#include "windhover/tools/fit/moments.h"

#include <gtest/gtest.h>

namespace windhover {
namespace {

TEST(Moments, AreThoseOfTheStream) {
  Moments moments(Eigen::VectorXd::Constant(2, 1e6));
  const double rows[3][2] = {{1e6 + 1, 1e6}, {1e6 + 3, 1e6 + 2}, {1e6 + 2, 1e6 + 4}};
  for (const auto& row : rows) moments.add(row);
  EXPECT_EQ(moments.count(), 3U);
  EXPECT_NEAR(moments.mean()[0], 1e6 + 2, 1e-9);
  EXPECT_NEAR(moments.covariance()(0, 0), 2.0 / 3, 1e-12);
  EXPECT_NEAR(moments.covariance()(1, 1), 8.0 / 3, 1e-12);
  EXPECT_NEAR(moments.covariance()(0, 1), 2.0 / 3, 1e-12);
  EXPECT_EQ(moments.covariance()(0, 1), moments.covariance()(1, 0));
}

}  // namespace
}  // namespace windhover
