#include "windhover/runtime/prediction/poisson_mixture.h"

#include <gtest/gtest.h>

#include <cmath>

namespace windhover::poisson_mixture_test {
namespace {

TEST(LogGamma, IsThatOfTheLibrary) {
  for (const double x : {1.0, 1.5, 2.0, 3.7, 11.9, 12.1, 170.0, 1e6, 1e15}) {
    EXPECT_NEAR(log_gamma(x), std::lgamma(x), 1e-13 * (1 + std::abs(std::lgamma(x)))) << x;
  }
}

TEST(UpperGamma, IsTheSumOfPoissonProbabilities) {
  for (const double rate : {0.01, 0.7, 5.0, 60.0, 800.0}) {
    double below = 0;
    for (int k = 0; k < 1200; ++k) {
      below += std::exp(k * std::log(rate) - rate - std::lgamma(k + 1.0));
      EXPECT_NEAR(upper_gamma(k + 1.0, rate), below, 1e-11) << rate << " " << k;
    }
  }
}

TEST(UpperGamma, IsContinuousWhereTheApproximationTakesOver) {
  for (const double z : {-3.0, -0.5, 0.0, 1.0, 4.0}) {
    const double x = 1e4 + 100 * z;
    EXPECT_NEAR(upper_gamma(1e4, x), upper_gamma(1e4 + 1e-6, x), 1e-6) << z;
  }
}

// The probability by a fine trapezoidal rule over the log-mean.
double reference_probability(double m, double s, double k) {
  const int cells = 40'000;
  double sum = 0;
  double total = 0;
  for (int i = 0; i <= cells; ++i) {
    const double z = -30 + 60.0 * i / cells;
    const double eta = m + s * z;
    const double w = std::exp(-0.5 * z * z);
    total += w;
    sum += w * std::exp(k * eta - std::exp(eta) - std::lgamma(k + 1));
  }
  return sum / total;
}

TEST(PoissonMixture, AgreesWithFineQuadrature) {
  for (const double m : {-4.0, 0.0, 1.3, 4.0}) {
    for (const double s : {0.0, 0.01, 0.2, 0.9, 1.5, 3.0}) {
      SCOPED_TRACE(testing::Message() << "log-mean " << m << " +- " << s);
      const PoissonMixture y(m, s);
      EXPECT_NEAR(y.mean(), std::exp(m + 0.5 * s * s), 1e-12 * y.mean());
      EXPECT_NEAR(y.var_epistemic(), std::expm1(s * s) * std::exp(2 * m + s * s),
                  1e-12 * y.var_epistemic());
      double below = 0;
      for (int k = 0; k < 40; ++k) {
        const double p = reference_probability(m, s, k);
        below += p;
        if (p > 1e-300) {
          EXPECT_NEAR(y.log_probability(k), std::log(p), 1e-7) << k;
        }
        EXPECT_NEAR(y.cdf(k), below, 1e-8) << k;
        EXPECT_EQ(y.cdf(k + 0.5), y.cdf(k));
      }
      EXPECT_EQ(y.cdf(-0.5), 0.0);
    }
  }
}

TEST(PoissonMixture, QuantileIsTheSmallestCountThatReaches) {
  for (const double m : {-3.0, 0.0, 4.0, 12.0, 25.0}) {
    for (const double s : {0.0, 0.001, 0.3, 2.0}) {
      const PoissonMixture y(m, s);
      for (const double p : {0.001, 0.05, 0.5, 0.9, 0.9999}) {
        const double k = y.quantile(p);
        EXPECT_EQ(k, std::floor(k));
        EXPECT_GE(y.cdf(k), p) << m << " " << s << " " << p;
        if (k > 0) {
          EXPECT_LT(y.cdf(k - 1), p) << m << " " << s << " " << p;
        }
      }
    }
  }
}

TEST(PoissonMixture, NothingOverflows) {
  for (const double m : {-1e4, -50.0, 50.0, 1e4}) {
    for (const double s : {0.0, 1e-6, 1.0, 30.0, 1e4}) {
      const PoissonMixture y(m, s);
      EXPECT_TRUE(std::isfinite(y.mean() + y.var_epistemic()));
      for (const double p : {1e-6, 0.5, 1 - 1e-6}) {
        EXPECT_GE(y.quantile(p), 0);
        EXPECT_LE(y.quantile(p), 0x1.0p53);
      }
      for (const double k : {0.0, 3.0, 1e9}) {
        EXPECT_FALSE(std::isnan(y.log_probability(k))) << m << " " << s << " " << k;
        EXPECT_TRUE(y.cdf(k) >= 0 && y.cdf(k) <= 1) << m << " " << s << " " << k;
      }
    }
  }
}

}  // namespace
}  // namespace windhover::poisson_mixture_test
