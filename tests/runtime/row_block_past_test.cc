// Many sparse columns with an adaptive horizon: some thousand rows, and a past that is condensed.
#include <numbers>

#include "windhover/tests/runtime/row_block_fixture.h"

namespace windhover::test::row_block_test {
namespace {

EngineConfig adaptive(std::uint32_t features, std::uint32_t nonzeros) {
  EngineConfig config = config_of(features, nonzeros);
  config.horizon = Horizon::kAdaptive;
  config.window_size = 100'000;
  return config;
}

double log_score(TestEngine& engine, const SparseRows& data, std::size_t first) {
  double sum = 0;
  for (std::size_t row = first; row < data.rows(); ++row) {
    const double p = answer(engine, data, row).mean;
    sum += std::log(data.targets[row] == 1 ? p : 1 - p);
  }
  return sum / static_cast<double>(data.rows() - first);
}

// Nothing moves: what is condensed costs next to nothing.
TEST(RowBlockPastLearner, IntervalsHoldTheTruth) {
  constexpr std::uint32_t kFeatures = 4'000;
  constexpr std::size_t kRows = 20'000;
  const VectorXd truth = truth_of(kFeatures, 0.6);
  const SparseRows data = rows_of(kRows + 2'000, kFeatures, 10, truth, 3);
  TestEngine engine(adaptive(kFeatures, 10));
  feed(engine, data, 0, kRows);
  engine.poll_until_idle();
  EngineConfig of_window = config_of(kFeatures, 10);
  of_window.window_size = kRows;
  TestEngine window(of_window);
  feed(window, data, 0, kRows);
  window.poll_until_idle();
  Provenance provenance;
  // The tolerance is that of row_block_learner_test.cc.
  EXPECT_NEAR(held(engine, data, kRows, &provenance), 0.9, 0.05);
  EXPECT_EQ(provenance.status, PosteriorStatus::kOk) << to_string(provenance.reason);
  EXPECT_GT(provenance.n_eff, 15'000U);
  EXPECT_GT(log_score(engine, data, kRows), log_score(window, data, kRows) - 0.01);
}

// Coefficients go half the way round, by 30 degrees in as many rows as are held.
TEST(RowBlockPastLearner, FollowsWhatMoves) {
  constexpr std::uint32_t kFeatures = 250;
  constexpr std::size_t kRows = 24'000;
  constexpr std::size_t kPieces = 48;
  const VectorXd one = truth_of(kFeatures, 1);
  const VectorXd other = normals(29, Index{kFeatures} + 1);
  SparseRows data = rows_of(kRows, kFeatures, 5, one, 3);
  for (std::size_t piece = 0; piece < kPieces; ++piece) {
    const double angle = std::numbers::pi * static_cast<double>(piece) / kPieces;
    const VectorXd truth = std::cos(angle) * one + std::sin(angle) * other;
    const SparseRows now = rows_of(kRows, kFeatures, 5, truth, 3);
    for (std::size_t row = piece * kRows / kPieces; row < (piece + 1) * kRows / kPieces; ++row) {
      data.targets[row] = now.targets[row];
    }
  }
  constexpr std::size_t kLearned = kRows - kRows / kPieces;
  TestEngine engine(adaptive(kFeatures, 5));
  TestEngine window(config_of(kFeatures, 5));
  for (TestEngine* learner : {&engine, &window}) {
    feed(*learner, data, 0, kLearned);
    learner->poll_until_idle();
  }
  // 500 rows: the difference is known to about 0.03.
  EXPECT_GT(log_score(engine, data, kLearned), log_score(window, data, kLearned) + 0.1);
}

}  // namespace
}  // namespace windhover::test::row_block_test
