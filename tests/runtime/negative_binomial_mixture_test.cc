#include "windhover/runtime/prediction/negative_binomial_mixture.h"

#include <gtest/gtest.h>

#include <cmath>

#include "windhover/runtime/prediction/poisson_mixture.h"

namespace windhover::negative_binomial_mixture_test {
namespace {

// The probability by a fine trapezoidal rule over the normal variable.
double reference_probability(double m, double s, double alpha, double k) {
  const double r = 1 / alpha;
  const double constant = std::lgamma(k + r) - std::lgamma(r) - std::lgamma(k + 1);
  double sum = 0;
  double total = 0;
  for (double z = -12; z <= 12; z += 0.002) {
    const double mu = std::exp(m + s * z);
    const double w = std::exp(-0.5 * z * z);
    total += w;
    sum += w * std::exp(constant + k * std::log(alpha * mu / (1 + alpha * mu)) -
                        r * std::log1p(alpha * mu));
  }
  return sum / total;
}

TEST(NegativeBinomialMixture, AgreesWithFineQuadrature) {
  for (const double alpha : {0.01, 0.6, 5.0}) {
    for (const double m : {-3.0, 1.3, 3.0}) {
      for (const double s : {0.0, 0.001, 0.2, 0.9, 3.0}) {
        SCOPED_TRACE(testing::Message() << "alpha " << alpha << ", log-mean " << m << " +- " << s);
        const NegativeBinomialMixture y(m, s, alpha);
        double below = 0;
        for (int k = 0; k < 25; ++k) {
          const double p = reference_probability(m, s, alpha, k);
          below += p;
          EXPECT_NEAR(y.log_probability(k), std::log(p), 1e-7) << k;
          EXPECT_NEAR(y.cdf(k), below, 1e-8) << k;
          EXPECT_EQ(y.cdf(k + 0.5), y.cdf(k));
        }
        EXPECT_EQ(y.cdf(-0.5), 0.0);
      }
    }
  }
}

TEST(NegativeBinomialMixture, MomentsAreThoseOfTheProbabilities) {
  const NegativeBinomialMixture y(1.0, 0.3, 0.5);
  double mean = 0;
  double square = 0;
  for (int k = 0; k < 1'000; ++k) {
    const double p = std::exp(y.log_probability(k));
    mean += p * k;
    square += p * k * k;
  }
  EXPECT_NEAR(y.mean(), mean, 1e-6 * mean);
  const double variance = square - mean * mean;
  EXPECT_NEAR(y.var_epistemic() + y.var_aleatoric(), variance, 1e-6 * variance);
}

TEST(NegativeBinomialMixture, GoesOverIntoPoissons) {
  for (const double s : {0.0, 0.1, 1.0}) {
    const NegativeBinomialMixture ours(2.0, s, 1e-9);
    const PoissonMixture poissons(2.0, s);
    for (const double k : {0.0, 4.0, 12.0, 100.0}) {
      EXPECT_NEAR(ours.cdf(k), poissons.cdf(k), 1e-7) << s << " " << k;
      EXPECT_NEAR(ours.log_probability(k), poissons.log_probability(k), 1e-5) << s << " " << k;
    }
  }
}

TEST(NegativeBinomialMixture, QuantileIsTheSmallestCountThatReaches) {
  for (const double alpha : {1e-6, 0.3, 4.0}) {
    for (const double m : {-3.0, 0.0, 4.0, 12.0}) {
      for (const double s : {0.0, 0.001, 0.3, 2.0}) {
        const NegativeBinomialMixture y(m, s, alpha);
        for (const double p : {0.001, 0.05, 0.5, 0.9, 0.9999}) {
          const double k = y.quantile(p);
          EXPECT_EQ(k, std::floor(k));
          EXPECT_GE(y.cdf(k), p) << alpha << " " << m << " " << s << " " << p;
          if (k > 0) {
            EXPECT_LT(y.cdf(k - 1), p) << alpha << " " << m << " " << s << " " << p;
          }
        }
      }
    }
  }
}

TEST(NegativeBinomialMixture, NothingOverflows) {
  for (const double alpha : {1e-9, 1.0, 1e4}) {
    for (const double m : {-1e4, -50.0, 50.0, 1e4}) {
      for (const double s : {0.0, 1e-6, 1.0, 30.0, 1e4}) {
        const NegativeBinomialMixture y(m, s, alpha);
        EXPECT_TRUE(std::isfinite(y.mean() + y.var_epistemic() + y.var_aleatoric()));
        for (const double p : {1e-6, 0.5, 1 - 1e-6}) {
          EXPECT_GE(y.quantile(p), 0);
          EXPECT_LE(y.quantile(p), 0x1.0p53);
        }
        for (const double k : {0.0, 3.0, 1e9}) {
          EXPECT_FALSE(std::isnan(y.log_probability(k))) << alpha << " " << m << " " << s;
          EXPECT_TRUE(y.cdf(k) >= 0 && y.cdf(k) <= 1) << alpha << " " << m << " " << s << " " << k;
        }
      }
    }
  }
}

}  // namespace
}  // namespace windhover::negative_binomial_mixture_test
