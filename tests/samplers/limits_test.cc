// Closed forms and limits in which one sampler has to become another.
#include <gtest/gtest.h>

#include "windhover/samplers/constant_rate/calibrated.h"
#include "windhover/samplers/constant_rate/constant_sgd.h"
#include "windhover/samplers/fisher_scoring/fisher_scoring.h"
#include "windhover/tests/samplers/laws.h"

namespace windhover::limits_test {
namespace {

SamplerConfig with_tau(double tau) {
  SamplerConfig config;
  config.injected_noise = tau;
  return config;
}
SamplerConfig with_alpha(double alpha) {
  SamplerConfig config;
  config.noise_scale = alpha;
  return config;
}

class Limits : public testing::TestWithParam<Index> {
 protected:
  const Index d = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Dimensions, Limits, testing::Values(1, 2, 5, 12, 40),
                         testing::PrintToStringParamName());

TEST_P(Limits, calibrated_without_noise_is_the_closed_form) {
  const OwnedEstimates e = random_estimates(1, d);
  const Law law = *law_of(Calibrated::kName, with_tau(0), e);
  const Matrix expected = 2.0 * (e.curvature + e.n / e.minibatch_size * e.noise).inverse();
  EXPECT_LT(relative_difference(law.h, expected), 1e-11);
  EXPECT_EQ(law.injected, Matrix::Zero(d, d));
}

TEST_P(Limits, calibrated_with_noise_is_the_closed_form) {
  OwnedEstimates e = random_estimates(1, d);
  const double share = e.n / e.minibatch_size;
  const double least = generalized_eigenvalues(e.noise, e.curvature)[0];
  e.noise *= 4.9 / (share * least);  // the least direction has 4.9 A
  const Law law = *law_of(Calibrated::kName, with_tau(5), e);
  const Matrix expected = 2.0 * (6.0 * e.curvature + share * e.noise).inverse();
  EXPECT_LT(relative_difference(law.h, expected), 1e-11);
  EXPECT_LT(relative_difference(law.injected, 5.0 / e.n * e.curvature), 1e-12);
}

// The safeguard costs nothing where there is nothing to guard against.
TEST_P(Limits, calibrated_injects_no_noise_where_minibatches_bring_as_much) {
  OwnedEstimates e = random_estimates(1, d);
  const double share = e.n / e.minibatch_size;
  const double least = generalized_eigenvalues(e.noise, e.curvature)[0];
  e.noise *= 5.1 / (share * least);
  const Law law = *law_of(Calibrated::kName, with_tau(5), e);
  const Law bare = *law_of(Calibrated::kName, with_tau(0), e);
  EXPECT_EQ(law.h, bare.h);
  EXPECT_EQ(law.injected, Matrix::Zero(d, d));
  const Matrix root = e.curvature.llt().matrixL();
  const Matrix rates = root.transpose() * law.h * root;
  EXPECT_LE(symmetric_eigen(rates).eigenvalues()(d - 1), 2.0 / 6.0);
}

TEST_P(Limits, calibrated_covariance_is_the_posterior_for_every_curvature_and_noise) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const OwnedEstimates e = random_estimates(10 + seed, d);
    const Matrix posterior = e.curvature.inverse() / e.n;
    for (const double tau : {0.0, 0.5, 5.0}) {
      const Law law = *law_of(Calibrated::kName, with_tau(tau), e);
      EXPECT_LT(relative_difference(stationary(law, e), posterior), 1e-9) << seed << ' ' << tau;
    }
  }
}

TEST_P(Limits, calibrated_covariance_is_the_posterior_also_for_singular_noise) {
  for (Index rank = 0; rank < d; rank += 1 + d / 4) {
    OwnedEstimates e = random_estimates(20, d);
    e.noise = rank == 0 ? Matrix::Zero(d, d) : random_singular(21, d, rank);
    const Matrix posterior = e.curvature.inverse() / e.n;
    for (const double tau : {0.5, 5.0}) {
      const Law law = *law_of(Calibrated::kName, with_tau(tau), e);
      EXPECT_LT(relative_difference(stationary(law, e), posterior), 1e-9) << rank << ' ' << tau;
      const Matrix root = e.curvature.llt().matrixL();
      const Matrix rates = root.transpose() * law.h * root;
      EXPECT_LE(symmetric_eigen(rates).eigenvalues()(d - 1), 2.0 / (1.0 + tau) * (1 + 1e-12));
    }
  }
}

