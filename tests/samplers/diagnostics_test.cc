#include "windhover/samplers/diagnostics.h"

#include <gtest/gtest.h>

#include "windhover/tests/samplers/heap_calls.h"
#include "windhover/tests/samplers/support.h"

namespace windhover {
namespace {

// Stationary AR(1) chains of variance 1, one column a chain.
Matrix ar1(std::uint64_t seed, Index length, Index chains, double correlation) {
  Matrix x = normals(seed, length, chains);
  const double innovation = std::sqrt(1 - correlation * correlation);
  for (Index t = 1; t < length; ++t) {
    x.row(t) = correlation * x.row(t - 1) + innovation * x.row(t);
  }
  return x;
}

struct Summary {
  double ess;
  double r_hat;
};

Summary online(const Matrix& x) {
  Memory memory;
  const auto chains = static_cast<std::uint32_t>(x.cols());
  ChainDiagnostics diagnostics(memory.arena(), chains, 1);
  diagnostics.reset();
  for (Index t = 0; t < x.rows(); ++t) {
    const Vector row = x.row(t);
    diagnostics.add(row.data());
  }
  EXPECT_EQ(diagnostics.iterates(), static_cast<std::uint64_t>(x.rows()));
  Summary summary{};
  const auto extremes = diagnostics.summarize(&summary.ess, &summary.r_hat);
  EXPECT_EQ(extremes.ess_min, summary.ess);
  EXPECT_EQ(extremes.r_hat_max, summary.r_hat);
  return summary;
}

double variance_of(const Vector& v) {
  return (v.array() - v.mean()).square().sum() / static_cast<double>(v.size() - 1);
}

// The definitions on stored chains: split R-hat of Gelman et al., and batch means over an even
// number of batches, 16 to 32 a chain; the rows after them are left out.
Summary offline(const Matrix& all) {
  Index length = 1;
  while (all.rows() / length > 32) length *= 2;
  const Index batches = all.rows() / length / 2 * 2;
  const Matrix x = all.topRows(batches * length);
  const Index k = x.cols();
  const Index half = x.rows() / 2;
  Vector means(2 * k);
  double within = 0;
  for (Index c = 0; c < k; ++c) {
    for (Index part = 0; part < 2; ++part) {
      const Vector segment = x.col(c).segment(part * half, half);
      means(2 * c + part) = segment.mean();
      within += variance_of(segment) / static_cast<double>(2 * k);
    }
  }
  const double n = static_cast<double>(half);
  const double variance = within * (n - 1) / n + variance_of(means);
  Vector batch_means(batches * k);
  for (Index c = 0; c < k; ++c) {
    for (Index b = 0; b < batches; ++b) {
      batch_means(c * batches + b) = x.col(c).segment(b * length, length).mean();
    }
  }
  return {static_cast<double>(batches * k) * variance / variance_of(batch_means),
          std::sqrt(variance / within)};
}

class DiagnosticsLengths : public testing::TestWithParam<Index> {};
// Even and odd numbers of batches, complete and half full ones.
INSTANTIATE_TEST_SUITE_P(Lengths, DiagnosticsLengths, testing::Values(8192, 8704, 8960, 12800),
                         testing::PrintToStringParamName());

TEST_P(DiagnosticsLengths, correlated_chains_agree_with_offline_definition) {
  const Matrix x = ar1(1, GetParam(), 8, 0.9);
  const Summary found = online(x);
  const Summary expected = offline(x);
  EXPECT_NEAR(found.ess / expected.ess, 1.0, 1e-9);
  EXPECT_NEAR(found.r_hat, expected.r_hat, 1e-9);
}

// Sums are relative to the first iterate; where it stood must not matter.
TEST_P(DiagnosticsLengths, start_far_away_agrees_with_offline_definition) {
  Matrix x = ar1(2, GetParam(), 8, 0.9);
  x.row(0).setConstant(100.0);
  const Summary found = online(x);
  const Summary expected = offline(x);
  EXPECT_NEAR(found.ess / expected.ess, 1.0, 1e-9);
  EXPECT_NEAR(found.r_hat, expected.r_hat, 1e-9);
}

TEST(ChainDiagnostics, correlated_chains_agree_with_theory) {
  // Batches are 256 = 13 IAT long, so their means' variance is 4 % short of its limit and ESS as
  // much too large; 20 x 8 x 32 batches give a relative standard error of sqrt(2 / 5120) = 2 %.
  constexpr double kCorrelation = 0.9;
  constexpr Index kLength = 8192;
  double mean = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    mean += online(ar1(10 + seed, kLength, 8, kCorrelation)).ess / 20;
  }
  const double theory = 8.0 * kLength * (1 - kCorrelation) / (1 + kCorrelation);
  EXPECT_NEAR(mean / theory, 1.04, 0.06);
}

TEST(ChainDiagnostics, independent_draws_count_fully) {
  double mean = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Summary summary = online(ar1(50 + seed, 8192, 8, 0.0));
    EXPECT_LE(summary.ess, 8.0 * 8192);
    EXPECT_NEAR(summary.r_hat, 1.0, 0.002);
    mean += summary.ess / 20;
  }
  // The cap at n turns symmetric errors of sqrt(2 / 256) = 9 % into a loss of 4 % on average.
  EXPECT_NEAR(mean / (8 * 8192), 0.96, 0.03);
}

