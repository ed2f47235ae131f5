// Streams that a service meets sooner or later: rows far beyond the others, bursts that outrun the
// learner, rows that arrive while the first are still looked at.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::disturbed_stream_test {
namespace {

Data part(const Data& data, Index first, Index rows) {
  return {data.x.middleRows(first, rows), data.y.segment(first, rows), data.truth};
}

Gaussian posterior_of(const Data& data, Index first, Index rows, const EngineConfig& config) {
  const Data some = part(data, first, rows);
  return linear_posterior(some.design(), some.y, config.model.noise_variance, config.model);
}

// Frames come in with a round of the learner between them, far faster than it can follow: the
// draws it ends with are those of the rows it ends with.
TEST(DisturbedStream, BurstsLeaveDrawsOfTheRowsThereAre) {
  constexpr Index kWindow = 2000;
  constexpr Index kBurst = 5000;
  const Data data = linear_data(6 * kBurst, 2, 1.0, 91);
  TestEngine engine(small_config("linear", 2, kWindow));
  for (Index burst = 0; burst < 6; ++burst) {
    for (Index row = burst * kBurst; row < (burst + 1) * kBurst; row += 250) {
      engine.feed(data, row, row + 250);
      engine->poll(1);
    }
    engine.poll_until_idle();
    const Provenance p = engine.provenance();
    EXPECT_EQ(p.status, PosteriorStatus::kOk)
        << "burst " << burst << ": " << to_string(p.reason) << ", ou_ratio " << p.ou_ratio;
    const Gaussian exact =
        posterior_of(data, (burst + 1) * kBurst - kWindow, kWindow, engine->config());
    const RowMatrix draws = engine.draws();
    const auto count = static_cast<double>(draws.rows());
    for (Index j = 0; j < 3; ++j) {
      const VectorXd off = draws.col(j).array() - exact.mean[j];
      // The mean square of 64 draws, all but independent: a relative error of sqrt(2 / 64), four of
      // them.
      EXPECT_NEAR(off.squaredNorm() / count / exact.covariance(j, j), 1.0, 4 * std::sqrt(2 / count))
          << "burst " << burst << ", parameter " << j;
    }
  }
}

// Chains that have left for what is no number while there was nothing to draw for: the next rows,
// too few to draw for either, must not be ignored for ever.
TEST(DisturbedStream, RestingChainsThatAreNotNumbersStartAgain) {
  constexpr Index kWindow = 2000;
  const Data data = linear_data(2 * kWindow + 50, 2, 1.0, 93);
  EngineConfig config = small_config("linear", 2, kWindow);
  config.sampler.minibatch_size = 100;
  config.draws_per_observation = 1;
  TestEngine engine(config);
  engine.feed(data, 0, 2 * kWindow);
  engine.poll_until_idle();
  ASSERT_EQ(engine.provenance().status, PosteriorStatus::kOk);
  const std::span<const double> chains = engine->learner().view().chains;
  std::fill_n(const_cast<double*>(chains.data()), chains.size(), NAN);
  engine.feed(data, 2 * kWindow, data.rows());
  EXPECT_LT(engine->poll(100'000), 100'000);
  for (const double theta : chains) EXPECT_TRUE(std::isfinite(theta));
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), chains.size() / 3);
}

