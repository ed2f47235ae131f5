#include "windhover/samplers/linear_algebra/linear_algebra.h"

#include <gtest/gtest.h>

#include <unsupported/Eigen/KroneckerProduct>

#include "windhover/tests/samplers/support.h"

namespace windhover::linear_algebra_test {
namespace {

class LinearAlgebra : public testing::TestWithParam<Index> {
 protected:
  const Index d = GetParam();
};

INSTANTIATE_TEST_SUITE_P(Dimensions, LinearAlgebra,
                         testing::Values(1, 2, 5, 12, 32, 33, 40, 64, 100, 131),
                         testing::PrintToStringParamName());

// Scales 10^6 apart: a condition number of 10^12 before equilibration.
Matrix badly_scaled(std::uint64_t seed, Index d, Vector& scale) {
  scale = Vector::Ones(d);
  for (Index j = 0; j < d && d > 1; ++j) {
    scale(j) = std::pow(10.0, 6.0 * static_cast<double>(j) / static_cast<double>(d - 1) - 3.0);
  }
  return scale.asDiagonal() * random_covariance(seed, d) * scale.asDiagonal();
}

Factor factor_of(Memory& memory, const Matrix& matrix) {
  Factor factor(memory.arena(), static_cast<std::uint32_t>(matrix.rows()));
  EXPECT_EQ(factor.compute(matrix.data()), Status::kOk);
  return factor;
}

TEST_P(LinearAlgebra, cholesky_agrees_with_eigen_also_in_place) {
  const Matrix matrix = random_covariance(1, d);
  const Matrix expected = matrix.llt().matrixL();
  Matrix lower = Matrix::Constant(d, d, NAN);
  ASSERT_EQ(cholesky(matrix.data(), d, lower.data()), Status::kOk);
  EXPECT_LT(relative_difference(lower, expected), 1e-12);
  Matrix in_place = matrix;
  // Only the lower triangle may be read.
  in_place.triangularView<Eigen::StrictlyUpper>().setConstant(NAN);
  ASSERT_EQ(cholesky(in_place.data(), d, in_place.data()), Status::kOk);
  EXPECT_EQ(in_place, lower);
}

TEST_P(LinearAlgebra, triangular_solves_agree_with_eigen) {
  const Matrix lower = random_covariance(2, d).llt().matrixL();
  const Vector b = normals(3, d, 1);
  Vector forward = b;
  solve_lower(lower.data(), d, forward.data());
  EXPECT_LT(relative_difference(forward, lower.triangularView<Eigen::Lower>().solve(b)), 1e-12);
  Vector backward = b;
  solve_lower_transposed(lower.data(), d, backward.data());
  const Matrix upper = lower.transpose();
  EXPECT_LT(relative_difference(backward, upper.triangularView<Eigen::Upper>().solve(b)), 1e-12);
}

TEST_P(LinearAlgebra, factor_solves_with_scales_a_million_apart) {
  Memory memory;
  Vector scale;
  const Matrix matrix = badly_scaled(4, d, scale);
  const Factor factor = factor_of(memory, matrix);
  const Vector x = scale.cwiseInverse().asDiagonal() * normals(5, d, 1);
  Vector b = matrix * x;
  factor.solve(b.data());
  // They are compared in the units in which the matrix is well conditioned.
  EXPECT_LT(relative_difference(scale.asDiagonal() * b, scale.asDiagonal() * x), 1e-10);
}

TEST_P(LinearAlgebra, factor_inverse_is_symmetric_and_scaled) {
  Memory memory;
  Vector scale;
  const Matrix matrix = badly_scaled(6, d, scale);
  const Factor factor = factor_of(memory, matrix);
  Matrix inverse = Matrix::Constant(d, d, NAN);
  factor.inverse(3.0, inverse.data());
  EXPECT_EQ(inverse, Matrix(inverse.transpose()));
  const Matrix unit = scale.cwiseInverse().asDiagonal() * matrix * inverse * scale.asDiagonal();
  EXPECT_LT(relative_difference(unit, 3.0 * Matrix::Identity(d, d)), 1e-10);
}

TEST_P(LinearAlgebra, factor_root_whiten_and_solve_root_belong_together) {
  Memory memory;
  Vector scale;
  const Matrix matrix = badly_scaled(7, d, scale);
  const Factor factor = factor_of(memory, matrix);
  Matrix root = Matrix::Constant(d, d, NAN);
  factor.root(0.5, root.data());
  EXPECT_TRUE(root.isLowerTriangular(0.0));
  const auto scaled = scale.cwiseInverse().asDiagonal();
  EXPECT_LT(relative_difference(scaled * root * root.transpose() * scaled,
                                0.25 * scaled * matrix * scaled),
            1e-13);
  const Matrix reference = (scaled * matrix * scaled).inverse();
  Matrix draws = Matrix::Identity(d, d);
  for (Index j = 0; j < d; ++j) factor.solve_root(draws.col(j).data());
  const Matrix covariance = scale.asDiagonal() * draws * draws.transpose() * scale.asDiagonal();
  EXPECT_LT(relative_difference(covariance, reference), 1e-10);
  for (Index j = 0; j < d; ++j) factor.colour(draws.col(j).data());
  EXPECT_LT(relative_difference(draws, Matrix::Identity(d, d)), 1e-10);
  const Vector b = scale.asDiagonal() * normals(8, d, 1);
  Vector white = b;
  factor.whiten(white.data());
  const Vector unit = scaled * b;
  EXPECT_NEAR(white.squaredNorm() / (unit.dot(reference * unit)), 1.0, 1e-10);
}

TEST_P(LinearAlgebra, many_vectors_at_once_come_out_as_each_alone) {
  Memory memory;
  const Factor factor = factor_of(memory, random_covariance(9, d));
  for (const Index columns : {1, 3, 8, 64}) {
    // Column-major: a column of this is a row of what the factor is given.
    const Matrix vectors = normals(11, columns, d);
    Matrix solved = vectors;
    factor.solve_root(solved.data(), static_cast<std::size_t>(columns));
    Matrix coloured = vectors;
    factor.colour(coloured.data(), static_cast<std::size_t>(columns));
    Matrix white = vectors;
    factor.whiten(white.data(), static_cast<std::size_t>(columns));
    for (Index c = 0; c < columns; ++c) {
      Vector one = vectors.row(c);
      factor.whiten(one.data());
      EXPECT_LT(relative_difference(white.row(c).transpose(), one), 1e-11) << columns;
      one = vectors.row(c);
      factor.solve_root(one.data());
      EXPECT_LT(relative_difference(solved.row(c).transpose(), one), 1e-11) << columns;
      one = vectors.row(c);
      factor.colour(one.data());
      EXPECT_LT(relative_difference(coloured.row(c).transpose(), one), 1e-12) << columns;
    }
    factor.colour(solved.data(), static_cast<std::size_t>(columns));
    EXPECT_LT(relative_difference(solved, vectors), 1e-10) << columns;
  }
}

TEST_P(LinearAlgebra, copied_factor_solves_alike) {
  Memory memory;
  const Factor factor = factor_of(memory, random_covariance(9, d));
  Factor copy(memory.arena(), static_cast<std::uint32_t>(d));
  copy.copy_from(factor);
  Vector a = normals(10, d, 1);
  Vector b = a;
  factor.solve(a.data());
  copy.solve(b.data());
  EXPECT_EQ(a, b);
}

TEST_P(LinearAlgebra, indefinite_and_nan_are_reported) {
  Memory memory;
  Factor factor(memory.arena(), static_cast<std::uint32_t>(d));
  Matrix lower(d, d);
  for (const double bad : {-1e-3, 0.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    Matrix matrix = random_covariance(11, d);
    matrix(d - 1, d - 1) = bad;
    EXPECT_EQ(cholesky(matrix.data(), d, lower.data()), Status::kNotPositiveDefinite) << bad;
    EXPECT_EQ(factor.compute(matrix.data()), Status::kNotPositiveDefinite) << bad;
  }
}

// An H that is not symmetric, with eig(HA) in (0, 1).
Matrix stable_preconditioner(const Matrix& curvature) {
  const Index d = curvature.rows();
  const Matrix inverse = curvature.inverse();
  const Matrix z = normals(12, d, d);
  const Matrix turn = 0.3 * (z - z.transpose()) / z.norm();
  return (0.4 * Matrix::Identity(d, d) + turn) * inverse;
}

TEST_P(LinearAlgebra, stationary_covariance_solves_its_equation) {
  const Matrix a = random_covariance(13, d);
  const Matrix noise = random_covariance(14, d);
  const Matrix h = stable_preconditioner(a);
  Matrix sigma(d, d);
  std::vector<double> work(static_cast<std::size_t>(4 * d * d));
  ASSERT_EQ(stationary_covariance(h.data(), a.data(), noise.data(), d, sigma.data(), work.data()),
            Status::kOk);
  const Matrix r = Matrix::Identity(d, d) - h * a;
  const Matrix q = h * noise * h.transpose();
  EXPECT_LT(relative_difference(r * sigma * r.transpose() + q, sigma), 1e-12);
  if (d > 12) return;
  // vec(Sigma) = (I - R x R)^-1 vec(Q).
  const Matrix system = Matrix::Identity(d * d, d * d) - Matrix(Eigen::kroneckerProduct(r, r));
  const Vector solution = system.partialPivLu().solve(Eigen::Map<const Vector>(q.data(), d * d));
  EXPECT_LT(relative_difference(sigma, Eigen::Map<const Matrix>(solution.data(), d, d)), 1e-11);
}

TEST_P(LinearAlgebra, stationary_covariance_reports_instability) {
  const Matrix a = random_covariance(15, d);
  const Matrix noise = random_covariance(16, d);
  Matrix sigma(d, d);
  std::vector<double> work(static_cast<std::size_t>(4 * d * d));
  for (const double rate : {2.0001, 3.0, -0.1}) {
    // One unstable direction, in the coordinates in which A is the identity.
    const Matrix root = a.llt().matrixL();
    Vector rates = Vector::Constant(d, 0.5);
    rates(d / 2) = rate;
    const Matrix inverse_root = root.inverse();
    const Matrix h = inverse_root.transpose() * rates.asDiagonal() * inverse_root;
    EXPECT_EQ(stationary_covariance(h.data(), a.data(), noise.data(), d, sigma.data(), work.data()),
              Status::kDiverged)
        << rate;
  }
}

TEST_P(LinearAlgebra, direction_without_noise_has_no_variance) {
  Matrix noise = Matrix::Identity(d, d);
  noise(d - 1, d - 1) = 0;
  const Matrix identity = Matrix::Identity(d, d);
  const Matrix h = 0.5 * identity;
  Matrix sigma(d, d);
  std::vector<double> work(static_cast<std::size_t>(4 * d * d));
  ASSERT_EQ(
      stationary_covariance(h.data(), identity.data(), noise.data(), d, sigma.data(), work.data()),
      Status::kOk);
  // h^2 / (1 - (1 - h)^2) = 1/3.
  EXPECT_LT((sigma - noise / 3.0).cwiseAbs().maxCoeff(), 1e-15);
}

TEST_P(LinearAlgebra, symmetrize_copies_the_lower_triangle) {
  const Matrix expected = random_covariance(17, d);
  Matrix matrix = expected;
  matrix.triangularView<Eigen::StrictlyUpper>().setConstant(NAN);
  symmetrize(matrix.data(), d);
  EXPECT_EQ(matrix, Matrix(expected.selfadjointView<Eigen::Lower>()));
}

TEST_P(LinearAlgebra, largest_eigenvalue_is_within_three_percent_from_below) {
  std::vector<double> work(static_cast<std::size_t>(2 * d));
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Matrix matrix = random_covariance(200 + seed, d);
    const double exact = symmetric_eigen(matrix).eigenvalues()(d - 1);
    const double found = largest_eigenvalue(matrix.data(), d, work.data());
    EXPECT_LE(found, exact * (1 + 1e-12)) << seed;
    EXPECT_GE(found, 0.97 * exact) << seed;
  }
  const Matrix zero = Matrix::Zero(d, d);
  EXPECT_EQ(largest_eigenvalue(zero.data(), d, work.data()), 0.0);
}

TEST_P(LinearAlgebra, scaled_and_relative_largest_eigenvalues_are_within_three_percent) {
  const Matrix a = random_covariance(1, d);
  const Matrix c = random_covariance(2, d);
  Vector scale = normals(3, d, 1).array().abs() + 0.1;
  Vector work(2 * d);
  const Matrix root = scale.cwiseSqrt().asDiagonal();
  const double scaled = symmetric_eigen(root * a * root).eigenvalues()(d - 1);
  EXPECT_NEAR(largest_scaled_eigenvalue(scale.data(), a.data(), d, work.data()) / scaled, 1.0,
              0.03);
  Memory memory;
  Factor factor(memory.arena(), static_cast<std::uint32_t>(d));
  ASSERT_EQ(factor.compute(a.data()), Status::kOk);
  const double ratio = generalized_eigenvalues(c, a)(d - 1);
  EXPECT_NEAR(largest_ratio(c.data(), factor, work.data()) / ratio, 1.0, 0.03);
}

}  // namespace
}  // namespace windhover::linear_algebra_test
