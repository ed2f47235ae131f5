// What rows bring to columns, and take with them.
#include "windhover/samplers/row_blocks/exact_columns.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

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

// A row of weight 3 whose residuals change has the same G as one that came with the newest of them,
// and nothing is left of it where it goes; G beside theta is a copy.
TEST(ExactColumns, RowsAreExchanged) {
  ModelConfig model;
  model.name = "linear";
  model.features = kColumns;
  model.max_nonzeros = 2;
  model.intercept = false;
  model.weight = true;
  const RowLayout layout(model);
  std::vector<double> numbers(layout.stride());
  numbers[RowLayout::kCountIndex] = 2;
  numbers[RowLayout::kValuesIndex] = 0.1;
  numbers[RowLayout::kValuesIndex + 1] = 0.7;
  auto* indices = reinterpret_cast<std::uint32_t*>(numbers.data() + layout.indices_index());
  indices[1] = 2;
  numbers[layout.weight_index()] = 3;
  const RowColumns row(layout, RowLikelihood(model), false, numbers.data());
  Memory memory;
  ExactColumns columns(memory.arena(), kColumns, kChains, 1'000, 1e12);
  ChainPositions copies(memory.arena(), kColumns, kChains, false);
  columns.reset();
  copies.reset();
  const std::array<float, kChains> before = {0.3F, -1.7F};
  const std::array<float, kChains> after = {1e5F, 1e-5F};
  columns.add(row, before.data(), 1, copies);
  EXPECT_FLOAT_EQ(copies.force(2)[1], static_cast<float>(3 * 0.7 * double{before[1]}));
  columns.exchange(row, before.data(), after.data(), copies);
  EXPECT_FLOAT_EQ(copies.force(0)[0], static_cast<float>(3 * 0.1 * double{after[0]}));
  EXPECT_FLOAT_EQ(copies.force(2)[1], static_cast<float>(3 * 0.7 * double{after[1]}));
  EXPECT_EQ(copies.force(1)[0], 0);
  columns.add(row, after.data(), -1, copies);
  for (const std::uint32_t column : {0U, 2U}) {
    EXPECT_EQ(copies.force(column)[0], 0);
    EXPECT_EQ(copies.force(column)[1], 0);
  }
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
