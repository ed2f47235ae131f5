// Many sparse columns of which few count: the tails of their prior are learned.
#include "windhover/tests/runtime/row_block_checkpoint.h"
#include "windhover/tests/runtime/row_block_fixture.h"

namespace windhover::test::row_block_test {
namespace {

constexpr std::uint32_t kFew = 5'000;
constexpr std::uint32_t kFewFields = 10;

// One coefficient in ten is of N(0, 10), the others of N(0, 0.1).
SparseRows rows_where_few_count(std::size_t rows) {
  VectorXd truth = truth_of(kFew, std::sqrt(10));
  for (Index j = 0; j < truth.size(); ++j) {
    if (j % 10 != 0) truth[j] /= 10;
  }
  return rows_of(rows, kFew, kFewFields, truth, 3);
}

EngineConfig of_few(Horizon horizon) {
  EngineConfig config = config_of(kFew, kFewFields);
  config.horizon = horizon;
  config.window_size = 20'000;
  config.model.prior_precision = config.model.intercept_precision = 0;  // chosen, and learned
  return config;
}

TEST(RowBlockTails, ACheckpointGoesOnAsItWas) {
  const SparseRows data = rows_where_few_count(9'000);
  EngineConfig config = of_few(Horizon::kAdaptive);
  config.checkpoints = true;
  expect_checkpoint_goes_on(config, data, 6'000);
}

double score_after(const EngineConfig& config, const SparseRows& data, std::size_t rows) {
  TestEngine engine(config);
  feed(engine, data, 0, rows);
  engine.poll_until_idle();
  double sum = 0;
  for (std::size_t row = rows; row < data.rows(); ++row) {
    const double p = answer(engine, data, row).mean;
    sum += std::log(data.targets[row] == 1 ? p : 1 - p);
  }
  return sum / static_cast<double>(data.rows() - rows);
}

// The score of 2,000 rows is better by more than chance, which is 0.005, than with a normal prior
// of the precision that is learned where there are no tails. Also where most rows have left a past.
TEST(RowBlockTails, PredictBetterThanANormalPriorWhereFewColumnsCount) {
  constexpr std::size_t kRows = 12'000;
  const SparseRows data = rows_where_few_count(kRows + 2'000);
  for (const Horizon horizon : {Horizon::kWindow, Horizon::kAdaptive}) {
    EngineConfig config = of_few(horizon);
    const double score = score_after(config, data, kRows);
    config.model.prior_precision = config.model.intercept_precision = 1.5;
    EXPECT_GT(score, score_after(config, data, kRows) + 0.01) << to_string(horizon);
  }
}

}  // namespace
}  // namespace windhover::test::row_block_test
