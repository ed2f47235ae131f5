// An engine that keeps only the diagonal of the noise covariance.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::diagonal_noise_test {
namespace {

constexpr std::uint32_t kFeatures = 4;

EngineConfig config_of(const char* sampler, NoiseEstimator estimator, NoiseStructure structure) {
  EngineConfig c = small_config("linear", kFeatures, 1000);
  c.sampler.name = sampler;
  c.sampler.noise_estimator = estimator;
  c.sampler.noise_structure = structure;
  c.draws_per_observation = 0;
  return c;
}

struct Case {
  const char* sampler;
  NoiseEstimator estimator;
};

class DiagonalNoise : public testing::TestWithParam<int> {
 protected:
  static constexpr Case kCases[] = {{"sgd", NoiseEstimator::kWithinMinibatch},
                                    {"sgd-d", NoiseEstimator::kWindowSweep},
                                    {"sgfs-d", NoiseEstimator::kWindowSweep},
                                    {"sgfs-d", NoiseEstimator::kRecursion}};
  EngineConfig config(NoiseStructure structure) const {
    return config_of(kCases[GetParam()].sampler, kCases[GetParam()].estimator, structure);
  }
  const Data data = linear_data(2000, kFeatures, 1.0, 81);
};
INSTANTIATE_TEST_SUITE_P(Samplers, DiagonalNoise, testing::Range(0, 4));

// Both have the same stream and random numbers: the chains go the same way, up to the rounding of C
// (a chain contracts, so that rounding does not grow).
TEST_P(DiagonalNoise, ChainsAreThoseOfTheFullEstimate) {
  TestEngine full(config(NoiseStructure::kFull));
  TestEngine diagonal(config(NoiseStructure::kDiagonal));
  for (TestEngine* engine : {&full, &diagonal}) {
    engine->feed(data);
    ASSERT_TRUE(engine->poll_until_sampling());
    engine->poll_rounds(500);
  }
  const auto expected = full->learner().view().chains;
  const auto chains = diagonal->learner().view().chains;
  ASSERT_EQ(chains.size(), expected.size());
  for (std::size_t i = 0; i < chains.size(); ++i) EXPECT_NEAR(chains[i], expected[i], 1e-9);
  const auto c = full->learner().view().estimator().noise().values();
  const auto variances = diagonal->learner().view().estimator().noise().values();
  ASSERT_EQ(variances.size(), kFeatures + 1);
  for (std::size_t j = 0; j < variances.size(); ++j) {
    EXPECT_NEAR(variances[j] / c[j * (kFeatures + 2)], 1.0, 1e-9);
  }
}

// What takes the whole of C is NaN from the first answer on, and everything else is as with the
// full matrix.
TEST_P(DiagonalNoise, WhatTakesTheFullMatrixIsNanAndTheRestIsNot) {
  TestEngine engine(config(NoiseStructure::kDiagonal));
  Provenance p;
  for (const bool fed : {false, true}) {
    if (fed) {
      engine.feed(data);
      ASSERT_TRUE(engine.poll_until_sampling());
      engine.poll_rounds(10'000);
      engine->poll(0);
    }
    for (const ParameterSummary& s : engine.parameters(&p)) {
      EXPECT_TRUE(std::isnan(s.sd_robust));
      for (const double x : {s.mean, s.mode, s.sd, s.q5, s.q95, s.ess_bulk, s.r_hat}) {
        EXPECT_TRUE(std::isfinite(x));
      }
    }
    EXPECT_TRUE(std::isnan(p.ou_ratio));
    EXPECT_TRUE(std::isnan(p.law_ratio));
    EXPECT_TRUE(std::isnan(p.misspecification_index));
    // Nothing tells whether the chains spread as the posterior does, and the answer says so.
    EXPECT_EQ(p.status, fed ? PosteriorStatus::kDegraded : PosteriorStatus::kWarmingUp);
    EXPECT_EQ(p.reason, fed ? StatusReason::kLawUnknown : StatusReason::kFewDraws);
  }
  EXPECT_TRUE(engine.draws().allFinite());
}

TEST(DiagonalNoiseMemory, FootprintIsSmallerByThreeSquares) {
  EngineConfig config = config_of("sgd-d", NoiseEstimator::kWindowSweep, NoiseStructure::kFull);
  // D = 1000: 2 D^2 of sums and 1 of C; what is compared above 32 parameters takes some 65 D, and
  // directions that no row says anything about as many.
  config.model.features = 999;
  const auto full = static_cast<double>(Engine::footprint(config).value());
  config.sampler.noise_structure = NoiseStructure::kDiagonal;
  const auto diagonal = static_cast<double>(Engine::footprint(config).value());
  const double square = 1000.0 * 1000.0 * sizeof(double);
  EXPECT_NEAR((full - diagonal) / square, 3.0 + 0.13, 0.01);
}

TEST(DiagonalNoiseMemory, SamplersThatReadTheFullMatrixAreRefused) {
  for (const char* sampler : {"calibrated", "sgd-f", "sgfs-f"}) {
    const auto refused =
        check(config_of(sampler, NoiseEstimator::kWindowSweep, NoiseStructure::kDiagonal));
    ASSERT_FALSE(refused.ok()) << sampler;
    EXPECT_EQ(refused.status(), Status::kInvalidConfig);
    EXPECT_EQ(std::string(refused.error().sentence).find("noise_structure must be full"), 0U);
  }
}

}  // namespace
}  // namespace windhover::test::diagonal_noise_test
