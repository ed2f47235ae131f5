#include "windhover/samplers/models/zero_inflated_poisson.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "windhover/tests/samplers/shape_likelihood.h"

namespace windhover::zero_inflated_poisson_test {
namespace {

using Likelihood = ZeroInflatedPoissonLikelihood;

constexpr double kStep = 1e-5;

Likelihood likelihood(double odds) {
  Likelihood of{ModelConfig{}};
  of.set_dispersion(odds);
  return of;
}

double loss(double odds, double eta, double y) { return likelihood(odds).loss(&eta, &y, 1); }

double log_probability(double odds, double eta, double y) {
  const double mu = std::exp(eta);
  const double counted = y * eta - mu - std::lgamma(y + 1) - std::log1p(odds);
  return y > 0 ? counted : std::log(odds / (1 + odds) + std::exp(counted));
}

TEST(ZeroInflatedPoisson, LossIsMinusTheLogProbability) {
  for (const double odds : {1e-6, 0.3, 5.0}) {
    for (const double eta : {-2.0, 0.5, 3.0}) {
      for (const double y : {0.0, 1.0, 7.0}) {
        EXPECT_NEAR(loss(odds, eta, y), -log_probability(odds, eta, y) - std::lgamma(y + 1), 1e-9)
            << odds << " " << eta << " " << y;
      }
    }
  }
}

TEST(ZeroInflatedPoisson, DerivativesAreTheLosss) {
  for (const double odds : {1e-3, 0.3, 5.0}) {
    for (const double eta : {-2.0, 0.5, 1.6}) {
      for (const double y : {0.0, 7.0}) {
        SCOPED_TRACE(testing::Message() << odds << " " << eta << " " << y);
        const Likelihood of = likelihood(odds);
        const auto slope = [&](double at) {
          double residual = 0;
          of.derivatives(&at, &y, 1, &residual);
          return residual;
        };
        EXPECT_NEAR(slope(eta),
                    (loss(odds, eta + kStep, y) - loss(odds, eta - kStep, y)) / (2 * kStep), 1e-7);
        const double wide = 1e-3;
        double curvature = 0;
        double third = 0;
        of.curvatures(&eta, &y, 1, &curvature, &third);
        EXPECT_NEAR(third, (slope(eta + wide) - 2 * slope(eta) + slope(eta - wide)) / (wide * wide),
                    1e-4);
        double first = 0;
        double second = 0;
        of.shape_derivatives(&eta, &y, 1, &first, &second);
        const double above = loss(odds * std::exp(wide), eta, y);
        const double below = loss(odds * std::exp(-wide), eta, y);
        EXPECT_NEAR(first, (above - below) / (2 * wide), 1e-6);
        EXPECT_NEAR(second, (above - 2 * loss(odds, eta, y) + below) / (wide * wide), 1e-6);
        double crossed = 0;
        of.derivatives_by_shape(&eta, &y, 1, &crossed);
        const auto slope_at = [&](double phi) {
          double residual = 0;
          likelihood(phi).derivatives(&eta, &y, 1, &residual);
          return residual;
        };
        EXPECT_NEAR(
            crossed,
            (slope_at(odds * std::exp(wide)) - slope_at(odds * std::exp(-wide))) / (2 * wide),
            1e-6);
        double by_shape = 0;
        of.curvatures_by_shape(&eta, &y, 1, &by_shape);
        const auto bend = [&](double phi) {
          double up = 0;
          double down = 0;
          const double right = eta + kStep;
          const double left = eta - kStep;
          likelihood(phi).derivatives(&right, &y, 1, &up);
          likelihood(phi).derivatives(&left, &y, 1, &down);
          return (up - down) / (2 * kStep);
        };
        EXPECT_NEAR(by_shape,
                    (bend(odds * std::exp(wide)) - bend(odds * std::exp(-wide))) / (2 * wide),
                    1e-5);
      }
    }
  }
}

// The Fisher information: the expectation of the squared derivative.
TEST(ZeroInflatedPoisson, CurvatureIsTheExpectedSquaredDerivative) {
  for (const double odds : {1e-3, 0.3, 5.0}) {
    for (const double eta : {-2.0, 0.5, 3.0}) {
      const Likelihood of = likelihood(odds);
      double expected = 0;
      double curvature = 0;
      for (double y = 0; y < 200; ++y) {
        double slope = 0;
        double third = 0;
        of.derivatives(&eta, &y, 1, &slope);
        of.curvatures(&eta, &y, 1, &curvature, &third);
        expected += std::exp(log_probability(odds, eta, y)) * slope * slope;
      }
      EXPECT_NEAR(curvature, expected, 1e-10 * expected) << odds << " " << eta;
    }
  }
}

TEST(ZeroInflatedPoisson, NothingOverflows) { expect_nothing_overflows(likelihood); }

}  // namespace
}  // namespace windhover::zero_inflated_poisson_test
