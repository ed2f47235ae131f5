// Drift and dependence of rows in the order of the stream, without an engine around.
#include "windhover/runtime/diagnostics/score_series.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::score_series_test {
namespace {

constexpr std::uint32_t kFeatures = 4;
constexpr Index kDimension = kFeatures + 1;

// One pass over the rows of `data` at the posterior mode of a linear model of unit noise variance.
class Pass {
 public:
  explicit Pass(double prior_precision = 1) : block_(1 << 20), arena_(block_.bytes()) {
    config_.name = "linear";
    config_.features = kFeatures;
    config_.noise_variance = 1;
    config_.prior_precision = config_.intercept_precision = prior_precision;
    model_ = find_model("linear")->make(arena_, config_);
    find_model("linear")->reset(*model_);
    scores_ = arena_.make<ScoreSeries>(arena_, static_cast<std::uint32_t>(kDimension));
    scores_->reset();
  }

  const ScoreSeries& over(const Data& data, std::size_t part = 37) {
    const Index n = data.rows();
    const Gaussian posterior = linear_posterior(data.design(), data.y, 1.0, config_);
    mode = posterior.mean;
    const RowLayout layout(config_);
    std::vector<double> rows(static_cast<std::size_t>(n) * layout.stride());
    for (Index i = 0; i < n; ++i) {
      double* row = rows.data() + static_cast<std::size_t>(i) * layout.stride();
      for (Index j = 0; j < data.x.cols(); ++j) row[j] = data.x(i, j);
      row[layout.target_index()] = data.y[i];
    }
    std::vector<std::uint32_t> slots(static_cast<std::size_t>(n));
    std::iota(slots.begin(), slots.end(), 0U);
    scores_->begin_pass(slots.size());
    for (std::size_t i = 0; i < slots.size(); i += part) {
      const std::size_t count = std::min(part, slots.size() - i);
      scores_->add(*model_, RowBatch{rows.data(), slots.data() + i, count}, mode.data(),
                   posterior.covariance.data(), static_cast<double>(n), 1.0,
                   slots.size() - i - count);
    }
    scores_->end_pass();
    return *scores_;
  }

  VectorXd mode;

