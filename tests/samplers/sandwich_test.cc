#include "windhover/samplers/constant_rate/sandwich.h"

#include <gtest/gtest.h>

#include "windhover/tests/samplers/laws.h"

namespace windhover::sandwich_test {
namespace {

SamplerConfig with_step_size(double step_size) {
  SamplerConfig config;
  config.step_size = step_size;
  return config;
}

Matrix sandwich_of(const OwnedEstimates& e) {
  return e.curvature.inverse() * e.noise * e.curvature.inverse() / e.n;
}

class SandwichLaw : public testing::TestWithParam<Index> {
 protected:
  const Index d = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Dimensions, SandwichLaw, testing::Values(1, 2, 5, 12, 40),
                         testing::PrintToStringParamName());

TEST_P(SandwichLaw, covariance_is_the_sandwich_for_every_curvature_noise_and_step) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const OwnedEstimates e = random_estimates(seed, d);
    const double largest = 2 * e.minibatch_size / (e.n + e.minibatch_size);
    for (const double k : {0.0, 0.1 * largest, 0.5 * largest, largest}) {
      const Law law = *law_of(Sandwich::kName, with_step_size(k), e);
      EXPECT_LT(relative_difference(stationary(law, e), sandwich_of(e)), 1e-9) << seed << ' ' << k;
      EXPECT_EQ(law.injected.isZero(0), k == 0 || k == largest) << k;
    }
  }
}

// The posterior where the model holds.
TEST_P(SandwichLaw, is_the_posterior_when_noise_is_curvature) {
  OwnedEstimates e = random_estimates(20, d);
  e.noise = e.curvature;
  const Law law = *law_of(Sandwich::kName, SamplerConfig{}, e);
  EXPECT_LT(relative_difference(stationary(law, e), posterior_covariance(e)), 1e-9);
}

// Beyond the largest step the noise would need a negative variance: refused, and the old law stays.
TEST_P(SandwichLaw, longer_step_is_refused_and_changes_nothing) {
  Memory memory;
  OwnedEstimates e = random_estimates(30, d);
  AnySampler* sampler = find_sampler(Sandwich::kName)
                            ->make(memory.arena(), with_step_size(0.05), static_cast<unsigned>(d));
  ASSERT_EQ(sampler->refresh(e.view()), Status::kOk);  // largest: 0.077
  const Law before = law_of(*sampler, d);
  e.n *= 2;
  EXPECT_EQ(sampler->refresh(e.view()), Status::kNotPositiveDefinite);
  EXPECT_EQ(law_of(*sampler, d).h, before.h);
  EXPECT_EQ(law_of(*sampler, d).injected, before.injected);
}

TEST_P(SandwichLaw, noise_that_cannot_be_drawn_is_refused) {
  OwnedEstimates e = random_estimates(31, d);
  e.noise.setZero();
  EXPECT_TRUE(law_of(Sandwich::kName, SamplerConfig{}, e).has_value());
  EXPECT_FALSE(law_of(Sandwich::kName, with_step_size(0.01), e).has_value());
}

}  // namespace
}  // namespace windhover::sandwich_test
