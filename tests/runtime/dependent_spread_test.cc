// Rows that depend on one another: predictions are as wide as sd_robust says, and the answer says
// which it was.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string_view>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::dependent_spread_test {
namespace {

constexpr Index kRows = 2000;

// Errors of neighbours have the correlation rho.
Data stream(double rho, std::uint64_t seed, Index rows = kRows) {
  Data data = linear_data(rows, 3, 0.0, seed);
  data.y += autoregressive_noise(rows, rho, seed + 1000);
  return data;
}

EngineConfig config_with(DependentSpread spread) {
  EngineConfig config = small_config("linear", 3, kRows);
  config.dependent_spread = spread;
  return config;
}

PredictiveSummary answer_at(TestEngine& engine, const std::array<double, 3>& x,
                            Provenance& provenance, bool posterior_spread = false) {
  PredictRequest request;
  request.rows = 1;
  request.posterior_spread = posterior_spread;
  request.features = x;
  return engine.answers(request, &provenance)[0];
}

// What the rows say of x is as much wider as they make the parameters that it is made of; what the
// prior says of it stays.
TEST(DependentSpread, IsThatOfSdRobustWhereTheRowsSayMore) {
  constexpr std::array<double, 3> kX = {1, -2, 0.5};
  const VectorXd x{{1, -2, 0.5, 1}};
  const VectorXd constant{{0, 0, 0, 1}};
  EngineConfig config = config_with(DependentSpread::kRobust);
  config.model.prior_precision = 200;  // so that it has a part
  const VectorXd precision{{200, 200, 200, config.model.intercept_precision}};
  TestEngine engine(config);
  engine.feed(stream(0.8, 1));
  engine.poll_until_idle();
  Provenance p;
  const double sd = answer_at(engine, kX, p).linpred_sd;
  EXPECT_EQ(p.reason, StatusReason::kDependentRows);
  EXPECT_TRUE(p.robust_spread);
  const MatrixXd covariance = engine.summary().covariance;
  const MatrixXd pull = covariance * precision.asDiagonal() * covariance;
  const auto parameters = engine.parameters();
  double own = 0;
  double robust = 0;
  for (Index j = 0; j < 4; ++j) {
    const auto& of = parameters[static_cast<std::size_t>(j)];
    own += x[j] * x[j] * (of.sd * of.sd - pull(j, j));
    robust += x[j] * x[j] * (of.sd_robust * of.sd_robust - pull(j, j));
  }
  const double by_prior = x.dot(pull * x);
  EXPECT_GT(by_prior, 0.02 * x.dot(covariance * x));
  const double by_rows = x.dot(covariance * x) - by_prior;
  EXPECT_NEAR(sd / std::sqrt(by_prior + robust / own * by_rows), 1, 1e-6);
  EXPECT_NEAR(answer_at(engine, {0, 0, 0}, p).linpred_sd / parameters[3].sd_robust, 1, 1e-9);
  EXPECT_NEAR(answer_at(engine, {0, 0, 0}, p, true).linpred_sd / parameters[3].sd, 1, 1e-9);
}

// Of categories with a column each and a constant only sums are known to the rows, and each
// parameter by itself is the prior's; intervals of a category's mean hold all the same.
TEST(DependentSpread, IntervalsOfTheMeanOfACategoryHold) {
  constexpr int kStreams = 120;
  int held = 0;
  for (int i = 0; i < kStreams; ++i) {
    Data data = stream(0.8, 400 + static_cast<std::uint64_t>(i));
    for (Index row = 0; row < kRows; ++row) {
      const auto category = static_cast<Index>(data.x(row, 0) > 0) + (data.x(row, 1) > 0 ? 1 : 0);
      data.y[row] -= data.x.row(row).dot(data.truth.head(3));
      data.x.row(row).setZero();
      data.x(row, category) = 1;
      data.y[row] += static_cast<double>(category);
    }
    EngineConfig config = config_with(DependentSpread::kRobust);
    config.model.prior_precision = config.model.intercept_precision = 0.01;
    TestEngine engine(config);
    engine.feed(data);
    engine.poll_until_idle();
    Provenance p;
    const PredictiveSummary s = answer_at(engine, {0, 1, 0}, p);
    held += std::abs(s.linpred_mean - data.truth[3] - 1) < 1.645 * s.linpred_sd;
  }
  EXPECT_NEAR(held / static_cast<double>(kStreams), 0.9, 3.3 * std::sqrt(0.09 / kStreams));
}

// A row that alone knows of a category leaves next to nothing, from which sd_robust is far too
// small.
TEST(DependentSpread, PredictionsAreNeverNarrower) {
  constexpr std::array<double, 3> kCategory = {0, 0, 1};
  Data data = stream(0.8, 8);
  data.x.col(2).setZero();
  data.x(kRows / 2, 2) = 1;
  EngineConfig config = config_with(DependentSpread::kRobust);
  config.model.prior_precision = 0.01;
  TestEngine engine(config);
  engine.feed(data);
  engine.poll_until_idle();
  Provenance p;
  const double own = answer_at(engine, kCategory, p, true).linpred_sd;
  const auto parameters = engine.parameters();
  EXPECT_LT(parameters[2].sd_robust, 0.5 * parameters[2].sd);
  EXPECT_GE(answer_at(engine, kCategory, p).linpred_sd, own);
  EXPECT_TRUE(p.robust_spread);
}

// The stream of a model: the errors of its linear predictor, or of y, hang together.
Data stream_of(const char* model) {
  Data data = stream(0.95, 6);
  if (std::string_view(model) != "softmax") return data;
  for (double& y : data.y) y = y < -1 ? 0 : y < 1 ? 1 : 2;
  return data;
}

// A question may ask for the posterior's own: the answer is then that of an engine that knows of
// nothing else.
TEST(DependentSpread, IsThePosteriorsWhereTheQuestionWantsThat) {
  constexpr std::array<double, 3> kX = {1, -2, 0.5};
  for (const char* model : {"linear", "heteroscedastic", "softmax"}) {
    const Data data = stream_of(model);
    std::array<PredictiveSummary, 3> answers;  // robust, posterior by question, by configuration
    std::array<Provenance, 3> provenances;
    for (const bool posterior : {false, true}) {
      EngineConfig config = small_config(model, 3, kRows);
      config.model.classes = std::string_view(model) == "softmax" ? 3 : 2;
      if (posterior) config.dependent_spread = DependentSpread::kPosterior;
      TestEngine engine(config);
      engine.feed(data);
      engine.poll_until_idle();
      if (posterior) {
        answers[2] = answer_at(engine, kX, provenances[2]);
      } else {
        answers[0] = answer_at(engine, kX, provenances[0]);
        answers[1] = answer_at(engine, kX, provenances[1], true);
      }
    }
    EXPECT_TRUE(provenances[0].robust_spread) << model;
    EXPECT_FALSE(provenances[1].robust_spread) << model;
    EXPECT_FALSE(provenances[2].robust_spread) << model;
    const bool classes = answers[0].classes > 0;
    const auto sd = [classes](const PredictiveSummary& s) {
      return classes ? s.probs_sd[1] : s.linpred_sd;
    };
    EXPECT_GT(sd(answers[0]), 1.5 * sd(answers[1])) << model;
    EXPECT_EQ(sd(answers[1]), sd(answers[2])) << model;
    EXPECT_EQ(answers[1].interval_upper, answers[2].interval_upper) << model;
  }
}

// At x = 0, where what neighbours have in common matters most, 90 % intervals of the mean of y hold
// the truth, of 1000 streams in 91.5 %. By sd they hold 43 %: the errors' long-run variance is 9
// times as large.
TEST(DependentSpread, IntervalsOfTheMeanHold) {
  constexpr int kStreams = 120;
  constexpr std::array<double, 3> kZero = {0, 0, 0};
  const double binomial = std::sqrt(0.09 / kStreams);
  for (const DependentSpread spread : {DependentSpread::kRobust, DependentSpread::kPosterior}) {
    int held = 0;
    for (int i = 0; i < kStreams; ++i) {
      const Data data = stream(0.8, 50 + static_cast<std::uint64_t>(i));
      TestEngine engine(config_with(spread));
      engine.feed(data);
      engine.poll_until_idle();
      Provenance p;
      const PredictiveSummary s = answer_at(engine, kZero, p);
      held += std::abs(s.linpred_mean - data.truth[3]) < 1.645 * s.linpred_sd;
    }
    const double share = held / static_cast<double>(kStreams);
    if (spread == DependentSpread::kRobust) {
      EXPECT_NEAR(share, 0.9, 3.3 * binomial);
    } else {
      EXPECT_LT(share, 0.6);
    }
  }
}

TEST(DependentSpread, IndependentRowsKeepThePosteriors) {
  TestEngine engine(config_with(DependentSpread::kRobust));
  engine.feed(stream(0, 2));
  engine.poll_until_idle();
  EXPECT_FALSE(engine.provenance().robust_spread);
  // Rows that depend and then do not: once these are all there is, the posterior's is served again.
  const Data before = stream(0.8, 3);
  TestEngine changing(config_with(DependentSpread::kRobust));
  changing.feed(before);
  changing.poll_until_idle();
  EXPECT_TRUE(changing.provenance().robust_spread);
  Data after = stream(0, 4);
  after.y += after.design() * (before.truth - after.truth);
  changing.feed(after);
  changing.poll_until_idle();
  Provenance p;
  const VectorXd x{{1, 1, 1, 1}};
  const double sd = answer_at(changing, {1, 1, 1}, p).linpred_sd;
  EXPECT_FALSE(p.robust_spread);
  EXPECT_NEAR(sd / std::sqrt(x.dot(changing.summary().covariance * x)), 1, 1e-9);
}

// A walking level knows what neighbours have in common.
TEST(DependentSpread, IsThePosteriorsWhereALevelIsFollowed) {
  EngineConfig config = config_with(DependentSpread::kRobust);
  config.horizon = Horizon::kAdaptive;
  config.model.noise_variance = 0;
  const Data data = stream(0.95, 5);
  for (const Index at_once : {5, 500}) {
    TestEngine engine(config);
    for (Index i = 0; i < kRows; i += at_once) {
      engine.feed(data, i, i + at_once);
      engine.poll_until_idle();
    }
    const Provenance p = engine.provenance();
    EXPECT_EQ(p.reason, StatusReason::kDependentRows) << at_once;
    EXPECT_EQ(p.robust_spread, at_once > 5) << at_once;
  }
}

}  // namespace
}  // namespace windhover::test::dependent_spread_test
