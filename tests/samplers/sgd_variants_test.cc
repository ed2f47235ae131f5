// Closed forms and limits of the other constant rates.
#include <gtest/gtest.h>

#include "windhover/samplers/constant_rate/constant_sgd.h"
#include "windhover/samplers/constant_rate/reverse_kl_sgd.h"
#include "windhover/samplers/constant_rate/square_root_sgd.h"
#include "windhover/tests/samplers/laws.h"

namespace windhover::sgd_variants_test {
namespace {

// Estimates of so many rows that no cap binds.
OwnedEstimates uncapped(std::uint64_t seed, Index d) {
  OwnedEstimates e = random_estimates(seed, d);
  e.n = 1e7;
  return e;
}

class SgdVariants : public testing::TestWithParam<Index> {
 protected:
  const Index d = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Dimensions, SgdVariants, testing::Values(1, 2, 5, 12),
                         testing::PrintToStringParamName());

TEST_P(SgdVariants, square_root_rates_are_the_printed_ones) {
  const OwnedEstimates e = uncapped(1, d);
  const Law law = *law_of(SquareRootSgd::kName, SamplerConfig{}, e);
  const Vector root = e.noise.diagonal().cwiseSqrt();
  const double trace = (e.noise * root.cwiseInverse().asDiagonal()).trace();
  const double rate = 2.0 * static_cast<double>(d) * e.minibatch_size / (e.n * trace);
  EXPECT_LT(relative_difference(law.h, rate * Matrix(root.cwiseInverse().asDiagonal())), 1e-13);
  EXPECT_EQ(law.injected, Matrix::Zero(d, d));
}

// Theorem 7: of all multiples of its shape, the one nearest to the posterior.
TEST_P(SgdVariants, square_root_rate_minimises_the_continuous_kl_of_its_shape) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const OwnedEstimates e = uncapped(10 + seed, d);
    const Matrix h = law_of(SquareRootSgd::kName, SamplerConfig{}, e)->h;
    const Matrix precision = e.n * e.curvature;
    const double least = gaussian_kl(continuous_covariance(h, e), precision);
    for (const double factor : {0.5, 0.9, 0.99, 1.01, 1.1, 2.0}) {
      EXPECT_GT(gaussian_kl(continuous_covariance(factor * h, e), precision), least) << factor;
    }
  }
}

// Where all C_jj are the same the shape is the identity.
TEST_P(SgdVariants, square_root_is_scalar_when_all_parameters_are_equally_noisy) {
  OwnedEstimates e = uncapped(2, d);
  const Vector scale = e.noise.diagonal().cwiseSqrt().cwiseInverse();
  e.noise = (scale.asDiagonal() * e.noise * scale.asDiagonal()).eval();
  EXPECT_LT(relative_difference(law_of(SquareRootSgd::kName, SamplerConfig{}, e)->h,
                                law_of(ScalarConstantSgd::kName, SamplerConfig{}, e)->h),
            1e-12);
}

TEST_P(SgdVariants, reverse_kl_rate_is_the_printed_one) {
  const OwnedEstimates e = uncapped(3, d);
  const Law law = *law_of(ReverseKlSgd::kName, SamplerConfig{}, e);
  const double rate =
      2.0 * e.minibatch_size / (e.n * static_cast<double>(d)) * e.noise.inverse().trace();
  EXPECT_LT(relative_difference(law.h, rate * Matrix::Identity(d, d)), 1e-11);
}

// Eq. 41 is for A and C that commute; Theorem 1 on the other side is not.
TEST_P(SgdVariants, reverse_kl_rate_minimises_kl_from_the_posterior_when_a_and_c_commute) {
  OwnedEstimates e = uncapped(4, d);
  const Matrix basis = e.curvature.householderQr().householderQ();
  const Vector a = (0.5 * normals(5, d, 1)).array().exp();
  const Vector c = (0.5 * normals(6, d, 1)).array().exp();
  e.curvature = basis * a.asDiagonal() * basis.transpose();
  e.noise = basis * c.asDiagonal() * basis.transpose();
  const Matrix h = law_of(ReverseKlSgd::kName, SamplerConfig{}, e)->h;
  const Matrix posterior = posterior_covariance(e);
  const auto kl = [&](double factor) {
    return gaussian_kl(posterior, continuous_covariance(factor * h, e).inverse());
  };
  const double least = kl(1.0);
  for (const double factor : {0.5, 0.9, 0.99, 1.01, 1.1, 2.0}) EXPECT_GT(kl(factor), least);
  // The mean of 1 / c is at least one over the mean of c.
  EXPECT_GE(h(0, 0), law_of(ScalarConstantSgd::kName, SamplerConfig{}, e)->h(0, 0) * (1 - 1e-12));
}

TEST(SgdVariantsInOneDimension, all_are_the_same) {
  const OwnedEstimates e = uncapped(7, 1);
  const double rate = law_of(ScalarConstantSgd::kName, SamplerConfig{}, e)->h(0, 0);
  for (const std::string_view name : {SquareRootSgd::kName, ReverseKlSgd::kName}) {
    EXPECT_NEAR(law_of(name, SamplerConfig{}, e)->h(0, 0) / rate, 1.0, 1e-12) << name;
  }
}

// A singular C asks for an infinite rate: it gets one over the largest eigenvalue of A.
TEST(ReverseKlSgdLimits, singular_noise_gets_the_rate_that_curvature_allows) {
  OwnedEstimates e = random_estimates(8, 5);
  e.noise = random_singular(9, 5, 2);
  const double rate = law_of(ReverseKlSgd::kName, SamplerConfig{}, e)->h(0, 0);
  const double largest = symmetric_eigen(e.curvature).eigenvalues().maxCoeff();
  EXPECT_NEAR(rate * largest, 1.0, 0.03);
}

}  // namespace
}  // namespace windhover::sgd_variants_test
