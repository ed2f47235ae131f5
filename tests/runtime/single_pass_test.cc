// Horizons without a window: every row is seen once and nothing but sums stays.
#include <gtest/gtest.h>

#include <cstdio>
#include <numeric>

#include "windhover/samplers/single_pass.h"
#include "windhover/tests/runtime/glm_reference.h"

namespace windhover::test::single_pass_test {
namespace {

constexpr std::uint64_t kEffective = 1000;  // N when fading

EngineConfig single_pass_config(const char* model, std::uint32_t features, Horizon horizon) {
  EngineConfig config = small_config(model, features, kEffective);
  config.horizon = horizon;
  config.sampler.minibatch_size = 20;
  return config;
}

// Feeds frames of one minibatch each, so that the learner's steps are known.
void feed_in_steps(TestEngine& engine, const Data& data) {
  for (Index row = 0; row < data.rows(); row += 20) {
    engine.feed(data, row, std::min(data.rows(), row + 20));
    engine.poll_until_idle();
  }
}

TEST(RowWeights, OfAForgettingHorizonAreWorthItsSize) {
  RowWeights weights(1000, ForgettingSpread::kSampling);
  weights.reset(100);
  for (int i = 0; i < 2000; ++i) weights.add(20);
  EXPECT_NEAR(weights.kish(), 1000, 1e-9);
  EXPECT_NEAR(weights.sum(), 510, 1e-9);  // (N + S) / 2
  EXPECT_EQ(weights.effective(), weights.kish());
}

TEST(RowWeights, AreAllTheSameWhileTheHorizonIsNotFull) {
  RowWeights weights(1000, ForgettingSpread::kSampling);
  weights.reset(100);
  while (weights.sum() + 20 <= 510) EXPECT_EQ(weights.add(20), 1.0);
  EXPECT_NEAR(weights.kish(), weights.sum(), 1e-9);
  EXPECT_LT(weights.add(20), 1.0);
}

TEST(RowWeights, OfAllRowsAreTheirNumber) {
  RowWeights weights(0, ForgettingSpread::kSampling);
  weights.reset(100);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(weights.add(7), 1.0);
  EXPECT_EQ(weights.effective(), 7100);
}

TEST(RowWeights, OfADiscountedPosteriorAreTheirSum) {
  RowWeights weights(1000, ForgettingSpread::kPosterior);
  weights.reset(100);
  for (int i = 0; i < 2000; ++i) weights.add(20);
  EXPECT_NEAR(weights.effective(), 510, 1e-9);
  EXPECT_NEAR(weights.weight_variance(), 1000.0 / 510, 1e-9);
}

TEST(SinglePass, OfAllRowsIsTheirExactPosterior) {
  const Data data = linear_data(20'000, 4, 1.0, 71);
  EngineConfig config = single_pass_config("linear", 4, Horizon::kAll);
  TestEngine engine(config);
  feed_in_steps(engine, data);
  const Gaussian exact = linear_posterior(data.design(), data.y, 1.0, config.model);
  EXPECT_LT(kl(engine.summary(), exact), 1e-12);
  const Provenance p = engine.provenance();
  EXPECT_EQ(p.horizon, Horizon::kAll);
  EXPECT_EQ(p.n_eff, 20'000u);
  EXPECT_EQ(p.sequence, 20'000u);
  EXPECT_EQ(p.status, PosteriorStatus::kOk) << p.ou_ratio;
  EXPECT_NEAR(p.draws_per_observation, 1.0, 0.01);
}

TEST(SinglePass, ForgetsAsRecursiveLeastSquaresDoes) {
  const Data data = linear_data(6000, 4, 1.0, 72);
  EngineConfig config = single_pass_config("linear", 4, Horizon::kFading);
  TestEngine engine(config);
  feed_in_steps(engine, data);
  // The weight of each row by the definition; the cold start takes 100 rows, and the steps then end
  // where the frames do.
  VectorXd weight = VectorXd::Ones(data.rows());
  RowWeights weights(kEffective, ForgettingSpread::kSampling);
  weights.reset(100);
  for (Index row = 100; row < data.rows();) {
    const Index next = std::min(data.rows(), row + 20);
    weight.head(row) *= weights.add(static_cast<double>(next - row));
    row = next;
  }
  weight *= weights.kish() / weight.sum();
  const MatrixXd weighted = weight.cwiseSqrt().asDiagonal() * data.design();
  const Gaussian exact =
      linear_posterior(weighted, weight.cwiseSqrt().cwiseProduct(data.y), 1.0, config.model);
  EXPECT_LT(kl(engine.summary(), exact), 1e-10);
  EXPECT_EQ(engine.provenance().n_eff, 1000u);
}

TEST(SinglePass, OfALogisticModelComesCloseToThePosteriorOfAllRows) {
  const Data data = logistic_data(20'000, 4, -1.0, 73);
  EngineConfig config = single_pass_config("logistic", 4, Horizon::kAll);
  TestEngine engine(config);
  feed_in_steps(engine, data);
  const GlmReference reference = logistic_reference(data.design(), data.y, config.model);
  const Gaussian exact = reference.laplace();
  const Gaussian served = engine.summary();
  for (Index j = 0; j < 5; ++j) {
    const double sd = std::sqrt(exact.covariance(j, j));
    EXPECT_NEAR((served.mean[j] - exact.mean[j]) / sd, 0, 0.1) << j;
    EXPECT_NEAR(std::sqrt(served.covariance(j, j)) / sd, 1, 0.01) << j;
  }
  EXPECT_EQ(engine.provenance().status, PosteriorStatus::kOk);
}

TEST(SinglePass, LearnsTheNoiseVariance) {
  const Data data = linear_data(6000, 4, 1.7, 74);
  for (const Horizon horizon : {Horizon::kFading, Horizon::kAll}) {
    EngineConfig config = single_pass_config("linear", 4, horizon);
    config.model.noise_variance = 0;
    TestEngine engine(config);
    feed_in_steps(engine, data);
    const Provenance p = engine.provenance();
    EXPECT_NEAR(p.noise_variance, 1.7 * 1.7, 4 * p.noise_variance_sd);
    EXPECT_NEAR(p.noise_variance_sd / p.noise_variance,
                std::sqrt(2.0 / static_cast<double>(p.n_eff)), 0.01);
  }
}

// Draw sd over that of the law, whose standard error is 2.2 % with 1024 chains. An unseen category
// must be as wide as its prior for ever.
TEST(SinglePass, KeepsThePriorsSpreadWhereRowsSayNothing) {
  Data data = linear_data(8000, 3, 1.0, 75);
  data.x.col(1).setZero();
  for (const Horizon horizon : {Horizon::kFading, Horizon::kAll}) {
    for (const SinglePassNoise noise :
         {SinglePassNoise::kWeights, SinglePassNoise::kNoiseCovariance,
          SinglePassNoise::kCurvature}) {
      EngineConfig config = single_pass_config("linear", 3, horizon);
      config.single_pass_noise = noise;
      config.retained_draws = 1024;
      TestEngine engine(config);
      feed_in_steps(engine, data);
      const auto parameters = engine.parameters();
      const RowMatrix draws = engine.draws();
      for (Index j = 0; j < 4; ++j) {
        const ParameterSummary& p = parameters[static_cast<std::size_t>(j)];
        const double law = noise == SinglePassNoise::kCurvature ? p.sd : p.sd_robust;
        const double sd = std::sqrt((draws.col(j).array() - p.mean).square().mean());
        std::printf("horizon %d, noise %d, parameter %d: draw sd / sd %.3f\n",
                    static_cast<int>(horizon), static_cast<int>(noise), static_cast<int>(j),
                    sd / law);
        EXPECT_NEAR(sd / law, 1.0, 0.09);
      }
      EXPECT_NEAR(parameters[1].sd, 1.0, 1e-6);
      EXPECT_EQ(engine.provenance().status, PosteriorStatus::kOk) << engine.provenance().ou_ratio;
    }
  }
}

TEST(SinglePass, OfDiscountedRowsIsTwiceAsWide) {
  const Data data = linear_data(8000, 3, 1.0, 76);
  EngineConfig config = single_pass_config("linear", 3, Horizon::kFading);
  config.forgetting_spread = ForgettingSpread::kPosterior;
  config.retained_draws = 1024;
  TestEngine engine(config);
  feed_in_steps(engine, data);
  const auto parameters = engine.parameters();
  const RowMatrix draws = engine.draws();
  const MatrixXd design = data.design().bottomRows(5000);
  const MatrixXd precision = design.transpose() * design / 5000;
  const MatrixXd inverse = precision.inverse();
  for (Index j = 0; j < 4; ++j) {
    const ParameterSummary& p = parameters[static_cast<std::size_t>(j)];
    EXPECT_NEAR(p.sd / std::sqrt(inverse(j, j) / 510), 1.0, 0.1);
    const double sd = std::sqrt((draws.col(j).array() - p.mean).square().mean());
    EXPECT_NEAR(sd / p.sd_robust, 1.0, 0.09);
  }
}

TEST(SinglePass, ACategoryThatAppearsLateIsLearnt) {
  Data data = logistic_data(6000, 3, -0.5, 77);
  data.x.col(1).head(4000).setZero();
  for (const Horizon horizon : {Horizon::kFading, Horizon::kAll}) {
    TestEngine engine(single_pass_config("logistic", 3, horizon));
    feed_in_steps(engine, data);
    EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), 0u);
    const auto p = engine.parameters()[1];
    EXPECT_LT(std::abs(p.mean - data.truth[1]), 4 * p.sd);
    EXPECT_LT(p.sd, 0.2);
  }
}

TEST(SinglePass, HoldsTheWriterBackUntilRowsAreTakenIn) {
  const Data data = linear_data(5000, 3, 1.0, 78);
  TestEngine engine(single_pass_config("linear", 3, Horizon::kAll));
  Index accepted = 0;
  while (engine->observe(TestEngine::batch(data, accepted, 256), {}).status == Status::kOk) {
    accepted += 256;
  }
  EXPECT_EQ(accepted, 1024);  // the slack
  engine.poll_until_idle();
  engine.feed(data, accepted, data.rows());
  engine.poll_until_idle();
  EXPECT_EQ(engine.provenance().sequence, 5000u);
  EXPECT_EQ(engine.provenance().n_eff, 5000u);
}

TEST(SinglePass, AnswersFromTheFirstRowOn) {
  const Data data = logistic_data(400, 3, -0.5, 79);
  TestEngine engine(single_pass_config("logistic", 3, Horizon::kFading));
  for (Index row = 0; row < data.rows(); ++row) {
    engine.feed(data, row, row + 1);
    engine.poll_until_idle();
    const Provenance p = engine.provenance();
    EXPECT_EQ(p.sequence, static_cast<std::uint64_t>(row + 1));
    for (const ParameterSummary& s : engine.parameters()) {
      ASSERT_TRUE(std::isfinite(s.mean) && s.sd > 0 && std::isfinite(s.sd)) << row;
    }
  }
}

// A row far outside: its own step must not throw the chains out.
TEST(SinglePass, StandsAnOutlier) {
  Data data = logistic_data(4000, 3, -0.5, 80);
  data.x(3000, 1) = 1e6;
  TestEngine engine(single_pass_config("logistic", 3, Horizon::kFading));
  feed_in_steps(engine, data);
  for (const ParameterSummary& s : engine.parameters()) ASSERT_TRUE(std::isfinite(s.mean));
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), 0u);
  const auto parameters = engine.parameters();
  const RowMatrix draws = engine.draws();
  for (Index j = 0; j < 4; ++j) {
    const ParameterSummary& p = parameters[static_cast<std::size_t>(j)];
    const double furthest = (draws.col(j).array() - p.mean).abs().maxCoeff();
    EXPECT_LT(furthest, 8 * std::max(p.sd, p.sd_robust)) << j;
  }
}

// Two features that have always been the same, until rows come that have one of them alone: A has
// next to no curvature in their difference, though neither is new.
TEST(SinglePass, StandsTheEndOfACollinearity) {
  for (const Horizon horizon : {Horizon::kFading, Horizon::kAll}) {
    Data data = linear_data(6000, 3, 1.0, 86);
    for (Index i = 0; i < data.rows(); ++i) {
      data.x(i, 1) = i % 2 == 0 ? 1.0 : 0.0;
      data.x(i, 2) = i >= 4000 && i % 10 == 0 ? 0.0 : data.x(i, 1);
      data.y[i] = data.x.row(i).dot(data.truth.head(3)) + data.truth[3];
    }
    data.y += normals(860, data.rows());
    EngineConfig config = single_pass_config("linear", 3, horizon);
    config.model.prior_precision = 0.01;
    TestEngine engine(config);
    for (Index row = 0; row < data.rows(); row += 20) {
      engine.feed(data, row, row + 20);
      engine->poll(1);  // busy: refreshes come no more often than they must
      if (row < 4000) continue;
      const auto parameters = engine.parameters();
      const RowMatrix draws = engine.draws();
      for (Index j = 0; j < 4; ++j) {
        const ParameterSummary& p = parameters[static_cast<std::size_t>(j)];
        const double furthest = (draws.col(j).array() - p.mean).abs().maxCoeff();
        ASSERT_LT(furthest, 10 * p.sd) << row << ", parameter " << j;
      }
    }
    EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), 0u);
    engine.poll_until_idle();
    const auto last = engine.parameters()[1];
    EXPECT_LT(std::abs(last.mean - data.truth[1]), 4 * last.sd_robust);
    EXPECT_LT(last.sd, 0.3);
  }
}

