// The sampler's own law beside the posterior, against closed forms.
#include "windhover/runtime/consistency.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <vector>

#include "windhover/platform/memory.h"

namespace windhover {
namespace {

using Eigen::Matrix2d;

// A = C = I in two dimensions, and theta <- theta - h gradient without noise of its own: its
// variance is h (1/S) / (2 - h) in every direction, where the posterior's is 1 / n.
class ScalarRate {
 public:
  static constexpr double kRows = 100;
  static constexpr double kMinibatch = 50;

  explicit ScalarRate(bool checked)
      : block_(1 << 20),
        arena_(block_.bytes()),
        factor_(arena_, 2),
        consistency_(arena_, 2, checked) {
    EXPECT_EQ(factor_.compute(identity_.data()), Status::kOk);
    consistency_.reset();
  }
  void observe(int deviations, double sd) {
    const double centre[] = {0, 0};
    for (int i = 0; i < deviations; ++i) {
      const double angle = 0.7 * i;
      const double theta[] = {sd * std::sqrt(2) * std::cos(angle),
                              sd * std::sqrt(2) * std::sin(angle)};
      consistency_.add(theta, centre, kRows, factor_, covariance_.data());
    }
  }
  Consistency::Ratio ratio(double rate) {
    return consistency_.ratio(identity_.data(), factor_, identity_.data(), covariance_.data(),
                              kMinibatch, kRows, 1.0, [rate](double* h, double* injected) {
                                Matrix2d::Map(h) = rate * Matrix2d::Identity();
                                Matrix2d::Map(injected).setZero();
                                return true;
                              });
  }
  static double variance(double rate) { return rate / kMinibatch / (2 - rate); }

 private:
  Matrix2d identity_ = Matrix2d::Identity();
  Matrix2d covariance_ = Matrix2d::Identity() / kRows;
  MappedBlock block_;
  Arena arena_;
  Factor factor_;
  Consistency consistency_;
};

TEST(ConsistencyRatio, IsNothingBeforeThereAreDeviationsEnough) {
  ScalarRate rate(true);
  rate.observe(10, 0.1);
  const Consistency::Ratio ratio = rate.ratio(0.5);
  EXPECT_EQ(ratio.largest, 0);
  EXPECT_EQ(ratio.smallest, 0);
}

TEST(ConsistencyRatio, ComparesObservedWithLawAndLawWithPosterior) {
  for (const double h : {0.1, 0.5, 1.5}) {
    ScalarRate rate(true);
    rate.observe(2000, std::sqrt(1.21 * ScalarRate::variance(h)));
    const Consistency::Ratio ratio = rate.ratio(h);
    EXPECT_NEAR(ratio.largest, 1.21, 0.01) << h;
    EXPECT_NEAR(ratio.smallest, 1.21, 0.01) << h;
    const double law = ScalarRate::kRows * ScalarRate::variance(h);
    EXPECT_NEAR(ratio.law(), law, 1e-6 * law) << h;
  }
}

TEST(ConsistencyRatio, OfALawThatDoesNotExistIsInfinite) {
  ScalarRate rate(true);
  rate.observe(2000, 0.1);
  const Consistency::Ratio ratio = rate.ratio(2.5);  // H A = 2.5 I: it does not stay
  EXPECT_TRUE(std::isinf(ratio.law()));
  EXPECT_TRUE(std::isnan(ratio.largest));
}

TEST(ConsistencyRatio, IsUnknownWhereNothingIsChecked) {
  ScalarRate rate(false);
  rate.observe(2000, 0.1);
  const Consistency::Ratio ratio = rate.ratio(0.5);
  EXPECT_TRUE(std::isnan(ratio.largest));
  EXPECT_TRUE(std::isnan(ratio.law()));
}

}  // namespace
}  // namespace windhover
