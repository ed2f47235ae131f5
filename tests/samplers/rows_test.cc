#include "windhover/samplers/rows.h"

#include <gtest/gtest.h>

#include "windhover/tests/samplers/support.h"

namespace windhover::rows_test {
namespace {

TEST(RowLayout, dense_row_holds_features_and_target_in_whole_vectors) {
  for (std::uint32_t features = 0; features < 40; ++features) {
    ModelConfig config;
    config.features = features;
    const RowLayout layout(config);
    EXPECT_FALSE(layout.sparse());
    EXPECT_EQ(layout.target_index(), features);
    EXPECT_EQ(layout.stride() % 4, 0U);
    EXPECT_GE(layout.stride(), features + 1);
    EXPECT_LT(layout.stride(), features + 5);
  }
}

TEST(RowLayout, sparse_row_holds_values_and_indices_without_overlap) {
  for (std::uint32_t nonzeros = 1; nonzeros < 40; ++nonzeros) {
    ModelConfig config;
    config.features = 1000;
    config.max_nonzeros = nonzeros;
    const RowLayout layout(config);
    EXPECT_TRUE(layout.sparse());
    EXPECT_EQ(layout.stride() % 4, 0U);
    EXPECT_GE(layout.indices_index(), RowLayout::kValuesIndex + nonzeros);
    EXPECT_GE(layout.stride() * sizeof(double),
              layout.indices_index() * sizeof(double) + nonzeros * sizeof(std::uint32_t));
  }
}

TEST(SparseRow, reads_what_was_written) {
  ModelConfig config;
  config.features = 5;
  config.max_nonzeros = 5;
  const Table table(config, Matrix{{0.0, 2.0, 0.0, 0.0, -3.0}}, Vector{{9.0}});
  const SparseRow row(RowLayout(config), table.all().base);
  EXPECT_EQ(row.target, 9.0);
  ASSERT_EQ(row.count, 2U);
  EXPECT_EQ(row.values[0], 2.0);
  EXPECT_EQ(row.indices[0], 1U);
  EXPECT_EQ(row.values[1], -3.0);
  EXPECT_EQ(row.indices[1], 4U);
}

TEST(RowBatch, part_names_the_same_rows) {
  const std::vector<std::uint32_t> slots = {4, 1, 4, 0};
  const RowBatch batch{nullptr, slots.data(), slots.size()};
  const RowBatch part = batch.part(1, 2);
  ASSERT_EQ(part.count, 2U);
  EXPECT_EQ(part.slots[0], 1U);
  EXPECT_EQ(part.slots[1], 4U);
}

}  // namespace
}  // namespace windhover::rows_test
