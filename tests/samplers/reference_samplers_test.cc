// HMC and NUTS against closed forms.
#include <gtest/gtest.h>

#include "windhover/samplers/reference/effective_draws.h"
#include "windhover/samplers/reference/hamiltonian_monte_carlo.h"
#include "windhover/tests/samplers/support.h"

namespace windhover::reference_samplers_test {
namespace {

using reference::Options;
using Sample = reference::Run;

enum class Method { kHmc, kNuts };

class ReferenceSamplers : public testing::TestWithParam<Method> {
 protected:
  static Sample sample(const reference::LogDensity& density, std::size_t d,
                       const Options& options) {
    const std::vector<double> start(d, 0.5);
    return GetParam() == Method::kHmc ? reference::hamiltonian_monte_carlo(density, start, options)
                                      : reference::no_u_turn(density, start, options);
  }
  static std::vector<Sample> chains(const reference::LogDensity& density, std::size_t d,
                                    std::size_t draws) {
    std::vector<Sample> runs;
    for (std::uint16_t chain = 0; chain < 4; ++chain) {
      Options options;
      options.draws = draws;
      options.chain = chain;
      runs.push_back(sample(density, d, options));
    }
    return runs;
  }
  static double bulk(const std::vector<Sample>& runs, std::size_t j) {
    std::vector<std::vector<double>> values;
    for (const Sample& run : runs) {
      values.emplace_back();
      for (const auto& draw : run.draws) values.back().push_back(draw[j]);
    }
    return reference::bulk_effective_draws(values);
  }
};
INSTANTIATE_TEST_SUITE_P(Methods, ReferenceSamplers, testing::Values(Method::kHmc, Method::kNuts),
                         [](const auto& method) {
                           return method.param == Method::kHmc ? "hmc" : "nuts";
                         });

// Mean 1, correlations, and scales a thousand apart, which the diagonal mass has to find.
TEST_P(ReferenceSamplers, correlated_gaussian_has_its_moments) {
  constexpr Index d = 5;
  Matrix covariance = random_covariance(4, d);
  const Vector scale =
      Vector::LinSpaced(d, -1.5, 1.5).array().unaryExpr([](double x) { return std::pow(10.0, x); });
  covariance = scale.asDiagonal() * covariance * scale.asDiagonal();
  const Matrix precision = covariance.inverse();
  const reference::LogDensity density = [&](const std::vector<double>& x, std::vector<double>& g) {
    const Vector at = Eigen::Map<const Vector>(x.data(), d) - Vector::Ones(d);
    Eigen::Map<Vector>(g.data(), d) = -precision * at;
    return -0.5 * at.dot(precision * at);
  };
  const std::vector<Sample> runs = chains(density, d, 2000);
  Vector mean = Vector::Zero(d);
  Matrix second = Matrix::Zero(d, d);
  double count = 0;
  for (const Sample& run : runs) {
    EXPECT_EQ(run.divergences, 0u);
    EXPECT_NEAR(run.acceptance, 0.85, 0.12);
    for (Index j = 0; j < d; ++j) {
      EXPECT_NEAR(run.inverse_mass[static_cast<std::size_t>(j)] / covariance(j, j), 1.0, 0.5);
    }
    for (const auto& draw : run.draws) {
      const Vector at = Eigen::Map<const Vector>(draw.data(), d) - Vector::Ones(d);
      mean += at;
      second += at * at.transpose();
      count += 1;
    }
  }
  double least = count;
  for (std::size_t j = 0; j < d; ++j) least = std::min(least, bulk(runs, j));
  EXPECT_GT(least, 1000.0);
  mean /= count;
  second /= count;
  // The KL of a fit to n independent draws is about d (d + 3) / (4 n) = 0.01 at n = 1000.
  EXPECT_LT(gaussian_kl(second - mean * mean.transpose(), precision, mean), 0.02);
}

// Exponential under a log transform, skewed: E x = -gamma, Var x = pi^2 / 6 (a Gumbel, reflected).
TEST_P(ReferenceSamplers, skewed_density_has_its_moments) {
  const reference::LogDensity density = [](const std::vector<double>& x, std::vector<double>& g) {
    g[0] = 1.0 - std::exp(x[0]);
    return x[0] - std::exp(x[0]);
  };
  const std::vector<Sample> runs = chains(density, 1, 4000);
  double mean = 0;
  double second = 0;
  for (const Sample& run : runs) {
    for (const auto& draw : run.draws) {
      mean += draw[0] / 16'000;
      second += draw[0] * draw[0] / 16'000;
    }
  }
  const double effective = bulk(runs, 0);
  EXPECT_GT(effective, 2000.0);
  const double variance = M_PI * M_PI / 6;
  EXPECT_NEAR(mean, -0.5772156649, 4 * std::sqrt(variance / effective));
  // The kurtosis of a Gumbel is 5.4: Var of the variance is 4.4 / n relative.
  EXPECT_NEAR((second - mean * mean) / variance, 1.0, 4 * std::sqrt(4.4 / effective));
}

TEST_P(ReferenceSamplers, same_seed_gives_the_same_draws_and_other_chains_other_ones) {
  const reference::LogDensity density = [](const std::vector<double>& x, std::vector<double>& g) {
    g[0] = -x[0];
    return -0.5 * x[0] * x[0];
  };
  Options options;
  options.draws = 20;
  const Sample first = sample(density, 1, options);
  EXPECT_EQ(first.draws, sample(density, 1, options).draws);
  options.chain = 1;
  EXPECT_NE(first.draws, sample(density, 1, options).draws);
}

// A wall: the density is not a number beyond 2.
TEST_P(ReferenceSamplers, never_goes_where_the_density_is_not_a_number) {
  const reference::LogDensity density = [](const std::vector<double>& x, std::vector<double>& g) {
    g[0] = -x[0];
    return x[0] > 2 ? NAN : -0.5 * x[0] * x[0];
  };
  Options options;
  options.draws = 2000;
  const Sample run = sample(density, 1, options);
  double largest = -INFINITY;
  for (const auto& draw : run.draws) largest = std::max(largest, draw[0]);
  EXPECT_LE(largest, 2.0);
  EXPECT_GT(largest, 1.0);
  EXPECT_GT(run.divergences, 0u);
}

// AR(1) with coefficient 0.5: an autocorrelation time of 3.
TEST(BulkEffectiveDraws, of_an_autoregression_are_a_third) {
  std::vector<std::vector<double>> chains;
  for (std::uint64_t chain = 0; chain < 4; ++chain) {
    const Vector z = normals(chain, 5000, 1);
    chains.emplace_back(1, z(0));
    for (Index i = 1; i < z.size(); ++i) {
      chains.back().push_back(0.5 * chains.back().back() + std::sqrt(0.75) * z(i));
    }
  }
  EXPECT_NEAR(reference::bulk_effective_draws(chains) / 20'000, 1.0 / 3.0, 0.04);
}

TEST(BulkEffectiveDraws, of_chains_in_different_places_are_few) {
  std::vector<std::vector<double>> chains;
  for (std::uint64_t chain = 0; chain < 4; ++chain) {
    const Vector z = normals(chain, 1000, 1).array() + 3.0 * static_cast<double>(chain % 2);
    chains.emplace_back(z.data(), z.data() + z.size());
  }
  EXPECT_LT(reference::bulk_effective_draws(chains), 20.0);
}

}  // namespace
}  // namespace windhover::reference_samplers_test