TEST_P(Limits, fisher_scoring_without_noise_is_calibrated_when_noise_is_curvature) {
  OwnedEstimates e = random_estimates(30, d);
  e.noise = e.curvature;
  const Law a = *law_of(FullFisherScoring::kName, with_alpha(0), e);
  const Law b = *law_of(Calibrated::kName, with_tau(0), e);
  EXPECT_LT(relative_difference(a.h, b.h), 1e-11);
  EXPECT_EQ(a.injected, b.injected);
}

// Exact at every alpha when A = C: that is what the injected noise is scaled for.
TEST_P(Limits, fisher_scoring_is_exact_at_every_alpha_when_noise_is_curvature) {
  OwnedEstimates e = random_estimates(31, d);
  e.noise = e.curvature;
  const Matrix posterior = e.curvature.inverse() / e.n;
  for (const double alpha : {0.0, 0.5, 1.0, 4.0}) {
    const Law law = *law_of(FullFisherScoring::kName, with_alpha(alpha), e);
    EXPECT_LT(relative_difference(stationary(law, e), posterior), 1e-9) << alpha;
  }
}

// theta += (2 / (1 + alpha^2)) (gamma n C)^-1 (-n gradient + eta), eta ~ N(0, alpha^2 gamma n C).
TEST_P(Limits, fisher_scoring_law_is_the_published_update) {
  const OwnedEstimates e = random_estimates(32, d);
  const double gamma = (e.minibatch_size + e.n) / e.minibatch_size;
  const Matrix fisher = e.n * e.noise;
  for (const double alpha : {0.0, 1.0, 3.0}) {
    const Matrix step = 2.0 / (1 + alpha * alpha) * (gamma * fisher).inverse();
    const Matrix eta = alpha * alpha * gamma * fisher;
    const Law full = *law_of(FullFisherScoring::kName, with_alpha(alpha), e);
    EXPECT_LT(relative_difference(full.h, e.n * step), 1e-11);
    EXPECT_LT((full.injected - eta / (e.n * e.n)).cwiseAbs().maxCoeff(),
              1e-12 * e.noise.cwiseAbs().maxCoeff());
    const Law diagonal = *law_of(DiagonalFisherScoring::kName, with_alpha(alpha), e);
    const Vector c = e.noise.diagonal();
    const Vector h = 2.0 / ((1 + alpha * alpha) * gamma) * c.cwiseInverse();
    EXPECT_LT(relative_difference(diagonal.h, h.asDiagonal()), 1e-13);
    EXPECT_LT((diagonal.injected - Matrix((alpha * alpha * gamma / e.n * c).asDiagonal()))
                  .cwiseAbs()
                  .maxCoeff(),
              1e-14 * c.maxCoeff());
  }
}

TEST_P(Limits, step_size_max_bounds_every_rate) {
  for (const double step_size_max : {1e-4, 1e-2, 0.5}) {
    SamplerConfig config;
    config.step_size_max = step_size_max;
    for (const std::string_view name : {DiagonalFisherScoring::kName, FullFisherScoring::kName}) {
      for (const bool silent : {false, true}) {
        OwnedEstimates e = random_estimates(33, d);
        if (silent) e.noise = 1e-9 * Matrix::Identity(d, d);
        const Law law = *law_of(name, config, e);
        EXPECT_LE(law.h.diagonal().maxCoeff(), step_size_max * (1 + 1e-12)) << name;
        EXPECT_GE(law.injected.diagonal().minCoeff(), 0.0) << name;
        // H = (2/n) (C/S + E)^-1 as far as the noise is E and nothing else.
        if (name == FullFisherScoring::kName) {
          const Matrix total = e.noise / e.minibatch_size + law.injected;
          EXPECT_LT(relative_difference(law.h * total, 2.0 / e.n * Matrix::Identity(d, d)), 1e-10);
        }
      }
    }
  }
}

