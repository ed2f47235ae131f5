#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "windhover/samplers/models/likelihoods.h"

namespace windhover::log_normal_test {
namespace {

TEST(LogNormal, TakesWhatHasALogarithm) {
  const auto takes = [](double y) { return in_domain(Response::kLogNormal, 0, y); };
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (const double y : {5e-324, 1e-300, 0.01, 1.0, 1e300}) {
    EXPECT_TRUE(takes(y)) << y;
  }
  for (const double y : {0.0, -0.0, -1.0, -5e-324, kInfinite, -kInfinite, std::nan("")}) {
    EXPECT_FALSE(takes(y)) << y;
  }
}

TEST(LogNormal, MeanIsThatOfYUnderTheDispersion) {
  LogNormalLikelihood likelihood{ModelConfig{}};
  likelihood.set_dispersion(0.5);
  EXPECT_NEAR(likelihood.mean(2), std::exp(2.25), 1e-12);
  EXPECT_TRUE(std::isfinite(likelihood.mean(1e6)));
}

}  // namespace
}  // namespace windhover::log_normal_test
