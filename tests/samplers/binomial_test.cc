// The binomial likelihood: against that of single trials, where counts are large, at its start.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "windhover/samplers/models/likelihoods.h"
#include "windhover/samplers/registry.h"
#include "windhover/tests/samplers/support.h"

namespace windhover::binomial_test {
namespace {

using Likelihood = BinomialLogitLikelihood;

// Derivatives and loss of one row.
struct AtRow {
  double first = 0, second = 0, third = 0, loss = 0;
};
AtRow of_trials(double eta, double y, double n) {
  AtRow at;
  Likelihood::derivatives(&eta, &y, &n, 1, &at.first);
  Likelihood::curvatures(&eta, &y, &n, 1, &at.second, &at.third);
  at.loss = Likelihood::loss(&eta, &y, &n, 1);
  return at;
}

TEST(Binomial, SumsAreThoseOfSingleTrials) {
  for (const double n : {1.0, 2.0, 7.0}) {
    for (double y = 0; y <= n; ++y) {
      for (const double eta : {-30.0, -2.0, 0.0, 0.4, 5.0, 40.0}) {
        AtRow sum;
        for (double i = 0; i < n; ++i) {
          const double one = i < y ? 1 : 0;
          AtRow at;
          BernoulliLogitLikelihood::derivatives(&eta, &one, 1, &at.first);
          BernoulliLogitLikelihood::curvatures(&eta, &one, 1, &at.second, &at.third);
          sum.first += at.first;
          sum.second += at.second;
          sum.third += at.third;
          sum.loss += BernoulliLogitLikelihood::loss(&eta, &one, 1);
        }
        const AtRow found = of_trials(eta, y, n);
        EXPECT_NEAR(found.first, sum.first, 1e-13 * n) << eta << " " << y << " of " << n;
        EXPECT_NEAR(found.second, sum.second, 1e-13 * n) << eta << " " << y << " of " << n;
        EXPECT_NEAR(found.third, sum.third, 1e-13 * n) << eta << " " << y << " of " << n;
        EXPECT_NEAR(found.loss, sum.loss, 1e-13 * (1 + sum.loss)) << eta << " " << y << " of " << n;
      }
    }
  }
}

TEST(Binomial, LossIsFiniteAndConvexHoweverLargeThePredictor) {
  for (const double n : {1.0, 1e9}) {
    for (const double y : {0.0, 0.5 * n, n}) {
      for (const double eta : {-1e4, -800.0, 0.0, 800.0, 1e4}) {
        const AtRow at = of_trials(eta, std::floor(y), n);
        EXPECT_TRUE(std::isfinite(at.loss + at.first + at.second + at.third)) << eta << " " << y;
        EXPECT_GE(at.second, 0);
        EXPECT_GE(at.loss, 0);
      }
    }
  }
  // Only what is on the wrong side costs.
  EXPECT_EQ(of_trials(1e4, 10, 10).loss, 0);
  EXPECT_NEAR(of_trials(1e4, 7, 10).loss, 3e4, 1e-9);
}

TEST(Binomial, StartIsWithinHalfATrialOfTheRate) {
  const std::vector<double> y = {0, 3, 10, 0};
  const std::vector<double> n = {10, 10, 10, 1e9};
  std::vector<double> eta(4);
  Likelihood::start(y.data(), n.data(), 4, eta.data());
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(Likelihood::mean(eta[i]), (y[i] + 0.5) / (n[i] + 1), 1e-12) << i;
  }
}

TEST(Binomial, TargetsThatAreNoCountsAreRefused) {
  Memory memory;
  ModelConfig config;
  config.name = "binomial";
  config.features = 1;
  const Model& model = *find_model("binomial")->make(memory.arena(), config);
  for (const double y : {0.0, 1.0, 7.0, 1e9}) EXPECT_EQ(model.check_target(y), Status::kOk) << y;
  for (const double y : {-1.0, 0.5, 1e16, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(model.check_target(y), Status::kTargetOutOfDomain) << y;
  }
}

// Trials stand where an offset does, and add nothing to the linear predictor.
TEST(Binomial, TrialsStandInTheRowAndAreNoFeature) {
  for (const std::uint32_t nonzeros : {0U, 3U}) {
    ModelConfig config;
    config.name = "binomial";
    config.features = 6;
    config.max_nonzeros = nonzeros;
    const RowLayout one(config);
    EXPECT_TRUE(one.has_trials());
    EXPECT_FALSE(one.has_offset());
    EXPECT_EQ(one.trials_index(), 7U);
    EXPECT_EQ(one.extras(), 1U);
    EXPECT_EQ(one.stride(), 8U);
    config.weight = true;
    const RowLayout two(config);
    EXPECT_EQ(two.trials_index(), 7U);
    EXPECT_EQ(two.weight_index(), 8U);
    EXPECT_EQ(two.extras(), 2U);
    std::vector<double> row(two.stride());
    row[two.trials_index()] = 5;
    row[two.weight_index()] = 3;
    EXPECT_EQ(two.trials(row.data()), 5);
    EXPECT_EQ(two.offset(row.data()), 0);
    config.name = "logistic";
    EXPECT_FALSE(RowLayout(config).has_trials());
    EXPECT_EQ(RowLayout(config).trials(row.data()), 1);
  }
}

}  // namespace
}  // namespace windhover::binomial_test