// The largest values that are taken, and columns equal to the last bit, so large that the prior is
// lost beside them.
TEST(SinglePass, StandsTheLargestRowsThatAreTaken) {
  for (const Horizon horizon : {Horizon::kWindow, Horizon::kFading, Horizon::kAll}) {
    for (const Index at : {Index{3}, Index{2000}}) {
      Data data = linear_data(4000, 3, 1.0, 87);
      data.x.row(at).setConstant(1e35);
      data.y[at] = 1e35;
      EngineConfig config = single_pass_config("linear", 3, horizon);
      config.model.noise_variance = 0;
      TestEngine engine(config);
      feed_in_steps(engine, data);
      EXPECT_EQ(engine.provenance().sequence, 4000u);
      EXPECT_TRUE(engine.draws().allFinite());
      for (const ParameterSummary& s : engine.parameters()) {
        EXPECT_TRUE(std::isfinite(s.mean) && std::isfinite(s.sd)) << at;
        EXPECT_TRUE(std::isfinite(s.sd_robust)) << at;
      }
    }
  }
}

TEST(SinglePass, RefusesWhatItCannotDo) {
  EngineConfig config = single_pass_config("linear", 3, Horizon::kAll);
  EXPECT_TRUE(check(config).ok());
  EngineConfig other = config;
  other.sampler.name = "sgld";
  EXPECT_FALSE(check(other).ok());
  other = config;
  other.sampler.chains = 8;
  EXPECT_FALSE(check(other).ok());
  other = config;
  other.model.name = "mlp-linear";
  EXPECT_FALSE(check(other).ok());
  other = config;
  other.sampler.noise_structure = NoiseStructure::kDiagonal;
  EXPECT_FALSE(check(other).ok());
  other = config;
  other.retained_draws = 2000;
  EXPECT_FALSE(check(other).ok());
}

}  // namespace
}  // namespace windhover::test::single_pass_test
