// What comes in between the pieces of a long computation, and what it finds there.
#include "windhover/samplers/linear_algebra/interlude.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "windhover/platform/memory.h"
#include "windhover/samplers/constant_rate/calibrated.h"
#include "windhover/samplers/constant_rate/constant_sgd.h"
#include "windhover/samplers/constant_rate/momentum.h"
#include "windhover/samplers/fisher_scoring/fisher_scoring.h"
#include "windhover/samplers/linear_algebra/inverse_factor.h"

namespace windhover::interlude_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr std::uint32_t kDimension = 160;
constexpr double kSquare = double{kDimension} * kDimension;

MatrixXd positive_definite(std::uint64_t seed) {
  MatrixXd root(kDimension, kDimension);
  fill_normals(seed, {1}, {root.data(), static_cast<std::size_t>(root.size())});
  return root * root.transpose() / kDimension + MatrixXd::Identity(kDimension, kDimension);
}

void count(void* times) noexcept { ++*static_cast<int*>(times); }

TEST(Interlude, ComesAfterSoMuchWorkAndNotAtAllWhereThereIsNone) {
  int times = 0;
  Interlude interlude(count, &times);
  for (int i = 0; i < 59; ++i) advance(&interlude, 1e5);
  EXPECT_EQ(times, 0);
  advance(&interlude, 1e5);
  EXPECT_EQ(times, 1);
  advance(&interlude, 1e5);
  EXPECT_EQ(times, 1);
  advance(nullptr, 1e9);
}

TEST(Interlude, ChangesNoBitOfWhatIsFactorised) {
  const MatrixXd matrix = positive_definite(1);
  MatrixXd rows(64, kDimension);
  fill_normals(2, {1}, {rows.data(), static_cast<std::size_t>(rows.size())});
  const auto all = [&](Interlude* interlude) {
    Arena measuring = Arena::measuring();
    const Factor measured(measuring, kDimension);
    const InverseFactor measured_inverse(measuring, kDimension);
    const MappedBlock block(measuring.used());
    Arena arena(block.bytes());
    Factor factor(arena, kDimension);
    InverseFactor inverse_factor(arena, kDimension);
    EXPECT_TRUE(ok(factor.compute(matrix.data(), interlude)));
    std::vector<MatrixXd> results(5, MatrixXd(kDimension, kDimension));
    factor.inverse(2.0, results[0].data(), interlude);
    factor.inverse_root(results[1].data(), interlude);
    factor.root(0.5, results[2].data(), interlude);
    inverse_factor.compute(factor, 3.0, results[3].data(), interlude);
    combine(2.0, matrix.data(), -0.5, results[0].data(), kDimension, results[4].data(), interlude);
    results.push_back(rows);
    factor.colour(results[5].data(), 64, interlude);
    results.push_back(rows);
    factor.solve_root(results[6].data(), 64, interlude);
    results.push_back(results[4]);
    symmetrize(results[7].data(), kDimension, interlude);
    return results;
  };
  int times = 0;
  Interlude interlude(count, &times, 1e6);
  EXPECT_EQ(all(&interlude), all(nullptr));
  // A factor, three inverses (two of them squares of roots too), 64 vectors twice.
  const double cube = kSquare * kDimension;
  EXPECT_GE(times, static_cast<int>((cube / 6 + 5 * cube / 6 + 64 * kSquare) / 1e6));
}

struct Witness {
  const void* sampler;
  void (*law)(const void*, double*, double*) noexcept;
  MatrixXd h{kDimension, kDimension};
  MatrixXd injected{kDimension, kDimension};
  std::vector<MatrixXd> seen{};

  void look() noexcept {
    law(sampler, h.data(), injected.data());
    seen.push_back(h);
  }
};

// A chain that moves meanwhile moves by the H of before or by that of after, and by no other.
template <class S>
void expect_whole_laws(double noise_scale) {
  SamplerConfig config;
  config.noise_scale = noise_scale;
  Arena measuring = Arena::measuring();
  const S measured(measuring, config, kDimension);
  const MappedBlock block(measuring.used());
  Arena arena(block.bytes());
  S sampler(arena, config, kDimension);
  const MatrixXd curvature = positive_definite(3);
  const MatrixXd noise = positive_definite(4);
  Estimates estimates;
  estimates.dimension = kDimension;
  estimates.n = 1000;
  estimates.minibatch_size = 100;
  estimates.curvature = curvature.data();
  estimates.noise_covariance = noise.data();
  ASSERT_TRUE(ok(sampler.refresh(estimates)));

  Witness witness{&sampler, [](const void* s, double* h, double* e) noexcept {
                    static_cast<const S*>(s)->law(h, e);
                  }};
  witness.look();
  // Everywhere, and not only after long pieces.
  Interlude interlude([](void* w) noexcept { static_cast<Witness*>(w)->look(); }, &witness, 2e5);
  const MatrixXd other_noise = positive_definite(5);
  estimates.noise_covariance = other_noise.data();
  estimates.n = 3000;
  estimates.interlude = &interlude;
  ASSERT_TRUE(ok(sampler.refresh(estimates)));
  witness.look();
  const std::vector<MatrixXd>& seen = witness.seen;
  ASSERT_GE(seen.size(), 20u) << S::kName;
  EXPECT_NE(seen.front(), seen.back()) << S::kName;
  for (std::size_t i = 1; i + 1 < seen.size(); ++i) {
    EXPECT_TRUE(seen[i] == seen.front() || seen[i] == seen.back()) << S::kName << ", " << i;
  }
}

TEST(Interlude, FindsTheLawOfBeforeOrThatOfAfter) {
  expect_whole_laws<Calibrated>(0);
  expect_whole_laws<Momentum>(0);
  expect_whole_laws<FullConstantSgd>(0);
  expect_whole_laws<FullFisherScoring>(1);
}

}  // namespace
}  // namespace windhover::interlude_test
