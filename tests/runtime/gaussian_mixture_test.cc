#include "windhover/runtime/prediction/gaussian_mixture.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numbers>

namespace windhover::gaussian_mixture_test {
namespace {

// Trapezoidal rule; the integrands vanish at both ends.
double integral(double from, double to, int cells, const std::function<double(double)>& f) {
  const double h = (to - from) / cells;
  double sum = 0.5 * (f(from) + f(to));
  for (int i = 1; i < cells; ++i) sum += f(from + h * i);
  return h * sum;
}

struct Case {
  double mean, epistemic, dispersion, relative_sd;
};
constexpr Case kCases[] = {
    {0, 1, 1, 0}, {3, 0.01, 2, 0}, {-5, 0.5, 1, 0.1}, {1, 0.1, 4, 0.5}, {1e3, 1e-6, 1e-2, 0.3},
};
double spread(const Case& c) { return std::sqrt(c.epistemic + c.dispersion); }

TEST(NormalQuantile, InvertsTheDistributionFunction) {
  for (const double p : {1e-300, 1e-100, 1e-20, 1e-8, 1e-3, 0.0199, 0.02, 0.0201, 0.3, 0.49}) {
    const double z = normal_quantile(p);
    EXPECT_NEAR(normal_cdf(z) / p, 1.0, 1e-12 * (1 + z * z)) << p;
    if (p > 1e-8) {
      EXPECT_NEAR(normal_quantile(1 - p), -z, 1e-6 * std::abs(z)) << p;
    }
  }
  EXPECT_EQ(normal_quantile(0.5), 0.0);
  EXPECT_NEAR(normal_quantile(0.975), 1.9599639845400545, 1e-13);
  EXPECT_NEAR(normal_quantile(0.05), -1.6448536269514722, 1e-13);
}

TEST(GaussianMixture, DensityIsTheSlopeOfTheDistributionFunction) {
  for (const Case& c : kCases) {
    const GaussianMixture y(c.mean, c.epistemic, c.dispersion, c.relative_sd);
    for (const double z : {-4.0, -1.0, 0.0, 0.3, 2.0}) {
      const double at = c.mean + z * spread(c);
      const double h = 1e-4 * spread(c);
      const double slope = (y.cdf(at + h) - y.cdf(at - h)) / (2 * h);
      EXPECT_NEAR(std::exp(y.log_density(at)) / slope, 1.0, 1e-5);
    }
  }
}

TEST(GaussianMixture, MomentsAreMeanAndTotalVariance) {
  for (const Case& c : kCases) {
    const GaussianMixture y(c.mean, c.epistemic, c.dispersion, c.relative_sd);
    const double s = spread(c);
    const auto moment = [&](int k) {
      return integral(-40, 40, 40'000, [&](double z) {
        return std::pow(z, k) * s * std::exp(y.log_density(c.mean + z * s));
      });
    };
    EXPECT_NEAR(moment(0), 1.0, 1e-8);
    EXPECT_NEAR(moment(1), 0.0, 1e-8);
    EXPECT_NEAR(moment(2), 1.0, 1e-7);
  }
}

TEST(GaussianMixture, QuantileInvertsTheDistributionFunction) {
  for (const Case& c : kCases) {
    const GaussianMixture y(c.mean, c.epistemic, c.dispersion, c.relative_sd);
    double previous = -1e300;
    for (const double p : {1e-6, 0.001, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.999, 1 - 1e-6}) {
      const double q = y.quantile(p);
      EXPECT_GT(q, previous);
      previous = q;
      EXPECT_NEAR(y.cdf(q), p, 1e-10);
    }
  }
}

TEST(GaussianMixture, CrpsIsItsIntegral) {
  for (const Case& c : kCases) {
    const GaussianMixture y(c.mean, c.epistemic, c.dispersion, c.relative_sd);
    const double s = spread(c);
    for (const double z : {-3.0, 0.0, 0.7, 5.0}) {
      const double outcome = c.mean + z * s;
      // Split at the outcome, where the integrand jumps.
      const double below = integral(
          -30, z, 30'000, [&](double t) { return s * std::pow(y.cdf(c.mean + t * s), 2); });
      const double above = integral(
          z, 30, 30'000, [&](double t) { return s * std::pow(1 - y.cdf(c.mean + t * s), 2); });
      EXPECT_NEAR(y.crps(outcome) / (below + above), 1.0, 1e-5);
    }
  }
}

TEST(GaussianMixture, TailsOfTheLogDensityAreFinite) {
  for (const Case& c : kCases) {
    const GaussianMixture y(c.mean, c.epistemic, c.dispersion, c.relative_sd);
    for (const double z : {-1e6, -1e3, 40.0, 1e4}) {
      EXPECT_TRUE(std::isfinite(y.log_density(c.mean + z * spread(c)))) << z;
    }
  }
}

// The spread of the noise variance widens the predictive as a t distribution would: against the
// continuous mixture, integrated.
TEST(GaussianMixture, NineComponentsStandForTheContinuousMixture) {
  const double relative_sd = 0.2;  // a noise variance learned from 50 rows
  const GaussianMixture y(0, 0.05, 1, relative_sd);
  const auto cdf = [&](double at) {
    return integral(-8, 8, 2'000, [&](double z) {
      const double noise = std::exp(relative_sd * z - 0.5 * relative_sd * relative_sd);
      return std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi) *
             normal_cdf(at / std::sqrt(0.05 + noise));
    });
  };
  for (const double p : {0.05, 0.25, 0.9, 0.95}) {
    EXPECT_NEAR(cdf(y.quantile(p)), p, 1e-3) << p;
  }
}

// Student's t plus a normal, by quadrature over the normal of the density and, for its cdf, over y.
// A variance that is known by a factor only, as of a category that no row has had.
TEST(GaussianMixture, AWideMixtureStandsForTheContinuousOneToo) {
  for (const double relative_sd : {1.2, 2.5, 4.0}) {
    const GaussianMixture y(0, 0.1, 2, relative_sd);
    for (const double at : {0.1, 0.7, 2.0, 10.0}) {
      const double expected = integral(-9, 9, 4'000, [&](double z) {
        const double noise = 2 * std::exp(relative_sd * z - 0.5 * relative_sd * relative_sd);
        return std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi) *
               normal_cdf(at / std::sqrt(0.1 + noise));
      });
      // Beyond 5 sd of the logarithm, where the nodes end, are 6e-7 of it.
      EXPECT_NEAR(y.cdf(at), expected, 1e-6) << relative_sd << " " << at;
    }
  }
}

