// Poisson regression in the engine: its mode, mean and draws against the exact posterior, and
// Newton's method where the loss explodes.
#include <gtest/gtest.h>

#include <array>

#include "windhover/tests/runtime/glm_reference.h"

namespace windhover::test::poisson_posterior_test {
namespace {

// Counts of mean exp(eta).
Data poisson_data(Index rows, Index features, double intercept, std::uint64_t seed) {
  return inverted_data(rows, features, intercept, seed, [](double eta, double u) {
    const double rate = std::exp(eta);
    double term = std::exp(-rate);
    double below = term;
    double k = 0;
    while (below < u && k < 1000) below += term *= rate / ++k;
    return k;
  });
}

VectorXd offset(const Gaussian& found, const Gaussian& exact) {
  return (found.mean - exact.mean).cwiseQuotient(exact.covariance.diagonal().cwiseSqrt());
}

TEST(PoissonPosterior, ModeAndMeanAreTheExactOnes) {
  const EngineConfig config = small_config("poisson", 3, 1000);
  const Data data = poisson_data(300, 3, 0.3, 71);
  TestEngine engine(config);
  engine.feed(data);
  engine.poll_until_idle();
  const GlmReference reference(data.design(), data.y, config.model, poisson_loss,
                               VectorXd::Zero(4));
  expect_modes(engine, reference, 1e-4);
  const Gaussian exact = reference.moments(100'000, 72).gaussian;
  EXPECT_LT(offset(engine.summary(), exact).cwiseAbs().maxCoeff(), 0.02);
  EXPECT_LT(kl(engine.summary(), exact), 0.01);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), 0u);
}

TEST(PoissonPosterior, SpreadOfTheDrawsIsThePosteriors) {
  EngineConfig config = small_config("poisson", 3, 500);
  config.draws_per_observation = 0;
  const Data data = poisson_data(500, 3, 0.0, 73);
  TestEngine engine(config);
  const Gaussian drawn = drawn_of(engine, data, 30'000);
  const GlmReference reference(data.design(), data.y, config.model, poisson_loss,
                               VectorXd::Zero(4));
  const Gaussian exact = reference.moments(100'000, 74).gaussian;
  EXPECT_LT(offset(drawn, exact).cwiseAbs().maxCoeff(), 0.1);
  for (Index j = 0; j < 4; ++j) {
    EXPECT_NEAR(std::sqrt(drawn.covariance(j, j) / exact.covariance(j, j)), 1.0, 0.06) << j;
  }
}

// From 0 a bare Newton step would go to counts of exp(10^5).
TEST(PoissonPosterior, LargeCountsAndUnscaledFeaturesDoNotExplode) {
  for (const double level : {5.0, 11.0, 20.0}) {
    EngineConfig config = small_config("poisson", 2, 1000);
    config.model.prior_precision = config.model.intercept_precision = 1e-6;
    Data data;
    data.x = 30.0 * autoregressive_rows(400, 2, 0.5, 75);
    data.y.resize(400);
    for (Index i = 0; i < 400; ++i) {
      const double eta = level + 0.05 * data.x(i, 0) - 0.02 * data.x(i, 1);
      data.y[i] = std::floor(std::exp(eta) + 0.5);
    }
    TestEngine engine(config);
    engine.feed(data);
    engine.poll_until_idle();
    const auto parameters = engine.parameters();
    EXPECT_NEAR(parameters[0].mode, 0.05, 1e-3) << level;
    EXPECT_NEAR(parameters[1].mode, -0.02, 1e-3) << level;
    EXPECT_NEAR(parameters[2].mode, level, 1e-2) << level;
    EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), 0u) << level;
    EXPECT_EQ(engine->counters().get(RuntimeCounter::kFactorizationFailures), 0u) << level;
  }
}

TEST(PoissonPosterior, EveryAnswerFromNoRowOnIsFinite) {
  EngineConfig config = small_config("poisson", 2, 100);
  TestEngine engine(config);
  const Data data = poisson_data(60, 2, 1.0, 76);
  const std::array<double, 4> x = {1, 2, 100, -100};
  const std::array<double, 2> outcomes = {3, 1e6};
  const std::array<double, 1> thresholds = {4.5};
  PredictRequest request;
  request.rows = 2;
  request.features = x;
  request.outcomes = outcomes;
  request.thresholds = thresholds;
  std::array<PredictiveSummary, 2> answers;
  Provenance provenance;
  for (Index n = 0; n < 60; ++n) {
    ASSERT_EQ(engine.reader().predict(request, answers, provenance), Status::kOk);
    for (const PredictiveSummary& s : answers) {
      EXPECT_TRUE(std::isfinite(s.mean + s.sd + s.epred_sd + s.log_score + s.pit)) << n;
      EXPECT_LE(s.interval_lower, s.interval_upper);
      EXPECT_EQ(s.interval_lower, std::floor(s.interval_lower));
      EXPECT_GE(s.exceedance[0], 0.0);
      EXPECT_LE(s.exceedance[0], 1.0);
    }
    engine.feed(data, n, n + 1);
    engine.poll_until_idle();
  }
}

TEST(PoissonPosterior, FirstCountAloneMovesThePriorSensibly) {
  EngineConfig config = small_config("poisson", 1, 100);
  TestEngine engine(config);
  ASSERT_EQ(engine->observe(std::array<double, 1>{0.5}, 1e6), Status::kOk);
  engine.poll_until_idle();
  // The mode of one Poisson row under the prior: exp(eta) - y + eta / (x' Lambda^-1 x) = 0.
  const double variance =
      0.25 / config.model.prior_precision + 1 / config.model.intercept_precision;
  double eta = std::log(1e6);
  for (int i = 0; i < 50; ++i) {
    eta -= (std::exp(eta) - 1e6 + eta / variance) / (std::exp(eta) + 1 / variance);
  }
  const auto parameters = engine.parameters();
  EXPECT_NEAR(0.5 * parameters[0].mode + parameters[1].mode, eta, 1e-6);
  EXPECT_EQ(engine.provenance().status, PosteriorStatus::kWarmingUp);
}

TEST(PoissonPosterior, WhatIsNoCountIsRefused) {
  TestEngine engine(small_config("poisson", 1, 100));
  EXPECT_EQ(engine->observe(std::array<double, 1>{0.5}, 1.5), Status::kTargetOutOfDomain);
  EXPECT_EQ(engine->observe(std::array<double, 1>{0.5}, -1), Status::kTargetOutOfDomain);
  EXPECT_EQ(engine->observe(std::array<double, 1>{0.5}, 0), Status::kOk);
}

}  // namespace
}  // namespace windhover::test::poisson_posterior_test
