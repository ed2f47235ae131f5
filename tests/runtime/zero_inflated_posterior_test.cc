// Zero-inflated Poisson regression in the engine: mode and mean under the probability of a
// structural zero that it learned against the exact ones, that probability against the truth, and
// whether intervals hold.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "windhover/samplers/models/zero_inflated_poisson.h"
#include "windhover/tests/runtime/count_posteriors.h"
#include "windhover/tests/runtime/glm_reference.h"
#include "windhover/tests/runtime/single_pass_streams.h"

namespace windhover::test::zero_inflated_posterior_test {
namespace {

Data inflated(Index rows, Index features, double intercept, double structural, std::uint64_t seed) {
  Data data = inverted_data(rows, features, intercept, seed, [](double, double u) { return u; });
  const VectorXd eta = data.design() * data.truth;
  for (Index i = 0; i < rows; ++i) {
    const double rest = (data.y[i] - structural) / (1 - structural);
    data.y[i] = rest > 0 ? count_of(eta[i], rest) : 0.0;
  }
  return data;
}

ZeroInflatedPoissonLikelihood likelihood_at(double structural) {
  ZeroInflatedPoissonLikelihood likelihood{ModelConfig{}};
  likelihood.set_dispersion(structural / (1 - structural));
  return likelihood;
}

LossSumFunction loss_sum_at(double structural) {
  return [likelihood = likelihood_at(structural)](const VectorXd& eta, const VectorXd& y) {
    return likelihood.loss(eta.data(), y.data(), static_cast<std::size_t>(eta.size()));
  };
}

RowLossFunction loss_at(double structural) {
  return [likelihood = likelihood_at(structural)](double eta, double y) {
    RowLoss loss;
    loss.value = likelihood.loss(&eta, &y, 1);
    likelihood.derivatives(&eta, &y, 1, &loss.first);
    constexpr double kStep = 1e-5;
    double above = 0;
    double below = 0;
    const double right = eta + kStep;
    const double left = eta - kStep;
    likelihood.derivatives(&right, &y, 1, &above);
    likelihood.derivatives(&left, &y, 1, &below);
    loss.second = (above - below) / (2 * kStep);
    return loss;
  };
}

EngineConfig learning(std::uint32_t features, std::uint64_t window) {
  EngineConfig config = small_config("zero-inflated-poisson", features, window);
  config.model.noise_variance = 0;
  return config;
}

TEST(ZeroInflatedPosterior, ModeAndMeanAreTheExactOnesUnderWhatIsLearned) {
  const EngineConfig config = learning(3, 1000);
  const Data data = inflated(600, 3, 1.0, 0.4, 81);
  TestEngine engine(config);
  engine.feed(data);
  engine.poll_until_idle();
  const double structural = engine.provenance().noise_variance;
  const GlmReference reference(data.design(), data.y, config.model, loss_at(structural), data.truth,
                               loss_sum_at(structural));
  expect_modes(engine, reference);
  // The Fisher information is another one than the Hessian's: off by about 1 / sqrt(n).
  const Gaussian exact = reference.moments(100'000, 82).gaussian;
  for (Index j = 0; j < 4; ++j) {
    const auto p = engine.parameters()[static_cast<std::size_t>(j)];
    const double sd = std::sqrt(exact.covariance(j, j));
    EXPECT_NEAR(p.mean, exact.mean[j], 0.05 * sd) << j;
    EXPECT_NEAR(p.sd / sd, 1, 4 / std::sqrt(600.0)) << j;
  }
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), 0U);
}

TEST(ZeroInflatedPosterior, TheShareOfStructuralZerosIsLearned) {
  for (const double truth : {0.05, 0.4, 0.9}) {
    TestEngine engine(learning(3, 6'000));
    const Data data = inflated(5'000, 3, 1.5, truth, 83);
    engine.feed(data);
    engine.poll_until_idle();
    const Provenance p = engine.provenance();
    EXPECT_NEAR(p.noise_variance, truth, 4 * p.noise_variance_sd) << truth;
    // No better known than from as many tosses of a coin, and little worse: a zero of a mean of 4.5
    // is seldom another's.
    const double coin = std::sqrt(truth * (1 - truth) / 5'000);
    EXPECT_GT(p.noise_variance_sd, 0.99 * coin) << truth;
    EXPECT_LT(p.noise_variance_sd, 1.7 * coin) << truth;
    EXPECT_EQ(p.status, PosteriorStatus::kOk) << truth << " " << to_string(p.reason);
    for (Index j = 0; j < 4; ++j) {
      const auto s = engine.parameters()[static_cast<std::size_t>(j)];
      EXPECT_NEAR(s.mean, data.truth[j], 4.5 * s.sd) << truth << " " << j;
    }
  }
}

// Where most counts are zeros, the share of structural ones and the intercept say much the same,
// and steps of both at once went to and fro for good.
TEST(ZeroInflatedPosterior, IsFoundWhereMostZerosAreCounted) {
  for (const double intercept : {-2.0, -1.5}) {
    for (std::uint64_t seed = 1; seed < 8; ++seed) {
      const EngineConfig config = learning(8, 4000);
      const Data data = inflated(3000, 8, intercept, 0.5, seed);
      TestEngine engine(config);
      engine.feed(data);
      engine.poll_until_idle();
      EXPECT_EQ(engine->learner().view().phase, Learner::Phase::kSampling) << intercept << seed;
      EXPECT_FALSE(engine->learner().view().estimator().far_from_mode()) << intercept << seed;
      const double structural = engine.provenance().noise_variance;
      // Passes end where the next step of the mode is below a tenth of an sd, and the share's too.
      expect_modes(engine,
                   GlmReference(data.design(), data.y, config.model, loss_at(structural),
                                data.truth, loss_sum_at(structural)),
                   0.2);
    }
  }
}

TEST(ZeroInflatedPosterior, PoissonCountsAreNoHarm) {
  const Data data = inflated(3'000, 2, 1.0, 0, 84);
  TestEngine engine(learning(2, 4'000));
  engine.feed(data);
  engine.poll_until_idle();
  EXPECT_LT(engine.provenance().noise_variance, 0.03);
  EXPECT_EQ(engine.provenance().status, PosteriorStatus::kOk);
  for (Index j = 0; j < 3; ++j) {
    const auto p = engine.parameters()[static_cast<std::size_t>(j)];
    EXPECT_NEAR(p.mean, data.truth[j], 4.5 * p.sd) << j;
  }
}

TEST(ZeroInflatedPosterior, IntervalsHoldWherePoissonsDoNot) {
  expect_intervals_hold_where_poissons_do_not(learning(3, 4'000),
                                              inflated(12'000, 3, 1.5, 0.3, 85));
}

TEST(ZeroInflatedPosterior, SpreadOfTheDrawsIsThePosteriors) {
  EngineConfig config = learning(3, 800);
  config.draws_per_observation = 0;
  const Data data = inflated(800, 3, 1.0, 0.4, 86);
  TestEngine engine(config);
  const Gaussian drawn = drawn_of(engine, data, 30'000);
  const double structural = engine.provenance().noise_variance;
  const GlmReference reference(data.design(), data.y, config.model, loss_at(structural), data.truth,
                               loss_sum_at(structural));
  const Gaussian exact = reference.moments(100'000, 87).gaussian;
  for (Index j = 0; j < 4; ++j) {
    const double sd = std::sqrt(exact.covariance(j, j));
    EXPECT_NEAR((drawn.mean[j] - exact.mean[j]) / sd, 0, 0.1) << j;
    EXPECT_NEAR(std::sqrt(drawn.covariance(j, j)) / sd, 1.0, 0.06 + 2 / std::sqrt(800.0)) << j;
  }
}

TEST(ZeroInflatedPosterior, IsLearnedInOnePassToo) {
  for (const Horizon horizon : {Horizon::kAll, Horizon::kFading}) {
    EngineConfig config = learning(3, 4'000);
    config.horizon = horizon;
    TestEngine engine(config);
    const Data data = inflated(20'000, 3, 1.5, 0.3, 88);
    for (Index i = 0; i < data.rows(); i += 200) {
      engine.feed(data, i, i + 200);
      engine.poll_until_idle();
    }
    const Provenance p = engine.provenance();
    EXPECT_NEAR(p.noise_variance, 0.3, 5 * p.noise_variance_sd) << to_string(horizon);
    for (Index j = 0; j < 4; ++j) {
      const auto s = engine.parameters()[static_cast<std::size_t>(j)];
      EXPECT_NEAR(s.mean, data.truth[j], 4.5 * s.sd) << to_string(horizon) << " " << j;
    }
  }
}

// Counts that are hardly ever above 0 do not tell a structural zero from another: the prior does,
// and the answers are about right and say that a coefficient's spread is not known.
TEST(ZeroInflatedPosterior, RareCountsLeaveItToThePrior) {
  Data data = inflated(2'000, 1, 0.0, 0, 90);
  const VectorXd u = uniforms(91, data.rows());
  for (Index i = 0; i < data.rows(); ++i) data.y[i] = u[i] < 0.02 ? 1 : 0;
  TestEngine engine(learning(1, 2'000));
  engine.feed(data);
  engine.poll_until_idle();
  const Provenance p = engine.provenance();
  EXPECT_LT(p.noise_variance, 0.4);
  EXPECT_GT(p.noise_variance_sd, 0.05);
  EXPECT_EQ(p.reason, StatusReason::kLawUnknown) << to_string(p.reason);
  const std::array<double, 1> x = {0};
  EXPECT_NEAR(engine.answers(question(1, x))[0].mean, 0.02, 4 * std::sqrt(0.02 / 2'000));
}

// 90 % intervals of the intercept, pi learned: where they would be too narrow the status says so.
TEST(ZeroInflatedPosterior, OkMeansThatIntervalsOfParametersHold) {
  for (const double intercept : {1.5, -0.7}) {
    int ok = 0;
    int held = 0;
    constexpr int kFits = 60;
    for (std::uint64_t seed = 0; seed < kFits; ++seed) {
      const Data data = inflated(1'000, 1, intercept, 0.3, 400 + seed);
      TestEngine engine(learning(1, 1'000));
      engine.feed(data);
      engine.poll_until_idle();
      if (engine.provenance().status != PosteriorStatus::kOk) continue;
      const auto p = engine.parameters()[1];
      ok += 1;
      held += std::abs(p.mean - intercept) < 1.645 * p.sd ? 1 : 0;
    }
    if (intercept < 0) {
      EXPECT_EQ(ok, 0);
    } else {
      ASSERT_GT(ok, kFits / 2);
      // 1.14 too narrow at most: 85 %.
      EXPECT_GT(held, ok * 0.85 - 3 * std::sqrt(0.13 * ok));
    }
  }
}

// Rows that are seen once have been summed under another pi: what it changes of theirs is known to
// first order. Without that the intercept is off by 0.5 sd and more.
TEST(ZeroInflatedPosterior, OnePassComesToWhatAWindowHas) {
  constexpr Index kRows = 4'000;
  for (const double structural : {0.05, 0.3}) {
    EngineConfig config = learning(3, kRows);
    const Data data = inflated(kRows, 3, 0.7, structural, 300);
    TestEngine window(config);
    window.feed(data);
    window.poll_until_idle();
    config.horizon = Horizon::kAll;
    TestEngine once(config);
    for (Index i = 0; i < kRows; i += 50) {
      once.feed(data, i, i + 50);
      once.poll_until_idle();
    }
    const auto expected = window.parameters();
    const auto found = once.parameters();
    for (std::size_t j = 0; j < expected.size(); ++j) {
      EXPECT_NEAR(found[j].mode, expected[j].mode, 0.3 * expected[j].sd) << structural << " " << j;
      EXPECT_NEAR(found[j].sd, expected[j].sd, 0.05 * expected[j].sd) << structural << " " << j;
    }
    EXPECT_NEAR(once.provenance().noise_variance, window.provenance().noise_variance,
                0.5 * window.provenance().noise_variance_sd);
  }
}

TEST(ZeroInflatedPosterior, EveryAnswerFromNoRowOnIsFinite) {
  const std::array<double, 2> outcomes = {0, 1e6};
  expect_every_answer_is_finite(learning(2, 100), inflated(60, 2, 1.0, 0.5, 89), outcomes);
}

}  // namespace
}  // namespace windhover::test::zero_inflated_posterior_test