TEST_P(Limits, constant_sgd_rates_are_the_printed_ones) {
  OwnedEstimates e = random_estimates(40, d);
  e.n = 1e6;  // so that no cap binds
  const double ratio = e.minibatch_size / e.n;
  const Law scalar = *law_of(ScalarConstantSgd::kName, SamplerConfig{}, e);
  const double rate = 2.0 * static_cast<double>(d) * ratio / e.noise.trace();
  EXPECT_LT(relative_difference(scalar.h, rate * Matrix::Identity(d, d)), 1e-13);
  const Law diagonal = *law_of(DiagonalConstantSgd::kName, SamplerConfig{}, e);
  const Matrix expected = (2.0 * ratio * e.noise.diagonal().cwiseInverse()).asDiagonal();
  EXPECT_LT(relative_difference(diagonal.h, expected), 1e-13);
  const Law full = *law_of(FullConstantSgd::kName, SamplerConfig{}, e);
  EXPECT_LT(relative_difference(full.h, 2.0 * ratio * e.noise.inverse()), 1e-11);
  for (const Law& law : {scalar, diagonal, full}) EXPECT_EQ(law.injected, Matrix::Zero(d, d));
}

// KL of the Ornstein-Uhlenbeck limit, Sigma A + A Sigma = (rate / S) C, against the posterior.
double continuous_kl(double rate, const OwnedEstimates& e) {
  const auto a = symmetric_eigen(e.curvature);
  const Matrix& basis = a.eigenvectors();
  Matrix sigma = rate / e.minibatch_size * basis.transpose() * e.noise * basis;
  for (Index j = 0; j < sigma.cols(); ++j) {
    for (Index i = 0; i < sigma.rows(); ++i) {
      sigma(i, j) /= a.eigenvalues()(i) + a.eigenvalues()(j);
    }
  }
  return gaussian_kl(basis * sigma * basis.transpose(), e.n * e.curvature);
}

TEST_P(Limits, scalar_rate_minimises_the_continuous_kl_over_scalars) {
  OwnedEstimates e = random_estimates(41, d);
  e.n = 1e6;
  const double rate = law_of(ScalarConstantSgd::kName, SamplerConfig{}, e)->h(0, 0);
  const double least = continuous_kl(rate, e);
  for (const double factor : {0.5, 0.9, 0.99, 0.999, 1.001, 1.01, 1.1, 2.0}) {
    EXPECT_GT(continuous_kl(factor * rate, e), least) << factor;
  }
}

TEST(LimitsInOneDimension, scalar_diagonal_and_full_are_the_same) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    OwnedEstimates e = random_estimates(50 + seed, 1);
    e.n = 1e6;  // so that no cap binds
    const auto h = [&](std::string_view name, const SamplerConfig& config) {
      return law_of(name, config, e)->h(0, 0);
    };
    const auto injected = [&](std::string_view name, const SamplerConfig& config) {
      return law_of(name, config, e)->injected(0, 0);
    };
    const SamplerConfig usual;
    const double rate = h(FullConstantSgd::kName, usual);
    EXPECT_NEAR(h(ScalarConstantSgd::kName, usual) / rate, 1.0, 1e-13);
    EXPECT_NEAR(h(DiagonalConstantSgd::kName, usual) / rate, 1.0, 1e-13);
    for (const double alpha : {0.0, 1.0}) {
      const SamplerConfig config = with_alpha(alpha);
      EXPECT_NEAR(h(DiagonalFisherScoring::kName, config) / h(FullFisherScoring::kName, config),
                  1.0, 1e-13);
      EXPECT_NEAR(injected(DiagonalFisherScoring::kName, config),
                  injected(FullFisherScoring::kName, config), 1e-14);
    }
  }
}

// Theorem 2 is the limit of small S/n of the exact rule.
TEST_P(Limits, full_sgd_approaches_calibrated_as_minibatches_get_small) {
  OwnedEstimates e = random_estimates(60, d);
  double before = INFINITY;
  for (const double n : {1e4, 1e5, 1e6, 1e7}) {
    e.n = n;
    const Matrix full = law_of(FullConstantSgd::kName, SamplerConfig{}, e)->h;
    const double difference =
        relative_difference(full, law_of(Calibrated::kName, with_tau(0), e)->h);
    EXPECT_LT(difference, before);
    before = difference;
  }
  EXPECT_LT(before, 1e-3);
}

}  // namespace
}  // namespace windhover::limits_test
