// A cold or hot posterior exp(-U / T): what is served is the law that the chains draw from.
#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::temperature_test {
namespace {

EngineConfig tempered(EngineConfig config, const char* sampler, double temperature) {
  config.sampler.name = sampler;
  config.sampler.temperature = temperature;
  config.draws_per_observation = 0;
  return config;
}

TEST(Temperature, SummaryIsTheTemperedPosteriorAndSoAreTheDraws) {
  const Data data = linear_data(600, 3, 1.0, 81);
  for (const char* sampler : {"sgld-p", "sghmc"}) {
    for (const double temperature : {0.25, 4.0}) {
      EngineConfig config = tempered(small_config("linear", 3, 600), sampler, temperature);
      config.retained_draws = 1000;
      TestEngine engine(config);
      engine.feed(data);
      Gaussian exact = linear_posterior(data.design(), data.y, 1.0, config.model);
      exact.covariance *= temperature;
      ASSERT_TRUE(engine.poll_until_sampling());
      engine.poll_rounds(100'000);
      const auto parameters = engine.parameters();
      const RowMatrix draws = engine.draws();
      const MatrixXd deviations = draws.rowwise() - exact.mean.transpose();
      for (Index j = 0; j < 4; ++j) {
        const ParameterSummary& p = parameters[static_cast<std::size_t>(j)];
        const double sd = std::sqrt(exact.covariance(j, j));
        EXPECT_NEAR(p.mean, exact.mean[j], 1e-6) << sampler << temperature;
        EXPECT_NEAR(p.sd / sd, 1.0, 1e-6) << sampler << temperature;
        EXPECT_NEAR((p.q95 - p.q5) / (2 * 1.6448536 * sd), 1.0, 1e-6) << sampler << temperature;
        // A thousand draws, some relaxations apart at best, and a bias of the step of 2.5 %.
        const double drawn = std::sqrt(deviations.col(j).squaredNorm() / 1000);
        EXPECT_NEAR(drawn / sd, 1.0, 0.15) << sampler << temperature;
        // What the chains' diagnostics compare with is tempered, too.
        EXPECT_NEAR(p.mcse_mean / (sd / std::sqrt(p.ess_bulk)), 1.0, 0.1) << sampler << temperature;
        // The indicator of a tail forgets 2.19 times as fast as an overdamped chain itself: sum of
        // a_k over sum of a_k / k, a_k = He_(k-1)(1.645)^2 / k!. Untempered tails would give 6.
        if (std::string_view(sampler) == "sgld-p") {
          EXPECT_NEAR(p.ess_tail / p.ess_bulk, 2.19, 0.8) << temperature;
        }
      }
      const std::array<double, 3> x = {1, -0.5, 2};
      const VectorXd row = (VectorXd(4) << 1, -0.5, 2, 1).finished();
      const PredictiveSummary s = engine.answers(question(1, x))[0];
      EXPECT_NEAR(s.linpred_sd / std::sqrt(row.dot(exact.covariance * row)), 1.0, 1e-6);
      EXPECT_EQ(s.epred_sd, s.linpred_sd);
    }
  }
}

// Before any chain has moved it is the tempered prior, then Laplace's approximation.
TEST(Temperature, HoldsFromTheFirstAnswerOn) {
  EngineConfig config = tempered(small_config("linear", 2, 4000), "sgld-p", 0.25);
  config.retained_draws = 2000;
  TestEngine engine(config);
  EXPECT_NEAR(engine.parameters()[0].sd, 0.5, 1e-12);
  EXPECT_NEAR(std::sqrt(engine.draws().col(0).squaredNorm() / 2000), 0.5, 0.05);
  const Data data = linear_data(20, 2, 1.0, 82);
  engine.feed(data);
  engine.poll_until_idle();
  const Gaussian exact = linear_posterior(data.design(), data.y, 1.0, config.model);
  EXPECT_NEAR(engine.parameters()[0].sd, 0.5 * std::sqrt(exact.covariance(0, 0)), 1e-9);
}

// To first order the distance between the two is in proportion to the temperature.
TEST(Temperature, MeanOfASkewedPosteriorMovesTowardsItsModeInTheCold) {
  Data data = logistic_data(120, 2, -2.5, 83);
  VectorXd warm, cold;
  VectorXd mode;
  for (const double temperature : {1.0, 0.25}) {
    TestEngine engine(tempered(small_config("logistic", 2, 120), "sgld-p", temperature));
    engine.feed(data);
    engine.poll_rounds(3000);
    const auto parameters = engine.parameters();
    VectorXd& mean = temperature == 1 ? warm : cold;
    mean.resize(3);
    mode.resize(3);
    for (Index j = 0; j < 3; ++j) {
      mean[j] = parameters[static_cast<std::size_t>(j)].mean;
      mode[j] = parameters[static_cast<std::size_t>(j)].mode;
    }
  }
  EXPECT_GT((warm - mode).norm(), 0.05);
  EXPECT_LT((cold - mode - 0.25 * (warm - mode)).norm(), 0.01 * (warm - mode).norm());
}

TEST(Temperature, ClassProbabilitiesAndExpectedValuesFollow) {
  const Data data = logistic_data(400, 2, 0.3, 84);
  const std::array<double, 2> x = {0.4, -0.2};
  for (const char* model : {"logistic", "softmax", "poisson"}) {
    std::array<double, 2> sd{};
    for (const std::size_t cold : {0u, 1u}) {
      TestEngine engine(tempered(small_config(model, 2, 400), "sgld-p", cold == 1 ? 0.25 : 1.0));
      engine.feed(data);
      engine.poll_rounds(2000);
      const PredictiveSummary s = engine.answers(question(1, x))[0];
      sd[cold] = s.classes > 0 ? s.probs_sd[1] : s.epred_sd;
    }
    EXPECT_NEAR(sd[1] / sd[0], 0.5, 0.01) << model;
  }
}

// At temperature 0 there is nothing left but the mode.
TEST(Temperature, AnswersAtZeroAreFiniteAndCertain) {
  const Data data = logistic_data(400, 2, 0.3, 85);
  const std::array<double, 2> x = {0.4, -0.2};
  const std::array<double, 1> outcome = {1};
  for (const char* model : {"linear", "logistic", "softmax", "poisson", "student-t"}) {
    TestEngine engine(tempered(small_config(model, 2, 400), "sgld", 0.0));
    engine.feed(data);
    engine.poll_rounds(2000);
    for (const ParameterSummary& p : engine.parameters()) {
      EXPECT_EQ(p.sd, 0.0) << model;
      EXPECT_EQ(p.mean, p.mode) << model;
      EXPECT_GT(p.sd_robust, 0.0) << model;
    }
    const PredictiveSummary s = engine.answers(question(1, x, outcome))[0];
    EXPECT_NEAR(s.linpred_sd + s.var_epistemic, 0.0, 1e-9) << model;
    EXPECT_TRUE(std::isfinite(s.mean + s.sd + s.interval_lower + s.interval_upper + s.log_score))
        << model;
  }
}

}  // namespace
}  // namespace windhover::test::temperature_test