// What a target far off has done to noise variance, scores and C is gone with it.
TEST(DisturbedStream, OutlierThatHasLeftLeavesNothingBehind) {
  constexpr Index kWindow = 2000;
  for (const double size : {1e2, 1e4, 1e6, 1e10, 1e12, 1e15, 1e30}) {
    Data data = linear_data(9000, 2, 1.0, 92);
    data.y[3000] = size;
    EngineConfig config = small_config("linear", 2, kWindow);
    config.model.noise_variance = 0;
    TestEngine engine(config);
    TestEngine fresh(config);
    engine.feed(data, 0, 4000);
    engine.poll_until_idle();
    engine.feed(data, 4000, 9000);
    engine.poll_until_idle();
    fresh.feed(data, 9000 - kWindow, 9000);
    fresh.poll_until_idle();
    Provenance p;
    const auto after = engine.parameters(&p);
    const auto expected = fresh.parameters();
    EXPECT_EQ(p.status, PosteriorStatus::kOk) << size << ": " << to_string(p.reason);
    EXPECT_NEAR(p.misspecification_index, 1.0, 0.3) << size;
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(after[j].mean, expected[j].mean, 1e-6) << size;
      EXPECT_NEAR(after[j].sd / expected[j].sd, 1.0, 1e-3) << size;
      EXPECT_NEAR(after[j].sd_robust / expected[j].sd_robust, 1.0, 0.05) << size;
    }
  }
}

// Rows leave one sum by subtraction, which rounding makes worthless after a row so large.
TEST(DisturbedStream, FeatureFarOffThatHasLeftLeavesNothingBehind) {
  constexpr Index kWindow = 1000;
  for (const double size : {1e6, 1e9, 1e12, 1e20, 1e34}) {
    Data data = linear_data(4000, 2, 1.0, 93);
    data.x(1500, 0) = size;
    const EngineConfig config = small_config("linear", 2, kWindow);
    TestEngine engine(config);
    engine.feed(data, 0, 2000);
    engine.poll_until_idle();
    // The steps are small, so that each row is taken out as it goes.
    for (Index row = 2000; row < 2505; ++row) {
      engine.feed(data, row, row + 1);
      engine.poll_rounds(2);
    }
    engine.poll_until_idle();
    const Gaussian now = engine.summary();
    const Gaussian exact = posterior_of(data, 2505 - kWindow, kWindow, config);
    const VectorXd sd = exact.covariance.diagonal().cwiseSqrt();
    for (Index j = 0; j < 3; ++j) {
      EXPECT_NEAR(now.mean[j], exact.mean[j], 1e-6 * sd[j]) << size;
      EXPECT_NEAR(std::sqrt(now.covariance(j, j)) / sd[j], 1.0, 1e-6) << size;
    }
  }
}

