// Do intervals cover without a window? D = 10, N = 1000, as in coverage_test.cc; the stream is 4000
// rows long, each seen once.
#include <gtest/gtest.h>

#include <cstdio>

#include "windhover/tests/runtime/coverage.h"

namespace windhover::test::single_pass_coverage_test {
namespace {

constexpr Index kEffective = 1000;
constexpr Index kRows = 4000;

struct Regime {
  const char* name;
  Horizon horizon;
  SinglePassNoise noise;
  bool robust;  // claims to cover where the model fails
};

constexpr Regime kRegimes[] = {
    {"fading, weights", Horizon::kFading, SinglePassNoise::kWeights, true},
    {"fading, injected C", Horizon::kFading, SinglePassNoise::kNoiseCovariance, true},
    {"fading, injected A", Horizon::kFading, SinglePassNoise::kCurvature, false},
    {"all, weights", Horizon::kAll, SinglePassNoise::kWeights, true},
    {"all, injected C", Horizon::kAll, SinglePassNoise::kNoiseCovariance, true},
    {"all, injected A", Horizon::kAll, SinglePassNoise::kCurvature, false},
};

struct Tallies {
  Tally plain, robust, drawn;
  double spread = 0;  // variance of the draws / law, mean over parameters and replications
};

// The 64 draws' own standard error makes an interval of 1.645 of their sd cover 0.8975, not 0.9.
Tallies replicate(const Regime& regime, int replications, Noise noise) {
  Tallies tallies;
  for (int r = 0; r < replications; ++r) {
    const auto seed = static_cast<std::uint64_t>(20'000 + r);
    const Data data = replication_data(seed, noise, kRows);
    EngineConfig config = small_config("linear", kCoverageFeatures, kEffective);
    config.horizon = regime.horizon;
    config.single_pass_noise = regime.noise;
    config.model.noise_variance = 0;  // learned
    config.model.prior_precision = config.model.intercept_precision = 0.01;
    config.sampler.minibatch_size = 20;
    config.seed = seed;
    TestEngine engine(config);
    engine.feed(data);
    engine.poll_until_idle();
    const auto parameters = engine.parameters();
    const RowMatrix draws = engine.draws();
    double plain = 0, robust = 0, drawn = 0, spread = 0;
    for (Index j = 0; j <= kCoverageFeatures; ++j) {
      const ParameterSummary& p = parameters[static_cast<std::size_t>(j)];
      const double off = std::abs(p.mean - data.truth[j]);
      const double variance = (draws.col(j).array() - p.mean).square().mean();
      const double law = regime.noise == SinglePassNoise::kCurvature ? p.sd : p.sd_robust;
      plain += off <= 1.645 * p.sd;
      robust += off <= 1.645 * p.sd_robust;
      drawn += off <= 1.645 * std::sqrt(variance);
      spread += variance / (law * law);
    }
    constexpr double kParameters = kCoverageFeatures + 1;
    tallies.plain.add(plain / kParameters);
    tallies.robust.add(robust / kParameters);
    tallies.drawn.add(drawn / kParameters);
    tallies.spread += spread / kParameters / replications;
  }
  const auto error = tallies.drawn.coverage().error;
  std::printf("%s, %s: sd covers %.4f, sd_robust %.4f, draws %.4f (+- %.4f); spread %.3f\n",
              regime.name, noise == Noise::kIndependent ? "well specified" : "misspecified",
              tallies.plain.coverage().rate, tallies.robust.coverage().rate,
              tallies.drawn.coverage().rate, error, tallies.spread);
  return tallies;
}

class SinglePassCoverage : public ::testing::TestWithParam<Regime> {};
class LongSinglePassCoverage : public ::testing::TestWithParam<Regime> {};

// The rates are within four standard errors, the draws' interval about 0.8975.
TEST_P(SinglePassCoverage, IsAboutNinetyPercentInAHundredReplications) {
  const Tallies t = replicate(GetParam(), 100, Noise::kIndependent);
  EXPECT_NEAR(t.plain.coverage().rate, 0.9, 4 * t.plain.coverage().error);
  EXPECT_NEAR(t.robust.coverage().rate, 0.9, 4 * t.robust.coverage().error);
  EXPECT_NEAR(t.drawn.coverage().rate, 0.8975, 4 * t.drawn.coverage().error);
}

TEST_P(LongSinglePassCoverage, IsNinetyPercent) {
  WINDHOVER_SKIP_UNLESS_LONG();
  const Tallies well = replicate(GetParam(), 2000, Noise::kIndependent);
  for (const Tally* tally : {&well.plain, &well.robust, &well.drawn}) {
    EXPECT_GE(tally->coverage().rate, 0.88);
    EXPECT_LE(tally->coverage().rate, 0.92);
  }
  // Weights multiply the gradient, which widens a little: 4 to 7 % at N / D = 100.
  const bool weights = GetParam().noise == SinglePassNoise::kWeights;
  EXPECT_GE(well.spread, 0.97);
  EXPECT_LE(well.spread, weights ? 1.07 : 1.03);
  if (!GetParam().robust) return;
  const Tallies failing = replicate(GetParam(), 2000, Noise::kHeteroscedastic);
  for (const Tally* tally : {&failing.robust, &failing.drawn}) {
    EXPECT_GE(tally->coverage().rate, 0.88);
    EXPECT_LE(tally->coverage().rate, 0.92);
  }
}

const auto name = [](const auto& info) {
  std::string text = info.param.name;
  for (char& c : text) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return text;
};
INSTANTIATE_TEST_SUITE_P(Regimes, SinglePassCoverage, ::testing::ValuesIn(kRegimes), name);
INSTANTIATE_TEST_SUITE_P(Regimes, LongSinglePassCoverage, ::testing::ValuesIn(kRegimes), name);

}  // namespace
}  // namespace windhover::test::single_pass_coverage_test