TEST(ChainDiagnostics, chains_at_different_places_are_told) {
  Matrix x = ar1(3, 4096, 4, 0.5);
  x.col(2).array() += 2.0;
  const Summary found = online(x);
  EXPECT_GT(found.r_hat, 1.1);
  EXPECT_NEAR(found.r_hat, offline(x).r_hat, 0.005);
  EXPECT_LT(found.ess, 0.05 * 4 * 4096);
}

TEST(ChainDiagnostics, common_drift_is_told_by_the_halves) {
  Matrix x = ar1(4, 4096, 4, 0.5);
  x.bottomRows(2048).array() += 2.0;
  EXPECT_GT(online(x).r_hat, 1.1);
}

TEST(ChainDiagnostics, too_few_iterates_say_nothing) {
  const Matrix x = ar1(5, 15, 2, 0.0);
  EXPECT_EQ(online(x).ess, 0.0);
  EXPECT_EQ(online(x).r_hat, 0.0);
  EXPECT_GT(online(ar1(5, 16, 2, 0.0)).ess, 0.0);
}

TEST(ChainDiagnostics, chain_that_never_moves_has_no_effective_draws) {
  EXPECT_EQ(online(Matrix::Constant(1000, 4, 3.0)).ess, 0.0);
}

TEST(ChainDiagnostics, parameters_are_kept_apart_and_extremes_found) {
  constexpr std::uint32_t kChains = 4;
  const Matrix slow = ar1(6, 4096, kChains, 0.95);
  const Matrix fast = ar1(7, 4096, kChains, 0.1);
  Memory memory;
  ChainDiagnostics diagnostics(memory.arena(), kChains, 2);
  diagnostics.reset();
  for (Index t = 0; t < slow.rows(); ++t) {
    Matrix iterate(2, kChains);  // chains x dimension, row by row
    iterate << fast.row(t), slow.row(t);
    diagnostics.add(iterate.data());
  }
  double ess[2];
  double r_hat[2];
  const auto extremes = diagnostics.summarize(ess, r_hat);
  EXPECT_EQ(ess[0], online(fast).ess);
  EXPECT_EQ(ess[1], online(slow).ess);
  EXPECT_EQ(extremes.ess_min, ess[1]);
  EXPECT_EQ(extremes.r_hat_max, std::max(r_hat[0], r_hat[1]));
}

TEST(ChainDiagnostics, reset_forgets_and_nothing_allocates) {
  if (!test_heap_calls()) GTEST_SKIP() << "sanitizers own the heap";
  const Matrix x = ar1(8, 3000, 4, 0.5);
  const Matrix iterates = x.transpose();
  Memory memory;
  double ess = 0;
  double r_hat = 0;
  const auto before = test_heap_calls();
  ChainDiagnostics diagnostics(memory.arena(), 4, 1);
  for (int round = 0; round < 2; ++round) {
    diagnostics.reset();
    for (Index t = 0; t < x.rows(); ++t) diagnostics.add(iterates.data() + 4 * t);
    diagnostics.summarize(&ess, &r_hat);
  }
  EXPECT_EQ(test_heap_calls(), before);
  EXPECT_EQ(ess, online(x).ess);
}

}  // namespace
}  // namespace windhover