// As long as the window grows the summary is exactly that of the rows that its `sequence` says.
TEST(DisturbedStream, SequenceCountsTheRowsOfTheAnswer) {
  const Data data = linear_data(20'000, 3, 1.0, 94);
  EngineConfig config = small_config("linear", 3, 30'000);
  config.window_slack = 8192;
  TestEngine engine(config);
  std::uint64_t last = 0;
  int answers = 0;
  for (Index row = 0; row < 20'000; row += 250) {
    engine.feed(data, row, row + 250);
    engine.poll_rounds(3);
    Provenance p;
    const auto parameters = engine.parameters(&p);
    ASSERT_LE(p.sequence, p.n_seen);
    ASSERT_GE(p.sequence, last);
    if (p.sequence == last) continue;
    last = p.sequence;
    ++answers;
    const Gaussian exact = posterior_of(data, 0, static_cast<Index>(p.sequence), config);
    for (Index j = 0; j < 4; ++j) {
      const ParameterSummary& served = parameters[static_cast<std::size_t>(j)];
      const double sd = std::sqrt(exact.covariance(j, j));
      EXPECT_NEAR(served.mean, exact.mean[j], 1e-6 * sd) << p.sequence;
      EXPECT_NEAR(served.sd, sd, 1e-6 * sd) << p.sequence;
    }
  }
  EXPECT_GT(answers, 10);
}

// Newton's method over the first frame takes many rounds, and rows arrive meanwhile: nothing that
// it passes through is served, and no certainty of rows it has not seen.
TEST(DisturbedStream, FirstAnswersAreOfTheRowsTheyCount) {
  for (const char* model : {"logistic", "poisson", "student-t"}) {
    const Data data = std::string_view(model) == "logistic"
                          ? logistic_data(6000, 4, 0.0, 95)
                          : inverted_data(6000, 4, 0.0, 95, [](double eta, double u) {
                              return std::floor(std::exp(0.3 * eta) * 2 * u);
                            });
    EngineConfig config = small_config(model, 4, 50'000);
    config.window_slack = 8192;
    TestEngine engine(config);
    std::uint64_t answers = 0;
    for (Index row = 0; row < 6000; row += 20) {
      engine.feed(data, row, row + 20);
      engine.poll_rounds(1);
      if (engine->learner().view().phase != Learner::Phase::kWarmingUp) break;
      Provenance p;
      const auto parameters = engine.parameters(&p);
      if (p.sequence == 0) continue;
      ASSERT_EQ(p.n_eff, p.sequence) << model;
      TestEngine alone(config);
      alone.feed(data, 0, static_cast<Index>(p.sequence));
      while (alone->poll(1) > 0 && alone.provenance().sequence < p.sequence) {
      }
      if (alone->learner().view().phase != Learner::Phase::kWarmingUp) break;
      const auto expected = alone.parameters();
      for (std::size_t j = 0; j < 5; ++j) {
        EXPECT_NEAR(parameters[j].mean, expected[j].mean, 1e-3 * expected[j].sd) << model;
        EXPECT_NEAR(parameters[j].sd / expected[j].sd, 1.0, 1e-2) << model;
      }
      ++answers;
    }
    EXPECT_GT(answers, 0u) << model;
  }
}

// A given step that leaves no law: Laplace's answers, and the status says which it is.
TEST(DisturbedStream, SamplerThatNeverHasALawMovesNothing) {
  EngineConfig config = small_config("linear", 3, 1000);
  config.sampler.name = "sandwich";
  config.sampler.step_size = 1;
  TestEngine engine(config);
  const Data data = linear_data(1000, 3, 1.0, 96);
  engine.feed(data);
  engine.poll_until_idle();
  const Provenance p = engine.provenance();
  EXPECT_EQ(p.reason, StatusReason::kSamplersLaw);
  EXPECT_EQ(p.status, PosteriorStatus::kDegraded);
  EXPECT_TRUE(std::isinf(p.law_ratio));
  EXPECT_EQ(p.steps, 0u);
  const Gaussian exact = posterior_of(data, 0, 1000, config);
  EXPECT_LT(kl(engine.summary(), exact), 1e-6);
}

// Nothing that refines can be compared with a law; it rests all the same.
TEST(DisturbedStream, RefiningSamplersRest) {
  for (const char* sampler : {"santa-r", "santa", "csgld"}) {
    EngineConfig config = small_config("linear", 3, 400);
    config.sampler.name = sampler;
    config.sampler.exploration_steps = 100;
    TestEngine engine(config);
    engine.feed(linear_data(400, 3, 1.0, 97));
    EXPECT_LT(engine.poll_until_idle(), 5'000'000u) << sampler;
  }
}

// The names in a configuration are the caller's only until create() returns.
TEST(DisturbedStream, ConfigurationMayGoOnceTheEngineIsThere) {
  EngineConfig config = small_config("softmax", 3, 2000);
  config.model.classes = 4;
  TestEngine twin(config);
  std::string model = "softmax";
  std::string sampler = "calibrated";
  config.model.name = model;
  config.sampler.name = sampler;
  TestEngine engine(config);
  model.assign(model.size(), '?');
  sampler.assign(sampler.size(), '?');
  Data data = linear_data(1500, 3, 1.0, 98);
  for (Index i = 0; i < data.rows(); ++i) data.y[i] = static_cast<double>(i % 4);
  for (TestEngine* e : {&engine, &twin}) {
    e->feed(data);
    e->poll_until_idle();
    EXPECT_EQ(e->provenance().status, PosteriorStatus::kOk);
  }
  EXPECT_EQ(engine->learner().round(), twin->learner().round());
  EXPECT_TRUE(std::ranges::equal(engine->learner().view().chains, twin->learner().view().chains));
}

}  // namespace
}  // namespace windhover::test::disturbed_stream_test
