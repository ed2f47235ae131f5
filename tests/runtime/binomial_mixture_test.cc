#include "windhover/runtime/prediction/binomial_mixture.h"

#include <gtest/gtest.h>

#include <cmath>

#include "windhover/runtime/prediction/logit_normal.h"
#include "windhover/runtime/prediction/poisson_mixture.h"

namespace windhover::binomial_mixture_test {
namespace {

// The probability by a fine trapezoidal rule over the normal variable.
double reference_probability(double m, double s, double n, double k) {
  const double constant = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
  double sum = 0;
  double total = 0;
  for (double z = -12; z <= 12; z += 0.001) {
    const double eta = m + s * z;
    const double w = std::exp(-0.5 * z * z);
    total += w;
    sum += w * std::exp(constant + k * log_sigmoid(eta) + (n - k) * log_sigmoid(-eta));
  }
  return sum / total;
}

TEST(BinomialMixture, AgreesWithFineQuadrature) {
  for (const double n : {1.0, 2.0, 9.0, 30.0}) {
    for (const double m : {-6.0, -1.0, 0.3, 4.0}) {
      for (const double s : {0.0, 0.001, 0.2, 0.9, 3.0}) {
        SCOPED_TRACE(testing::Message() << n << " trials, log-odds " << m << " +- " << s);
        const BinomialMixture y(m, s, n);
        double below = 0;
        for (double k = 0; k <= n; ++k) {
          const double p = reference_probability(m, s, n, k);
          below += p;
          EXPECT_NEAR(y.log_probability(k), std::log(p), 1e-7) << k;
          EXPECT_NEAR(y.cdf(k), below, 1e-8) << k;
          EXPECT_EQ(y.cdf(k + 0.5), y.cdf(k));
        }
        EXPECT_EQ(y.cdf(-0.5), 0.0);
        EXPECT_EQ(y.cdf(n), 1.0);
        EXPECT_EQ(y.cdf(n + 7), 1.0);
      }
    }
  }
}

TEST(BinomialMixture, MomentsAreThoseOfTheProbabilities) {
  for (const double s : {0.0, 0.3, 5.0}) {
    const double n = 200;
    const BinomialMixture y(-0.7, s, n);
    double mean = 0;
    double square = 0;
    for (double k = 0; k <= n; ++k) {
      const double p = std::exp(y.log_probability(k));
      mean += p * k;
      square += p * k * k;
    }
    EXPECT_NEAR(y.mean(), mean, 1e-6 * mean) << s;
    const double variance = square - mean * mean;
    EXPECT_NEAR(y.var_epistemic() + y.var_aleatoric(), variance, 1e-6 * variance) << s;
  }
}

TEST(BinomialMixture, OfOneTrialIsTheProbabilityOfLogisticRegression) {
  for (const double m : {-20.0, -1.5, 0.0, 3.0}) {
    for (const double s : {0.0, 0.4, 6.0}) {
      const BinomialMixture y(m, s, 1);
      const LogitNormalMoments p = logit_normal_moments(m, s);
      EXPECT_EQ(y.mean(), p.mean);
      // Both are right to 1e-8.
      EXPECT_NEAR(std::exp(y.log_probability(1)), p.mean, 2e-8) << m << " " << s;
      EXPECT_NEAR(y.cdf(0), p.other, 2e-8) << m << " " << s;
    }
  }
}

// With many trials that hardly ever succeed it is a Poisson mixture.
TEST(BinomialMixture, GoesOverIntoPoissons) {
  const double n = 1e9;
  for (const double s : {0.0, 0.1, 1.0}) {
    const BinomialMixture ours(2.0 - std::log(n), s, n);
    const PoissonMixture poissons(2.0, s);
    for (const double k : {0.0, 4.0, 12.0, 100.0}) {
      EXPECT_NEAR(ours.cdf(k), poissons.cdf(k), 1e-6) << s << " " << k;
      EXPECT_NEAR(ours.log_probability(k), poissons.log_probability(k), 1e-5) << s << " " << k;
    }
  }
}

// Successes are the failures of the other side.
TEST(BinomialMixture, IsItsOwnMirrorImage) {
  for (const double n : {5.0, 1'000.0, 1e6}) {
    for (const double s : {0.0, 0.05, 2.0}) {
      const BinomialMixture y(0.8, s, n);
      const BinomialMixture other(-0.8, s, n);
      for (const double share : {0.0, 0.2, 0.5, 0.69, 1.0}) {
        const double k = std::floor(share * n);
        EXPECT_NEAR(y.log_probability(k), other.log_probability(n - k),
                    1e-9 * (1 + std::abs(y.log_probability(k))))
            << n << " " << s << " " << k;
        EXPECT_NEAR(y.cdf(k), 1 - other.cdf(n - k - 1), 1e-8) << n << " " << s << " " << k;
      }
    }
  }
}

TEST(BinomialMixture, QuantileIsTheSmallestCountThatReaches) {
  for (const double n : {1.0, 13.0, 1e4, 1e9}) {
    for (const double m : {-30.0, -3.0, 0.0, 12.0}) {
      for (const double s : {0.0, 0.001, 0.3, 2.0, 50.0}) {
        const BinomialMixture y(m, s, n);
        for (const double p : {0.001, 0.05, 0.5, 0.9, 0.9999}) {
          const double k = y.quantile(p);
          EXPECT_EQ(k, std::floor(k));
          EXPECT_LE(k, n);
          EXPECT_GE(y.cdf(k), p) << n << " " << m << " " << s << " " << p;
          if (k > 0) {
            EXPECT_LT(y.cdf(k - 1), p) << n << " " << m << " " << s << " " << p;
          }
        }
      }
    }
  }
}

// The normal distribution of many trials, with the spread of the log-odds in it: 4 decimals of
// quantiles in standard deviations.
TEST(BinomialMixture, OfManyTrialsIsNormalWhereTheLogOddsHardlyVary) {
  const double n = 1e9;
  const double s = 1e-5;
  const BinomialMixture y(0, s, n);
  const double sd = std::sqrt(0.25 * n + 0.0625 * n * n * s * s);
  EXPECT_NEAR(std::sqrt(y.var_epistemic() + y.var_aleatoric()), sd, 1e-4 * sd);
  for (const double z : {-3.0, -1.0, 0.0, 2.0}) {
    EXPECT_NEAR(y.quantile(normal_cdf(z)), 0.5 * n + z * sd, 1e-3 * sd) << z;
    const double k = std::round(0.5 * n + z * sd);
    EXPECT_NEAR(y.log_probability(k), normal_log_density(k - 0.5 * n, sd * sd), 1e-4) << z;
  }
}

TEST(BinomialMixture, NothingOverflows) {
  for (const double n : {1.0, 3.0, 1e9}) {
    for (const double m : {-1e4, -50.0, 0.0, 50.0, 1e4}) {
      for (const double s : {0.0, 1e-6, 1.0, 30.0, 1e4}) {
        const BinomialMixture y(m, s, n);
        EXPECT_TRUE(std::isfinite(y.mean() + y.var_epistemic() + y.var_aleatoric()));
        EXPECT_GE(y.var_epistemic(), 0);
        for (const double p : {1e-6, 0.5, 1 - 1e-6}) {
          EXPECT_GE(y.quantile(p), 0);
          EXPECT_LE(y.quantile(p), n);
        }
        for (const double k : {0.0, 1.0, n}) {
          EXPECT_LE(y.log_probability(k), 1e-7) << n << " " << m << " " << s << " " << k;
          EXPECT_TRUE(y.cdf(k) >= 0 && y.cdf(k) <= 1) << n << " " << m << " " << s << " " << k;
        }
      }
    }
  }
}

}  // namespace
}  // namespace windhover::binomial_mixture_test
