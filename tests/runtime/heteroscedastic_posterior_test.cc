// Linear regression whose noise depends on x, in the engine: the posterior against the exact one,
// intervals where the noise is small and where it is large, and the units of y.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/units_fixture.h"

namespace windhover::test::heteroscedastic_posterior_test {
namespace {

// theta: the log-variance's block, then the mean's.
Data scattered(Index rows, Index features, std::uint64_t seed) {
  Data data = linear_data(rows, features, 1.0, seed);
  const VectorXd z = normals(seed + 1, rows);
  const VectorXd mean = data.design() * data.truth;
  VectorXd of_variance = VectorXd::Zero(features + 1);
  of_variance[0] = 1.0;
  of_variance[features] = -0.5;
  const VectorXd log_variance = data.design() * of_variance;
  for (Index i = 0; i < rows; ++i) data.y[i] = mean[i] + std::exp(0.5 * log_variance[i]) * z[i];
  VectorXd truth(2 * features + 2);
  truth << of_variance, data.truth;
  data.truth = truth;
  return data;
}

MatrixXd design_of(const Data& data) {
  MatrixXd design(data.rows(), data.x.cols() + 1);
  design << data.x, VectorXd::Ones(data.rows());
  return design;
}

double log_posterior(const MatrixXd& design, const VectorXd& y, const VectorXd& prior,
                     const VectorXd& theta) {
  const Index c = design.cols();
  const VectorXd s = design * theta.head(c);
  const VectorXd off = y - design * theta.tail(c);
  const double rows = (s.array() + off.array().square() * (-s.array()).exp()).sum();
  return -0.5 * (rows + prior.dot(theta.cwiseAbs2()));
}

// The posterior by importance sampling from t_5 about the engine's own mean, 1.3 times as wide.
Gaussian exact_posterior(TestEngine& engine, const Data& data, const ModelConfig& model,
                         std::uint64_t seed) {
  constexpr Index kSamples = 200'000;
  const Gaussian about = engine.summary();
  const Index d = about.mean.size();
  VectorXd prior(d);
  find_model(model.name)->prior_precision(model, prior.data());
  const MatrixXd design = design_of(data);
  const MatrixXd root = MatrixXd(about.covariance.llt().matrixL()) * 1.3;
  const VectorXd z = normals(seed, kSamples * (d + 5));
  Gaussian exact{VectorXd::Zero(d), MatrixXd::Zero(d, d)};
  const double at_mean = log_posterior(design, data.y, prior, about.mean);
  double total = 0;
  double squares = 0;
  for (Index k = 0; k < kSamples; ++k) {
    const auto of = z.segment(k * (d + 5), d + 5);
    const double chi = of.tail(5).squaredNorm() / 5;
    const VectorXd step = root * of.head(d) / std::sqrt(chi);
    const double log_t =
        -0.5 * static_cast<double>(d + 5) * std::log1p(of.head(d).squaredNorm() / chi / 5);
    const double w =
        std::exp(log_posterior(design, data.y, prior, about.mean + step) - at_mean - log_t);
    total += w;
    squares += w * w;
    exact.mean += w * step;
    exact.covariance += w * step * step.transpose();
  }
  EXPECT_GT(total * total / squares, 0.1 * kSamples);
  exact.mean /= total;
  exact.covariance = exact.covariance / total - exact.mean * exact.mean.transpose();
  exact.mean += about.mean;
  return exact;
}

EngineConfig config_of(std::uint32_t features, std::uint64_t window) {
  EngineConfig config = small_config("heteroscedastic", features, window);
  config.model.noise_variance = 0;
  return config;
}

TEST(HeteroscedasticPosterior, IsTheExactOne) {
  constexpr Index kRows = 800;
  const EngineConfig config = config_of(3, 1000);
  const Data data = scattered(kRows, 3, 91);
  TestEngine engine(config);
  engine.feed(data);
  engine.poll_until_idle();
  const Gaussian exact = exact_posterior(engine, data, config.model, 92);
  const Gaussian served = engine.summary();
  for (Index j = 0; j < 8; ++j) {
    const double sd = std::sqrt(exact.covariance(j, j));
    EXPECT_NEAR(served.mean[j], exact.mean[j], 0.1 * sd) << j;
    // The Fisher information is the Hessian's expectation over y.
    EXPECT_NEAR(std::sqrt(served.covariance(j, j)) / sd, 1, 4 / std::sqrt(double{kRows})) << j;
    EXPECT_NEAR(exact.mean[j], data.truth[j], 4.5 * sd) << j;
  }
  EXPECT_EQ(engine.provenance().status, PosteriorStatus::kOk)
      << to_string(engine.provenance().reason);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), 0U);
}