TEST(GaussianMixture, OfAFewVariancesIsTheirSum) {
  NoiseMixture noise;
  noise.components = 3;
  noise.variance = {0.25, 1, 100};
  noise.weight = {0.5, 0.3, 0.2};
  const GaussianMixture y(2, 0.5, noise);
  for (const double at : {-30.0, -1.0, 1.9, 2.0, 4.0, 60.0}) {
    double cdf = 0;
    double density = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double sd = std::sqrt(0.5 + noise.variance[i]);
      cdf += noise.weight[i] * normal_cdf((at - 2) / sd);
      density += noise.weight[i] * std::exp(normal_log_density(at - 2, sd * sd));
    }
    EXPECT_NEAR(y.cdf(at), cdf, 1e-15);
    EXPECT_NEAR(y.log_density(at), std::log(density), 1e-12);
  }
  for (const double p : {0.001, 0.05, 0.5, 0.9, 0.999}) {
    EXPECT_NEAR(y.cdf(y.quantile(p)), p, 1e-10) << p;
  }
  EXPECT_DOUBLE_EQ(noise.mean(), 0.125 + 0.3 + 20);
  std::array<double, NoiseMixture::kNumbers> numbers;
  noise.write(numbers.data());
  const NoiseMixture again = NoiseMixture::read(numbers.data());
  EXPECT_EQ(again.components, 3u);
  EXPECT_EQ(again.variance, noise.variance);
  EXPECT_EQ(again.weight, noise.weight);
}

TEST(StudentScale, MakesStudentsTPlusANormal) {
  for (const double nu : {3.0, 4.0, 10.0, 1000.0}) {
    const StudentScale scale(nu, 0.0);
    const double constant = std::exp(std::lgamma(0.5 * (nu + 1)) - std::lgamma(0.5 * nu)) /
                            std::sqrt(nu * std::numbers::pi);
    const auto t_density = [&](double t) {
      return constant * std::pow(1 + t * t / nu, -0.5 * (nu + 1));
    };
    for (const double s : {0.0, 0.5, 3.0}) {
      SCOPED_TRACE(testing::Message() << nu << " degrees of freedom, normal sd " << s);
      const double sigma = 1.5;
      const GaussianMixture y(2.0, s * s, sigma * sigma, scale);
      const auto density = [&](double at) {
        if (s == 0) return t_density((at - 2) / sigma) / sigma;
        return integral(-9, 9, 4'000, [&](double z) {
          return std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi) *
                 t_density((at - 2 - s * z) / sigma) / sigma;
        });
      };
      for (const double at : {2.0, 2.7, -1.0, 8.0, 40.0}) {
        if (at == 40 && nu == 1000) continue;  // further out than the nodes: a normal's tail
        EXPECT_NEAR(y.log_density(at), std::log(density(at)), 1e-6) << at;
      }
      const double between = integral(-1, 2.7, 1'000, density);
      EXPECT_NEAR(y.cdf(2.7) - y.cdf(-1), between, 1e-6);
      EXPECT_NEAR(y.cdf(2.0), 0.5, 1e-12);
      for (const double p : {0.001, 0.05, 0.5, 0.9, 0.999}) {
        EXPECT_NEAR(y.cdf(y.quantile(p)), p, 1e-10) << p;
      }
    }
  }
  // 0.975 quantiles of Student's t from tables.
  EXPECT_NEAR(GaussianMixture(0, 0, 1, StudentScale(3, 0)).quantile(0.975), 3.182446, 1e-6);
  EXPECT_NEAR(GaussianMixture(0, 0, 1, StudentScale(10, 0)).quantile(0.975), 2.228139, 1e-6);
}

TEST(StudentScale, SpreadOfTheScaleKeepsTheMeanSquare) {
  for (const double relative_sd : {0.0, 0.1, 0.5}) {
    const StudentScale scale(5.0, relative_sd);
    double square = 0;
    for (std::size_t i = 0; i < StudentScale::kNodes; ++i) {
      square += scale.weight[i] * scale.factor[i];
    }
    EXPECT_NEAR(square, 5.0 / 3.0, 1e-6) << relative_sd;
  }
  // A scale that is less certain gives heavier tails.
  EXPECT_GT(GaussianMixture(0, 0, 1, StudentScale(5, 0.5)).quantile(0.999),
            GaussianMixture(0, 0, 1, StudentScale(5, 0.0)).quantile(0.999));
}

}  // namespace
}  // namespace windhover::gaussian_mixture_test
