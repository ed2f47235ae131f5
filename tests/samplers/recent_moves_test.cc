// Means over the last moves, against what they are means of.
#include "windhover/samplers/row_blocks/recent_moves.h"

#include <gtest/gtest.h>

#include <cmath>

namespace windhover::recent_moves_test {
namespace {

constexpr std::uint32_t kChains = 8;

TEST(RecentMoves, CountAlikeWhileThereAreFew) {
  RecentMoves moves(kChains);
  double sum = 0;
  for (int i = 1; i <= 100; ++i) {
    moves.add(i);
    sum += i;
    EXPECT_NEAR(moves.change(), sum / i, 1e-12 * sum);
  }
  EXPECT_EQ(moves.moves(), 100 * kChains);
  moves.reset();
  moves.add(3);
  EXPECT_EQ(moves.change(), 3);
}

// One move of eight chains is 0.008 of the mean: of what was, 0.992^1,000 is left.
TEST(RecentMoves, FollowThen) {
  RecentMoves moves(kChains);
  for (int i = 0; i < 1'000; ++i) moves.add(1);
  for (int i = 0; i < 1'000; ++i) moves.add(0);
  EXPECT_NEAR(moves.change(), std::pow(0.992, 1'000), 1e-9);
}

TEST(RecentMoves, ASpreadIsKnownOfSeveralChainsAfterAThousandMoves) {
  for (const std::uint32_t chains : {1U, kChains}) {
    RecentMoves moves(chains);
    for (std::uint64_t i = 0; i < 2 * RecentMoves::kLeastMoves; ++i) {
      EXPECT_EQ(std::isnan(moves.spread_ratio()),
                chains == 1 || moves.moves() < RecentMoves::kLeastMoves);
      moves.add(1);
      // Each chain is as far from the next one as independent draws are, whose normals sum to 0.
      const double weights = 0.3;
      moves.add_virial(2.0 * weights * chains * chains / std::max(chains - 1.0, 1.0), 2, weights,
                       100);
    }
  }
  RecentMoves moves(kChains);
  for (std::uint64_t i = 0; i < RecentMoves::kLeastMoves; ++i) {
    moves.add(1);
    moves.add_virial(2.0 * 0.3 * kChains * kChains / (kChains - 1.0), 2, 0.3, 100);
  }
  EXPECT_NEAR(moves.spread_ratio(), 1, 1e-12);
}

}  // namespace
}  // namespace windhover::recent_moves_test