TEST(HeteroscedasticPosterior, SpreadOfTheDrawsIsThePosteriors) {
  EngineConfig config = config_of(3, 800);
  config.draws_per_observation = 0;
  const Data data = scattered(800, 3, 93);
  TestEngine engine(config);
  const Gaussian drawn = drawn_of(engine, data, 30'000);
  const Gaussian exact = exact_posterior(engine, data, config.model, 94);
  for (Index j = 0; j < 8; ++j) {
    const double sd = std::sqrt(exact.covariance(j, j));
    EXPECT_NEAR((drawn.mean[j] - exact.mean[j]) / sd, 0, 0.15) << j;
    EXPECT_NEAR(std::sqrt(drawn.covariance(j, j)) / sd, 1.0, 0.06 + 4 / std::sqrt(800.0)) << j;
  }
}

// 90 % where rows scatter little, and where they scatter much.
TEST(HeteroscedasticPosterior, IntervalsHoldEverywhere) {
  const Data data = scattered(6'000, 2, 95);
  const Data next = scattered(6'000, 2, 95 + 10);
  for (const bool constant : {false, true}) {
    EngineConfig config = config_of(2, 6'000);
    if (constant) config.model.name = "linear";
    TestEngine engine(config);
    engine.feed(data);
    engine.poll_until_idle();
    const VectorXd mean = design_of(next) * data.truth.tail(3);
    const VectorXd log_variance = design_of(next) * data.truth.head(3);
    const VectorXd z = normals(97, next.rows());
    std::array<double, 2> rows{};
    std::array<double, 2> held{};
    for (Index i = 0; i < next.rows(); ++i) {
      const VectorXd x = next.x.row(i).transpose();
      const auto answer = engine.answers(question(1, std::span(x.data(), 2)))[0];
      const double y = mean[i] + std::exp(0.5 * log_variance[i]) * z[i];
      const std::size_t much = next.x(i, 0) > 0 ? 1 : 0;
      ++rows[much];
      if (y >= answer.interval_lower && y <= answer.interval_upper) ++held[much];
    }
    for (const std::size_t much : {0, 1}) {
      const double share = held[much] / rows[much];
      // The error of a share of so many rows, and 0.01 for what the posterior leaves open.
      const double error = 4 * std::sqrt(0.09 / rows[much]) + 0.01;
      if (constant) {
        EXPECT_GT(std::abs(share - 0.9), error) << much;
      } else {
        EXPECT_NEAR(share, 0.9, error) << much;
      }
    }
  }
}

// y in other units, with every default: the same answers in those.
TEST(HeteroscedasticPosterior, AnswersAreInTheUnitsOfTheRows) {
  const Data data = scattered(2'000, 2, 98);
  const std::array<double, 2> x = {0.5, -1};
  const std::array<double, 1> outcome = {1.5};
  PredictiveSummary before;
  double intercept = 0;
  for (const double unit : {1.0, 1e-6, 1e6}) {
    for (const double shift : {0.0, 300.0}) {
      Data other = data;
      other.y = unit * (data.y.array() + shift);
      TestEngine engine(units_test::default_prior("heteroscedastic", 2, 4'000));
      engine.feed(other);
      engine.poll_until_idle();
      const std::array<double, 1> y = {unit * (outcome[0] + shift)};
      const auto answer = engine.answers(question(1, x, y))[0];
      const auto parameters = engine.parameters();
      if (unit == 1 && shift == 0) {
        before = answer;
        intercept = parameters[2].mean;
        const double truth = std::exp(0.5 * (data.truth[0] * x[0] + data.truth[2]));
        EXPECT_NEAR(std::sqrt(answer.var_aleatoric) / truth, 1, 0.15);
      }
      EXPECT_NEAR(answer.mean / unit - shift, before.mean, 1e-4 * before.sd);
      EXPECT_NEAR(answer.sd / unit, before.sd, 1e-4 * before.sd);
      EXPECT_NEAR(answer.log_score + std::log(unit), before.log_score, 1e-4);
      EXPECT_NEAR(parameters[2].mean - 2 * std::log(unit), intercept, 1e-4);
    }
  }
}

TEST(HeteroscedasticPosterior, TargetsWithoutNoiseAreNoHarm) {
  Data data = scattered(1'000, 2, 99);
  data.y = design_of(data) * data.truth.tail(3);
  TestEngine engine(units_test::default_prior("heteroscedastic", 2, 2'000));
  engine.feed(data);
  engine.poll_until_idle();
  const std::array<double, 2> x = {0.5, -1};
  const auto answer = engine.answers(question(1, x))[0];
  EXPECT_TRUE(std::isfinite(answer.mean + answer.sd + answer.interval_lower));
  const double truth = 0.5 * data.truth[3] - data.truth[4] + data.truth[5];
  EXPECT_NEAR(answer.mean, truth, 0.01);
  EXPECT_LT(answer.sd, 0.1);
}

TEST(HeteroscedasticPosterior, IsLearnedInOnePassToo) {
  for (const Horizon horizon : {Horizon::kAll, Horizon::kFading}) {
    EngineConfig config = config_of(2, 4'000);
    config.horizon = horizon;
    TestEngine engine(config);
    const Data data = scattered(20'000, 2, 100);
    for (Index i = 0; i < data.rows(); i += 200) {
      engine.feed(data, i, i + 200);
      engine.poll_until_idle();
    }
    for (Index j = 0; j < 6; ++j) {
      const auto s = engine.parameters()[static_cast<std::size_t>(j)];
      EXPECT_NEAR(s.mean, data.truth[j], 4.5 * s.sd) << to_string(horizon) << " " << j;
    }
    EXPECT_EQ(engine.provenance().status, PosteriorStatus::kOk)
        << to_string(horizon) << to_string(engine.provenance().reason);
  }
}

TEST(HeteroscedasticPosterior, EveryAnswerFromNoRowOnIsFinite) {
  TestEngine engine(config_of(2, 100));
  const Data data = scattered(60, 2, 101);
  const std::array<double, 4> x = {1, 2, 100, -100};
  const std::array<double, 2> outcomes = {0, 1e6};
  for (Index n = 0; n < 60; ++n) {
    for (const PredictiveSummary& s : engine.answers(question(2, x, outcomes))) {
      EXPECT_TRUE(std::isfinite(s.mean + s.sd + s.epred_sd + s.log_score + s.pit + s.crps)) << n;
      EXPECT_LE(s.interval_lower, s.interval_upper);
    }
    engine.feed(data, n, n + 1);
    engine.poll_until_idle();
  }
}

// The Fisher information is another curvature than the rows' own, most of all where they are few:
// the cold start comes to the mode all the same, whichever rows they are.
TEST(HeteroscedasticPosterior, BeginsWithTheFirstRowsThatSuffice) {
  for (const std::uint32_t features : {1u, 5u, 20u}) {
    for (std::uint64_t seed = 200; seed < 220; ++seed) {
      EngineConfig config = units_test::default_prior("heteroscedastic", features, 10'000);
      TestEngine engine(config);
      engine.feed(scattered(static_cast<Index>(cold_start_rows(config)), features, seed));
      engine.poll_until_idle();
      EXPECT_NE(engine.provenance().status, PosteriorStatus::kWarmingUp)
          << features << " features, seed " << seed;
    }
  }
}

// Where y is suddenly elsewhere, or in another unit, the variance there was is too small by factors
// of thousands: it is learned anew, and one far row is no harm that lasts.
TEST(HeteroscedasticPosterior, AnotherLevelAnotherUnitAndAFarRowAreFollowed) {
  for (const int change : {0, 1, 2}) {
    Data data = scattered(1'500, 2, 102);
    for (Index i = 500; i < data.rows(); ++i) {
      if (change == 0) data.y[i] += 300;
      if (change == 1) data.y[i] *= 30;
    }
    if (change == 2) data.y[500] = 1e4;
    TestEngine engine(units_test::default_prior("heteroscedastic", 2, 300));
    for (Index i = 0; i < data.rows(); i += 20) {
      engine.feed(data, i, i + 20);
      engine.poll_until_idle();
      // At worst a row scatters as the farthest does; a step that is not to be trusted is not
      // served.
      const std::array<double, 2> there = {0.5, -1};
      EXPECT_LT(engine.answers(question(1, there))[0].sd, 10 * data.y.cwiseAbs().maxCoeff()) << i;
    }
    EXPECT_NE(engine.provenance().status, PosteriorStatus::kWarmingUp) << change;
    const std::array<double, 2> x = {0.5, -1};
    const auto answer = engine.answers(question(1, x))[0];
    const double mean = 0.5 * data.truth[3] - data.truth[4] + data.truth[5];
    const double sd = std::exp(0.5 * (0.5 * data.truth[0] + data.truth[2]));
    const double unit = change == 1 ? 30 : 1;
    if (change == 0) {  // the units of before make of it an intercept beyond belief, and it says so
      EXPECT_EQ(engine.provenance().reason, StatusReason::kPrior);
      EXPECT_GT(answer.interval_upper, mean + 300);
      continue;
    }
    EXPECT_NEAR(answer.mean, unit * mean, 0.5 * unit * sd + 0.5) << change;
    EXPECT_NEAR(std::log(answer.sd / (unit * sd)), 0, 0.4) << change;
  }
}

TEST(HeteroscedasticPosterior, WantsAnIntercept) {
  EngineConfig config = config_of(2, 100);
  config.model.intercept = false;
  const Result<std::size_t> footprint = Engine::footprint(config);
  ASSERT_FALSE(footprint.ok());
}

}  // namespace
}  // namespace windhover::test::heteroscedastic_posterior_test
