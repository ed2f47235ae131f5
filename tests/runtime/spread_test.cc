// The spread of the draws against the posterior's, over long traces, where it is easy to get wrong:
// directions in which the data say little or nothing.
#include <gtest/gtest.h>

#include <cstdio>

#include "windhover/tests/runtime/glm_reference.h"

namespace windhover::test::spread_test {
namespace {

constexpr double kBar = 0.05;  // draw sd / posterior sd within 0.95 .. 1.05

Gaussian traced(const EngineConfig& config, const Data& data, std::uint64_t rounds) {
  TestEngine engine(config);
  const Gaussian drawn = drawn_of(engine, data, rounds);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), 0u);
  return drawn;
}

EngineConfig traced_config(const char* model, std::uint32_t features, std::uint64_t window) {
  EngineConfig config = small_config(model, features, window);
  config.draws_per_observation = 0;  // the learner never rests
  return config;
}

void expect_spread(const Gaussian& drawn, const Gaussian& exact, const char* what,
                   double bar = kBar) {
  for (Index j = 0; j < exact.mean.size(); ++j) {
    const double sd = std::sqrt(exact.covariance(j, j));
    const double ratio = std::sqrt(drawn.covariance(j, j)) / sd;
    std::printf("%s, parameter %d: draw sd / posterior sd %.3f, mean off %.3f sd\n", what,
                static_cast<int>(j), ratio, (drawn.mean[j] - exact.mean[j]) / sd);
    EXPECT_NEAR(ratio, 1.0, bar) << what << ", parameter " << j;
  }
}

// 8 chains of 30,000 rounds; a relaxation is at most n / S = 30 rounds in the directions the data
// inform, so the relative error of an sd is below 1 %.
constexpr std::uint64_t kRounds = 30'000;

void expect_linear_spread(const Data& data, EngineConfig config, const char* what) {
  const Gaussian exact =
      linear_posterior(data.design(), data.y, config.model.noise_variance, config.model);
  expect_spread(traced(config, data, kRounds), exact, what);
}

TEST(Spread, OfALinearModelIsThePosteriors) {
  expect_linear_spread(linear_data(1000, 5, 1.0, 51), traced_config("linear", 5, 1000), "linear");
}

TEST(Spread, InAnUnseenCategoryIsThePriors) {
  Data data = linear_data(1000, 4, 1.0, 52);
  data.x.col(2).setZero();
  expect_linear_spread(data, traced_config("linear", 4, 1000), "unseen category");
}

// The sd comes from the scores in stream order (a large window) and from C (a small one).
TEST(Spread, RobustSdInAnUnseenCategoryIsThePriors) {
  for (const Index rows : {100, 2000}) {
    Data data = linear_data(rows, 4, 1.0, 65);
    data.x.col(2).setZero();
    EngineConfig config = small_config("linear", 4, static_cast<std::uint64_t>(rows));
    TestEngine engine(config);
    engine.feed(data);
    engine.poll_until_idle();
    const auto parameters = engine.parameters();
    EXPECT_NEAR(parameters[2].sd_robust, parameters[2].sd, 1e-9) << rows;
    EXPECT_NEAR(parameters[2].sd, 1.0, 1e-9) << rows;
    EXPECT_NEAR(parameters[0].sd_robust / parameters[0].sd, 1.0, 0.4) << rows;
  }
}

TEST(Spread, WithDuplicatedAndConstantColumnsIsThePosteriors) {
  Data data = linear_data(1000, 5, 1.0, 53);
  data.x.col(3) = data.x.col(1);
  data.x.col(4).setConstant(1.0);
  expect_linear_spread(data, traced_config("linear", 5, 1000), "collinear columns");
}

TEST(Spread, WithFewerRowsThanParametersIsThePosteriors) {
  expect_linear_spread(linear_data(12, 30, 1.0, 54), traced_config("linear", 30, 12),
                       "12 rows, 31 parameters");
}

TEST(Spread, WithFewerRowsThanAMinibatchIsThePosteriors) {
  expect_linear_spread(linear_data(40, 3, 1.0, 55), traced_config("linear", 3, 40), "40 rows");
}

TEST(Spread, WithScalesAMillionApartIsThePosteriors) {
  Data data = linear_data(1000, 3, 1.0, 56);
  data.x.col(0) *= 1e6;
  data.x.col(2) *= 1e-6;
  expect_linear_spread(data, traced_config("linear", 3, 1000), "scales 10^6 apart");
}

void expect_logistic_spread(const Data& data, const EngineConfig& config, const char* what) {
  const GlmReference reference = logistic_reference(data.design(), data.y, config.model);
  const auto exact = reference.moments(60'000, 57);
  ASSERT_LT(exact.mean_error, 0.01);
  expect_spread(traced(config, data, kRounds), exact.gaussian, what);
}

TEST(Spread, OfALogisticModelIsThePosteriors) {
  expect_logistic_spread(logistic_data(1000, 3, -0.5, 58), traced_config("logistic", 3, 1000),
                         "logistic");
}

TEST(Spread, OfALogisticModelInAnUnseenCategoryIsThePriors) {
  Data data = logistic_data(500, 3, -0.5, 59);
  data.x.col(1).setZero();
  expect_logistic_spread(data, traced_config("logistic", 3, 500), "logistic, unseen category");
}

TEST(Spread, OfALogisticModelWithDuplicatedColumnsIsThePosteriors) {
  Data data = logistic_data(500, 3, -0.5, 60);
  data.x.col(1) = data.x.col(0);
  expect_logistic_spread(data, traced_config("logistic", 3, 500), "logistic, duplicated column");
}

TEST(Spread, OfALogisticModelOnSeparableDataIsThePosteriors) {
  Data data = logistic_data(500, 1, 0, 61);
  for (Index i = 0; i < 500; ++i) data.y[i] = data.x(i, 0) > 0 ? 1 : 0;
  expect_logistic_spread(data, traced_config("logistic", 1, 500), "logistic, separable");
}

TEST(Spread, OfALogisticModelWithOneClassOnlyIsThePosteriors) {
  Data data = logistic_data(500, 1, 0, 62);
  data.y.setZero();
  expect_logistic_spread(data, traced_config("logistic", 1, 500), "logistic, one class");
}

TEST(Spread, OfALogisticModelWithRarePositivesIsThePosteriors) {
  Data data = logistic_data(500, 1, -4, 63);
  expect_logistic_spread(data, traced_config("logistic", 1, 500), "logistic, rare positives");
}

// What is served: the retained draws around the centre of now.
TEST(Spread, OfRetainedDrawsIsThePosteriors) {
  const Data data = linear_data(1000, 4, 1.0, 64);
  EngineConfig config = traced_config("linear", 4, 1000);
  config.retained_draws = 2000;
  TestEngine engine(config);
  engine.feed(data);
  ASSERT_TRUE(engine.poll_until_sampling());
  engine.poll_rounds(20'000);
  engine->poll(0);
  const Gaussian exact = linear_posterior(data.design(), data.y, 1.0, config.model);
  const RowMatrix draws = engine.draws();
  const MatrixXd deviations = draws.rowwise() - exact.mean.transpose();
  const MatrixXd covariance = deviations.transpose() * deviations / 2000.0;
  // 2000 draws a relaxation apart: nearly independent; standard error of an sd 1.6 % to 3 %.
  expect_spread({exact.mean, covariance}, exact, "retained draws", 0.1);
}

}  // namespace
}  // namespace windhover::test::spread_test
