#include "windhover/samplers/linear_algebra/inverse_factor.h"

#include <gtest/gtest.h>

#include <vector>

#include "windhover/tests/samplers/support.h"

namespace windhover::inverse_factor_test {
namespace {

// Dimensions on either side of the widths of cache lines and panels.
class InverseFactorTest : public testing::TestWithParam<Index> {
 protected:
  InverseFactorTest()
      : factor_(memory_.arena(), static_cast<std::uint32_t>(d)),
        inverse_factor_(memory_.arena(), static_cast<std::uint32_t>(d)),
        inverse_(d, d) {
    matrix_ = random_covariance(1, d);
    EXPECT_EQ(factor_.compute(matrix_.data()), Status::kOk);
    inverse_factor_.compute(factor_, 0.5, inverse_.data());
  }
  // Column i is row i of `count`, with numbers that must not matter between them.
  Matrix rows(Index count) const {
    Matrix x = Matrix::Constant(stride(), count, 1e9);
    for (Index i = 0; i < count; ++i) {
      x.col(i).head(d) = normals(static_cast<std::uint64_t>(100 + i), d, 1);
    }
    return x;
  }
  Matrix whiten(const InverseFactor& factor, const Matrix& x) const {
    Matrix whitened = Matrix::Constant(stride(), x.cols(), NAN);
    factor.whiten(x.data(), static_cast<std::size_t>(x.cols()), whitened.data());
    return whitened;
  }
  Index stride() const { return static_cast<Index>(inverse_factor_.stride()); }

  const Index d = GetParam();
  Memory memory_;
  Factor factor_;
  InverseFactor inverse_factor_;
  Matrix matrix_;
  Matrix inverse_;
};

INSTANTIATE_TEST_SUITE_P(Dimensions, InverseFactorTest,
                         testing::Values(1, 2, 7, 8, 9, 31, 32, 33, 64, 65, 100),
                         testing::PrintToStringParamName());

TEST_P(InverseFactorTest, whitens_like_a_substitution) {
  const Matrix x = rows(7);
  const Matrix whitened = whiten(inverse_factor_, x);
  for (Index i = 0; i < x.cols(); ++i) {
    Vector expected = x.col(i).head(d);
    factor_.whiten(expected.data());
    EXPECT_LT(relative_difference(Matrix(whitened.col(i).head(d)), Matrix(expected)), 1e-11);
    for (Index j = d; j < stride(); ++j) EXPECT_EQ(whitened(j, i), 0.0);
  }
}

TEST_P(InverseFactorTest, leaves_the_scaled_inverse) {
  EXPECT_LT(relative_difference(inverse_, 0.5 * matrix_.inverse()), 1e-10);
  EXPECT_EQ(inverse_, inverse_.transpose());
}

TEST_P(InverseFactorTest, a_row_has_the_same_bits_whatever_comes_with_it) {
  const Matrix x = rows(11);
  const Matrix together = whiten(inverse_factor_, x);
  for (Index i = 0; i < x.cols(); ++i) {
    EXPECT_EQ(whiten(inverse_factor_, x.col(i)), together.col(i)) << i;
  }
}

TEST_P(InverseFactorTest, a_copy_whitens_alike) {
  InverseFactor copy(memory_.arena(), static_cast<std::uint32_t>(d));
  copy.copy_from(inverse_factor_);
  const Matrix x = rows(3);
  EXPECT_EQ(whiten(copy, x), whiten(inverse_factor_, x));
  const Matrix before = whiten(copy, x);
  matrix_ = random_covariance(2, d);
  ASSERT_EQ(factor_.compute(matrix_.data()), Status::kOk);
  inverse_factor_.compute(factor_, 0.5, inverse_.data());
  copy.copy_from(inverse_factor_);
  EXPECT_EQ(whiten(copy, x), whiten(inverse_factor_, x));
  EXPECT_NE(whiten(copy, x), before);
}

TEST_P(InverseFactorTest, transposed_it_leaves_the_inverse_times_x) {
  const Matrix x = rows(2);
  const Matrix whitened = whiten(inverse_factor_, x);
  for (Index i = 0; i < x.cols(); ++i) {
    Vector product(d);
    inverse_factor_.multiply_transposed(whitened.col(i).data(), product.data());
    const Vector expected = matrix_.inverse() * x.col(i).head(d);
    EXPECT_LE((product - expected).norm(), 1e-9 * expected.norm()) << i;
  }
}

}  // namespace
}  // namespace windhover::inverse_factor_test
