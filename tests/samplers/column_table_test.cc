// What rows bring to columns and take with them, against sums by hand.
#include "windhover/samplers/row_blocks/column_table.h"

#include <gtest/gtest.h>

#include <array>

#include "windhover/tests/samplers/support.h"

namespace windhover::column_table_test {
namespace {

// A row of two columns of four, of values 1 and 2 and weight 3.
class OneRow {
 public:
  OneRow()
      : layout_(model()),
        block_(memory_.arena(), 2, 1),
        exact_(memory_.arena(), 4, 1, 10, 1e9),
        table_(memory_.arena(), 4) {
    numbers_[0] = 1;
    numbers_[RowLayout::kCountIndex] = 2;
    numbers_[RowLayout::kValuesIndex] = 1;
    numbers_[RowLayout::kValuesIndex + 1] = 2;
    auto* indices = reinterpret_cast<std::uint32_t*>(numbers_.data() + layout_.indices_index());
    block_.column[0] = indices[0] = 0;
    block_.column[1] = indices[1] = 3;
    numbers_[layout_.weight_index()] = 3;
    for (std::size_t k = 0; k < block_.width; ++k) {
      block_.value[k] = k < 2 ? static_cast<float>(k + 1) : 0;
      block_.precision[k] = 2;
      block_.curvature[k] = 0;
      block_.step[k] = 0.125F;
    }
    exact_.reset();
    table_.reset();
  }
  const ColumnTable& table() const { return table_; }

  void enter(double curvature) { table_.enter(block_, 2, curvature); }
  void leave(bool keeps_relevance) { table_.leave(block_, 2, keeps_relevance); }
  void settle(float moves) { table_.settle(block_, 2, moves); }
  void set_relevance(float relevance) { table_.set_relevance(3, relevance); }
  void add_curvature(double before, double after, bool exactly) {
    const RowColumns row(layout_, RowLikelihood(model()), false, numbers_.data());
    table_.add_curvature(block_, row, before, after, exactly ? &exact_ : nullptr);
  }

 private:
  static ModelConfig model() {
    ModelConfig config;
    config.name = "logistic";
    config.features = 4;
    config.max_nonzeros = 2;
    config.intercept = false;
    config.weight = true;
    return config;
  }

  Memory memory_;
  RowLayout layout_;
  std::array<double, 16> numbers_{};
  StepBlock block_;
  ExactColumns exact_;
  ColumnTable table_;
};

TEST(ColumnTable, ARowTakesFromThePriorWhatItIsBesideIt) {
  OneRow row;
  row.enter(6);  // column 0: 6 of 2 + 6, column 3: 24 of 2 + 24
  EXPECT_EQ(row.table().of(0).rows, 1U);
  EXPECT_FLOAT_EQ(row.table().of(0).unsettled, 0.75F);
  EXPECT_FLOAT_EQ(row.table().of(3).unsettled, 24.0F / 26);
  EXPECT_EQ(row.table().of(1).rows, 0U);
  row.enter(6);  // there is no more than all
  EXPECT_EQ(row.table().of(0).rows, 2U);
  EXPECT_EQ(row.table().of(0).unsettled, 1);
  row.settle(4);
  EXPECT_FLOAT_EQ(row.table().of(0).unsettled, 0.5F);
}

TEST(ColumnTable, AColumnWithoutRowsHasNothingOfThem) {
  OneRow row;
  for (const bool keeps_relevance : {true, false}) {
    row.enter(6);
    row.enter(6);
    row.add_curvature(0, 1.1, false);
    row.set_relevance(5);
    row.leave(keeps_relevance);
    EXPECT_GT(row.table().of(3).curvature, 0);
    EXPECT_EQ(row.table().of(3).relevance, 5);
    row.leave(keeps_relevance);
    EXPECT_EQ(row.table().of(3).rows, 0U);
    EXPECT_EQ(row.table().of(3).curvature, 0);
    EXPECT_EQ(row.table().of(3).unsettled, 0);
    EXPECT_EQ(row.table().of(3).relevance, keeps_relevance ? 5 : 1);
  }
}

TEST(ColumnTable, CurvatureFollowsThatOfTheRow) {
  OneRow row;
  row.add_curvature(0, 0.5, false);
  EXPECT_EQ(row.table().of(0).curvature, 0.5);
  EXPECT_EQ(row.table().of(3).curvature, 2);
  row.add_curvature(0.5, 0.25, false);
  EXPECT_EQ(row.table().of(3).curvature, 1);
  row.add_curvature(0.5, 0, false);  // never below 0
  EXPECT_EQ(row.table().of(3).curvature, 0);
}

// Rows are weighed by the weight, and exactly: 0.1 and 0.3 leave no rounding behind.
TEST(ColumnTable, CurvatureOfWeighedRowsIsExact) {
  OneRow row;
  row.add_curvature(0, 0.1, true);
  EXPECT_DOUBLE_EQ(row.table().of(3).curvature, 3 * 4 * 0.1);
  row.add_curvature(0, 0.3, true);
  row.add_curvature(0.1, 0, true);
  row.add_curvature(0.3, 0, true);
  EXPECT_EQ(row.table().of(0).curvature, 0);
  EXPECT_EQ(row.table().of(3).curvature, 0);
}

}  // namespace
}  // namespace windhover::column_table_test
