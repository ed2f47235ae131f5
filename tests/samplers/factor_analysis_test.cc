#include "windhover/samplers/estimates/factor_analysis.h"

#include <gtest/gtest.h>

#include "windhover/tests/samplers/heap_calls.h"
#include "windhover/tests/samplers/support.h"

namespace windhover::factor_analysis_test {
namespace {

// The fitted matrix.
Matrix fitted(const Matrix& covariance, std::uint32_t rank) {
  Memory memory;
  FactorAnalysis analysis(memory.arena(), static_cast<std::uint32_t>(covariance.rows()), rank);
  Matrix work = covariance;
  EXPECT_EQ(analysis.fit(work.data()), Status::kOk);
  const Eigen::Map<const Matrix> loadings(analysis.loadings(), covariance.rows(), rank);
  Matrix result = loadings * loadings.transpose();
  result.diagonal() += Eigen::Map<const Vector>(analysis.uniqueness(), covariance.rows());
  return result;
}

double kl_of_fit(const Matrix& covariance, const Matrix& fit) {
  return gaussian_kl(covariance, fit.inverse());
}

Matrix with_factors(std::uint64_t seed, Index d, Index rank) {
  const Matrix loadings = normals(seed, d, rank);
  Matrix result = loadings * loadings.transpose();
  result.diagonal() += Vector((0.3 * normals(seed + 1, d, 1)).array().exp());
  return result;
}

TEST(FactorAnalysis, finds_the_factors_that_are_there) {
  for (const Index d : {8, 20, 60}) {
    for (const Index rank : {1, 2, 3}) {
      const Matrix covariance = with_factors(static_cast<std::uint64_t>(7 * d), d, rank);
      EXPECT_LT(kl_of_fit(covariance, fitted(covariance, static_cast<std::uint32_t>(rank))), 1e-5)
          << d << ' ' << rank;
    }
  }
}

TEST(FactorAnalysis, more_factors_fit_better_and_variances_are_kept) {
  const Matrix covariance = random_covariance(1, 15);
  double before = INFINITY;
  for (const std::uint32_t rank : {1U, 2U, 4U, 7U, 15U}) {
    const Matrix fit = fitted(covariance, rank);
    // At a maximum of the likelihood the diagonal is that of the data.
    EXPECT_LT(relative_difference(fit.diagonal(), covariance.diagonal()), 2e-2) << rank;
    const double kl = kl_of_fit(covariance, fit);
    EXPECT_LT(kl, before) << rank;
    before = kl;
  }
  EXPECT_LT(before, 1e-3);
}

// Why it is not the leading eigenvectors with the diagonal made up.
TEST(FactorAnalysis, beats_leading_eigenvectors_of_the_same_rank) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Matrix covariance = with_factors(100 + seed, 12, 6);
    const Vector scale = covariance.diagonal().cwiseSqrt().cwiseInverse();
    const Matrix correlations = scale.asDiagonal() * covariance * scale.asDiagonal();
    const auto eigen = symmetric_eigen(correlations);
    const Matrix vectors =
        eigen.eigenvectors().rightCols(3) * eigen.eigenvalues().tail(3).cwiseSqrt().asDiagonal();
    Matrix leading = vectors * vectors.transpose();
    leading.diagonal().setOnes();
    EXPECT_LT(kl_of_fit(correlations, fitted(correlations, 3)), kl_of_fit(correlations, leading))
        << seed;
  }
}

TEST(FactorAnalysis, scales_with_the_variables) {
  const Matrix covariance = random_covariance(2, 10);
  const Vector scale = (3.0 * normals(3, 10, 1)).array().exp();
  const Matrix scaled = scale.asDiagonal() * covariance * scale.asDiagonal();
  const Matrix back =
      scale.cwiseInverse().asDiagonal() * fitted(scaled, 3) * scale.cwiseInverse().asDiagonal();
  EXPECT_LT(relative_difference(back, fitted(covariance, 3)), 1e-6);
}

// Collinear variables leave nothing unique; the fit stays positive definite.
TEST(FactorAnalysis, collinear_variables_are_fitted) {
  Matrix covariance = random_covariance(4, 8);
  covariance.row(7) = covariance.row(0);
  covariance.col(7) = covariance.col(0);
  const Matrix fit = fitted(covariance, 2);
  EXPECT_EQ(fit.llt().info(), Eigen::Success);
}

TEST(FactorAnalysis, variance_that_is_not_positive_is_refused) {
  for (const double bad : {0.0, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    Memory memory;
    FactorAnalysis analysis(memory.arena(), 4, 2);
    Matrix covariance = random_covariance(5, 4);
    covariance(1, 1) = bad;
    EXPECT_EQ(analysis.fit(covariance.data()), Status::kNotPositiveDefinite) << bad;
  }
}

TEST(FactorAnalysis, does_not_allocate) {
  if (!test_heap_calls()) GTEST_SKIP() << "sanitizers own the heap";
  for (const std::uint32_t d : {1U, 8U, 120U}) {
    Memory memory;
    Matrix covariance = random_covariance(6, d);
    const auto before = test_heap_calls();
    FactorAnalysis analysis(memory.arena(), d, std::min(d, 5U));
    EXPECT_EQ(analysis.fit(covariance.data()), Status::kOk);
    EXPECT_EQ(test_heap_calls(), before) << d;
  }
}

}  // namespace
}  // namespace windhover::factor_analysis_test
