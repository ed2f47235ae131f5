// Binomial regression in the engine: against the exact posterior, against logistic regression on
// the single trials, in every horizon; whether intervals hold.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "windhover/samplers/models/likelihoods.h"
#include "windhover/tests/runtime/count_posteriors.h"
#include "windhover/tests/runtime/glm_reference.h"

namespace windhover::test::binomial_posterior_test {
namespace {

double binomial_count(double n, double p, double u) {
  double term = std::exp(n * std::log1p(-p));
  double below = term;
  double k = 0;
  while (below < u && k < n) {
    term *= p / (1 - p) * (n - k) / (k + 1);
    below += term;
    ++k;
  }
  return k;
}

// Rows with 1 to `most` trials each.
Data trials_data(Index rows, Index features, double intercept, double most, std::uint64_t seed) {
  Data data = inverted_data(rows, features, intercept, seed, [](double, double u) { return u; });
  const VectorXd eta = data.design() * data.truth;
  data.trials = (most * uniforms(seed + 1, rows)).array().floor() + 1;
  for (Index i = 0; i < rows; ++i) {
    data.y[i] = binomial_count(data.trials[i], BernoulliLogitLikelihood::mean(eta[i]), data.y[i]);
  }
  return data;
}

// GlmReference knows a row by one number: the trials stand in it too.
constexpr double kCode = 4096;
VectorXd coded(const Data& data) { return data.y + kCode * data.trials; }
RowLoss loss_of(double eta, double code) {
  const double trials = std::floor(code / kCode);
  const double y = code - kCode * trials;
  const double p = BernoulliLogitLikelihood::mean(eta);
  const double spread = std::max(eta, 0.0) + std::log1p(std::exp(-std::abs(eta)));
  return {trials * spread - y * eta, trials * p - y, trials * p * (1 - p)};
}

EngineConfig binomial(std::uint32_t features, std::uint64_t window) {
  return small_config("binomial", features, window);
}

TEST(BinomialPosterior, ModeAndMeanAreTheExactOnes) {
  const EngineConfig config = binomial(3, 1000);
  const Data data = trials_data(120, 3, 1.0, 30, 71);
  TestEngine engine(config);
  engine.feed(data);
  engine.poll_until_idle();
  const GlmReference reference(data.design(), coded(data), config.model, loss_of,
                               VectorXd::Zero(4));
  expect_modes(engine, reference);
  const Gaussian exact = reference.moments(100'000, 72).gaussian;
  EXPECT_LT(kl(engine.summary(), exact), 0.01);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), 0U);
}

// Rows with a weight too: a row of weight w counts as w rows of its trials.
TEST(BinomialPosterior, IsThatOfTheSingleTrials) {
  for (const bool weighted : {false, true}) {
    Data data = trials_data(300, 3, -0.5, 9, 73);
    if (weighted) data.weight = (3 * uniforms(75, 300)).array().floor() + 1;
    // Two rows of each: those that succeeded and those that did not, with the weight of so many.
    Data single;
    single.x.resize(600, 3);
    single.y.resize(600);
    single.weight.resize(600);
    Index rows = 0;
    for (Index i = 0; i < 300; ++i) {
      const double w = weighted ? data.weight[i] : 1;
      for (const double y : {0.0, 1.0}) {
        const double count = y == 1 ? data.y[i] : data.trials[i] - data.y[i];
        if (count == 0) continue;
        single.x.row(rows) = data.x.row(i);
        single.y[rows] = y;
        single.weight[rows++] = w * count;
      }
    }
    single.x.conservativeResize(rows, 3);
    single.y.conservativeResize(rows);
    single.weight.conservativeResize(rows);
    EngineConfig config = binomial(3, 1000);
    config.model.weight = weighted;
    // All rows before the learner looks at any: else the passes are of other rows.
    config.window_slack = 4'096;
    EngineConfig logistic = config;
    logistic.model.name = "logistic";
    logistic.model.weight = true;
    TestEngine ours(config);
    TestEngine theirs(logistic);
    ours.feed(data);
    theirs.feed(single);
    ours.poll_until_idle();
    theirs.poll_until_idle();
    const auto found = ours.parameters();
    const auto expected = theirs.parameters();
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_NEAR(found[j].mode, expected[j].mode, 1e-6 * expected[j].sd) << weighted << j;
      EXPECT_NEAR(found[j].mean, expected[j].mean, 1e-6 * expected[j].sd) << weighted << j;
      EXPECT_NEAR(found[j].sd, expected[j].sd, 1e-6 * expected[j].sd) << weighted << j;
    }
  }
}

