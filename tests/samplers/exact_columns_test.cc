// What rows bring to columns, and take with them.
#include "windhover/samplers/row_blocks/exact_columns.h"

#include <gtest/gtest.h>

#include <cmath>

#include "windhover/tests/samplers/support.h"

namespace windhover::exact_columns_test {
namespace {

constexpr std::uint32_t kColumns = 3;
constexpr std::uint32_t kChains = 2;

// A heavy row beside a light one, each brings to G and H what it takes again: the light one's is as
// if the heavy one had never been there.
TEST(ExactColumns, RowsTakeWithThemWhatTheyBrought) {
  Memory memory;
  ExactColumns columns(memory.arena(), kColumns, kChains, 1'000, 1e12);
  columns.reset();
  const double light = columns.in_quanta(1e-9);
  const double heavy = columns.in_quanta(1e12 / 3);
  const float alone = columns.add(1, 1, quanta_of(light * 0.7));
  EXPECT_NEAR(alone, 0.7e-9, 1e-16);
  const double curvature = columns.add_curvature(1, 0, 1e-9);
  EXPECT_NEAR(columns.add(1, 1, quanta_of(heavy * 0.1)), 1e12 / 30, 1e6);
  EXPECT_NEAR(columns.add_curvature(1, 0, 1e12 / 7), 1e12 / 7, 1e-3);
  EXPECT_EQ(columns.add(1, 1, -quanta_of(heavy * 0.1)), alone);
  EXPECT_EQ(columns.add_curvature(1, 1e12 / 7, 0), curvature);
  EXPECT_EQ(columns.add(1, 1, -quanta_of(light * 0.7)), 0);
  EXPECT_EQ(columns.add_curvature(1, 1e-9, 0), 0);
  // No other column or chain has had anything of it.
  EXPECT_EQ(columns.add(1, 0, 0), 0);
  EXPECT_EQ(columns.add(0, 1, 0), 0);
  EXPECT_EQ(columns.add(2, 0, 0), 0);
}

TEST(ExactColumns, TakesNoMemoryWithoutColumns) {
  Memory memory;
  const std::size_t before = memory.arena().used();
  ExactColumns columns(memory.arena(), 0, kChains, 1'000, 1);
  columns.reset();
  EXPECT_EQ(memory.arena().used(), before);
}

}  // namespace
}  // namespace windhover::exact_columns_test
