// What is said of y, of a linear predictor that is known.
#include "windhover/runtime/prediction/outcome_predictor.h"

#include <gtest/gtest.h>

#include <cmath>

namespace windhover::test::outcome_predictor_test {
namespace {

PredictiveSummary answer(OutcomePredictor& outcome, Response response,
                         const PredictRequest& request = {}, double mean = 1, double sd = 0.6) {
  PredictiveSummary summary;
  summary.linpred_mean = mean;
  summary.linpred_sd = sd;
  outcome.predict(response, request, 0, summary);
  return summary;
}

TEST(OutcomePredictor, AddsTheNoiseToTheSpreadOfTheLinearPredictor) {
  OutcomePredictor outcome{ModelConfig{}};
  outcome.ask({}, {});
  outcome.set_noise(Response::kGaussian, {0.64, 0}, {});
  const PredictiveSummary s = answer(outcome, Response::kGaussian);
  EXPECT_NEAR(s.var_epistemic, 0.36, 1e-15);
  EXPECT_NEAR(s.var_aleatoric, 0.64, 1e-15);
  EXPECT_NEAR(s.sd, 1, 1e-15);
  EXPECT_NEAR(s.interval_upper, 1 + normal_quantile(0.95), 1e-9);
  EXPECT_NEAR(s.interval_lower, 1 - normal_quantile(0.95), 1e-9);
}

TEST(OutcomePredictor, AnswersTheQuestionAskedLast) {
  OutcomePredictor outcome{ModelConfig{}};
  outcome.set_noise(Response::kGaussian, {0.64, 0}, {});
  for (const double level : {0.5, 0.9, 0.5}) {
    const std::array<double, 2> levels = {1 - level, 0.25};
    PredictRequest request;
    request.interval_probability = level;
    request.quantile_probabilities = levels;
    outcome.ask(request, {});
    const PredictiveSummary s = answer(outcome, Response::kGaussian, request);
    EXPECT_NEAR(s.interval_upper, 1 + normal_quantile(0.5 + level / 2), 1e-9) << level;
    EXPECT_NEAR(s.quantiles[0], 1 + normal_quantile(1 - level), 1e-9) << level;
    EXPECT_NEAR(s.quantiles[1], 1 + normal_quantile(0.25), 1e-9) << level;
    EXPECT_TRUE(std::isnan(s.conformal_upper)) << "nobody scores";
  }
  outcome.ask({}, {-1, 2});
  const PredictiveSummary s = answer(outcome, Response::kGaussian);
  EXPECT_NEAR(s.conformal_lower, 0, 1e-9);
  EXPECT_NEAR(s.conformal_upper, 3, 1e-9);
}

TEST(OutcomePredictor, KnowsTheNoiseItWasToldLast) {
  OutcomePredictor outcome{ModelConfig{}};
  PredictRequest request;
  request.interval_probability = 0.999;
  outcome.ask(request, {});
  const auto width = [&](Response response, double dispersion, double relative_sd) {
    outcome.set_noise(response, {dispersion, relative_sd}, {});
    const PredictiveSummary s = answer(outcome, response, {}, 0, 0.1);
    return s.interval_upper - s.interval_lower;
  };
  for (const Response response : {Response::kGaussian, Response::kStudent, Response::kLogNormal}) {
    const double known = width(response, 1, 0);
    // A scale that may be off makes tails longer.
    EXPECT_GT(width(response, 1, 0.6), known * 1.01);
    EXPECT_GT(width(response, 2, 0), known * 1.2);
    EXPECT_EQ(width(response, 1, 0), known);
  }
}

TEST(OutcomePredictor, ExpectsWhatTheLinkSays) {
  OutcomePredictor outcome{ModelConfig{}};
  outcome.set_noise(Response::kLogNormal, {0.5, 0}, {});
  EXPECT_EQ(outcome.expected(Response::kGaussian, -1.5), -1.5);
  EXPECT_NEAR(outcome.expected(Response::kBernoulli, 0.3), 1 / (1 + std::exp(-0.3)), 1e-15);
  EXPECT_NEAR(outcome.expected(Response::kBinomial, 0.3), 1 / (1 + std::exp(-0.3)), 1e-15);
  EXPECT_NEAR(outcome.expected(Response::kCount, 0.3), std::exp(0.3), 1e-15);
  EXPECT_NEAR(outcome.expected(Response::kLogNormal, 0.3), std::exp(0.3 + 0.25), 1e-12);
  // The expected count has odds of 0.5 for an excess zero.
  EXPECT_NEAR(outcome.expected(Response::kZeroInflatedCount, 0.3), std::exp(0.3) / 1.5, 1e-12);
}

}  // namespace
}  // namespace windhover::test::outcome_predictor_test
