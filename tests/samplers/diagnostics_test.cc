#include "windhover/samplers/estimates/diagnostics.h"

#include <gtest/gtest.h>

#include "windhover/tests/samplers/heap_calls.h"
#include "windhover/tests/samplers/support.h"

namespace windhover::diagnostics_test {
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
  double ess_bulk;
  double ess_tail;
  double mcse_mean;
  double r_hat;
};

Summary summary_of(const ChainDiagnostics& diagnostics) {
  Summary s{};
  diagnostics.summarize({&s.ess_bulk, &s.ess_tail, &s.mcse_mean, &s.r_hat});
  return s;
}

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
  return summary_of(diagnostics);
}

double variance_of(const Vector& v) {
  return (v.array() - v.mean()).square().sum() / static_cast<double>(v.size() - 1);
}

// Split R-hat of Gelman et al. on stored chains, over an even number of batches, 16 to 32 a chain;
// the rows after them are left out.
double split_r_hat(const Matrix& all) {
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
  return std::sqrt((within * (n - 1) / n + variance_of(means)) / within);
}

class DiagnosticsLengths : public testing::TestWithParam<Index> {};
// The lengths give even and odd numbers of batches, complete and half full ones.
INSTANTIATE_TEST_SUITE_P(Lengths, DiagnosticsLengths, testing::Values(8192, 8704, 8960, 12800),
                         testing::PrintToStringParamName());

TEST_P(DiagnosticsLengths, r_hat_agrees_with_offline_definition) {
  const Matrix x = ar1(1, GetParam(), 8, 0.9);
  EXPECT_NEAR(online(x).r_hat, split_r_hat(x), 1e-9);
}

// Sums are relative to the first iterate; where it stood must not matter.
TEST_P(DiagnosticsLengths, r_hat_of_chains_that_start_far_away_agrees_too) {
  Matrix x = ar1(2, GetParam(), 8, 0.9);
  x.row(0).setConstant(100.0);
  EXPECT_NEAR(online(x).r_hat, split_r_hat(x), 1e-9);
}

// Autocorrelation times from 1 to 39. One run of 8 x 8192 has a relative error of about
// sqrt(12 time / 65536) = 8 % at the longest; 40 of them 1.3 %.
TEST(ChainDiagnostics, effective_sizes_agree_with_theory) {
  for (const double correlation : {0.0, 0.3, 0.8, 0.95}) {
    constexpr Index kLength = 8192;
    double bulk = 0;
    double mcse = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const Summary s = online(ar1(10 + seed, kLength, 8, correlation));
      EXPECT_LE(s.ess_bulk, 8.0 * kLength);
      EXPECT_LE(s.ess_tail, 8.0 * kLength);
      EXPECT_NEAR(s.r_hat, 1.0, 0.01);
      bulk += s.ess_bulk / 40;
      mcse += s.mcse_mean / 40;
    }
    const double theory = 8.0 * kLength * (1 - correlation) / (1 + correlation);
    EXPECT_NEAR(bulk / theory, 1.0, 0.05) << correlation;
    EXPECT_NEAR(mcse * std::sqrt(theory), 1.0, 0.04) << correlation;
  }
}

TEST(ChainDiagnostics, chains_at_different_places_are_told) {
  Matrix x = ar1(3, 4096, 4, 0.5);
  x.col(2).array() += 2.0;
  const Summary found = online(x);
  EXPECT_GT(found.r_hat, 1.1);
  EXPECT_NEAR(found.r_hat, split_r_hat(x), 0.005);
  EXPECT_LT(found.ess_bulk, 0.05 * 4 * 4096);
}

TEST(ChainDiagnostics, common_drift_is_told_by_the_halves) {
  Matrix x = ar1(4, 4096, 4, 0.5);
  x.bottomRows(2048).array() += 2.0;
  EXPECT_GT(online(x).r_hat, 1.1);
}

TEST(ChainDiagnostics, too_few_iterates_say_nothing) {
  const Matrix x = ar1(5, 15, 2, 0.0);
  EXPECT_EQ(online(x).ess_bulk, 0.0);
  EXPECT_EQ(online(x).r_hat, 0.0);
  EXPECT_GT(online(ar1(5, 16, 2, 0.0)).ess_bulk, 0.0);
}

TEST(ChainDiagnostics, chain_that_never_moves_has_no_effective_draws) {
  EXPECT_EQ(online(Matrix::Constant(1000, 4, 3.0)).ess_bulk, 0.0);
}

TEST(ChainDiagnostics, parameters_are_kept_apart) {
  constexpr std::uint32_t kChains = 4;
  constexpr Index kParameters = 37;  // some cache lines, the last one not whole
  const Matrix slow = ar1(6, 4096, kChains, 0.95);
  const Matrix fast = ar1(7, 4096, kChains, 0.1);
  Memory memory;
  ChainDiagnostics diagnostics(memory.arena(), kChains, kParameters);
  diagnostics.reset();
  for (Index t = 0; t < slow.rows(); ++t) {
    Matrix iterate(kParameters, kChains);  // chains x dimension, row by row
    for (Index j = 0; j < kParameters; ++j) {
      iterate.row(j) = j % 3 == 0 ? fast.row(t) : slow.row(t);
    }
    diagnostics.add(iterate.data());
  }
  double bulk[kParameters];
  double tail[kParameters];
  double mcse[kParameters];
  double r_hat[kParameters];
  diagnostics.summarize({bulk, tail, mcse, r_hat});
  for (int j = 0; j < kParameters; ++j) {
    const Summary alone = online(j % 3 == 0 ? fast : slow);
    EXPECT_EQ(bulk[j], alone.ess_bulk);
    EXPECT_EQ(tail[j], alone.ess_tail);
    EXPECT_EQ(mcse[j], alone.mcse_mean);
    EXPECT_EQ(r_hat[j], alone.r_hat);
  }
  EXPECT_LT(bulk[1], bulk[0]);
}

TEST(ChainDiagnostics, reset_forgets_and_nothing_allocates) {
  if (!test_heap_calls()) GTEST_SKIP() << "sanitizers own the heap";
  const Matrix x = ar1(8, 3000, 4, 0.5);
  const Matrix iterates = x.transpose();
  Memory memory;
  Summary found{};
  const auto before = test_heap_calls();
  ChainDiagnostics diagnostics(memory.arena(), 4, 1);
  for (int round = 0; round < 2; ++round) {
    diagnostics.reset();
    for (Index t = 0; t < x.rows(); ++t) diagnostics.add(iterates.data() + 4 * t);
    found = summary_of(diagnostics);
  }
  EXPECT_EQ(test_heap_calls(), before);
  EXPECT_EQ(found.ess_bulk, online(x).ess_bulk);
}

}  // namespace
}  // namespace windhover::diagnostics_test
