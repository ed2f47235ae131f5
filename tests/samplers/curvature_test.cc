#include "windhover/samplers/estimates/curvature.h"

#include <gtest/gtest.h>

#include <vector>

#include "windhover/tests/samplers/support.h"

namespace windhover::curvature_test {
namespace {

class AnchorSumsOfRegression : public testing::Test {
 protected:
  static constexpr Index kRows = 60;
  static constexpr std::uint32_t kDimension = 5;

  AnchorSumsOfRegression() {
    config.features = kDimension - 1;
    const ModelEntry* entry = find_model("linear");
    model = entry->make(memory.arena(), config);
    entry->reset(*model);
  }

  // One Newton step from where the sums were taken.
  Vector newton(const AnchorSums& sums) const {
    const auto width = static_cast<Index>(matrix_width(kDimension));
    const Eigen::Map<const Matrix> padded(sums.sums().curvature, width, width);
    const Matrix hessian =
        padded.topLeftCorner(kDimension, kDimension).selfadjointView<Eigen::Lower>();
    const Eigen::Map<const Vector> gradient(sums.sums().gradient, kDimension);
    const Eigen::Map<const Vector> anchor(sums.anchor(), kDimension);
    return anchor - hessian.llt().solve(gradient);
  }

  void sum_all(const Table& table, AnchorSums& sums) {
    const Vector anchor = normals(3, kDimension, 1);
    sums.begin(anchor.data());
    sums.add(*model, table.all(), nullptr);
  }

  Memory memory;
  ModelConfig config;
  const Vector prior = Vector::Ones(64);
  Model* model = nullptr;
  Matrix x = normals(1, kRows, kDimension - 1);
  Vector y = normals(2, kRows, 1);
};

TEST_F(AnchorSumsOfRegression, newton_step_from_any_anchor_is_least_squares) {
  const Table table(config, x, y);
  Matrix design(kRows, kDimension);
  design << x, Vector::Ones(kRows);
  const Vector solution = design.colPivHouseholderQr().solve(y);
  AnchorSums sums(memory.arena(), kDimension);
  for (const double size : {0.0, 1.0, 100.0}) {
    const Vector anchor = size * normals(3, kDimension, 1);
    sums.begin(anchor.data());
    sums.add(*model, table.all().part(0, 25), nullptr);
    sums.add(*model, table.all().part(25, kRows - 25), nullptr);
    EXPECT_EQ(sums.rows(), static_cast<double>(kRows));
    EXPECT_LT((newton(sums) - solution).norm(), 1e-11 * (1 + size));
  }
}

TEST_F(AnchorSumsOfRegression, removed_rows_leave_no_trace) {
  const Table table(config, x, y);
  const Vector anchor = normals(3, kDimension, 1);
  AnchorSums sums(memory.arena(), kDimension);
  sums.begin(anchor.data());
  sums.add(*model, table.all().part(20, 40), nullptr);
  const Vector expected = newton(sums);
  sums.add(*model, table.all().part(0, 20), nullptr);
  EXPECT_TRUE(sums.remove(*model, table.all().part(0, 20), nullptr, prior.data()));
  EXPECT_LT((newton(sums) - expected).norm(), 1e-12);
}

// What is left in a column whose rows have all gone is rounding's dust, small beside the prior.
TEST_F(AnchorSumsOfRegression, a_category_may_leave_for_good) {
  x.col(0).tail(kRows - 20).setZero();
  const Table table(config, x, y);
  AnchorSums sums(memory.arena(), kDimension);
  sum_all(table, sums);
  EXPECT_TRUE(sums.remove(*model, table.all().part(0, 7), nullptr, prior.data()));
  EXPECT_TRUE(sums.remove(*model, table.all().part(7, 13), nullptr, prior.data()));
  const double left = sums.sums().curvature[0];
  EXPECT_NE(left, 0.0);
  EXPECT_LT(std::abs(left), 1e-12);
}

TEST_F(AnchorSumsOfRegression, rows_that_have_swallowed_the_others_are_told) {
  x.topRows(20) *= 1e8;
  const Table table(config, x, y);
  AnchorSums sums(memory.arena(), kDimension);
  sum_all(table, sums);
  EXPECT_FALSE(sums.remove(*model, table.all().part(0, 20), nullptr, prior.data()));
}

TEST_F(AnchorSumsOfRegression, clear_keeps_the_anchor) {
  const Table table(config, x, y);
  AnchorSums sums(memory.arena(), kDimension);
  sum_all(table, sums);
  const Vector before = newton(sums);
  sums.clear();
  EXPECT_EQ(sums.rows(), 0.0);
  sums.add(*model, table.all(), nullptr);
  EXPECT_EQ(newton(sums), before);
}

// Sums that were 10^12 times as large hold rounding of 10^-3 of what is left; a prior beside them
// has digits again. What fades takes rounding along.
TEST(LargestSums, SwallowWhatIsSmallBesideThem) {
  Memory memory;
  LargestSums largest(memory.arena(), 2);
  largest.clear();
  std::vector<double> curvature = {1e12, 0, 0, 1};  // two columns, a diagonal every three numbers
  CurvatureSums sums{};
  sums.curvature = curvature.data();
  sums.rows = 1;
  largest.follow(sums, 3);
  curvature[0] = 1;
  const std::vector<double> none = {0, 0};
  const std::vector<double> prior = {1e4, 0};
  EXPECT_TRUE(largest.have_swallowed(sums, 3, none.data(), 1, false));
  EXPECT_FALSE(largest.have_swallowed(sums, 3, prior.data(), 1, false));
  EXPECT_TRUE(largest.have_swallowed(sums, 3, prior.data(), 1e-3, false));
  largest.fade(1e-6);
  EXPECT_FALSE(largest.have_swallowed(sums, 3, none.data(), 1, false));
  // Sums of squared weights count where rows have weights.
  sums.squared_weight = 1e12;
  largest.follow(sums, 3);
  sums.squared_weight = 1;
  EXPECT_FALSE(largest.have_swallowed(sums, 3, none.data(), 1, false));
  EXPECT_TRUE(largest.have_swallowed(sums, 3, none.data(), 1, true));
  largest.clear();
  EXPECT_FALSE(largest.have_swallowed(sums, 3, none.data(), 1, true));
}

// Ten rows faded to a half, ten of now: as certain as 15^2 / 12.5 equal ones.
TEST(RowAges, CountRowsAndWhatTheyAreWorth) {
  RowAges ages;
  EXPECT_EQ(ages.kish(0), 0);
  ages.add(10, 1);
  ages.fade(0.5);
  ages.add(10, 1);
  EXPECT_EQ(ages.count(), 20);
  EXPECT_DOUBLE_EQ(ages.kish(15), 18);
  ages.add(-10, 0.5);
  EXPECT_EQ(ages.count(), 10);
  EXPECT_DOUBLE_EQ(ages.kish(10), 10);
}

}  // namespace
}  // namespace windhover::curvature_test
