// Negative binomial regression in the engine: mode and mean under the overdispersion it learned
// against the exact ones, the overdispersion against the most likely one, and whether intervals
// hold.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "windhover/samplers/models/negative_binomial.h"
#include "windhover/tests/runtime/count_posteriors.h"
#include "windhover/tests/runtime/glm_reference.h"

namespace windhover::test::negative_binomial_posterior_test {
namespace {

// Inverts the distribution function of counts of mean exp(eta), variance mu + alpha mu^2.
double overdispersed_count(double alpha, double eta, double u) {
  const double r = 1 / alpha;
  const double share = alpha * std::exp(eta) / (1 + alpha * std::exp(eta));
  double term = std::exp(-r * std::log1p(alpha * std::exp(eta)));
  double below = term;
  double k = 0;
  while (below < u && k < 100'000) {
    term *= share * (k + r) / (k + 1);
    below += term;
    ++k;
  }
  return k;
}

Data overdispersed(Index rows, Index features, double intercept, double alpha, std::uint64_t seed) {
  Data data = inverted_data(rows, features, intercept, seed, [](double, double u) { return u; });
  const VectorXd eta = data.design() * data.truth;
  for (Index i = 0; i < rows; ++i) data.y[i] = overdispersed_count(alpha, eta[i], data.y[i]);
  return data;
}

NegativeBinomialLikelihood likelihood_at(double alpha) {
  NegativeBinomialLikelihood likelihood{ModelConfig{}};
  likelihood.set_dispersion(alpha);
  return likelihood;
}

LossSumFunction loss_sum_at(double alpha) {
  return [likelihood = likelihood_at(alpha)](const VectorXd& eta, const VectorXd& y) {
    return likelihood.loss(eta.data(), y.data(), static_cast<std::size_t>(eta.size()));
  };
}

RowLossFunction loss_at(double alpha) {
  return [likelihood = likelihood_at(alpha)](double eta, double y) {
    RowLoss loss;
    double third = 0;
    loss.value = likelihood.loss(&eta, &y, 1);
    likelihood.derivatives(&eta, &y, 1, &loss.first);
    likelihood.curvatures(&eta, &y, 1, &loss.second, &third);
    return loss;
  };
}

EngineConfig learning(std::uint32_t features, std::uint64_t window) {
  EngineConfig config = small_config("negative-binomial", features, window);
  config.model.noise_variance = 0;
  return config;
}

TEST(NegativeBinomialPosterior, ModeAndMeanAreTheExactOnesUnderTheAlphaLearned) {
  const EngineConfig config = learning(3, 1000);
  const Data data = overdispersed(400, 3, 1.0, 0.5, 71);
  TestEngine engine(config);
  engine.feed(data);
  engine.poll_until_idle();
  const double alpha = engine.provenance().noise_variance;
  const GlmReference reference(data.design(), data.y, config.model, loss_at(alpha),
                               VectorXd::Zero(4), loss_sum_at(alpha));
  expect_modes(engine, reference);
  const Gaussian exact = reference.moments(100'000, 72).gaussian;
  EXPECT_LT(kl(engine.summary(), exact), 0.01);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), 0U);
}

// Its posterior sd is about what rows of this alpha say; 4 of them.
TEST(NegativeBinomialPosterior, AlphaIsLearnedFromNearPoissonToVeryScattered) {
  for (const double truth : {0.02, 0.3, 2.0}) {
    TestEngine engine(learning(3, 6'000));
    engine.feed(overdispersed(5'000, 3, 2.0, truth, 73));
    engine.poll_until_idle();
    const Provenance p = engine.provenance();
    EXPECT_NEAR(p.noise_variance, truth, 4 * p.noise_variance_sd) << truth;
    EXPECT_LT(p.noise_variance_sd, 0.3 * truth) << truth;
    EXPECT_EQ(p.status, PosteriorStatus::kOk) << truth << " " << to_string(p.reason);
  }
}

// Where rows scatter as Poisson's do, or less, alpha goes to where it no longer matters.
TEST(NegativeBinomialPosterior, CountsThatScatterLessAreNoHarm) {
  Data data = overdispersed(3'000, 2, 2.0, 1e-9, 74);
  const VectorXd eta = data.design() * data.truth;
  for (const bool hardly : {false, true}) {
    if (hardly) {
      for (Index i = 0; i < data.rows(); ++i) data.y[i] = std::round(std::exp(eta[i]));
    }
    TestEngine engine(learning(2, 4'000));
    engine.feed(data);
    engine.poll_until_idle();
    EXPECT_LT(engine.provenance().noise_variance, 0.01) << hardly;
    for (Index j = 0; j < 3; ++j) {
      const auto p = engine.parameters()[static_cast<std::size_t>(j)];
      EXPECT_NEAR(p.mean, data.truth[j], 4.5 * p.sd) << hardly << " " << j;
    }
  }
}

TEST(NegativeBinomialPosterior, IntervalsHoldWherePoissonsDoNot) {
  expect_intervals_hold_where_poissons_do_not(learning(3, 4'000),
                                              overdispersed(12'000, 3, 1.5, 0.8, 75));
}

TEST(NegativeBinomialPosterior, SpreadOfTheDrawsIsThePosteriors) {
  EngineConfig config = learning(3, 500);
  config.draws_per_observation = 0;
  const Data data = overdispersed(500, 3, 1.0, 0.5, 76);
  TestEngine engine(config);
  const Gaussian drawn = drawn_of(engine, data, 30'000);
  const double alpha = engine.provenance().noise_variance;
  const GlmReference reference(data.design(), data.y, config.model, loss_at(alpha),
                               VectorXd::Zero(4), loss_sum_at(alpha));
  const Gaussian exact = reference.moments(100'000, 77).gaussian;
  for (Index j = 0; j < 4; ++j) {
    const double sd = std::sqrt(exact.covariance(j, j));
    EXPECT_NEAR((drawn.mean[j] - exact.mean[j]) / sd, 0, 0.1) << j;
    EXPECT_NEAR(std::sqrt(drawn.covariance(j, j)) / sd, 1.0, 0.06) << j;
  }
}

// The horizon without a window goes on from sums that it cannot make again.
TEST(NegativeBinomialPosterior, AlphaIsLearnedInOnePassToo) {
  EngineConfig config = learning(3, 20'000);
  config.horizon = Horizon::kAll;
  TestEngine engine(config);
  const Data data = overdispersed(20'000, 3, 2.0, 0.3, 78);
  for (Index i = 0; i < data.rows(); i += 200) {
    engine.feed(data, i, i + 200);
    engine.poll_until_idle();
  }
  const Provenance p = engine.provenance();
  EXPECT_NEAR(p.noise_variance, 0.3, 5 * p.noise_variance_sd);
  for (Index j = 0; j < 4; ++j) {
    const auto s = engine.parameters()[static_cast<std::size_t>(j)];
    EXPECT_NEAR(s.mean, data.truth[j], 4.5 * s.sd) << j;
  }
}

TEST(NegativeBinomialPosterior, EveryAnswerFromNoRowOnIsFinite) {
  const std::array<double, 2> outcomes = {3, 1e6};
  expect_every_answer_is_finite(learning(2, 100), overdispersed(60, 2, 1.0, 1.0, 79), outcomes);
}

}  // namespace
}  // namespace windhover::test::negative_binomial_posterior_test
