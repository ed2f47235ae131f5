// Rows far out, many of them and of any scale: where one is predicted wrong for sure the loss
// hardly bends, each Newton step overshoots some of them, and halving takes most of the passes.
#include <gtest/gtest.h>

#include <cmath>

#include "windhover/runtime/learning/learner.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::outlying_rows_test {
namespace {

constexpr std::uint32_t kClasses = 4;

// Rows scaled by u^-power, u uniform; the class is the largest of as many linear scores with
// Gumbel noise, and of every 50th row the next one.
Data outlying_rows(Index rows, Index features, double power, std::uint64_t seed) {
  Data data{RowMatrix::Zero(rows, features), VectorXd(rows), {}};
  const Index classes = kClasses;
  const VectorXd z = normals(seed, rows * features);
  const VectorXd slopes = normals(seed + 1, classes * features);
  const VectorXd scale = uniforms(seed + 2, rows);
  const VectorXd gumbel = uniforms(seed + 3, rows * classes);
  for (Index i = 0; i < rows; ++i) {
    data.x.row(i) = std::pow(scale[i], -power) * z.segment(i * features, features).transpose();
    Index best = 0;
    double most = -1e300;
    for (Index c = 0; c < classes; ++c) {
      const double score = data.x.row(i).dot(slopes.segment(c * features, features)) -
                           std::log(-std::log(gumbel[i * classes + c]));
      if (score > most) best = c;
      most = std::max(most, score);
    }
    data.y[i] = static_cast<double>(i % 50 == 0 ? (best + 1) % classes : best);
  }
  return data;
}

// The loss of the rows at the coefficients theta, without a prior.
double loss(const Data& data, const VectorXd& theta) {
  const Eigen::Map<const MatrixXd> slopes(theta.data(), data.x.cols() + 1, kClasses - 1);
  const MatrixXd eta = data.design() * slopes;
  double sum = 0;
  for (Index i = 0; i < data.rows(); ++i) {
    const double most = std::max(eta.row(i).maxCoeff(), 0.0);
    const auto y = static_cast<Index>(data.y[i]);
    sum += most + std::log(std::exp(-most) + (eta.row(i).array() - most).exp().sum());
    sum -= y > 0 ? eta(i, y - 1) : 0.0;
  }
  return sum;
}

EngineConfig outlying_config(std::uint64_t rows, std::uint32_t features, double precision) {
  EngineConfig config = small_config("softmax", features, rows);
  config.model.classes = kClasses;
  config.model.prior_precision = precision;
  config.draws_per_observation = 0;
  config.window_slack = 2 * rows;
  return config;
}

// Polls until chains start, or nothing is left to do.
void start(TestEngine& engine, const Data& data) {
  constexpr int kRounds = 2000;  // a pass each
  engine.feed(data);
  for (int round = 0; round < kRounds; ++round) {
    if (engine->learner().view().phase != Learner::Phase::kWarmingUp) return;
    engine.poll_rounds(1);
  }
}

class OutlyingRows : public testing::TestWithParam<std::uint64_t> {};

TEST_P(OutlyingRows, ColdStartFindsTheModeThoughStepsAreHalvedManyTimes) {
  TestEngine engine(outlying_config(1000, 4, 1e-3));
  start(engine, outlying_rows(1000, 4, 2, GetParam()));
  ASSERT_NE(engine->learner().view().phase, Learner::Phase::kWarmingUp);
  EXPECT_LT(engine->learner().view().estimator().laplace().newton_decrement(), 1e-6);
  engine.poll_rounds(1000);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kColdStarts), 1u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, OutlyingRows, testing::Values(1, 2, 10, 11));

// On its way it comes to where the curvature has no factor, and goes back from there.
TEST(OutlyingRows, ColdStartPassesWhereNoFactorIs) {
  TestEngine engine(outlying_config(1000, 12, 1e-6));
  start(engine, outlying_rows(1000, 12, 3, 7));
  EXPECT_GT(engine->counters().get(RuntimeCounter::kFactorizationFailures), 0u);
  EXPECT_NE(engine->learner().view().phase, Learner::Phase::kWarmingUp);
  EXPECT_LT(engine->learner().view().estimator().laplace().newton_decrement(), 1e-6);
}

