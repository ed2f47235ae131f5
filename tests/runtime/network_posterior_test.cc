// Networks in the engine: they learn what no linear model can, their draws say how sure they are,
// and what a network has not got is not served.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::network_posterior_test {
namespace {

EngineConfig network_config(const char* model, std::uint32_t features, std::uint32_t hidden,
                            std::uint64_t window) {
  EngineConfig config = small_config(model, features, window);
  config.model.noise_variance = 0;
  config.model.hidden = hidden;
  config.model.prior_precision = 0.1;
  config.sampler.chains = 4;
  return config;
}

// y = sin(2 x) + 0.2 noise on [-2, 2].
Data sine_data(Index rows, std::uint64_t seed) {
  Data data;
  data.x = RowMatrix(rows, 1);
  data.x.col(0) = (4 * uniforms(seed, rows)).array() - 2;
  data.y = (2 * data.x.col(0)).array().sin().matrix() + 0.2 * normals(seed + 1, rows);
  return data;
}

TEST(NetworkPosterior, RegressionLearnsACurveAndItsNoise) {
  for (const bool two_layers : {false, true}) {
    EngineConfig config = network_config("mlp-linear", 1, 6, 1000);
    if (two_layers) config.model.hidden2 = 3;
    TestEngine engine(config);
    engine.feed(sine_data(1000, 101));
    engine.poll_until_idle();
    EXPECT_EQ(engine->learner().view().phase, Learner::Phase::kSampling);
    const Data fresh = sine_data(400, 111);
    double squares = 0;
    int inside = 0;
    double score = 0;
    for (Index i = 0; i < 400; ++i) {
      const double x = fresh.x(i, 0);
      const double y = fresh.y[i];
      const auto s = engine.answers(question(1, {&x, 1}, {&y, 1}));
      const double error = s[0].mean - std::sin(2 * x);
      squares += error * error / 400;
      inside += y > s[0].interval_lower && y < s[0].interval_upper;
      score += s[0].log_score / 400;
    }
    const Provenance p = engine.provenance();
    std::printf(
        "%d hidden layers: rms error %.3f, noise variance %.4f, coverage %.3f, score %.3f, "
        "status %s, ou ratio %.2f, divergences %d\n",
        two_layers ? 2 : 1, std::sqrt(squares), p.noise_variance, inside / 400.0, score,
        to_string(p.status), p.ou_ratio,
        static_cast<int>(engine->counters().get(RuntimeCounter::kDivergences)));
    // A straight line leaves 0.6; the noise has sd 0.2, the score of the truth is 0.19.
    EXPECT_LT(std::sqrt(squares), 0.06);
    EXPECT_NEAR(p.noise_variance, 0.04, 0.006);
    EXPECT_NEAR(inside / 400.0, 0.9, 0.05);  // three standard errors
    EXPECT_NEAR(score, 0.19, 0.12);
  }
}

// Class 1 where x1 and x2 have the same sign.
Data xor_data(Index rows, std::uint64_t seed) {
  Data data;
  data.x = RowMatrix(rows, 2);
  const VectorXd z = normals(seed, 2 * rows);
  data.y.resize(rows);
  for (Index i = 0; i < rows; ++i) {
    data.x(i, 0) = z[2 * i];
    data.x(i, 1) = z[2 * i + 1];
    data.y[i] = data.x(i, 0) * data.x(i, 1) > 0 ? 1 : 0;
  }
  return data;
}

// A network of one input and three tanh units, by hand.
double curve(const double* theta, double x) {
  double f = theta[9];
  for (int k = 0; k < 3; ++k) f += theta[6 + k] * std::tanh(theta[2 * k] * x + theta[2 * k + 1]);
  return f;
}

constexpr std::array<double, 5> kAt = {-1.8, -0.8, 0.1, 1.2, 1.9};

// Moments of the curve at kAt over many theta.
struct CurveMoments {
  std::array<double, 5> first{};
  std::array<double, 5> second{};
  double count = 0;

