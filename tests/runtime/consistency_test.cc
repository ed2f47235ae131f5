// The sampler's own law beside the posterior, against closed forms.
#include "windhover/runtime/diagnostics/consistency.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "windhover/platform/memory.h"
#include "windhover/platform/random.h"

namespace windhover::consistency_test {
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
        consistency_(arena_, 2, checked, {}) {
    EXPECT_EQ(factor_.compute(identity_.data()), Status::kOk);
    consistency_.reset(0);
  }
  // A hundred of them a relaxation.
  void observe(int deviations, double sd, double n = kRows) {
    const double centre[] = {0, 0};
    for (int i = 0; i < deviations; ++i) {
      const double angle = 0.7 * i;
      const double theta[] = {sd * std::sqrt(2) * std::cos(angle),
                              sd * std::sqrt(2) * std::sin(angle)};
      now_ += 0.01;
      consistency_.add(theta, centre, n, factor_, covariance_.data(), now_);
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

// While rows are few a relaxation lasts as long as it takes for them to become half as many again.
TEST(ConsistencyRatio, ForgetsWhatWasWhenRowsWereFewer) {
  const double sd = std::sqrt(ScalarRate::variance(0.5));
  constexpr double kGrown = 1.6;
  ScalarRate rate(true);
  rate.observe(100, 10 * std::sqrt(kGrown) * sd, ScalarRate::kRows / kGrown);
  rate.observe(100, sd);
  EXPECT_GT(rate.ratio(0.5).largest, 10);
  rate.observe(100, sd / std::sqrt(kGrown), kGrown * ScalarRate::kRows);
  EXPECT_NEAR(rate.ratio(0.5).largest, 1.0, 0.05);
  EXPECT_LT(rate.age(), 32);
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

// More parameters than are compared in every direction: draws of a posterior of correlated
// parameters, some of them with one combination three times as wide.
class ManyParameters {
 public:
  static constexpr std::uint32_t kDimension = 60;

  ManyParameters()
      : posterior_(kDimension, kDimension),
        block_(1 << 22),
        arena_(block_.bytes()),
        factor_(arena_, kDimension),
        consistency_(arena_, kDimension, true, {true, false, false}) {
    for (Eigen::Index i = 0; i < kDimension; ++i) {
      for (Eigen::Index j = 0; j < kDimension; ++j) {
        posterior_(i, j) = std::pow(0.9, std::abs(static_cast<double>(i - j)));
      }
    }
    vectors_.compute(posterior_);
    consistency_.reset(0);
  }
  // The eigenvector of this number has `inflated` times its variance.
  void observe(Eigen::Index number, double inflated, int deviations) {
    Eigen::VectorXd scale = vectors_.eigenvalues();
    scale[number] *= inflated;
    scale = scale.cwiseSqrt();
    const Eigen::VectorXd centre = Eigen::VectorXd::Zero(kDimension);
    LawTerms terms;
    terms.covariance = posterior_.data();
    terms.version = 1;
    Eigen::VectorXd z(kDimension);
    for (int i = 0; i < deviations; ++i) {
      Rng rng(3, {static_cast<std::uint64_t>(i), 0, Purpose::kTest});
      rng.fill_normals({z.data(), kDimension});
      const Eigen::VectorXd theta = vectors_.eigenvectors() * scale.cwiseProduct(z);
      now_ += 0.125;
      consistency_.follow(terms, nullptr);
      consistency_.add(theta.data(), centre.data(), 1, factor_, posterior_.data(), now_);
    }
  }
  Consistency::Ratio ratio() {
    return consistency_.ratio(nullptr, factor_, nullptr, posterior_.data(), 1, 1, 1.0,
                              [](double*, double*) { return false; });
  }
  bool predicted(double ess) {
    const Consistency::Ratio found = ratio();
    const Consistency::Band band = consistency_.band(found, ess);
    return found.largest < band.wide && found.smallest > band.narrow;
  }

 private:
  Eigen::MatrixXd posterior_;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> vectors_;
  MappedBlock block_;
  Arena arena_;
  Factor factor_;
  Consistency consistency_;
  double now_ = 0;
};

// The best determined combination has a 20th of a parameter's variance: three times as much of it
// is a tenth in a parameter's own.
TEST(ConsistencyRatio, SeesTheBestAndTheWorstDeterminedCombinationAmongManyParameters) {
  constexpr int kDraws = 2000;
  for (const double inflated : {1.0, 3.0, 1.0 / 3}) {
    for (const Eigen::Index number :
         {Eigen::Index{0}, Eigen::Index{ManyParameters::kDimension - 1}}) {
      ManyParameters many;
      many.observe(number, inflated, kDraws);
      EXPECT_EQ(many.predicted(kDraws), inflated == 1.0) << inflated << ", eigenvector " << number;
      if (inflated > 1) {
        EXPECT_GT(many.ratio().largest, 2.5) << number;
      } else if (inflated < 1) {
        EXPECT_LT(many.ratio().smallest, 0.4) << number;
      }
      EXPECT_FALSE(many.ratio().decided);
      EXPECT_TRUE(std::isnan(many.ratio().law()));
    }
  }
}

}  // namespace
}  // namespace windhover::consistency_test
