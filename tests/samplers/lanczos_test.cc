// How slowly a preconditioned descent forgets, where curvatures differ by many orders of magnitude.
#include "windhover/samplers/linear_algebra/lanczos.h"

#include <gtest/gtest.h>

#include "windhover/tests/samplers/support.h"

namespace windhover::lanczos_test {
namespace {

// Eigenvalues 1 to 1 / condition, evenly in their logarithm, in random directions.
Matrix with_condition(double condition, Index d, std::uint64_t seed) {
  const Eigen::HouseholderQR<Matrix> qr(normals(seed, d, d));
  const Matrix q = qr.householderQ();
  const double last = std::max<double>(1, static_cast<double>(d - 1));
  const Vector eigenvalues = Vector::NullaryExpr(
      d, [&](Index j) { return std::pow(condition, -static_cast<double>(j) / last); });
  return q * eigenvalues.asDiagonal() * q.transpose();
}

double smallest(const Matrix& symmetric) { return symmetric_eigen(symmetric).eigenvalues()(0); }

TEST(Lanczos, SmallestEigenvalueIsFoundAtAnyConditionThatMatters) {
  for (const Index d : {1, 2, 5, 12, 40, 100}) {
    Vector work(4 * d);
    for (const double condition : {1.0, 10.0, 1e3, 3e4}) {
      const Matrix a = with_condition(condition, d, 7 + static_cast<std::uint64_t>(d));
      const double exact = smallest(a);
      const double found = least_curvature(a.data(), d, work.data());
      EXPECT_GE(found, exact * (1 - 1e-3)) << d << ", " << condition;
      EXPECT_LE(found, exact * 1.1) << d << ", " << condition;
      const Vector rates = normals(3, d, 1).array().abs() + 0.1;
      const Matrix root = rates.cwiseSqrt().asDiagonal();
      const double slowest = smallest(root * a * root);
      const double rate = slowest_scaled_rate(rates.data(), a.data(), d, work.data());
      EXPECT_GE(rate, slowest * (1 - 1e-3)) << d << ", " << condition;
      EXPECT_LE(rate, slowest * 1.1) << d << ", " << condition;
    }
  }
}

// A matrix that is rounded otherwise, as that of rows in other units is, has the same slowest rate:
// draws are retained by a clock that it drives. Beyond D steps rounding alone says how they go on.
TEST(Lanczos, DoesNotHangOnRounding) {
  for (const Index d : {2, 3, 5, 8}) {
    Vector work(4 * d);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Matrix a = with_condition(30, d, seed);
      const double found = least_curvature(a.data(), d, work.data());
      EXPECT_NEAR(found, smallest(a), 1e-10 * found) << d << ", " << seed;
      const Matrix other = a * 0.001;
      EXPECT_NEAR(least_curvature(other.data(), d, work.data()), 0.001 * found, 1e-13 * found)
          << d << ", " << seed;
    }
  }
}

// One direction far below a cluster of equal ones, as a category that is hardly ever seen.
TEST(Lanczos, OneSmallEigenvalueBesideEqualOnesIsFound) {
  constexpr Index d = 30;
  Matrix a = Matrix::Identity(d, d);
  for (const double least : {1e-2, 1e-4, 1e-6, 1e-9}) {
    a(17, 17) = least;
    Vector work(4 * d);
    EXPECT_NEAR(least_curvature(a.data(), d, work.data()) / least, 1.0, 0.01);
  }
}

TEST(Lanczos, ZeroMatrixForgetsNothing) {
  const Matrix zero = Matrix::Zero(4, 4);
  Vector work(16);
  EXPECT_EQ(least_curvature(zero.data(), 4, work.data()), 0.0);
}

}  // namespace
}  // namespace windhover::lanczos_test