  static void add(void* self, std::uint16_t, const double* theta) noexcept {
    auto& m = *static_cast<CurveMoments*>(self);
    for (std::size_t i = 0; i < 5; ++i) {
      const double y = curve(theta, kAt[i]);
      m.first[i] += y;
      m.second[i] += y * y;
    }
    m.count += 1;
  }
  double mean(std::size_t i) const { return first[i] / count; }
  double sd(std::size_t i) const { return std::sqrt(second[i] / count - mean(i) * mean(i)); }
};

// Compares with random-walk Metropolis from the same mode. A network of 3 hidden units, 200 rows.
TEST(LongNetworkPosterior, SpreadOfTheCurveIsThePosteriors) {
  WINDHOVER_SKIP_UNLESS_LONG();
  EngineConfig config = network_config("mlp-linear", 1, 3, 200);
  config.model.noise_variance = 0.04;
  config.draws_per_observation = 0;
  const Data data = sine_data(200, 161);
  TestEngine engine(config);
  engine.feed(data);
  ASSERT_TRUE(engine.poll_until_sampling());
  const auto log_posterior = [&](const VectorXd& theta) {
    double sum = 0;
    for (Index i = 0; i < 200; ++i) {
      sum -= std::pow(data.y[i] - curve(theta.data(), data.x(i, 0)), 2) / 0.08;
    }
    for (Index j = 0; j < 10; ++j) {
      const bool bias = j == 9 || (j < 6 && j % 2 == 1);
      sum -= 0.5 * theta[j] * theta[j] * (bias ? 0.1 : 0.1 * (j < 6 ? 1 : 3));
    }
    return sum;
  };
  CurveMoments exact;
  VectorXd theta =
      Eigen::Map<const VectorXd>(engine->learner().view().estimator().laplace().mode(), 10);
  double value = log_posterior(theta);
  const MatrixXd root = 0.5 * MatrixXd(engine.summary().covariance.llt().matrixL());
  constexpr int kSteps = 1'000'000;
  int accepted = 0;
  for (int block = 0; block < kSteps / 10'000; ++block) {
    const VectorXd z = normals(1000 + static_cast<std::uint64_t>(block), 100'000);
    const VectorXd u = uniforms(5000 + static_cast<std::uint64_t>(block), 10'000);
    for (Index s = 0; s < 10'000; ++s) {
      const VectorXd next = theta + root * z.segment(10 * s, 10);
      const double next_value = log_posterior(next);
      if (std::log(u[s]) < next_value - value) {
        theta = next;
        value = next_value;
        ++accepted;
      }
      if (block >= 10) CurveMoments::add(&exact, 0, theta.data());
    }
  }
  CurveMoments drawn;
  engine.poll_rounds(20'000);
  engine->learner().set_trace(CurveMoments::add, &drawn);
  engine.poll_rounds(200'000);
  std::printf("Metropolis accepts %.2f; divergences %d\n", accepted / double(kSteps),
              static_cast<int>(engine->counters().get(RuntimeCounter::kDivergences)));
  for (std::size_t i = 0; i < 5; ++i) {
    std::printf("x = %.1f: exact %.4f +- %.4f, draws %.4f +- %.4f\n", kAt[i], exact.mean(i),
                exact.sd(i), drawn.mean(i), drawn.sd(i));
    EXPECT_NEAR(drawn.mean(i), exact.mean(i), 0.3 * exact.sd(i));
    EXPECT_NEAR(drawn.sd(i) / exact.sd(i), 1.0, 0.2);
  }
}

TEST(NetworkPosterior, ClassificationLearnsTheExclusiveOr) {
  for (const char* model : {"mlp-logistic", "mlp-softmax", "drbm"}) {
    TestEngine engine(network_config(model, 2, 6, 1000));
    engine.feed(xor_data(1000, 121));
    engine.poll_until_idle();
    const std::array<double, 8> x = {1, 1, -1, -1, 1, -1, -1, 1};
    const std::array<double, 4> outcomes = {1, 1, 0, 0};
    const auto s = engine.answers(question(4, x, outcomes));
    for (std::size_t row = 0; row < 4; ++row) {
      const bool classes = s[row].classes == 2;
      const double p = classes ? s[row].probs[1] : s[row].epred_mean;
      EXPECT_EQ(classes, std::string_view(model) != "mlp-logistic");
      EXPECT_NEAR(p, outcomes[row], 0.2) << model << " " << row;
      EXPECT_NEAR(s[row].log_score, std::log(outcomes[row] == 1 ? p : 1 - p), 1e-9);
      EXPECT_GE(s[row].mutual_information, 0);
      EXPECT_NEAR(s[row].entropy, s[row].expected_entropy + s[row].mutual_information, 1e-12);
      if (classes) {
        EXPECT_NEAR(s[row].probs[0] + s[row].probs[1], 1, 1e-12);
      }
    }
  }
}

TEST(NetworkPosterior, AnswersAreThoseOfTheDraws) {
  EngineConfig config = network_config("mlp-linear", 1, 3, 400);
  TestEngine engine(config);
  engine.feed(sine_data(400, 131));
  engine.poll_until_idle();
  const RowMatrix draws = engine.draws();
  ASSERT_EQ(draws.cols(), 3 * 2 + 4);
  const double x = 0.7;
  VectorXd f(draws.rows());
  for (Index m = 0; m < draws.rows(); ++m) {
    f[m] = draws(m, 9);
    for (Index k = 0; k < 3; ++k) {
      f[m] += draws(m, 6 + k) * std::tanh(draws(m, 2 * k) * x + draws(m, 2 * k + 1));
    }
  }
  Provenance provenance;
  const auto s = engine.answers(question(1, {&x, 1}), &provenance);
  const double variance = (f.array() - f.mean()).square().sum() / 63;
  EXPECT_NEAR(s[0].mean, f.mean(), 1e-12);
  EXPECT_NEAR(s[0].var_epistemic, variance, 1e-12);
  EXPECT_NEAR(s[0].sd, std::sqrt(variance + provenance.noise_variance), 1e-9);
}

TEST(NetworkPosterior, WhatANetworkHasNotGotIsNotServed) {
  TestEngine engine(network_config("mlp-linear", 1, 3, 400));
  engine.feed(sine_data(400, 141));
  engine.poll_until_idle();
  for (const ParameterSummary& p : engine.parameters()) {
    EXPECT_TRUE(std::isnan(p.mode));
    EXPECT_TRUE(std::isnan(p.sd_robust));
    EXPECT_TRUE(std::isfinite(p.mean) && p.sd > 0);
  }
  EXPECT_TRUE(std::isnan(engine.provenance().ou_ratio));
  EXPECT_EQ(engine.provenance().status, PosteriorStatus::kDegraded);
  const double x = 1;
  PredictRequest request = question(1, {&x, 1});
  request.thompson_id = 1;
  std::array<PredictiveSummary, 1> s;
  Provenance provenance;
  EXPECT_EQ(engine.reader().predict(request, s, provenance), Status::kUnsupported);
}

TEST(NetworkPosterior, EveryAnswerFromNoRowOnIsFinite) {
  for (const char* model : {"mlp-linear", "mlp-logistic", "mlp-softmax", "drbm"}) {
    EngineConfig config = network_config(model, 2, 4, 100);
    config.model.classes = 3;
    TestEngine engine(config);
    const Data data = xor_data(60, 151);
    const std::array<double, 4> x = {0.5, 1, 1e6, -1e6};
    const std::array<double, 2> outcomes = {1, 0};
    for (Index n = 0; n < 60; ++n) {
      for (const PredictiveSummary& s : engine.answers(question(2, x, outcomes))) {
        EXPECT_TRUE(std::isfinite(s.mean + s.sd + s.log_score + s.entropy + s.probs[0])) << n;
      }
      engine.feed(data, n, n + 1);
      engine.poll_until_idle();
    }
  }
}

}  // namespace
}  // namespace windhover::test::network_posterior_test
