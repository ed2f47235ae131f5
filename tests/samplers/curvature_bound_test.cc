// The power method over rows against the eigenvalue of the matrix.
#include "windhover/samplers/row_blocks/curvature_bound.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "windhover/tests/samplers/support.h"

namespace windhover::curvature_bound_test {
namespace {

constexpr std::uint32_t kColumns = 30;
constexpr std::uint32_t kNonzeros = 5;
constexpr std::size_t kRows = 200;
constexpr double kPrecision = 0.5;
constexpr double kCurvature = 0.2;

// Rows of random columns and values, and the bound's iterations over them with steps that differ
// from column to column.
class Rows {
 public:
  explicit Rows(double step) {
    model_.name = "logistic";
    model_.features = kColumns;
    model_.max_nonzeros = kNonzeros;
    model_.intercept = false;
    const RowLayout layout(model_);
    const Matrix numbers = normals(7, kRows, kNonzeros);
    matrix_ = kPrecision * Matrix::Identity(kColumns, kColumns);
    rows_.resize(kRows * layout.stride());
    for (std::size_t i = 0; i < kRows; ++i) {
      double* row = &rows_[i * layout.stride()];
      row[RowLayout::kCountIndex] = kNonzeros;
      auto* indices = reinterpret_cast<std::uint32_t*>(row + layout.indices_index());
      Vector dense = Vector::Zero(kColumns);
      for (std::uint32_t k = 0; k < kNonzeros; ++k) {
        indices[k] = k * (kColumns / kNonzeros) + static_cast<std::uint32_t>((i * (k + 3)) % 6);
        row[RowLayout::kValuesIndex + k] = 0.5 + std::abs(numbers(static_cast<Index>(i), k));
        dense[indices[k]] = row[RowLayout::kValuesIndex + k];
      }
      matrix_ += kCurvature * dense * dense.transpose();
    }
    for (std::uint32_t j = 0; j < kColumns; ++j) steps_.push_back(step * (1 + 0.05 * j));
    const Vector roots = Eigen::Map<const Vector>(steps_.data(), kColumns).cwiseSqrt();
    matrix_ = roots.asDiagonal() * matrix_ * roots.asDiagonal();
  }

  double largest_eigenvalue() const { return symmetric_eigen(matrix_).eigenvalues().maxCoeff(); }

  // Iterates with steps that are `longer` times as long.
  void iterate(CurvatureBound& bound, int iterations, double longer = 1) const {
    const RowLayout layout(model_);
    const RowLikelihood likelihood(model_);
    for (int iteration = 0; iteration < iterations; ++iteration) {
      for (std::size_t i = 0; i < kRows; ++i) {
        const RowColumns row(layout, likelihood, false, &rows_[i * layout.stride()]);
        float steps[kNonzeros];
        float precisions[kNonzeros];
        for (std::uint32_t k = 0; k < kNonzeros; ++k) {
          steps[k] = static_cast<float>(longer * steps_[row.column(k)]);
          precisions[k] = kPrecision;
        }
        bound.add(row, kCurvature, steps, precisions, kRows);
      }
    }
  }

 private:
  ModelConfig model_;
  std::vector<double> rows_;
  std::vector<double> steps_;
  Matrix matrix_;
};

// The tolerance is 1 %: rounding to 24 bits, and what 40 iterations leave of the second eigenvalue.
TEST(CurvatureBound, IsTheEigenvalueOfStaticRows) {
  const Rows rows(0.001);
  Memory memory;
  CurvatureBound bound(memory.arena(), kColumns, 1);
  bound.reset();
  EXPECT_TRUE(std::isnan(bound.law_ratio()));
  rows.iterate(bound, 1);
  EXPECT_TRUE(std::isnan(bound.law_ratio())) << "nothing says that it is near yet";
  rows.iterate(bound, 40);
  const double rho = rows.largest_eigenvalue();
  ASSERT_LT(rho, CurvatureBound::kMost);
  EXPECT_EQ(bound.scale(), 1);
  EXPECT_NEAR(2 * (1 - 1 / bound.law_ratio()), rho, 0.01 * rho);
}

// Steps that become shorter and longer again by turns take rho along: what counts is the largest of
// the last few, and that it has been as large before is no reason to doubt it.
TEST(CurvatureBound, KnowsTheLargestWhereStepsChange) {
  const Rows rows(0.001);
  const double rho = rows.largest_eigenvalue();
  Memory memory;
  CurvatureBound bound(memory.arena(), kColumns, CurvatureBound::kMostCompared);
  bound.reset();
  rows.iterate(bound, 20);
  const double law = bound.law_ratio();
  for (int turn = 0; turn < 10; ++turn) {
    rows.iterate(bound, 1, turn % 2 == 0 ? 0.4 : 1);
    EXPECT_NEAR(bound.law_ratio(), law, 0.02 * rho) << turn;
  }
  rows.iterate(bound, static_cast<int>(CurvatureBound::kMostCompared), 0.4);
  EXPECT_NEAR(2 * (1 - 1 / bound.law_ratio()), 0.4 * rho, 0.02 * rho);
  // Longer than they have ever been they are not known before another iteration has said so.
  rows.iterate(bound, 1, 2.5);
  EXPECT_TRUE(std::isnan(bound.law_ratio()));
  EXPECT_LE(bound.scale() * 2.5 * rho, 1.02 * CurvatureBound::kMost);
  rows.iterate(bound, 1, 2.5);
  EXPECT_FALSE(std::isnan(bound.law_ratio()));
}

TEST(CurvatureBound, ScalesStepsThatAreTooLong) {
  const Rows rows(0.01);
  Memory memory;
  CurvatureBound bound(memory.arena(), kColumns, 1);
  bound.reset();
  rows.iterate(bound, 40);
  const double rho = rows.largest_eigenvalue();
  ASSERT_GT(rho, 2 * CurvatureBound::kMost);
  EXPECT_NEAR(bound.scale() * rho, CurvatureBound::kMost, 0.01 * CurvatureBound::kMost);
  EXPECT_NEAR(bound.law_ratio(), 1 / (1 - 0.5 * CurvatureBound::kMost), 1e-6);
}

}  // namespace
}  // namespace windhover::curvature_bound_test
