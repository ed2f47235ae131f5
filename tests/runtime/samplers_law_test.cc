// `ok` and the law of the sampler where there are too many parameters to solve for it.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::samplers_law_test {
namespace {

// Correlated columns, each with the next by 0.9: what one rate for all cannot follow.
Provenance provenance(const char* sampler, std::uint32_t dimension, double step_size = 0,
                      double correlation = 0.9) {
  const Data data = linear_data(4000, static_cast<Index>(dimension) - 1, 1.0, 131, correlation);
  EngineConfig config = small_config("linear", dimension - 1, 4000);
  config.sampler.name = sampler;
  config.sampler.step_size = step_size;
  TestEngine engine(config);
  engine.feed(data);
  engine.poll_until_idle();
  return engine.provenance();
}

std::string described(const Provenance& p) {
  return std::string(to_string(p.reason)) + ", law_ratio " + std::to_string(p.law_ratio) +
         ", ou_ratio " + std::to_string(p.ou_ratio) + ", ess " + std::to_string(p.ess_bulk);
}

TEST(SamplersLaw, ThatIsNotThePosteriorIsSaidAtAnyDimension) {
  for (const std::uint32_t dimension : {9u, 41u}) {
    for (const char* sampler : {"sgd", "sgfs", "sgld"}) {
      const bool given = std::string(sampler) == "sgld";
      const Provenance p = provenance(sampler, dimension, given ? 1e-2 : 0.0);
      if (given && dimension == 9) continue;  // that step is short enough for nine
      EXPECT_EQ(p.status, PosteriorStatus::kDegraded) << sampler << ", " << described(p);
      EXPECT_EQ(p.reason, StatusReason::kSamplersLaw) << sampler << ", " << described(p);
      EXPECT_TRUE(p.law_ratio >= 1.3 || p.law_ratio <= 1 / 1.3) << sampler << described(p);
    }
  }
}

void expect_ok(const char* sampler, std::uint32_t dimension) {
  const Provenance p = provenance(sampler, dimension);
  EXPECT_EQ(p.status, PosteriorStatus::kOk) << sampler << ", " << dimension << ": " << described(p);
  EXPECT_NEAR(p.law_ratio, 1.0, 0.2) << sampler << ", " << dimension;
}

TEST(SamplersLaw, OfASamplerThatFollowsThePosteriorIsOk) {
  for (const char* sampler : {"calibrated", "sgd-f", "sgfs-f"}) {
    for (const std::uint32_t dimension : {41u, 100u, 200u}) expect_ok(sampler, dimension);
  }
  expect_ok("momentum", 41);
}

// `sandwich` is meant to be something else, and its draws are compared with what it is.
TEST(SamplersLaw, OfTheSandwichIsNotAskedForThePosterior) {
  const Provenance p = provenance("sandwich", 41);
  EXPECT_EQ(p.status, PosteriorStatus::kOk) << described(p);
  EXPECT_TRUE(std::isfinite(p.law_ratio));
}

// It has momentum, of which the dense solution knows nothing, but the check of the law does.
TEST(SamplersLaw, OfMomentumIsKnownBelowToo) { expect_ok("momentum", 9); }

// Up to 32 parameters the draws themselves are compared with the posterior in every direction.
TEST(SamplersLaw, ThatNobodyKnowsIsSaidAboveTheDimensionsWhereDrawsTell) {
  for (const std::uint32_t dimension : {9u, 41u}) {
    const Provenance p = provenance("rsgld", dimension, 0, 0.0);
    EXPECT_TRUE(std::isnan(p.law_ratio)) << dimension;
    EXPECT_EQ(p.reason, dimension == 9 ? StatusReason::kNone : StatusReason::kLawUnknown)
        << described(p);
    EXPECT_TRUE(std::isfinite(p.ou_ratio)) << dimension;
  }
}

TEST(SamplersLaw, ThatNoSamplerSaysIsNeverOkAboveTheDimensionsWhereDrawsTell) {
  int silent = 0;
  for (const SamplerEntry& entry : sampler_registry()) {
    if (entry.has_law) continue;
    EngineConfig config = small_config("linear", 40, 4000);
    config.sampler.name = entry.name;
    config.draws_per_observation = 0;  // the learner never rests
    TestEngine engine(config);
    engine.feed(linear_data(4000, 40, 1.0, 132, 0.0));
    EXPECT_TRUE(engine.poll_until_sampling()) << entry.name;
    engine.poll_rounds(2000);
    const Provenance p = engine.provenance();
    EXPECT_NE(p.status, PosteriorStatus::kOk) << entry.name;
    EXPECT_TRUE(std::isnan(p.law_ratio)) << entry.name;
    silent += p.reason == StatusReason::kLawUnknown;
  }
  EXPECT_GE(silent, 3);  // the others take longer to be judged
}

}  // namespace
}  // namespace windhover::test::samplers_law_test
