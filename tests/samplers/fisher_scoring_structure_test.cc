// SGFS with less than a full matrix: scalar, blocks, diagonal plus low rank.
#include <gtest/gtest.h>

#include "windhover/samplers/fisher_scoring/block_fisher_scoring.h"
#include "windhover/samplers/fisher_scoring/fisher_scoring.h"
#include "windhover/samplers/fisher_scoring/low_rank_fisher_scoring.h"
#include "windhover/tests/samplers/laws.h"

namespace windhover::fisher_scoring_structure_test {
namespace {

SamplerConfig with(double alpha, std::uint32_t block_size = 8, std::uint32_t rank = 4) {
  SamplerConfig config;
  config.noise_scale = alpha;
  config.block_size = block_size;
  config.rank = rank;
  return config;
}

void expect_same(const Law& a, const Law& b, double tolerance) {
  EXPECT_LT(relative_difference(a.h, b.h), tolerance);
  EXPECT_LT((a.injected - b.injected).cwiseAbs().maxCoeff(),
            tolerance * (b.injected.cwiseAbs().maxCoeff() + 1e-300));
}

class FisherScoringStructure : public testing::TestWithParam<Index> {
 protected:
  const Index d = GetParam();
  const std::uint32_t size = static_cast<std::uint32_t>(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Dimensions, FisherScoringStructure, testing::Values(1, 2, 5, 12, 40),
                         testing::PrintToStringParamName());

TEST_P(FisherScoringStructure, scalar_is_diagonal_with_the_mean_variance) {
  OwnedEstimates e = random_estimates(1, d);
  OwnedEstimates even = e;
  even.noise.diagonal().setConstant(e.noise.trace() / static_cast<double>(d));
  SamplerConfig bounded = with(1);
  bounded.step_size_max = 1e-3;
  for (const SamplerConfig& config : {with(0), with(1), with(3), bounded}) {
    expect_same(*law_of(ScalarFisherScoring::kName, config, e),
                *law_of(DiagonalFisherScoring::kName, config, even), 1e-13);
  }
}

TEST(FisherScoringChecks, step_size_max_is_refused_where_nothing_reads_it) {
  SamplerConfig config;
  config.step_size_max = 0.1;
  for (const std::string_view name : {BlockFisherScoring::kName, LowRankFisherScoring::kName}) {
    const auto checked = find_sampler(name)->check(config);
    ASSERT_FALSE(checked.ok()) << name;
    EXPECT_NE(std::string_view(checked.error().sentence).find("step_size_max"), std::string::npos);
  }
}

TEST_P(FisherScoringStructure, blocks_of_one_are_diagonal_and_one_block_is_full) {
  const OwnedEstimates e = random_estimates(2, d);
  for (const double alpha : {0.0, 1.0, 3.0}) {
    expect_same(*law_of(BlockFisherScoring::kName, with(alpha, 1), e),
                *law_of(DiagonalFisherScoring::kName, with(alpha), e), 1e-12);
    for (const std::uint32_t whole : {size, size + 1, 1000U}) {
      expect_same(*law_of(BlockFisherScoring::kName, with(alpha, whole), e),
                  *law_of(FullFisherScoring::kName, with(alpha), e), 1e-11);
    }
  }
}

// Blocks that C really has make it as good as the full one.
TEST_P(FisherScoringStructure, blocks_are_full_when_noise_has_no_more) {
  OwnedEstimates e = random_estimates(3, d);
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < d; ++i) {
      if (i / 3 != j / 3) e.noise(i, j) = 0;
    }
  }
  expect_same(*law_of(BlockFisherScoring::kName, with(1, 3), e),
              *law_of(FullFisherScoring::kName, with(1), e), 1e-11);
}

// A diagonal plus two factors, for metric A + (n/S) C, is fitted exactly: the posterior at every
// alpha, for every A.
TEST_P(FisherScoringStructure, low_rank_is_exact_when_the_metric_has_that_rank) {
  OwnedEstimates e = random_estimates(4, d);
  const Index rank = std::min<Index>(2, d);
  const Matrix loadings = 4.0 * normals(5, d, rank);
  Matrix metric = loadings * loadings.transpose();
  metric.diagonal().array() += 30.0;
  e.noise = (metric - e.curvature) * (e.minibatch_size / e.n);
  ASSERT_EQ(e.noise.llt().info(), Eigen::Success) << "the test's own C";
  for (const double alpha : {0.0, 1.0, 3.0}) {
    const Law law =
        *law_of(LowRankFisherScoring::kName, with(alpha, 8, static_cast<std::uint32_t>(rank)), e);
    EXPECT_LT(kl_of(law, e), 1e-5) << alpha;
    EXPECT_LT(relative_difference(law.h, 2 / (1 + alpha * alpha) * metric.inverse()), 2e-2);
  }
}

// The injected noise is the metric's own: alpha^2 / n F with F = 2 / (1 + alpha^2) H^-1.
TEST_P(FisherScoringStructure, low_rank_noise_and_rates_are_of_one_metric) {
  const OwnedEstimates e = random_estimates(6, d);
  for (const double alpha : {0.5, 1.0, 3.0}) {
    const Law law = *law_of(LowRankFisherScoring::kName, with(alpha), e);
    const double a2 = alpha * alpha;
    const Matrix expected = a2 / e.n * 2.0 / (1 + a2) * law.h.inverse();
    EXPECT_LT(relative_difference(law.injected, expected), 1e-9) << alpha;
  }
}

// More structure is nearer to the posterior, and so is more noise. At A = C of condition 10 and
// correlated.
TEST(FisherScoringOrder, structure_and_noise_bring_it_nearer_to_the_posterior) {
  constexpr Index d = 12;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    OwnedEstimates e = random_estimates(10 + seed, d);
    e.noise = e.curvature;
    double before = INFINITY;
    for (const std::uint32_t rank : {1U, 2U, 4U, 8U}) {
      const double kl = kl_of(*law_of(LowRankFisherScoring::kName, with(0, 8, rank), e), e);
      EXPECT_LT(kl, before) << rank;
      before = kl;
    }
    EXPECT_LT(before, 0.05);
    for (const std::string_view name :
         {ScalarFisherScoring::kName, BlockFisherScoring::kName, LowRankFisherScoring::kName}) {
      const double bare = kl_of(*law_of(name, with(0), e), e);
      const double one = kl_of(*law_of(name, with(1), e), e);
      const double four = kl_of(*law_of(name, with(4), e), e);
      EXPECT_GT(bare, 3 * one) << name;
      EXPECT_GT(one, 10 * four) << name;
    }
  }
}

TEST(FisherScoringSettings, impossible_ones_are_refused_by_name) {
  SamplerConfig config;
  config.block_size = 0;
  EXPECT_EQ(std::string_view(BlockFisherScoring::check(config).error().sentence),
            "block_size must be at least 1");
  config.rank = 0;
  EXPECT_EQ(std::string_view(LowRankFisherScoring::check(config).error().sentence),
            "rank must be at least 1");
}

}  // namespace
}  // namespace windhover::fisher_scoring_structure_test