TEST(BinomialPosterior, SpreadOfTheDrawsIsThePosteriors) {
  EngineConfig config = binomial(3, 500);
  config.draws_per_observation = 0;
  const Data data = trials_data(500, 3, 1.0, 20, 76);
  TestEngine engine(config);
  const Gaussian drawn = drawn_of(engine, data, 30'000);
  const GlmReference reference(data.design(), coded(data), config.model, loss_of,
                               VectorXd::Zero(4));
  const Gaussian exact = reference.moments(100'000, 77).gaussian;
  for (Index j = 0; j < 4; ++j) {
    const double sd = std::sqrt(exact.covariance(j, j));
    EXPECT_NEAR((drawn.mean[j] - exact.mean[j]) / sd, 0, 0.1) << j;
    EXPECT_NEAR(std::sqrt(drawn.covariance(j, j)) / sd, 1.0, 0.06) << j;
  }
}

TEST(BinomialPosterior, IsFoundInEveryHorizon) {
  const Data data = trials_data(8'000, 3, -2.0, 15, 78);
  for (const Horizon horizon : {Horizon::kAll, Horizon::kFading, Horizon::kAdaptive}) {
    EngineConfig config = binomial(3, 4'000);
    config.horizon = horizon;
    if (horizon != Horizon::kAdaptive) config.sampler.chains = 0;
    TestEngine engine(config);
    for (Index i = 0; i < data.rows(); i += 100) {
      engine.feed(data, i, i + 100);
      engine.poll_until_idle();
    }
    for (Index j = 0; j < 4; ++j) {
      const auto p = engine.parameters()[static_cast<std::size_t>(j)];
      EXPECT_NEAR(p.mean, data.truth[j], 4.5 * p.sd) << to_string(horizon) << j;
      EXPECT_LT(p.sd, 0.05) << to_string(horizon) << j;
    }
    const Provenance p = engine.provenance();
    EXPECT_EQ(p.status, PosteriorStatus::kOk) << to_string(horizon) << to_string(p.reason);
    EXPECT_NEAR(p.misspecification_index, 1, 0.25) << to_string(horizon);
  }
}

// Every row is predicted before it is learned, with its own trials.
TEST(BinomialPosterior, IntervalsHold) {
  const Data data = trials_data(12'000, 3, 0.5, 40, 79);
  EngineConfig config = binomial(3, 4'000);
  config.score_predictions = true;
  ManualClock clock(1);
  TestEngine engine(config, &clock);
  feed_by_hundreds(engine, clock, data);
  const Provenance p = engine.provenance();
  // y is discrete, so that coverage is randomised; it is that of about 1,000 rows.
  EXPECT_NEAR(p.coverage_90, 0.9, 4 * std::sqrt(0.09 / 500));
  EXPECT_NEAR(p.conformal_coverage_90, 0.9, 4 * std::sqrt(0.09 / 500));
  EXPECT_EQ(p.status, PosteriorStatus::kOk) << to_string(p.reason);
  PredictionScores scores;
  ASSERT_TRUE(engine->scores(scores));
  EXPECT_GT(scores.means.back().log_score, scores.means.back().reference + 0.2);
}

TEST(BinomialPosterior, AnswersAreOfTheTrialsAskedFor) {
  TestEngine engine(binomial(2, 1'000));
  engine.feed(trials_data(800, 2, 0.3, 20, 81));
  engine.poll_until_idle();
  const std::array<double, 6> x = {1, 2, 1, 2, 1, 2};
  const std::array<double, 3> trials = {1, 10, 1e6};
  const std::array<double, 3> outcomes = {1, 4, 7e5};
  const std::array<double, 2> levels = {0.25, 0.5};
  const std::array<double, 1> thresholds = {4};
  PredictRequest request = question(3, x, outcomes);
  request.trials = trials;
  request.quantile_probabilities = levels;
  request.thresholds = thresholds;
  request.thompson_id = 5;
  const auto answers = engine.answers(request);
  const double p = answers[0].mean;
  for (std::size_t i = 0; i < 3; ++i) {
    const PredictiveSummary& s = answers[i];
    const double n = trials[i];
    EXPECT_EQ(s.linpred_mean, answers[0].linpred_mean);
    EXPECT_NEAR(s.mean, n * p, 1e-9 * n);
    EXPECT_EQ(s.epred_mean, s.mean);
    EXPECT_NEAR(s.epred_sd, n * answers[0].epred_sd, 1e-9 * n);
    EXPECT_NEAR(s.thompson, n * answers[0].thompson, 1e-9 * n);
    EXPECT_NEAR(s.sd * s.sd, s.var_epistemic + s.var_aleatoric, 1e-9 * s.sd * s.sd);
    EXPECT_GE(s.interval_lower, 0);
    EXPECT_LE(s.interval_upper, n);
    EXPECT_LE(s.quantiles[0], s.quantiles[1]);
    EXPECT_TRUE(std::isfinite(s.log_score));
    EXPECT_EQ(s.crps, 0);
    EXPECT_EQ(s.brier, 0);
    EXPECT_EQ(s.entropy, 0);
  }
  EXPECT_EQ(answers[0].exceedance[0], 0);  // of one trial no more than one succeeds
  EXPECT_NEAR(answers[1].exceedance[0], 1 - answers[1].pit, 1e-15);
  EXPECT_NEAR(answers[2].exceedance[0], 1, 1e-12);
  EXPECT_EQ(answers[2].prob_best, 1);  // the most successes are expected of the most trials
  // Without trials each row has one.
  request.trials = {};
  request.outcomes = {};
  EXPECT_EQ(engine.answers(request)[1].mean, answers[0].mean);
}

TEST(BinomialPosterior, EveryAnswerFromNoRowOnIsFinite) {
  const std::array<double, 2> trials = {3, 1e9};
  const std::array<double, 2> outcomes = {3, 1e6};
  expect_every_answer_is_finite(binomial(2, 100), trials_data(60, 2, 1.0, 8, 82), outcomes, trials);
}

}  // namespace
}  // namespace windhover::test::binomial_posterior_test
