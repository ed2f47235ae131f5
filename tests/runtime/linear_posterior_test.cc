// Where the posterior is known in closed form, the summary is that posterior.
#include <gtest/gtest.h>

#include <cstdio>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::linear_posterior_test {
namespace {

constexpr double kExact = 1e-6;

TEST(LinearPosterior, IsExactOnceAllRowsAreIn) {
  for (const Index features : {1, 5, 20}) {
    const Data data = linear_data(2000, features, 1.5, 11);
    EngineConfig config = small_config("linear", static_cast<std::uint32_t>(features), 2000);
    config.model.noise_variance = 2.25;
    TestEngine engine(config);
    engine.feed(data);
    engine.poll_until_idle();
    EXPECT_EQ(engine->learner().view().phase, Learner::Phase::kSampling);
    const Gaussian exact = linear_posterior(data.design(), data.y, 2.25, config.model);
    EXPECT_LE(kl(engine.summary(), exact), kExact) << features;
    const auto parameters = engine.parameters();
    for (Index j = 0; j <= features; ++j) {
      const ParameterSummary& p = parameters[static_cast<std::size_t>(j)];
      EXPECT_NEAR(p.mean, exact.mean[j], 1e-6);
      EXPECT_EQ(p.mean, p.mode);
      EXPECT_NEAR(p.sd, std::sqrt(exact.covariance(j, j)), 1e-6);
      EXPECT_NEAR(p.sd_robust / p.sd, 1.0, 0.2);
    }
  }
}

// n = 1, n < D and n < S on the way.
TEST(LinearPosterior, IsExactAfterEveryRowOfATrickle) {
  const Index features = 7;
  const Data data = linear_data(600, features, 1.0, 12);
  const EngineConfig config = small_config("linear", features, 600);
  TestEngine engine(config);
  double worst = 0;
  for (Index n = 1; n <= data.rows(); ++n) {
    engine.feed(data, n - 1, n);
    engine.poll_until_idle();
    const Gaussian exact =
        linear_posterior(data.design().topRows(n), data.y.head(n), 1.0, config.model);
    const double off = kl(engine.summary(), exact);
    worst = std::max(worst, off);
    ASSERT_LE(off, kExact) << "after row " << n;
    if (n % 50 == 0) {
      const Provenance p = engine.provenance();
      EXPECT_EQ(p.sequence, static_cast<std::uint64_t>(n));
      EXPECT_EQ(p.n_eff, static_cast<std::uint64_t>(n));
    }
  }
  RecordProperty("worst_kl_times_1e9", static_cast<int>(1e9 * worst));
}

TEST(LinearPosterior, IsExactForSparseRows) {
  const Index features = 12;
  const Data data = linear_data(400, features, 1.0, 13);
  Data sparse = data;
  EngineConfig config = small_config("linear", features, 400);
  config.model.max_nonzeros = 3;
  TestEngine engine(config);
  for (Index i = 0; i < data.rows(); ++i) {
    const std::vector<std::uint32_t> indices = {static_cast<std::uint32_t>(i % 4),
                                                static_cast<std::uint32_t>(4 + i % 5), 11};
    sparse.x.row(i).setZero();
    std::vector<double> values;
    for (const std::uint32_t j : indices) {
      values.push_back(data.x(i, j));
      sparse.x(i, j) = data.x(i, j);
    }
    const std::uint32_t end = 3;
    ObservationBatch b;
    b.rows = 1;
    b.features = reinterpret_cast<const std::byte*>(values.data());
    b.feature_values = 3;
    b.targets = reinterpret_cast<const std::byte*>(data.y.data() + i);
    b.indices = reinterpret_cast<const std::byte*>(indices.data());
    b.row_ends = reinterpret_cast<const std::byte*>(&end);
    ASSERT_EQ(engine->observe(b, {}).accepted, 1u);
  }
  engine.poll_until_idle();
  const Gaussian exact = linear_posterior(sparse.design(), data.y, 1.0, config.model);
  EXPECT_LE(kl(engine.summary(), exact), kExact);
}

struct Slide {
  double median = 0;
  double worst = 0;
};

// Row by row through a window of 500, with `poll` between rows: how far the summary is from the
// exact posterior of the window.
template <class Poll>
Slide slide(double replay_ratio, Poll&& poll) {
  const Index features = 5;
  const Index window = 500;
  const Data data = linear_data(2500, features, 1.0, 14);
  EngineConfig config = small_config("linear", features, window);
  config.draws_per_observation = replay_ratio;
  TestEngine engine(config);
  std::vector<double> off;
  for (Index n = 1; n <= data.rows(); ++n) {
    engine.feed(data, n - 1, n);
    poll(engine);
    if (n < 2 * window) continue;
    const Gaussian exact =
        linear_posterior(data.design().middleRows(n - window, window),
                         data.y.segment(n - window, window), 1.0, engine->config().model);
    off.push_back(kl(engine.summary(), exact));
  }
  std::sort(off.begin(), off.end());
  return {off[off.size() / 2], off.back()};
}

TEST(LinearPosterior, OfASlidingWindowIsExactWheneverTheLearnerRests) {
  const Slide s = slide(4, [](TestEngine& engine) { engine.poll_until_idle(); });
  EXPECT_LE(s.worst, kExact);
}

// A learner that never rests counts rows that have left, and misses most of those that came, until
// the next pass has replaced them. With one round a row and a pass of 500 / 16 rounds, m of n rows
// do not belong and as many are missing, m / n up to 2 x 31 / 500 = 12.5 %. That moves the mean by
// about a draw from N(0, 2 m / n V): an expected kl of D m / n = 0.75 at most, three times that at
// worst.
TEST(LinearPosterior, OfASlidingWindowStaysCloseWhileTheLearnerIsBusy) {
  const Slide s = slide(0, [](TestEngine& engine) { engine->poll(1); });
  std::printf("sliding window, one round a row: median kl %.2g, worst %.2g\n", s.median, s.worst);
  EXPECT_LE(s.median, 0.75);
  EXPECT_LE(s.worst, 2.25);
}

TEST(LinearPosterior, LearnedNoiseVarianceIsTheFixedPoint) {
  const Index features = 9;
  const Data data = linear_data(1500, features, 1.7, 15);
  EngineConfig config = small_config("linear", features, 1500);
  config.model.noise_variance = 0;
  config.model.prior_precision = config.model.intercept_precision = 1e-9;
  TestEngine engine(config);
  engine.feed(data);
  engine.poll_until_idle();
  const MatrixXd design = data.design();
  const VectorXd least_squares = design.colPivHouseholderQr().solve(data.y);
  const double fixed_point = (data.y - design * least_squares).squaredNorm() / (1500.0 - 10.0);
  EXPECT_NEAR(engine->learner().view().estimator().dispersion().value() / fixed_point, 1.0, 1e-6);
  const Gaussian exact = linear_posterior(design, data.y, fixed_point, config.model);
  EXPECT_LE(kl(engine.summary(), exact), kExact);
}

TEST(LinearPosterior, LearnedNoiseVarianceIsSensibleFromTheFirstRow) {
  const Data data = linear_data(200, 6, 2.0, 16);
  EngineConfig config = small_config("linear", 6, 200);
  config.model.noise_variance = 0;
  TestEngine engine(config);
  for (Index n = 1; n <= 200; ++n) {
    engine.feed(data, n - 1, n);
    engine.poll_until_idle();
    const Provenance p = engine.provenance();
    ASSERT_TRUE(std::isfinite(p.noise_variance)) << n;
    ASSERT_GT(p.noise_variance, 0.01) << n;
    ASSERT_LT(p.noise_variance, 200.0) << n;
    for (const ParameterSummary& s : engine.parameters()) {
      ASSERT_TRUE(std::isfinite(s.mean) && s.sd > 0 && s.sd < 4) << n;
    }
  }
  EXPECT_NEAR(engine.provenance().noise_variance, 4.0, 5 * 4.0 * std::sqrt(2.0 / 200));
}

// Scales 10^6 apart: against the closed form with the same scaling, in which the prior is stated.
TEST(LinearPosterior, IsExactWithScalesAMillionApart) {
  for (const Standardize standardize : {Standardize::kOff, Standardize::kColdStart}) {
    Data data = linear_data(1000, 4, 1.0, 17);
    data.x.col(0) *= 1e6;
    data.x.col(2) *= 1e-6;
    EngineConfig config = small_config("linear", 4, 1000);
    config.standardize = standardize;
    TestEngine engine(config);
    engine.feed(data);
    engine.poll_until_idle();
    Data fitted = data;
    if (standardize == Standardize::kColdStart) {
      const auto mean = data.x.colwise().mean().eval();
      fitted.x.rowwise() -= mean;
      for (Index j = 0; j < 4; ++j) {
        fitted.x.col(j) /= std::sqrt(fitted.x.col(j).squaredNorm() / 1000.0);
      }
    }
    const Gaussian exact = linear_posterior(fitted.design(), data.y, 1.0, config.model);
    // Compare scale-free: in posterior standard deviations.
    const Gaussian summary = engine.summary();
    for (Index j = 0; j < 5; ++j) {
      const double sd = std::sqrt(exact.covariance(j, j));
      EXPECT_NEAR((summary.mean[j] - exact.mean[j]) / sd, 0, 1e-5) << j;
      EXPECT_NEAR(std::sqrt(summary.covariance(j, j)) / sd, 1, 1e-5) << j;
    }
  }
}

TEST(LinearPosterior, PollWithNothingToDoChangesNothing) {
  TestEngine engine(small_config("linear", 3, 100));
  EXPECT_EQ(engine->poll(10), 0);
  EXPECT_EQ(engine->poll(0), 0);
  EXPECT_EQ(engine.provenance().snapshot_id, 1u);
}

}  // namespace
}  // namespace windhover::test::linear_posterior_test
