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
    consistency_.reset(0);
  }
  // A hundred of them a relaxation.
  void observe(int deviations, double sd) {
    const double centre[] = {0, 0};
    for (int i = 0; i < deviations; ++i) {
      const double angle = 0.7 * i;
      const double theta[] = {sd * std::sqrt(2) * std::cos(angle),
                              sd * std::sqrt(2) * std::sin(angle)};
      now_ += 0.01;
      consistency_.add(theta, centre, kRows, factor_, covariance_.data(), now_);
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
  double age() const { return now_ - consistency_.since(); }
  static double variance(double rate) { return rate / kMinibatch / (2 - rate); }

 private:
  Matrix2d identity_ = Matrix2d::Identity();
  Matrix2d covariance_ = Matrix2d::Identity() / kRows;
  MappedBlock block_;
  Arena arena_;
  Factor factor_;
  Consistency consistency_;
  double now_ = 0;
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

// One event among the chains is gone after two parts of 32 relaxations.
TEST(ConsistencyRatio, ForgetsWhatWasLongAgo) {
  const double sd = std::sqrt(ScalarRate::variance(0.5));
  ScalarRate rate(true);
  rate.observe(3000, sd);
  rate.observe(100, 100 * sd);
  EXPECT_GT(rate.ratio(0.5).largest, 100);
  rate.observe(3200, sd);
  EXPECT_GT(rate.ratio(0.5).largest, 100);
  rate.observe(3300, sd);
  EXPECT_NEAR(rate.ratio(0.5).largest, 1.0, 0.01);
  for (int i = 0; i < 10; ++i) {
    rate.observe(1000, sd);
    EXPECT_GE(rate.age(), 32);
    EXPECT_LE(rate.age(), 64.1);
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