class HopelessRows : public testing::TestWithParam<std::uint64_t> {};

// Coefficients of any size, rows over nine orders of magnitude: chains that started from there
// would have to start anew for ever. What is served meanwhile is the best point that was looked at,
// which says more than nothing.
TEST_P(HopelessRows, ColdStartWaitsForOthers) {
  constexpr Index kRows = 1000;
  constexpr Index kFeatures = 12;
  TestEngine engine(outlying_config(kRows, kFeatures, 1e-3));
  const Data hopeless = outlying_rows(kRows, kFeatures, 3, GetParam());
  start(engine, hopeless);
  EXPECT_EQ(engine->poll(1), 0u);
  EXPECT_EQ(engine->learner().view().phase, Learner::Phase::kWarmingUp);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kColdStarts), 0u);
  EXPECT_EQ(engine.provenance().status, PosteriorStatus::kWarmingUp);
  const Estimator& estimator = engine->learner().view().estimator();
  const VectorXd mode = Eigen::Map<const VectorXd>(estimator.laplace().mode(), engine->dimension());
  EXPECT_EQ(mode, Eigen::Map<const VectorXd>(estimator.done().anchor(), engine->dimension()));
  EXPECT_LT(loss(hopeless, mode), 0.95 * static_cast<double>(kRows) * std::log(kClasses));

  start(engine, outlying_rows(kRows, kFeatures, 0, GetParam()));
  EXPECT_NE(engine->learner().view().phase, Learner::Phase::kWarmingUp);
  EXPECT_LT(estimator.laplace().newton_decrement(), 1e-6);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kColdStarts), 1u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, HopelessRows, testing::Values(3, 8, 19));

// Rows that one plane tells apart give way, after a few passes, to others that nothing tells apart:
// no step is compared with the loss of those before.
TEST(OutlyingRows, ColdStartGoesOnWhenItsRowsAreOthers) {
  constexpr Index kRows = 1000;
  EngineConfig config = small_config("logistic", 3, kRows);
  config.model.prior_precision = 1e-3;
  config.draws_per_observation = 0;
  config.window_slack = 2 * kRows;
  TestEngine engine(config);
  Data data = logistic_data(2 * kRows, 3, 0.0, 1);
  for (Index i = 0; i < kRows; ++i) data.y[i] = data.x(i, 0) > 0 ? 1 : 0;
  data.y.tail(kRows) = (uniforms(2, kRows).array() < 0.5).cast<double>();
  engine.feed(data, 0, kRows);
  engine.poll_rounds(6);
  ASSERT_EQ(engine->learner().view().phase, Learner::Phase::kWarmingUp);
  engine.feed(data, kRows, 2 * kRows);
  engine.poll_rounds(60);
  EXPECT_NE(engine->learner().view().phase, Learner::Phase::kWarmingUp);
  EXPECT_LT(engine->learner().view().estimator().laplace().newton_decrement(), 1e-6);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kColdStarts), 1u);
}

// A row comes, and one leaves, in ten passes: steps are judged by other rows than they were made
// from. When nothing was compared then it took 420 to 8030 passes.
TEST_P(OutlyingRows, ColdStartEndsWhileARowComesNowAndThen) {
  constexpr Index kRows = 1000;
  constexpr int kMostPasses = 400;
  const Data data = outlying_rows(kRows + kMostPasses / 10, 4, 2, GetParam());
  TestEngine engine(outlying_config(kRows, 4, 1e-3));
  engine.feed(data, 0, kRows);
  int passes = 0;
  for (; engine->learner().view().phase == Learner::Phase::kWarmingUp; ++passes) {
    ASSERT_LT(passes, kMostPasses);
    if (passes % 10 == 0) engine.feed(data, kRows + passes / 10, kRows + passes / 10 + 1);
    engine.poll_rounds(1);
  }
}

