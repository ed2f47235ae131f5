// An engine of a diagonal structure and numbers: its answers against those of a full one and
// against the truth, in any unit.
#include <cmath>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/tests/runtime/row_block_fixture.h"

namespace windhover::test::row_block_test {
namespace {

constexpr double kSd = 2;

double number_of(double eta, double u) { return eta + kSd * normal_quantile(u); }

EngineConfig numbers_of(std::uint32_t features, std::uint32_t nonzeros, const char* name) {
  EngineConfig config = config_of(features, nonzeros);
  config.model.name = name;
  return config;
}

// Student's t of 4 degrees of freedom, by its quantiles.
double heavy_of(double eta, double u) {
  const double a = std::sqrt(4 * u * (1 - u));
  const double square = std::cos(std::acos(a) / 3) / a - 1;
  return eta + std::copysign(2 * kSd * std::sqrt(square), u - 0.5);
}

// y and what is behind it in another unit.
SparseRows in_units(SparseRows data, double shift, double scale) {
  for (double& y : data.targets) y = shift + scale * y;
  for (double& eta : data.predictors) eta = shift + scale * eta;
  return data;
}

TEST(RowBlockNoiseLearner, AgreesWithAFullStructure) {
  constexpr std::uint32_t kFeatures = 200;
  const VectorXd truth = truth_of(kFeatures, 0.7);
  using Case = std::pair<const char*, Outcome>;
  for (const auto& [name, outcome] : {Case{"linear", number_of}, Case{"student-t", heavy_of}}) {
    const SparseRows data = rows_of(4'000, kFeatures, 4, truth, 1, outcome);
    EngineConfig config = numbers_of(kFeatures, 4, name);
    config.model.prior_precision = 2;
    config.model.intercept_precision = 2;
    config.draws_per_observation = 8;
    config.sampler.chains = 32;
    config.retained_draws = 256;
    TestEngine diagonal(config);
    config.structure = Structure::kFull;
    config.sampler.chains = 8;
    config.retained_draws = 64;
    TestEngine full(config);
    feed(diagonal, data, 0, 3'600);
    feed(full, data, 0, 3'600);
    diagonal.poll_until_idle();
    full.poll_until_idle();
    const Provenance said = expect_agreement(diagonal, full, data, 3'600);
    EXPECT_EQ(said.sequence, 3'600U);
    Provenance of_full;
    const PredictiveSummary a = answer(diagonal, data, 3'700);
    const PredictiveSummary b = answer(full, data, 3'700, &of_full);
    EXPECT_NEAR(said.noise_variance / of_full.noise_variance, 1, 0.04) << name;
    EXPECT_NEAR(said.noise_variance_sd / of_full.noise_variance_sd, 1, 0.15) << name;
    EXPECT_NEAR(a.sd / b.sd, 1, 0.03) << name;
  }
}

// Most columns have a handful of rows, some none; prior and noise are learned.
TEST(RowBlockNoiseLearner, IntervalsHoldTheTruth) {
  constexpr std::uint32_t kFeatures = 20'000;
  const VectorXd truth = truth_of(kFeatures, 0.6);
  const SparseRows data = rows_of(22'000, kFeatures, 10, truth, 3, number_of);
  EngineConfig config = numbers_of(kFeatures, 10, "linear");
  config.draws_per_observation = 16;
  TestEngine engine(config);
  feed(engine, data, 0, 20'000);
  engine.poll_until_idle();
  Provenance provenance;
  // Rows share their frequent columns: about 200 independent ones, 0.02, and 8 chains.
  EXPECT_NEAR(held(engine, data, 20'000, &provenance), 0.9, 0.05);
  EXPECT_EQ(provenance.status, PosteriorStatus::kOk) << to_string(provenance.reason);
  EXPECT_NEAR(std::sqrt(provenance.noise_variance) / kSd, 1, 0.05);
  EXPECT_NEAR(1 / std::sqrt(engine.parameters()[0].prior_precision), 0.6, 0.15);
  double inside = 0;
  for (std::size_t row = 20'000; row < 22'000; ++row) {
    const PredictiveSummary s = answer(engine, data, row);
    const bool in = data.targets[row] > s.interval_lower && data.targets[row] < s.interval_upper;
    inside += in ? 1.0 / 2'000 : 0;
  }
  EXPECT_NEAR(inside, 0.9, 0.03);
}

// A million of the unit, and a million away: the same answers, as long as single precision has
// them.
TEST(RowBlockNoiseLearner, UnitsDoNotMatter) {
  constexpr std::uint32_t kFeatures = 400;
  const VectorXd truth = truth_of(kFeatures, 0.7);
  const SparseRows usual = rows_of(4'500, kFeatures, 4, truth, 1, number_of);
  for (const auto& [shift, scale] : {std::pair{1e6, 1.0}, {0.0, 1e6}, {-1e6, 1e-3}}) {
    const SparseRows data = in_units(usual, shift, scale);
    TestEngine engine(numbers_of(kFeatures, 4, "linear"));
    feed(engine, data, 0, 4'000);
    engine.poll_until_idle();
    Provenance provenance;
    const double share = held(engine, data, 4'000, &provenance);
    if (std::abs(shift) > 1e7 * scale) {  // draws have no digits left, and it is said
      EXPECT_EQ(provenance.reason, StatusReason::kLawUnknown);
      continue;
    }
    EXPECT_NEAR(share, 0.9, 0.08) << scale;
    EXPECT_NEAR(std::sqrt(provenance.noise_variance) / (kSd * scale), 1, 0.06) << scale;
    double off = 0;
    for (std::size_t row = 4'000; row < 4'500; ++row) {
      off += std::abs(answer(engine, data, row).linpred_mean - data.predictors[row]) / scale / 500;
    }
    EXPECT_LT(off, 0.6) << scale;
  }
}

// The first hundred rows have next to no spread beside what comes: no answer that is ok leaves out
// what it says it holds.
TEST(RowBlockNoiseLearner, BeginsAgainWhereTheFirstRowsWereUnlikeTheRest) {
  constexpr std::uint32_t kFeatures = 400;
  const VectorXd truth = truth_of(kFeatures, 0.7);
  SparseRows data = rows_of(5'500, kFeatures, 4, truth, 1, number_of);
  for (std::size_t row = 0; row < 128; ++row) data.targets[row] *= 1e-6;
  TestEngine engine(numbers_of(kFeatures, 4, "linear"));
  feed(engine, data, 0, 5'000);
  engine.poll_until_idle();
  Provenance provenance;
  EXPECT_NEAR(held(engine, data, 5'000, &provenance), 0.9, 0.08);
  EXPECT_NEAR(std::sqrt(provenance.noise_variance) / kSd, 1, 0.06);
}

// y gets a thousand or ten thousand times as large, or as small, when no row of the first is in the
// window any more. As long as some rows are of before nothing is asked but that ok is right.
TEST(RowBlockNoiseLearner, BeginsAgainWhereTheScaleChangesLater) {
  constexpr std::uint32_t kFeatures = 200;
  constexpr std::size_t kChange = 5'000;
  const VectorXd truth = truth_of(kFeatures, 0.7);
  const SparseRows usual = rows_of(12'500, kFeatures, 4, truth, 1, number_of);
  EngineConfig config = numbers_of(kFeatures, 4, "linear");
  config.window_size = 2'000;
  for (const double scale : {1e4, 1e6, 1e-4}) {
    SparseRows data = usual;
    for (std::size_t row = kChange; row < data.targets.size(); ++row) {
      data.targets[row] *= scale;
      data.predictors[row] *= scale;
    }
    TestEngine engine(config);
    Provenance provenance;
    for (std::size_t first = 0; first < 12'000; first += 500) {
      feed(engine, data, first, first + 500);
      engine.poll_until_idle();
    }
    EXPECT_NEAR(held(engine, data, 12'000, &provenance), 0.9, 0.08) << scale;
    EXPECT_NEAR(std::sqrt(provenance.noise_variance) / (kSd * scale), 1, 0.1) << scale;
    double off = 0;
    for (std::size_t row = 12'000; row < 12'500; ++row) {
      off += std::abs(answer(engine, data, row).linpred_mean - data.predictors[row]) / scale / 500;
    }
    EXPECT_LT(off, 0.9) << scale;
  }
}

// A row far off among the first hundred, by which units are found, says nothing once it has left.
TEST(RowBlockNoiseLearner, AnOutlierAmongTheFirstLeavesNothingBehind) {
  constexpr std::uint32_t kFeatures = 200;
  const VectorXd truth = truth_of(kFeatures, 0.7);
  for (const double off : {100.0, 1e5, 1e8}) {
    SparseRows data = rows_of(12'500, kFeatures, 4, truth, 1, number_of);
    data.targets[10] = off * kSd;
    EngineConfig config = numbers_of(kFeatures, 4, "linear");
    config.window_size = 2'000;
    TestEngine engine(config);
    feed(engine, data, 0, 12'000);
    engine.poll_until_idle();
    Provenance provenance;
    EXPECT_NEAR(held(engine, data, 12'000, &provenance), 0.9, 0.08) << off;
    EXPECT_NEAR(std::sqrt(provenance.noise_variance) / kSd, 1, 0.1) << off;
  }
}

// What features explain to a thousandth is not taken for noise.
TEST(RowBlockNoiseLearner, LittleNoiseIsFound) {
  constexpr std::uint32_t kFeatures = 60;
  const VectorXd truth = truth_of(kFeatures, 20);
  const SparseRows data = rows_of(6'500, kFeatures, 4, truth, 1, [](double eta, double u) {
    return eta + 0.1 * normal_quantile(u);
  });
  EngineConfig config = numbers_of(kFeatures, 4, "linear");
  config.window_size = 2'000;
  TestEngine engine(config);
  feed(engine, data, 0, 6'000);
  engine.poll_until_idle();
  Provenance provenance;
  (void)held(engine, data, 6'000, &provenance);
  EXPECT_NEAR(std::sqrt(provenance.noise_variance) / 0.1, 1, 0.1) << to_string(provenance.status);
}

// While a row a million times as far off is in the window, and once it has left.
TEST(RowBlockNoiseLearner, AnOutlierLeavesNothingBehind) {
  constexpr std::uint32_t kFeatures = 200;
  const VectorXd truth = truth_of(kFeatures, 0.7);
  SparseRows data = rows_of(14'500, kFeatures, 4, truth, 1, number_of);
  data.targets[2'500] = 1e6;
  EngineConfig config = numbers_of(kFeatures, 4, "linear");
  config.window_size = 2'000;
  TestEngine engine(config);
  Provenance provenance;
  double share = 0;
  for (std::size_t first = 0; first < 14'000; first += 500) {
    feed(engine, data, first, first + 500);
    engine.poll_until_idle();
    share = held(engine, data, 14'000, &provenance);
    // 100 independent rows give 0.9 +- 0.03, and there are 8 chains; the noise of the outlier
    // leaves a prior.
    if (provenance.status == PosteriorStatus::kOk) {
      EXPECT_GT(share, 0.8) << first;
    }
  }
  EXPECT_EQ(provenance.status, PosteriorStatus::kOk) << to_string(provenance.reason);
  EXPECT_NEAR(share, 0.9, 0.08);
  EXPECT_NEAR(std::sqrt(provenance.noise_variance) / kSd, 1, 0.1);
}

}  // namespace
}  // namespace windhover::test::row_block_test