 private:
  MappedBlock block_;
  Arena arena_;
  ModelConfig config_;
  Model* model_;
  ScoreSeries* scores_;
};

enum class Noise { kNormal, kHeavyTailed, kHeteroscedastic };

Data stream(Index rows, double correlation, std::uint64_t seed, Noise noise = Noise::kNormal) {
  Data data = linear_data(rows, kFeatures, 0.0, seed);
  VectorXd e = autoregressive_noise(rows, correlation, 4 * seed + 3);
  for (Index i = 0; i < rows; ++i) {
    const double x = data.x(i, 2);
    if (noise == Noise::kHeavyTailed) e[i] *= e[i] * e[i] / std::sqrt(15.0);  // kurtosis 46
    if (noise == Noise::kHeteroscedastic) e[i] *= std::sqrt(0.25 + 0.75 * x * x);
  }
  data.y += e;
  return data;
}

// At a rate of one in a thousand, where there is enough to count, neither statistic exceeds what it
// should; at 1e-5 no alarm is to be expected in 4000 passes (probability 0.96 a kind of noise).
TEST(ScoreSeries, AlarmsAreAsRareAsTheySay) {
  constexpr int kPasses = 4000;
  const double thousandth = normal_quantile(1 - 1e-3 / (2 * kDimension));
  for (const Noise noise : {Noise::kNormal, Noise::kHeavyTailed, Noise::kHeteroscedastic}) {
    Pass pass;
    int beyond = 0;
    for (std::uint64_t seed = 0; seed < kPasses; ++seed) {
      const ScoreSeries& scores = pass.over(stream(600, 0.0, 50'000 + seed, noise));
      ASSERT_TRUE(scores.known());
      beyond += scores.drift() > thousandth;
      EXPECT_FALSE(scores.drifting()) << scores.drift();
      EXPECT_FALSE(scores.autocorrelated()) << scores.autocorrelation();
    }
    // 4 are expected, and more than 4 + 4 sqrt 4 not once in a thousand.
    EXPECT_LE(beyond, 12);
    if (noise == Noise::kNormal) {
      EXPECT_GE(beyond, 1);
    }
  }
}

TEST(ScoreSeries, DependentRowsAloneAreNoDrift) {
  Pass pass;
  int beyond = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const ScoreSeries& scores = pass.over(stream(1000, 0.5, 60'000 + seed));
    beyond += scores.drift() > normal_quantile(1 - 1e-2 / (2 * kDimension));
    EXPECT_FALSE(scores.drifting()) << scores.drift();
    EXPECT_TRUE(scores.autocorrelated()) << scores.autocorrelation();
  }
  EXPECT_LE(beyond, 10 + 4 * 3);
}

// 1 + 2 (rho + rho^2 + ...) = 3, of which the shorter stretches see 1 + 2 (rho + rho^2) + rho^3.
TEST(ScoreSeries, AutocorrelationOfALongStreamIsThatOfTheNoise) {
  Pass pass;
  const double found = pass.over(stream(200'000, 0.5, 1)).autocorrelation();
  EXPECT_GT(found, 2.7);
  EXPECT_LT(found, 3.0);
}

// A tenth of the variance changes slowly (correlation 0.98 from row to row), the rest is
// independent: neighbouring rows hardly show it, yet the intercept's variance is ten times as
// large.
TEST(ScoreSeries, SlowWeakDependenceIsSeen) {
  Pass pass;
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Data data = stream(5000, 0.98, 61'000 + seed);
    data.y = std::sqrt(0.1) * (data.y - data.design() * data.truth) +
             std::sqrt(0.9) * normals(62'000 + seed, 5000);
    alarms += pass.over(data).autocorrelated();
  }
  EXPECT_GE(alarms, 49);
}

// Mean over streams; one has a relative standard error of about sqrt(6 / batches).
TEST(ScoreSeries, InfluenceVarianceIsTheLongRunOne) {
  constexpr int kStreams = 200;
  constexpr Index kRows = 4000;
  for (const double correlation : {0.0, 0.5, 0.8}) {
    Pass pass;
    double intercept = 0;
    double slope = 0;
    for (std::uint64_t seed = 0; seed < kStreams; ++seed) {
      const ScoreSeries& scores = pass.over(stream(kRows, correlation, 63'000 + seed));
      intercept += scores.influence_variance(kFeatures) / kStreams;
      slope += scores.influence_variance(0) / kStreams;
    }
    const double long_run = (1 + correlation) / (1 - correlation);
    EXPECT_NEAR(intercept / long_run, 1.0, 0.06) << correlation;
    // Features correlate by 0.5 with the next one; noise that depends does not matter to features
    // that do not.
    EXPECT_NEAR(slope * 0.75, 1.0, 0.06) << correlation;
  }
}

TEST(ScoreSeries, ShiftOfTheNewestTenthIsSeenInItsParameter) {
  Pass pass;
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Data data = stream(1000, 0.0, 64'000 + seed);
    for (Index i = 900; i < 1000; ++i) data.y[i] += 1.0;
    const ScoreSeries& scores = pass.over(data);
    alarms += scores.drifting();  // 9.5 sd
    const auto intercept = static_cast<std::uint32_t>(kDimension - 1);
    EXPECT_EQ(scores.drift(intercept), scores.drift()) << "it grew";
    for (std::uint32_t j = 0; j < intercept; ++j) EXPECT_LT(std::abs(scores.drift(j)), 4.5) << j;
  }
  EXPECT_GE(alarms, 190);
}

TEST(ScoreSeries, AParameterThatMovesHasItsSign) {
  for (const double change : {-1.0, 1.0}) {
    Data data = stream(2000, 0.0, 67);
    for (Index i = 1800; i < 2000; ++i) data.y[i] += change * data.x(i, 1);
    Pass pass;
    const ScoreSeries& scores = pass.over(data);
    EXPECT_EQ(std::abs(scores.drift(1)), scores.drift());
    EXPECT_GT(change * scores.drift(1), 5);
  }
}

// However large it is: what is measured may not hide in its own noise.
TEST(ScoreSeries, LargeShiftIsLargerThanASmallOne) {
  double last = 0;
  for (const double shift : {0.5, 2.0, 8.0, 1000.0}) {
    Data data = stream(1000, 0.0, 65);
    for (Index i = 900; i < 1000; ++i) data.y[i] += shift;
    const double drift = Pass().over(data).drift();
    EXPECT_GT(drift, last);
    last = drift;
  }
  EXPECT_GT(last, 10);
}

// Rows that depend on one another and then jump: long batches straddle the jump, and what it adds
// to the variance between them must not be taken away twice.
TEST(ScoreSeries, JumpOfDependentRowsKeepsEveryVariancePositive) {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    Data data = linear_data(5000, kFeatures, 1.0, 300 + seed);
    data.y = data.x * data.truth.head(kFeatures) + autoregressive_noise(5000, 0.98, 400 + seed);
    data.y.tail(500).array() += 30;
    Pass pass;
    const ScoreSeries& scores = pass.over(data);
    for (std::uint32_t j = 0; j < kDimension; ++j) {
      EXPECT_GT(scores.influence_variance(j), 0) << seed << ", " << j;
    }
    EXPECT_TRUE(scores.drifting()) << seed << ": " << scores.drift();
  }
}

// The scores' mean is then not 0, and that is no dependence.
TEST(ScoreSeries, StrongPriorIsNoDependence) {
  Pass pass(2000);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Data data = stream(2000, 0.0, 66'000 + seed);
    data.y.array() += 5.0;
    const ScoreSeries& scores = pass.over(data);
    EXPECT_FALSE(scores.autocorrelated()) << scores.autocorrelation();
    EXPECT_FALSE(scores.drifting()) << scores.drift();
  }
}

TEST(ScoreSeries, HowRowsComeInPartsDoesNotMatter) {
  const Data data = stream(1003, 0.3, 67);
  Pass one;
  Pass other;
  const ScoreSeries& a = one.over(data, 1);
  const ScoreSeries& b = other.over(data, 500);
  EXPECT_NEAR(a.drift(), b.drift(), 1e-9);
  EXPECT_NEAR(a.autocorrelation(), b.autocorrelation(), 1e-9);
  EXPECT_NEAR(a.influence_variance(0), b.influence_variance(0), 1e-9);
}

TEST(ScoreSeries, FewRowsSayNothing) {
  Pass pass;
  EXPECT_FALSE(pass.over(stream(383, 0.0, 68)).known());
  EXPECT_TRUE(pass.over(stream(384, 0.0, 68)).known());
}

TEST(ScoreSeries, ParametersWithoutRowsAreHarmless) {
  Data data = stream(1000, 0.0, 69);
  data.x.col(1).setZero();
  Pass pass;
  const ScoreSeries& scores = pass.over(data);
  EXPECT_TRUE(std::isfinite(scores.drift()));
  EXPECT_NEAR(scores.influence_variance(1), 0.0, 1e-12);
  EXPECT_FALSE(scores.autocorrelated());
}

}  // namespace
}  // namespace windhover::test::score_series_test
