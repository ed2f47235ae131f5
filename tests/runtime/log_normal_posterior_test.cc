// Log-normal regression in the engine: it is linear regression of log y, to the last bit, and says
// what that means for y.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::log_normal_posterior_test {
namespace {

// y > 0 and its logarithm, as that is computed.
struct Both {
  Data positive;
  Data logarithm;
};
Both both_of(Index rows, Index features, double noise_sd, std::uint64_t seed,
             double magnitude = 1) {
  Both both;
  both.logarithm = linear_data(rows, features, noise_sd, seed);
  both.logarithm.y = both.logarithm.y * magnitude;
  both.positive = both.logarithm;
  for (Index i = 0; i < rows; ++i) {
    both.positive.y[i] = std::exp(both.logarithm.y[i]);
    both.logarithm.y[i] = std::log(both.positive.y[i]);
  }
  return both;
}

EngineConfig with_defaults_of(const char* model, Horizon horizon) {
  EngineConfig config;
  config.model.name = model;
  config.model.features = 3;
  config.horizon = horizon;
  config.window_size = 1000;
  config.window_slack = 1024;
  config.max_frame_rows = 256;
  config.score_predictions = true;
  config.seed = 5;
  return config;
}

TEST(LogNormalPosterior, IsTheConjugateOneOfLogY) {
  const Both both = both_of(2000, 5, 1.5, 11);
  EngineConfig config = small_config("log-normal", 5, 2000);
  config.model.noise_variance = 2.25;
  TestEngine engine(config);
  engine.feed(both.positive);
  engine.poll_until_idle();
  const Gaussian exact =
      linear_posterior(both.logarithm.design(), both.logarithm.y, 2.25, config.model);
  EXPECT_LE(kl(engine.summary(), exact), 1e-6);
}

// Every default, every horizon: parameters, draws, status, scores.
TEST(LogNormalPosterior, IsTheLinearModelsOfLogYToTheLastBit) {
  const Both both = both_of(4000, 3, 0.7, 12);
  const std::vector<double> x = {0.5, -1, 2};
  for (const Horizon horizon :
       {Horizon::kWindow, Horizon::kAdaptive, Horizon::kFading, Horizon::kAll}) {
    ManualClock clock(1);  // by which both have time to score every row
    TestEngine ours(with_defaults_of("log-normal", horizon), &clock);
    TestEngine linear(with_defaults_of("linear", horizon), &clock);
    Data hit = both.positive;
    Data hit_logarithm = both.logarithm;
    hit.x(2500, 0) = hit_logarithm.x(2500, 0) = 1e6;  // what one row may do is judged alike
    for (Index row = 0; row < hit.rows(); row += 100) {
      clock.advance_ns(1'000'000'000);
      ours.feed(hit, row, row + 100);
      ours.poll_rounds(50);
      linear.feed(hit_logarithm, row, row + 100);
      linear.poll_rounds(50);
    }
    const char* what = to_string(horizon);
    Provenance a, b;
    const auto p = ours.parameters(&a);
    const auto q = linear.parameters(&b);
    for (std::size_t j = 0; j < p.size(); ++j) {
      EXPECT_EQ(p[j].mean, q[j].mean) << what;
      EXPECT_EQ(p[j].sd, q[j].sd) << what;
      EXPECT_EQ(p[j].sd_robust, q[j].sd_robust) << what;
      EXPECT_EQ(p[j].q95, q[j].q95) << what;
    }
    EXPECT_EQ(a.status, b.status) << what;
    EXPECT_EQ(a.reason, b.reason) << what;
    EXPECT_EQ(a.steps, b.steps) << what;
    EXPECT_EQ(a.n_eff, b.n_eff) << what;
    EXPECT_EQ(a.noise_variance, b.noise_variance) << what;
    EXPECT_EQ(ours.draws(), linear.draws()) << what;
    EXPECT_EQ(ours->counters().get(RuntimeCounter::kRowsSetAside),
              linear->counters().get(RuntimeCounter::kRowsSetAside))
        << what;

    static constexpr std::array kLevels = {0.01, 0.5, 0.99};
    const std::array<double, 1> outcome = {3.0};
    const std::array<double, 1> log_outcome = {std::log(3.0)};
    PredictRequest asked = question(1, x, outcome);
    PredictRequest log_asked = question(1, x, log_outcome);
    asked.quantile_probabilities = log_asked.quantile_probabilities = kLevels;
    const PredictiveSummary s = ours.answers(asked)[0];
    const PredictiveSummary t = linear.answers(log_asked)[0];
    EXPECT_EQ(s.linpred_mean, t.linpred_mean) << what;
    EXPECT_EQ(s.linpred_sd, t.linpred_sd) << what;
    EXPECT_EQ(s.pit, t.pit) << what;
    EXPECT_NEAR(s.log_score, t.log_score - std::log(3.0), 1e-12) << what;
    EXPECT_EQ(s.interval_lower, std::exp(t.interval_lower)) << what;
    EXPECT_EQ(s.conformal_upper, std::exp(t.conformal_upper)) << what;
    for (std::size_t i = 0; i < kLevels.size(); ++i) {
      EXPECT_EQ(s.quantiles[i], std::exp(t.quantiles[i])) << what;
    }
  }
}

// Y from 10^-6 to 10^6, as prices and durations in any unit are: 90 % intervals hold 90 % of what
// comes, and the log score is that of the truth but for what D coefficients cost.
TEST(LogNormalPosterior, IntervalsAndScoresHoldOverTwelveOrdersOfMagnitude) {
  constexpr Index kLearned = 2000;
  constexpr Index kAsked = 4000;
  Data data = linear_data(kLearned + kAsked, 3, 0.6, 21);
  const VectorXd eta = data.design() * data.truth;
  const double stretch = 4 * std::log(10.0) / (eta.maxCoeff() - eta.minCoeff());
  const VectorXd noise = data.y - eta;
  double least = 1e300, most = 0;
  for (Index i = 0; i < data.rows(); ++i) {
    data.y[i] = std::exp(3 * stretch * eta[i] + noise[i]);
    least = std::min(least, data.y[i]);
    most = std::max(most, data.y[i]);
  }
  EXPECT_GT(most / least, 1e12);
  EngineConfig config = with_defaults_of("log-normal", Horizon::kWindow);
  config.window_size = kLearned;
  TestEngine engine(config);
  engine.feed(data, 0, kLearned);
  engine.poll_until_idle();
  EXPECT_EQ(engine.provenance().status, PosteriorStatus::kOk);
  EXPECT_NEAR(engine.provenance().noise_variance, 0.36, 4.5 * 0.36 * std::sqrt(2.0 / kLearned));
  double held = 0;
  double score = 0;
  double truth = 0;
  for (Index i = kLearned; i < data.rows(); ++i) {
    const std::vector<double> x(data.x.row(i).begin(), data.x.row(i).end());
    const std::array<double, 1> outcome = {data.y[i]};
    const PredictiveSummary s = engine.answers(question(1, x, outcome))[0];
    held += data.y[i] >= s.interval_lower && data.y[i] <= s.interval_upper ? 1 : 0;
    score += s.log_score / kAsked;
    truth +=
        (-0.5 * (std::log(2 * M_PI * 0.36) + noise[i] * noise[i] / 0.36) - std::log(data.y[i])) /
        kAsked;
  }
  // sqrt(0.09 / 4000) = 0.0047; and what 2000 rows leave open of the interval, as much again.
  EXPECT_NEAR(held / kAsked, 0.9, 4 * 0.0067);
  // 4 coefficients and a variance cost 5 / 2 nats over 2000 rows, a few times that at most.
  EXPECT_NEAR(score, truth, 0.01);
}

TEST(LogNormalPosterior, EveryAnswerFromNoRowOnIsFinite) {
  EngineConfig config = with_defaults_of("log-normal", Horizon::kWindow);
  TestEngine engine(config);
  const Both both = both_of(200, 3, 1, 22, 20);  // e^+-100
  const std::array<double, 6> x = {0.3, 1, -1, 1e3, -1e3, 1e3};
  static constexpr std::array kThresholds = {-1.0, 0.0, 1e-300, 1e9};
  static constexpr std::array kOutcomes = {1e-300, 1e99};
  for (Index row = -1; row < both.positive.rows(); ++row) {
    if (row >= 0) engine.feed(both.positive, row, row + 1);
    engine.poll_rounds(20);
    PredictRequest asked = question(2, x, kOutcomes);
    asked.thresholds = kThresholds;
    asked.thompson_id = 3;
    for (const PredictiveSummary& s : engine.answers(asked)) {
      for (const double number :
           {s.mean, s.sd, s.epred_sd, s.interval_upper, s.log_score, s.crps, s.expected_regret,
            s.thompson, s.exceedance[2], s.exceedance[3]}) {
        ASSERT_TRUE(std::isfinite(number)) << row;
      }
      EXPECT_GT(s.interval_lower, 0);
      EXPECT_EQ(s.exceedance[0], 1);
      EXPECT_EQ(s.exceedance[1], 1);
    }
  }
}

TEST(LogNormalPosterior, RefusesWhatHasNoLogarithmAndTakesTheSmallest) {
  TestEngine engine(with_defaults_of("log-normal", Horizon::kWindow));
  Data data = linear_data(6, 3, 1, 23);
  data.y << 0.0, -1.0, 5e-324, 1e-310, 1e34, 2.0;
  std::vector<RefusedRow> refused(6);
  const ObserveResult result = engine->observe(TestEngine::batch(data, 0, 6), refused);
  EXPECT_EQ(result.accepted, 4u);
  EXPECT_EQ(refused[0].reason, Status::kTargetOutOfDomain);
  EXPECT_EQ(refused[1].reason, Status::kTargetOutOfDomain);
  engine.poll_rounds(50);
  for (const ParameterSummary& p : engine.parameters()) EXPECT_TRUE(std::isfinite(p.mean));
  for (const double outcome : {0.0, -2.0}) {
    const std::vector<double> x = {0, 0, 0};
    const std::array<double, 1> outcomes = {outcome};
    std::array<PredictiveSummary, 1> answers;
    Provenance provenance;
    EXPECT_EQ(engine.reader().predict(question(1, x, outcomes), answers, provenance),
              Status::kTargetOutOfDomain);
  }
}

// In cents rather than in euros the posterior is the same but for the intercept, and all that is
// said of y is 100 times as much.
TEST(LogNormalPosterior, TheUnitOfYMovesTheInterceptAlone) {
  const Both both = both_of(1500, 3, 0.5, 24);
  Data cents = both.positive;
  cents.y *= 128;  // no digit is lost
  const std::vector<double> x = {0.1, 0.2, -0.3};
  TestEngine euros(with_defaults_of("log-normal", Horizon::kWindow));
  TestEngine other(with_defaults_of("log-normal", Horizon::kWindow));
  euros.feed(both.positive);
  euros.poll_until_idle();
  other.feed(cents);
  other.poll_until_idle();
  const auto p = euros.parameters();
  const auto q = other.parameters();
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_NEAR(q[j].mean - p[j].mean, j == 3 ? std::log(128) : 0, 1e-9);
    EXPECT_NEAR(q[j].sd / p[j].sd, 1, 1e-9);
  }
  const PredictiveSummary s = euros.answers(question(1, x))[0];
  const PredictiveSummary t = other.answers(question(1, x))[0];
  EXPECT_NEAR(t.mean / s.mean, 128, 1e-6);
  EXPECT_NEAR(t.sd / s.sd, 128, 1e-6);
  EXPECT_NEAR(t.interval_upper / s.interval_upper, 128, 1e-6);
}

// It says which of several x has the largest expected y, and what another costs, in units of y.
TEST(LogNormalPosterior, ComparesExpectedYs) {
  const Both both = both_of(1500, 3, 0.5, 25);
  TestEngine engine(with_defaults_of("log-normal", Horizon::kWindow));
  engine.feed(both.positive);
  engine.poll_until_idle();
  const std::vector<double> x = {1, 0, 0, -1, 0, 0};
  PredictRequest asked = question(2, x);
  const auto answers = engine.answers(asked);
  const std::size_t best = answers[0].mean > answers[1].mean ? 0 : 1;
  EXPECT_NEAR(answers[best].prob_best, 1, 1e-9);
  const double regret = answers[best].epred_mean - answers[1 - best].epred_mean;
  // Means of the retained draws: so far off as they are off the mean.
  const double sd = answers[best].epred_sd + answers[1 - best].epred_sd;
  EXPECT_NEAR(answers[1 - best].expected_regret, regret, sd);
}

}  // namespace
}  // namespace windhover::test::log_normal_posterior_test
