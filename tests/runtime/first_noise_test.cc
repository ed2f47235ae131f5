// The noise of a normal y before there are rows enough for chains: Student's t, and a row that may
// lie far off.
#include "windhover/runtime/learning/first_noise.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::first_noise_test {
namespace {

double probability_below(const NoiseMixture& noise, double y) {
  double sum = 0;
  for (std::size_t i = 0; i < noise.components; ++i) {
    sum += noise.weight[i] * 0.5 * std::erfc(-y / std::sqrt(2 * noise.variance[i]));
  }
  return sum;
}

// The quantiles of Student's t at 0.75, 0.95 and 0.995, from a table.
TEST(FirstNoise, IsStudents) {
  struct Row {
    double degrees, half, ninety, ninety_nine;
  };
  for (const Row& t : {Row{3, 0.76489, 2.35336, 5.84091}, Row{5, 0.72669, 2.01505, 4.03214},
                       Row{12, 0.69548, 1.78229, 3.05454}, Row{50, 0.67943, 1.67591, 2.67779}}) {
    const NoiseMixture noise = first_noise(4, t.degrees, 0);
    EXPECT_NEAR(probability_below(noise, 2 * t.half), 0.75, 0.005) << t.degrees;
    EXPECT_NEAR(probability_below(noise, 2 * t.ninety), 0.95, 0.005) << t.degrees;
    EXPECT_NEAR(probability_below(noise, 2 * t.ninety_nine), 0.995, 0.001) << t.degrees;
  }
}

TEST(FirstNoise, KeepsWhatAMixtureOfNoiseIs) {
  for (const double of_targets : {0.0, 350.0, 1e9}) {
    for (const double degrees : {3.0, 20.0, 1e6}) {
      const NoiseMixture noise = first_noise(2, degrees, of_targets);
      ASSERT_LE(noise.components, NoiseMixture::kMost);
      double sum = 0;
      for (std::size_t i = 0; i < noise.components; ++i) {
        sum += noise.weight[i];
        EXPECT_GT(noise.weight[i], 0);
        EXPECT_GT(noise.variance[i], i == 0 ? 0 : noise.variance[i - 1]) << of_targets << degrees;
      }
      EXPECT_NEAR(sum, 1, 1e-12);
      // Rows whose spread has been explained may yet lie as far off as all rows do, and the sd
      // hardly knows of them: a thousandth of the targets', or what Student's t says.
      const double students = 2 * degrees / (degrees - 2);
      EXPECT_LT(noise.mean(), 1.2 * students + 1.01e-6 * of_targets);
      EXPECT_EQ(noise.variance[noise.components - 1], std::max(200.0, of_targets));
    }
  }
}

// 15 rows, 5 parameters: the noise stands on 10 degrees of freedom.
TEST(FirstNoise, IntervalsOfTheFirstRowsAreAsWideAsStudents) {
  for (const Horizon horizon : {Horizon::kWindow, Horizon::kAdaptive, Horizon::kAll}) {
    EngineConfig config = small_config("linear", 4, 500);
    config.horizon = horizon;
    config.model.noise_variance = 0;
    config.model.prior_precision = 1e-6;
    config.model.intercept_precision = 1e-6;
    double held = 0;
    double factor = 0;
    constexpr int kStreams = 400;
    for (int stream = 0; stream < kStreams; ++stream) {
      const Data data = linear_data(16, 4, 3, 700 + static_cast<std::uint64_t>(stream));
      TestEngine engine(config);
      engine.feed(data, 0, 15);
      engine.poll_until_idle();
      Provenance p;
      const PredictiveSummary s =
          engine.answers(question(1, std::span(data.x.row(15).data(), 4)), &p)[0];
      ASSERT_EQ(p.status, PosteriorStatus::kWarmingUp);
      held += data.y[15] > s.interval_lower && data.y[15] < s.interval_upper ? 1.0 / kStreams : 0;
      const double scale = std::hypot(s.linpred_sd, std::sqrt(p.noise_variance));
      factor += 0.5 * (s.interval_upper - s.interval_lower) / scale / kStreams;
    }
    // A binomial share of 400; 1.81 of Student's t for the noise, 1.64 for the linear predictor.
    EXPECT_NEAR(held, 0.9, 3.5 * std::sqrt(0.09 / kStreams)) << to_string(horizon);
    EXPECT_GT(factor, 1.71) << to_string(horizon);
    EXPECT_LT(factor, 1.82) << to_string(horizon);
  }
}

// The first rows lie on a line but for rounding, and those that follow do not.
TEST(FirstNoise, ARowThatLeavesASmoothStartIsNotRuledOut) {
  EngineConfig config = small_config("linear", 1, 500);
  config.model.noise_variance = 0;
  Data data = linear_data(30, 1, 1e-6, 5);
  TestEngine engine(config);
  engine.feed(data);
  engine.poll_until_idle();
  const std::array<double, 1> x = {0.5};
  const double usual = engine.answers(question(1, x))[0].mean;
  const std::array<double, 1> off = {usual + 1};  // a million noise sd, and less than one of y
  const PredictiveSummary s = engine.answers(question(1, x, off))[0];
  EXPECT_GT(s.log_score, -18);
  EXPECT_LT(s.interval_upper - s.interval_lower, 1e-3);
  EXPECT_LT(s.sd, 2e-3);
}

// Of a price a few rows far off would decide what it costs on average.
TEST(FirstNoise, OfAPriceIsAsBefore) {
  Data data = linear_data(9, 4, 2, 5);
  for (double& y : data.y) y = std::exp(y);
  EngineConfig config = small_config("log-normal", 4, 500);
  config.model.noise_variance = 0;
  config.model.prior_precision = 1e-6;
  config.model.intercept_precision = 1e-6;
  TestEngine engine(config);
  engine.feed(data, 0, 8);
  engine.poll_until_idle();
  const std::span<const double> x(data.x.row(8).data(), 4);
  const std::array<double, 1> y = {data.y[8]};
  const PredictiveSummary s = engine.answers(question(1, x, y))[0];
  EXPECT_LT(s.crps, 2 * (y[0] + std::exp(s.linpred_mean)));
}

TEST(FirstNoise, NoiseThatIsGivenIsNormal) {
  const EngineConfig config = small_config("linear", 1, 500);
  ASSERT_GT(config.model.noise_variance, 0);
  TestEngine engine(config);
  engine.feed(linear_data(12, 1, 1, 6));
  engine.poll_until_idle();
  const std::array<double, 1> x = {0.5};
  const PredictiveSummary s = engine.answers(question(1, x))[0];
  EXPECT_NEAR(0.5 * (s.interval_upper - s.interval_lower) / s.sd, 1.644854, 1e-4);
}

}  // namespace
}  // namespace windhover::test::first_noise_test
