#include "windhover/runtime/prediction/zero_inflated_mixture.h"

#include <gtest/gtest.h>

#include <cmath>

namespace windhover::zero_inflated_mixture_test {
namespace {

constexpr double kOdds[] = {1e-9, 0.25, 1.0, 9.0, 1e4};

TEST(ZeroInflatedMixture, IsAZeroOrACount) {
  for (const double odds : kOdds) {
    const double structural = odds / (1 + odds);
    for (const double m : {-3.0, 1.3, 3.0}) {
      for (const double s : {0.0, 0.2, 0.9}) {
        SCOPED_TRACE(testing::Message() << "odds " << odds << ", log-mean " << m << " +- " << s);
        const PoissonMixture counted(m, s);
        const ZeroInflatedMixture y(m, s, odds);
        double below = structural;
        for (int k = 0; k < 30; ++k) {
          const double p = (1 - structural) * std::exp(counted.log_probability(k));
          below += p;
          EXPECT_NEAR(std::exp(y.log_probability(k)), p + (k == 0 ? structural : 0.0), 1e-12) << k;
          EXPECT_NEAR(y.cdf(k), below, 1e-7) << k;
        }
        EXPECT_EQ(y.cdf(-0.5), 0.0);
      }
    }
  }
}

TEST(ZeroInflatedMixture, MomentsAreThoseOfTheProbabilities) {
  const ZeroInflatedMixture y(1.0, 0.3, 0.5);
  double mean = 0;
  double square = 0;
  for (int k = 0; k < 400; ++k) {
    const double p = std::exp(y.log_probability(k));
    mean += p * k;
    square += p * k * k;
  }
  EXPECT_NEAR(y.mean(), mean, 1e-6 * mean);
  const double variance = square - mean * mean;
  EXPECT_NEAR(y.var_epistemic() + y.var_aleatoric(), variance, 1e-6 * variance);
}

TEST(ZeroInflatedMixture, QuantileIsTheSmallestCountThatReaches) {
  for (const double odds : kOdds) {
    for (const double m : {-3.0, 0.0, 4.0, 12.0}) {
      for (const double s : {0.0, 0.001, 0.3, 2.0}) {
        const ZeroInflatedMixture y(m, s, odds);
        for (const double p : {0.001, 0.05, 0.5, 0.9, 0.9999}) {
          SCOPED_TRACE(testing::Message() << odds << " " << m << " " << s << " " << p);
          const double k = y.quantile(p);
          EXPECT_EQ(k, std::floor(k));
          EXPECT_GE(y.cdf(k), p - 1e-12);
          if (k > 0) {
            EXPECT_LT(y.cdf(k - 1), p);
          }
        }
      }
    }
  }
}

TEST(ZeroInflatedMixture, NothingOverflows) {
  for (const double odds : kOdds) {
    for (const double m : {-1e4, -50.0, 50.0, 1e4}) {
      for (const double s : {0.0, 1e-6, 1.0, 30.0, 1e4}) {
        const ZeroInflatedMixture y(m, s, odds);
        EXPECT_TRUE(std::isfinite(y.mean() + y.var_epistemic() + y.var_aleatoric()));
        for (const double p : {1e-6, 0.5, 1 - 1e-6}) {
          EXPECT_GE(y.quantile(p), 0);
          EXPECT_LE(y.quantile(p), 0x1.0p53);
        }
        for (const double k : {0.0, 3.0, 1e9}) {
          EXPECT_FALSE(std::isnan(y.log_probability(k))) << odds << " " << m << " " << s;
          EXPECT_TRUE(y.cdf(k) >= 0 && y.cdf(k) <= 1) << odds << " " << m << " " << s << " " << k;
        }
      }
    }
  }
}

}  // namespace
}  // namespace windhover::zero_inflated_mixture_test