TEST(ColdStart, EndsInAStreamThatReplacesItsRows) {
  constexpr Index kRows = 1000;
  EngineConfig config = small_config("logistic", 3, kRows);
  config.draws_per_observation = 0;
  const Data data = logistic_data(3 * kRows, 3, 0.0, 1);
  TestEngine engine(config);
  engine.feed(data, 0, kRows);
  int passes = 0;
  while (engine->learner().view().phase == Learner::Phase::kWarmingUp && passes < 20) {
    engine.feed(data, kRows + 100 * passes, kRows + 100 * (passes + 1));
    engine.poll_rounds(1);
    ++passes;
  }
  EXPECT_LT(passes, 10);
  engine.poll_rounds(1000);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kColdStarts), 1u);
}

// Without a window no row comes before chains have started from those of the cold start.
TEST(ColdStart, OfHopelessRowsWithoutAWindowEndsToo) {
  EngineConfig config = outlying_config(1000, 12, 1e-3);
  config.horizon = Horizon::kAll;
  const auto first_rows = static_cast<Index>(cold_start_rows(config)) - 8;
  TestEngine engine(config);
  const Data hopeless = outlying_rows(1000, 12, 3, 3);
  engine.feed(hopeless, 0, first_rows);
  engine.poll_rounds(500);
  EXPECT_EQ(engine->poll(1), 0u);
  EXPECT_EQ(engine->learner().view().phase, Learner::Phase::kWarmingUp);
  engine.feed(hopeless, first_rows, 1000);
  engine.poll_rounds(1000);
  engine.feed(outlying_rows(1000, 12, 0, 3));
  engine.poll_rounds(1000);
  EXPECT_EQ(engine->learner().view().phase, Learner::Phase::kSampling);
  EXPECT_EQ(engine.provenance().n_seen, 2000u);
}

// The scale of Student's t comes down from that of the outliers by a factor with every pass: no
// step on the way is worth a second look.
TEST(ColdStart, LearnsTheScaleThatOutliersHide) {
  constexpr Index kRows = 400;
  EngineConfig config = small_config("student-t", 3, kRows);
  config.model.noise_variance = 0;
  config.draws_per_observation = 0;
  Data data = linear_data(kRows, 3, 1.0, 1);
  for (Index i = 0; i < kRows; i += 10) data.y[i] = 1e5;
  TestEngine engine(config);
  engine.feed(data);
  engine.poll_rounds(100);
  EXPECT_NE(engine->learner().view().phase, Learner::Phase::kWarmingUp);
  EXPECT_LT(engine->learner().view().estimator().dispersion().value(), 10);
}

// An eighth of the window a round, a quarter a pass: the mode of each pass is about D / 2 from that
// of the one before, twice a hundredth of the rows. That alone must not keep Newton's method going.
TEST(ColdStart, EndsInAStreamThatReplacesTheWindowInAFewPasses) {
  constexpr Index kRows = 2000;
  constexpr std::uint32_t kDimension = 80;
  constexpr Index kARound = kRows / 8;
  constexpr Index kMostRounds = 16;  // two windows
  const Data data = logistic_data(kRows + kMostRounds * kARound, kDimension, 0.0, 1);
  EngineConfig config = small_config("logistic", kDimension, kRows);
  config.draws_per_observation = 0;
  config.window_slack = 2 * kRows;
  TestEngine engine(config);
  engine.feed(data, 0, kRows);
  Index fed = kRows;
  for (; engine->learner().view().phase == Learner::Phase::kWarmingUp; fed += kARound) {
    ASSERT_LT(fed, data.rows());
    engine.feed(data, fed, fed + kARound);
    engine.poll_rounds(1);
  }
}

// Steps of Student's t are as long as an outlier makes them, and never lead up: no reason to begin
// anew.
TEST(ColdStart, OfAnOutlierUnderAGivenScaleIsNotBegunAgain) {
  constexpr Index kRows = 1000;
  EngineConfig config = small_config("student-t", 3, kRows);
  config.model.noise_variance = 1;
  config.draws_per_observation = 0;
  Data data = linear_data(kRows, 3, 1.0, 1);
  data.y[kRows / 2] = 1e8;
  TestEngine engine(config);
  engine.feed(data);
  engine.poll_rounds(2000);
  EXPECT_EQ(engine->learner().view().phase, Learner::Phase::kSampling);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kColdStarts), 1u);
}

}  // namespace
}  // namespace windhover::test::outlying_rows_test
