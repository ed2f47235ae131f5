#include "windhover/runtime/diagnostics/prior_conflict.h"

#include <cmath>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::prior_conflict_test {
namespace {

constexpr Index kRows = 200;

// theta from N(0, 1 / precision), noise of variance 1.
Data data_of(Index features, double precision, std::uint64_t seed) {
  Data data;
  data.x = autoregressive_rows(kRows, features, 0.7, seed);
  data.truth = normals(seed + 1, features + 1) / std::sqrt(precision);
  data.y = data.design() * data.truth + normals(seed + 2, kRows);
  return data;
}

EngineConfig config_of(Index features, double precision) {
  EngineConfig config = small_config("linear", static_cast<std::uint32_t>(features), kRows);
  config.model.prior_precision = config.model.intercept_precision = precision;
  config.model.noise_variance = 1;
  return config;
}

double statistic(const EngineConfig& config, const Data& data) {
  TestEngine engine(config);
  engine.feed(data);
  while (engine->learner().view().phase == Learner::Phase::kWarmingUp) engine->poll(1);
  return engine->learner().view().estimator().checks().prior_conflict() *
         prior_conflict_bound(static_cast<double>(engine->dimension()));
}

// theta' (Lambda^-1 + I^-1)^-1 theta in the directions that the rows say something about.
double exact_statistic(const Data& data, double precision) {
  const MatrixXd information = data.design().transpose() * data.design();
  const VectorXd moment = data.design().transpose() * data.y;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(information);
  double sum = 0;
  for (Index i = 0; i < information.rows(); ++i) {
    const double value = solver.eigenvalues()[i];
    if (value < 1e-9 * solver.eigenvalues().maxCoeff()) continue;
    const double theta = solver.eigenvectors().col(i).dot(moment) / value;
    sum += theta * theta / (1 / precision + 1 / value);
  }
  return sum;
}

TEST(PriorConflict, StatisticIsThatOfThePriorPredictiveDistribution) {
  for (const double precision : {0.01, 1.0, 100.0, 1e4}) {
    const Data data = data_of(5, 1.0, 11);
    EXPECT_NEAR(statistic(config_of(5, precision), data) / exact_statistic(data, precision), 1,
                0.01)
        << precision;
  }
}

TEST(PriorConflict, DirectionsWithoutRowsAddNothing) {
  Data data = data_of(5, 1.0, 12);
  data.x.col(4) = data.x.col(0);
  data.x.col(3).setZero();
  EXPECT_NEAR(statistic(config_of(5, 100), data) / exact_statistic(data, 100), 1, 0.01);
}

// The mean of chi-square with D degrees of freedom, for a weak and for a tight prior.
TEST(PriorConflict, PriorThatHoldsLeavesChiSquare) {
  constexpr int kRuns = 200;
  for (const double precision : {0.1, 30.0}) {
    double sum = 0;
    double largest = 0;
    for (int i = 0; i < kRuns; ++i) {
      const Data data = data_of(3, precision, 100 + 10 * static_cast<std::uint64_t>(i));
      const double s = statistic(config_of(3, precision), data);
      sum += s;
      largest = std::max(largest, s);
    }
    EXPECT_NEAR(sum / kRuns, 4, 5 * std::sqrt(2.0 * 4 / kRuns)) << precision;
    EXPECT_LT(largest, prior_conflict_bound(4)) << precision;
  }
}

// Ten standard deviations of the prior off, however many rows outweigh it.
TEST(PriorConflict, PriorThatIsFarOffIsFoundThroughTheStatus) {
  Data data = data_of(3, 1.0, 13);
  data.truth << 1, 10, -1, 0.5;
  data.y = data.design() * data.truth + normals(15, kRows);
  for (const double noise : {1.0, 0.0}) {
    EngineConfig config = config_of(3, 1);
    config.model.noise_variance = noise;
    TestEngine engine(config);
    engine.feed(data);
    engine.poll_until_idle();
    const Provenance p = engine.provenance();
    EXPECT_GT(p.prior_conflict, 1);
    EXPECT_EQ(p.status, PosteriorStatus::kDegraded);
    EXPECT_EQ(p.reason, StatusReason::kPrior) << to_string(p.reason);
    config.model.prior_precision = 0.01;
    TestEngine wide(config);
    wide.feed(data);
    wide.poll_until_idle();
    EXPECT_EQ(wide.provenance().reason, StatusReason::kNone);
  }
}

// The exact chi-square tail, by its series for an even number of degrees of freedom.
TEST(PriorConflict, BoundIsExceededByChanceLessOftenThanItSays) {
  for (const int dimension : {2, 4, 10, 100, 1000}) {
    const double half = 0.5 * prior_conflict_bound(dimension);
    double log_term = -half;
    double tail = 0;
    for (int k = 0; k < dimension / 2; ++k) {
      if (k > 0) log_term += std::log(half / k);
      tail += std::exp(log_term);
    }
    EXPECT_LT(tail, kPriorConflictRate) << dimension;
    EXPECT_GT(tail, 1e-3 * kPriorConflictRate) << dimension;
  }
}

// A learned noise variance: D F(D, n - D) is compared as if it were chi-square. With D = 2 the tail
// of F is (1 + 2 F / (n - 2))^-((n - 2) / 2) in closed form.
TEST(PriorConflict, LearnedNoiseVarianceRaisesNoMoreFalseAlarms) {
  const double bound = prior_conflict_bound(2);
  for (const double n : {6.0, 10.0, 30.0, 1000.0}) {
    double low = 0;
    double high = 1e12;
    for (int i = 0; i < 200; ++i) {
      const double middle = 0.5 * (low + high);
      (with_learned_dispersion(middle, n, 2) < bound ? low : high) = middle;
    }
    EXPECT_LT(std::pow(1 + high / (n - 2), -0.5 * (n - 2)), kPriorConflictRate) << n;
  }
}

}  // namespace
}  // namespace windhover::test::prior_conflict_test
