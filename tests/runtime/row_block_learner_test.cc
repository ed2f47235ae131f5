// An engine of a diagonal structure: its answers against those of a full one and against the truth.
#include <algorithm>
#include <cmath>

#include "windhover/tests/runtime/row_block_fixture.h"

namespace windhover::test::row_block_test {
namespace {

// Rows that neither has seen, and every coefficient: both engines draw from one posterior.
TEST(RowBlockLearner, AgreesWithAFullStructure) {
  constexpr std::uint32_t kFeatures = 200;
  const VectorXd truth = truth_of(kFeatures, 0.7);
  const SparseRows data = rows_of(4'000, kFeatures, 4, truth, 1);
  EngineConfig config = config_of(kFeatures, 4);
  config.model.prior_precision = 2;
  config.model.intercept_precision = 0.1;
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
  EXPECT_EQ(expect_agreement(diagonal, full, data, 3'600).sequence, 3'600U);
}

// Most columns have a handful of rows, some none, and the prior is learned.
TEST(RowBlockLearner, IntervalsHoldTheTruth) {
  constexpr std::uint32_t kFeatures = 20'000;
  const VectorXd truth = truth_of(kFeatures, 0.6);
  const SparseRows data = rows_of(22'000, kFeatures, 10, truth, 3);
  EngineConfig config = config_of(kFeatures, 10);
  config.draws_per_observation = 16;  // and 48 more at rest, for the precision to settle
  TestEngine engine(config);
  feed(engine, data, 0, 20'000);
  engine.poll_until_idle();
  int held = 0;
  double loss = 0;
  double expected = 0;
  double shuffled = 0;
  Provenance provenance;
  for (std::size_t row = 20'000; row < 22'000; ++row) {
    const PredictiveSummary s = answer(engine, data, row, &provenance);
    const double off = data.predictors[row] - s.linpred_mean;
    held += std::abs(off) < 1.645 * s.linpred_sd ? 1 : 0;
    const auto loss_of = [&](double y) { return -std::log(y == 1 ? s.mean : 1 - s.mean); };
    loss += loss_of(data.targets[row]);
    expected += s.mean * loss_of(1) + (1 - s.mean) * loss_of(0);
    shuffled += loss_of(data.targets[row - 1]);
  }
  // Rows share their frequent columns: about 200 independent ones, 0.02, and 8 chains.
  EXPECT_NEAR(held / 2'000.0, 0.9, 0.05);
  // The loss is as large as the answers themselves expect, to 3 standard errors of 0.45 /
  // sqrt(2000); and not that of other rows.
  EXPECT_NEAR(loss / 2'000, expected / 2'000, 0.03);
  EXPECT_LT(loss / 2'000, shuffled / 2'000 - 0.03);
  EXPECT_EQ(provenance.status, PosteriorStatus::kOk) << to_string(provenance.reason);
  // The sd of the coefficients is learned to a fifth.
  EXPECT_NEAR(1 / std::sqrt(engine.parameters()[0].prior_precision), 0.6, 0.12);
}

// The window has gone on to rows of other coefficients.
TEST(RowBlockLearner, FollowsTheWindow) {
  constexpr std::uint32_t kFeatures = 400;
  const VectorXd before = truth_of(kFeatures, 1);
  const VectorXd after = -before;
  const SparseRows early = rows_of(4'000, kFeatures, 4, before, 1);
  const SparseRows late = rows_of(4'500, kFeatures, 4, after, 2);
  EngineConfig config = config_of(kFeatures, 4);
  config.window_size = 4'000;
  TestEngine engine(config);
  feed(engine, early, 0, 4'000);
  engine.poll_until_idle();
  feed(engine, late, 0, 4'000);
  engine.poll_until_idle();
  double product = 0;
  double square = 0;
  for (std::size_t row = 4'000; row < 4'500; ++row) {
    product += answer(engine, late, row).linpred_mean * late.predictors[row];
    square += late.predictors[row] * late.predictors[row];
  }
  EXPECT_GT(product / square, 0.8);
  EXPECT_LT(product / square, 1.1);
}

// Rows come faster than the chains can follow: whenever it says ok, intervals hold what they say.
// Rows share their frequent columns, 100 independent ones at most: 0.9 +- 0.03, and 8 chains.
TEST(RowBlockLearner, IsNotOkWhileItLags) {
  constexpr std::uint32_t kFeatures = 20'000;
  const SparseRows data = rows_of(60'500, kFeatures, 10, truth_of(kFeatures, 0.6), 3);
  EngineConfig config = config_of(kFeatures, 10);
  config.window_size = 60'000;
  config.window_slack = 60'000;
  TestEngine engine(config);
  Provenance provenance;
  for (std::size_t first = 0; first < 60'000; first += 10'000) {
    feed(engine, data, first, first + 10'000);
    engine.poll_rounds(40);
    const double share = held(engine, data, 60'000, &provenance);
    if (provenance.status == PosteriorStatus::kOk) {
      EXPECT_GT(share, 0.8) << first;
    }
  }
  while (engine->learner().head() < 60'000) engine->poll(1);
  (void)answer(engine, data, 0, &provenance);
  EXPECT_NE(provenance.status, PosteriorStatus::kOk);
  // What it says it has drawn it has.
  const double moves = static_cast<double>(engine->counters().get(RuntimeCounter::kSteps)) / 8;
  EXPECT_LT(provenance.draws_per_observation, 1.1 * moves / 60'000 + 0.1);
  engine.poll_until_idle();
  EXPECT_GT(held(engine, data, 60'000, &provenance), 0.8);
  EXPECT_EQ(provenance.status, PosteriorStatus::kOk) << to_string(provenance.reason);
}

// Lone rows with rests between them teach the precision of the prior no more than rows do.
TEST(RowBlockLearner, ATrickleMovesNoPrior) {
  constexpr std::uint32_t kFeatures = 1'000;
  const SparseRows data = rows_of(5'300, kFeatures, 5, truth_of(kFeatures, 0.6), 3);
  TestEngine engine(config_of(kFeatures, 5));
  feed(engine, data, 0, 5'000);
  engine.poll_until_idle();
  const double before = engine.parameters()[0].prior_precision;
  Provenance provenance;
  for (std::size_t row = 5'000; row < 5'300; ++row) {
    feed(engine, data, row, row + 1);
    engine.poll_until_idle();
    (void)answer(engine, data, row, &provenance);
    ASSERT_EQ(provenance.sequence, row + 1);
  }
  // 300 rows are a sixteenth of those before; all that they grant is eleven passes.
  EXPECT_NEAR(std::log(engine.parameters()[0].prior_precision / before), 0, 0.21);
  EXPECT_EQ(provenance.status, PosteriorStatus::kOk) << to_string(provenance.reason);
  // The groups of draws are still apart.
  double within = 0;
  double all = 0;
  const RowMatrix draws = engine.draws();
  for (Index j = 0; j < draws.cols(); ++j) {
    const double mean = draws.col(j).mean();
    for (Index m = 0; m < draws.rows(); ++m) {
      all += (draws(m, j) - mean) * (draws(m, j) - mean);
      const double last = draws(draws.rows() - 8 + m % 8, j);
      within += (draws(m, j) - last) * (draws(m, j) - last);
    }
  }
  EXPECT_GT(within / all, 0.2);
}

// A row grants less than a move here.
TEST(RowBlockLearner, EveryRowIsInTheDrawsAtRest) {
  EngineConfig config = config_of(100, 4);
  config.draws_per_observation = 0.1;
  const SparseRows data = rows_of(1'003, 100, 4, truth_of(100, 0.5), 1);
  TestEngine engine(config);
  Provenance provenance;
  for (const auto& [first, last] : {std::pair{0U, 1'001U}, {1'001U, 1'002U}, {1'002U, 1'003U}}) {
    feed(engine, data, first, last);
    engine.poll_until_idle();
    (void)answer(engine, data, 0, &provenance);
    EXPECT_EQ(provenance.sequence, last);
  }
}

TEST(RowBlockLearner, WarmsUpFirst) {
  constexpr std::uint32_t kFeatures = 100;
  const SparseRows data = rows_of(2'000, kFeatures, 4, truth_of(kFeatures, 0.5), 1);
  TestEngine engine(config_of(kFeatures, 4));
  Provenance provenance;
  const PredictiveSummary prior = answer(engine, data, 0, &provenance);
  EXPECT_EQ(provenance.status, PosteriorStatus::kWarmingUp);
  EXPECT_NEAR(prior.mean, 0.5, 0.25);
  EXPECT_GT(prior.linpred_sd, 1);
  feed(engine, data, 0, 2'000);
  engine.poll_until_idle();
  (void)answer(engine, data, 0, &provenance);
  EXPECT_EQ(provenance.status, PosteriorStatus::kOk) << to_string(provenance.reason);
}

// Many columns, of which a few have rows, and rows that come a few at a time: the others cost
// nothing, and do not keep draws of before any rows among those served.
TEST(RowBlockLearner, KnowsTheFewColumnsThatHaveRows) {
  constexpr std::uint32_t kFeatures = 50'000;
  constexpr std::uint32_t kKinds = 40;
  EngineConfig config = config_of(kFeatures, 1);
  const VectorXd truth = truth_of(kFeatures, 1.0);
  VectorXd known(kKinds + 1);
  known << truth.head(kKinds), truth[kFeatures];
  const SparseRows data = rows_of(1'000, kKinds, 1, known, 5);
  TestEngine engine(config);
  for (std::size_t row = 0; row < data.rows(); row += 20) {
    feed(engine, data, row, row + 20);
    engine.poll_until_idle();
  }
  Provenance provenance;
  std::vector<double> sds;
  for (std::size_t row = 0; row < 200; ++row) {
    sds.push_back(answer(engine, data, row, &provenance).linpred_sd);
  }
  EXPECT_EQ(provenance.status, PosteriorStatus::kOk) << to_string(provenance.reason);
  EXPECT_EQ(provenance.sequence, data.rows());
  // A kind has 25 rows on average, the frequent ones more, of a curvature of at least 0.1: 1 /
  // sqrt(2.5) = 0.63. A prior's sd is 2.5.
  EXPECT_LT(median(sds), 0.63);
}

// A value that leaves no digit to the others does no harm, now or when it has gone.
TEST(RowBlockLearner, HugeValuesAreSetAside) {
  constexpr std::uint32_t kFeatures = 50;
  SparseRows data = rows_of(3'000, kFeatures, 4, truth_of(kFeatures, 0.5), 1);
  data.values[data.starts[700]] = 1e30;
  data.values[data.starts[701]] = -1e12;
  data.values[data.starts[702]] = 9e5;
  EngineConfig config = config_of(kFeatures, 4);
  config.window_size = 1'000;
  TestEngine engine(config);
  for (const std::size_t rows : {1'000U, 2'000U, 3'000U}) {
    feed(engine, data, rows - 1'000, rows);
    engine.poll_until_idle();
    const PredictiveSummary s = answer(engine, data, 2'999);
    EXPECT_TRUE(std::isfinite(s.linpred_mean) && s.linpred_sd > 0);
    EXPECT_LT(std::abs(s.linpred_mean), 5);
  }
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kRowsSetAside), 2U);
  Provenance provenance;
  (void)answer(engine, data, 0, &provenance);
  EXPECT_EQ(provenance.status, PosteriorStatus::kOk) << to_string(provenance.reason);
}

}  // namespace
}  // namespace windhover::test::row_block_test
