#include "windhover/runtime/diagnostics/r_hat_chance.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "windhover/samplers/estimates/diagnostics.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::r_hat_chance_test {
namespace {

struct Case {
  const char* name;
  std::uint32_t chains;
  Index dimension;
  Index length;
  double correlation;  // between an iterate and the next one of its chain
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// The largest R-hat of chains whose parameters are autoregressive; of one chain they lie `apart`
// standard deviations farther out.
double largest_r_hat(const Case& c, std::uint64_t seed, double apart) {
  std::vector<MatrixXd> of;  // a chain each: length x dimension
  for (std::uint32_t k = 0; k < c.chains; ++k) {
    MatrixXd x =
        normals(seed * c.chains + k, c.length * c.dimension).reshaped(c.length, c.dimension);
    const double innovation = std::sqrt(1 - c.correlation * c.correlation);
    for (Index t = 1; t < c.length; ++t) {
      x.row(t) = c.correlation * x.row(t - 1) + innovation * x.row(t);
    }
    if (k == 0) x.array() += apart;
    of.push_back(std::move(x));
  }
  MappedBlock block(1 << 20);
  Arena arena(block.bytes());
  const auto dimension = static_cast<std::uint32_t>(c.dimension);
  ChainDiagnostics diagnostics(arena, c.chains, dimension);
  diagnostics.reset();
  VectorXd iterate(c.dimension * c.chains);
  for (Index t = 0; t < c.length; ++t) {
    for (std::uint32_t k = 0; k < c.chains; ++k) {
      iterate.segment(k * c.dimension, c.dimension) = of[k].row(t);
    }
    diagnostics.add(iterate.data());
  }
  std::vector<double> bulk(dimension), tail(dimension), mcse(dimension), r_hat(dimension);
  diagnostics.summarize({bulk.data(), tail.data(), mcse.data(), r_hat.data()});
  return *std::ranges::max_element(r_hat);
}

// What all chains together are worth: an autocorrelation time is (1 + rho) / (1 - rho).
double bound_of(const Case& c) {
  const double effective =
      c.chains * static_cast<double>(c.length) * (1 - c.correlation) / (1 + c.correlation);
  return r_hat_chance(effective, c.chains, static_cast<double>(c.dimension));
}

class RHatChance : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Chains, RHatChance,
                         testing::Values(Case{"TwoChains", 2, 10, 448, 0.7},
                                         Case{"OneParameter", 8, 1, 224, 0.7},
                                         Case{"TenParameters", 8, 10, 224, 0.7},
                                         Case{"FewDraws", 8, 10, 160, 0.88},
                                         Case{"ManyDraws", 4, 3, 4096, 0.5}),
                         [](const auto& p) { return p.param.name; });

// kRHatRate of 400 streams are 4, sd 2; four of these above it are 12. Bonferroni and m - 1 for m
// leave the bound above what is seen, by half of what R-hat is above 1 at most.
TEST_P(RHatChance, IsExceededByChanceInOneCaseOfAHundredAtMost) {
  constexpr int kStreams = 400;
  const double bound = bound_of(GetParam());
  std::vector<double> seen;
  for (std::uint64_t seed = 0; seed < kStreams; ++seed) {
    seen.push_back(largest_r_hat(GetParam(), 1000 + seed, 0));
  }
  std::ranges::sort(seen);
  EXPECT_LE(std::ranges::count_if(seen, [&](double r) { return r > bound; }), 12);
  const double rare = seen[kStreams - 5];  // one in a hundred, nearly
  EXPECT_LT(bound - 1, 1.5 * (rare - 1));
}

// A chain that lies three standard deviations from the others is seen where draws are not so few.
TEST_P(RHatChance, IsExceededWhereAChainLiesElsewhere) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_GT(largest_r_hat(GetParam(), 5000 + seed, 3), bound_of(GetParam()));
  }
}

// Quantiles of F with 15 and E - 16 degrees of freedom at 1 - 0.01 / D, by numerical integration
// (scipy.stats.f.isf).
TEST(RHatChance, AgreesWithTheQuantileOfF) {
  EXPECT_NEAR(r_hat_chance(80, 8, 1), 1.25815, 0.02 * 0.25815);
  EXPECT_NEAR(r_hat_chance(80, 8, 10), 1.32663, 0.02 * 0.32663);
  EXPECT_NEAR(r_hat_chance(200, 8, 100), 1.13106, 0.02 * 0.13106);
  EXPECT_NEAR(r_hat_chance(1000, 8, 10), 1.02048, 0.02 * 0.02048);
}

TEST(RHatChance, OfDrawsTooFewSaysThatRHatSaysNothing) {
  EXPECT_TRUE(std::isinf(r_hat_chance(0, 8, 10)));
  EXPECT_TRUE(std::isinf(r_hat_chance(16, 8, 10)));
  EXPECT_TRUE(std::isfinite(r_hat_chance(40, 8, 10)));
}

TEST(RHatChance, OfManyDrawsIsOne) { EXPECT_NEAR(r_hat_chance(1e6, 8, 10), 1, 1e-4); }

// What a snapshot says is what follows from its own draws.
TEST(RHatChance, StandsOnEveryAnswer) {
  const Data data = linear_data(1000, 3, 1.0, 91);
  EngineConfig config = small_config("linear", 3, 1000);
  config.sampler.chains = 4;
  TestEngine engine(config);
  Provenance p;
  engine.parameters(&p);
  EXPECT_EQ(p.r_hat_chance, 0) << "nothing has been compared";
  engine.feed(data);
  ASSERT_TRUE(engine.poll_until_sampling());
  engine.poll_rounds(2000);
  engine.parameters(&p);
  ASSERT_GT(p.r_hat, 0);
  EXPECT_EQ(p.r_hat_chance, r_hat_chance(p.ess_bulk, 4, engine->dimension()));
  EXPECT_LT(p.r_hat, p.r_hat_chance);
}

}  // namespace
}  // namespace windhover::test::r_hat_chance_test
