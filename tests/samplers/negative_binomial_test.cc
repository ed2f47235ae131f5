#include "windhover/samplers/models/negative_binomial.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "windhover/tests/samplers/shape_likelihood.h"

namespace windhover::negative_binomial_test {
namespace {

using Likelihood = NegativeBinomialLikelihood;

Likelihood likelihood(double alpha) {
  Likelihood of{ModelConfig{}};
  of.set_dispersion(alpha);
  return of;
}

struct ByShape {
  double first = 0, second = 0;
};
ByShape by_shape(double alpha, double mu, double y) {
  const double eta = std::log(mu);
  ByShape found;
  likelihood(alpha).shape_derivatives(&eta, &y, 1, &found.first, &found.second);
  return found;
}

// The numbers are mpmath's, with 40 digits: derivatives of minus the log density by the logarithm
// of alpha.
TEST(NegativeBinomial, DerivativesByLogAlphaAreTheDensitys) {
  const struct {
    double alpha, mu, y, first, second;
  } cases[] = {
      {0.5, 3, 5, 0.26741853624898966983, 0.17813701933048566087},
      {1e-6, 7, 2, -1.1499868334447074169e-05, -1.1499736670013881569e-05},
      {3, 100, 0, -1.5701441746283623847, 1.2390220015839151614},
  };
  for (const auto& c : cases) {
    const ByShape found = by_shape(c.alpha, c.mu, c.y);
    EXPECT_NEAR(found.first, c.first, 1e-9 * std::abs(c.first)) << c.alpha;
    EXPECT_NEAR(found.second, c.second, 1e-9 * std::abs(c.second)) << c.alpha;
  }
}

// To leading order they are those of a variance that is alpha mu^2 too large.
TEST(NegativeBinomial, NearPoissonNothingIsLostToRounding) {
  for (const double alpha : {1e-5, 1e-7, 1e-9}) {
    for (const double y : {0.0, 3.0, 11.0}) {
      const double mu = 5;
      const double expected = 0.5 * alpha * (y - (y - mu) * (y - mu));
      const ByShape found = by_shape(alpha, mu, y);
      EXPECT_NEAR(found.first, expected, 1e-3 * std::abs(expected)) << alpha << " " << y;
      EXPECT_NEAR(found.second, expected, 1e-2 * std::abs(expected)) << alpha << " " << y;
    }
  }
}

// With its mean held at exp(300) a loss that goes on falling by y times eta would take a predictor
// for the better, the further off it is.
TEST(NegativeBinomial, NoPredictorBeyondTheLargestMeanIsLikelier) {
  for (const double alpha : {1e-3, 0.5, 20.0}) {
    for (const double y : {0.0, 7.0, 1e6}) {
      const auto loss = [&](double eta) { return likelihood(alpha).loss(&eta, &y, 1); };
      const double largest = Likelihood::kLargest;
      for (const double beyond : {1.0, 100.0, 1e4}) {
        const double expected = beyond / alpha;
        const double rounding = 1e-14 * (y + 1 / alpha) * (largest + beyond);
        EXPECT_NEAR(loss(largest + beyond) - loss(largest), expected, rounding)
            << alpha << " " << y << " " << beyond;
        const auto by_shape = [&](double eta) {
          double first = 0;
          double second = 0;
          likelihood(alpha).shape_derivatives(&eta, &y, 1, &first, &second);
          return std::array{first, second};
        };
        const auto [first, second] = by_shape(largest);
        const auto [first_beyond, second_beyond] = by_shape(largest + beyond);
        EXPECT_NEAR(first_beyond - first, -expected, rounding) << alpha << " " << y;
        EXPECT_NEAR(second_beyond - second, expected, rounding) << alpha << " " << y;
      }
    }
  }
}

TEST(NegativeBinomial, CurvatureChangesWithAlphaAsSaid) {
  const std::array<double, 4> eta = {-2, 0.5, 3, 40};
  const std::array<double, 4> y = {0, 7, 3, 1e6};
  constexpr double kStep = 1e-5;
  for (const double alpha : {1e-4, 0.3, 20.0}) {
    std::array<double, 4> found;
    std::array<double, 4> above;
    std::array<double, 4> below;
    std::array<double, 4> third;
    likelihood(alpha).curvatures_by_shape(eta.data(), y.data(), 4, found.data());
    likelihood(alpha * std::exp(kStep))
        .curvatures(eta.data(), y.data(), 4, above.data(), third.data());
    likelihood(alpha * std::exp(-kStep))
        .curvatures(eta.data(), y.data(), 4, below.data(), third.data());
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(found[i], (above[i] - below[i]) / (2 * kStep),
                  1e-6 * (std::abs(found[i]) + above[i]))
          << alpha << " " << i;
    }
  }
}

TEST(NegativeBinomial, WithHardlyAnyOverdispersionItIsPoissons) {
  const std::array<double, 3> eta = {-2, 0.5, 3};
  const std::array<double, 3> y = {0, 7, 3};
  std::array<double, 3> ours;
  std::array<double, 3> poissons;
  likelihood(1e-9).derivatives(eta.data(), y.data(), 3, ours.data());
  PoissonLikelihood::derivatives(eta.data(), y.data(), 3, poissons.data());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(ours[i], poissons[i], 1e-6);
  EXPECT_NEAR(likelihood(1e-9).loss(eta.data(), y.data(), 3),
              PoissonLikelihood::loss(eta.data(), y.data(), 3), 1e-5);
}

TEST(NegativeBinomial, NothingOverflows) { expect_nothing_overflows(likelihood); }

}  // namespace
}  // namespace windhover::negative_binomial_test
