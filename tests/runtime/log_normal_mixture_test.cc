#include "windhover/runtime/prediction/log_normal_mixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace windhover::log_normal_mixture_test {
namespace {

struct Case {
  double m, s, dispersion, relative_sd;

  LogNormalMixture mixture() const {
    return {m, s, dispersion, relative_sd, LogNormalNoise(dispersion, relative_sd)};
  }
  double spread() const { return std::sqrt(s * s + dispersion); }
};
constexpr Case kCases[] = {
    {0, 0.3, 0.5, 0}, {12, 0.02, 0.1, 0.05}, {-20, 0.5, 1, 0.2}, {3, 0.1, 2, 0.5}, {0, 0, 1e-6, 0},
};

// The integral over z = (log y - m) / spread, by the trapezoidal rule; the integrands vanish at
// both ends.
double integral(double from, double to, const std::function<double(double)>& f) {
  constexpr int kCells = 40'000;
  const double h = (to - from) / kCells;
  double sum = 0.5 * (f(from) + f(to));
  for (int i = 1; i < kCells; ++i) sum += f(from + h * i);
  return h * sum;
}

TEST(LogNormalMixture, MomentsAreThoseOfTheDensity) {
  for (const Case& c : kCases) {
    const LogNormalMixture y = c.mixture();
    const auto moment = [&](int power) {
      return integral(-12, 40, [&](double z) {
        const double log_y = c.m + z * c.spread();
        // In units of e^m: 40 spreads out the density is 0, to any power.
        return c.spread() *
               std::exp(y.log_density(std::exp(log_y)) + log_y + power * (log_y - c.m));
      });
    };
    const double unit = std::exp(c.m);
    EXPECT_NEAR(moment(0), 1, 1e-8);
    EXPECT_NEAR(y.mean() / unit, moment(1), 1e-8 * moment(1));
    const double variance = (y.var_epistemic() + y.var_aleatoric()) / (unit * unit);
    EXPECT_NEAR(variance, moment(2) - moment(1) * moment(1), 1e-7 * moment(2));
  }
}

TEST(LogNormalMixture, OneLogNormalIsTheTextbooks) {
  constexpr double kM = 2;
  constexpr double kS = 0.3;
  constexpr double kV = 0.4;
  const LogNormalMixture y(kM, kS, kV, 0, LogNormalNoise(kV, 0));
  const double all = kS * kS + kV;
  EXPECT_NEAR(y.mean(), std::exp(kM + 0.5 * all), 1e-12 * y.mean());
  EXPECT_NEAR(y.var_epistemic() + y.var_aleatoric(), std::expm1(all) * std::exp(2 * kM + all),
              1e-10);
  EXPECT_NEAR(y.var_epistemic(), std::expm1(kS * kS) * std::exp(2 * kM + kS * kS + kV), 1e-10);
  EXPECT_NEAR(y.quantile(NormalLevel(0.5)), std::exp(kM), 1e-12);
}

TEST(LogNormalMixture, DensityIsTheSlopeOfTheDistributionFunctionWhichQuantilesInvert) {
  for (const Case& c : kCases) {
    const LogNormalMixture y = c.mixture();
    for (const double z : {-4.0, -1.0, 0.0, 0.3, 2.0}) {
      const double at = std::exp(c.m + z * c.spread());
      const double h = 1e-4 * c.spread() * at;
      const double slope = (y.cdf(at + h) - y.cdf(at - h)) / (2 * h);
      EXPECT_NEAR(std::exp(y.log_density(at)) / slope, 1.0, 1e-5);
    }
    for (const double p : {1e-6, 0.05, 0.5, 0.95, 1 - 1e-6}) {
      EXPECT_NEAR(y.cdf(y.quantile(NormalLevel(p))), p, 1e-9);
    }
  }
}

TEST(LogNormalMixture, CrpsIsItsIntegral) {
  for (const Case& c : kCases) {
    const LogNormalMixture y = c.mixture();
    for (const double z : {-3.0, 0.0, 0.7, 5.0}) {
      // The integral of (F - [t >= outcome])^2 over t = e^(m + z spread).
      const auto part = [&](double from, double to, double step) {
        return integral(from, to, [&](double at) {
          const double t = std::exp(c.m + at * c.spread());
          return c.spread() * t * std::pow(y.cdf(t) - step, 2);
        });
      };
      const double outcome = std::exp(c.m + z * c.spread());
      const double expected = part(-40, z, 0) + part(z, 40, 1);
      // What is left of differences of numbers as large as y and its mean.
      const double rounding = 1e-13 * (outcome + y.mean());
      EXPECT_NEAR(y.crps(outcome), expected, 2e-6 * expected + rounding) << c.m << " " << z;
    }
  }
}

// The mean is up to 10^90 times the score.
TEST(LogNormalMixture, CrpsOfAVeryWideOneIsItsIntegral) {
  for (const double sd : {4.0, 8.0, 12.0, 20.0}) {
    constexpr double kM = 8;
    const LogNormalMixture y(kM, 0, sd * sd, 0, LogNormalNoise(sd * sd, 0));
    for (const double outcome : {5.0, 3000.0, 1e6}) {
      const double z = (std::log(outcome) - kM) / sd;
      const double below = integral(-40, z, [&](double at) {
        return sd * std::exp(kM + at * sd) * std::pow(normal_cdf(at), 2);
      });
      const double above = integral(z, 30, [&](double at) {
        return sd * std::exp(kM + at * sd) * std::pow(normal_cdf(-at), 2);
      });
      EXPECT_NEAR(y.crps(outcome) / (below + above), 1, 1e-5) << sd << " " << outcome;
    }
  }
}

TEST(LogNormalMixture, CrpsOfAnAnswerFarOffIsLarge) {
  const LogNormalMixture y(1e28, 1e28, 1, 0, LogNormalNoise(1, 0));
  EXPECT_GT(y.crps(5), 1e299);
}

TEST(LogNormalMixture, NothingOverflows) {
  for (const double m : {-1e6, -800.0, 0.0, 800.0, 1e6}) {
    for (const double s : {0.0, 1.0, 1e3}) {
      for (const double v : {1e-12, 1.0, 1e4}) {
        for (const double relative_sd : {0.0, 0.7}) {
          const LogNormalMixture y(m, s, v, relative_sd, LogNormalNoise(v, relative_sd));
          for (const double number : {y.mean(), y.var_epistemic(), y.var_aleatoric()}) {
            EXPECT_TRUE(number >= 0 && number <= 1.0001e300) << m << " " << s << " " << v;
          }
          for (const double outcome : {5e-324, 1e-300, 1.0, 1e100, 1e308}) {
            EXPECT_TRUE(y.cdf(outcome) >= 0 && y.cdf(outcome) <= 1);
            EXPECT_TRUE(std::isfinite(y.log_density(outcome)));
            EXPECT_TRUE(y.crps(outcome) >= 0 && std::isfinite(y.crps(outcome)));
          }
          EXPECT_EQ(y.cdf(0), 0);
          EXPECT_EQ(y.cdf(-1), 0);
          for (const double p : {1e-9, 0.5, 1 - 1e-9}) {
            EXPECT_TRUE(y.quantile(NormalLevel(p)) > 0 && y.quantile(NormalLevel(p)) < 1.0001e300);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace windhover::log_normal_mixture_test
