// Rows that come in pieces of any size: what is said of them does not hang on the pieces.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::memory_takes_test {
namespace {

constexpr Index kDays = 730;

// y = 6.7 sin + N(0, 1), of a wave of seven days: while its slope is not known, days that follow
// one another have errors in common, as where a level walks.
Data days() {
  Data data = linear_data(kDays, 2, 1.0, 5, 0.0);
  for (Index i = 0; i < kDays; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / 7;
    const double noise = data.y[i] - data.design().row(i).dot(data.truth);
    data.x(i, 0) = std::sin(angle);
    data.x(i, 1) = std::cos(angle);
    data.y[i] = 6.7 * data.x(i, 0) + noise;
  }
  return data;
}

TEST(MemoryTakes, AFileInAnyPiecesLeavesItsMeanAsNarrow) {
  const Data data = days();
  const std::array<double, 2> x{data.x(0, 0), data.x(0, 1)};
  EngineConfig config = small_config("linear", 2, 2'000);
  config.horizon = Horizon::kAdaptive;
  config.model.noise_variance = 0;
  std::mt19937_64 random(1);
  for (int pattern = 0; pattern < 100; ++pattern) {
    TestEngine engine(config);
    for (Index at = 0; at < kDays;) {
      constexpr std::array<Index, 8> kPieces{1, 5, 20, 60, 120, 256, 400, kDays};
      constexpr std::array<std::uint64_t, 5> kRounds{0, 1, 2, 5, 20};
      const Index end = std::min(at + kPieces[random() % kPieces.size()], kDays);
      engine.feed(data, at, end);
      engine.poll_rounds(kRounds[random() % kRounds.size()]);
      at = end;
    }
    engine.poll_until_idle();
    // As of 27 rows: all of them leave 0.064, and the choice of a memory may take a tenth of them.
    EXPECT_LT(engine.answers(question(1, x)).front().linpred_sd, 1.0 / 3) << pattern;
  }
}

}  // namespace
}  // namespace windhover::test::memory_takes_test
