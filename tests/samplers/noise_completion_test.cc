#include "windhover/samplers/constant_rate/noise_completion.h"

#include <gtest/gtest.h>

#include "windhover/tests/samplers/laws.h"

namespace windhover::noise_completion_test {
namespace {

SamplerConfig with_step_size(double step_size) {
  SamplerConfig config;
  config.step_size = step_size;
  return config;
}

// The largest eigenvalue of shape^1/2 [A + (n/S) C] shape^1/2 / 2: noise can be completed below one
// over it.
double threshold(const Vector& shape, const OwnedEstimates& e) {
  const Matrix metric = 0.5 * (e.curvature + e.n / e.minibatch_size * e.noise);
  const Vector root = shape.cwiseSqrt();
  return 1.0 /
         symmetric_eigen(root.asDiagonal() * metric * root.asDiagonal()).eigenvalues().maxCoeff();
}

struct Case {
  std::string_view sampler;
  Index dimension;
};

class NoiseCompletionLaw : public testing::TestWithParam<Case> {
 protected:
  const Index d = GetParam().dimension;
  const std::string_view name = GetParam().sampler;
  Vector shape(const OwnedEstimates& e) const {
    if (name == ScalarNoiseCompletion::kName) return Vector::Ones(d);
    return 2.0 *
           (e.curvature.diagonal() + e.n / e.minibatch_size * e.noise.diagonal()).cwiseInverse();
  }
};
INSTANTIATE_TEST_SUITE_P(Shapes, NoiseCompletionLaw,
                         testing::Values(Case{"sgd-completed", 1}, Case{"sgd-completed", 5},
                                         Case{"sgd-completed", 40}, Case{"sgd-d-completed", 1},
                                         Case{"sgd-d-completed", 5}, Case{"sgd-d-completed", 40}),
                         [](const testing::TestParamInfo<Case>& instance) {
                           return test_name(instance.param.sampler) + "_" +
                                  std::to_string(instance.param.dimension);
                         });

TEST_P(NoiseCompletionLaw, covariance_is_the_posterior_for_every_curvature_noise_and_step) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const OwnedEstimates e = random_estimates(seed, d);
    const double most = threshold(shape(e), e);
    for (const double step_size : {0.0, 0.1 * most, 0.999 * most}) {
      const Law law = *law_of(name, with_step_size(step_size), e);
      EXPECT_LT(relative_difference(stationary(law, e), posterior_covariance(e)), 1e-8) << seed;
      const double scale = step_size > 0 ? step_size : law.h(0, 0) / shape(e)(0);
      EXPECT_LT(relative_difference(law.h, scale * Matrix(shape(e).asDiagonal())), 1e-12);
    }
  }
}

// Q is positive semi-definite up to the threshold and not beyond: told, never cut.
TEST_P(NoiseCompletionLaw, step_beyond_the_threshold_is_refused_and_changes_nothing) {
  const OwnedEstimates e = random_estimates(10, d);
  const double most = threshold(shape(e), e);
  EXPECT_TRUE(law_of(name, with_step_size(most * (1 - 1e-9)), e).has_value());
  EXPECT_FALSE(law_of(name, with_step_size(most * (1 + 1e-9)), e).has_value());
  Memory memory;
  AnySampler* sampler = find_sampler(name)->make(memory.arena(), with_step_size(0.9 * most),
                                                 static_cast<std::uint32_t>(d));
  ASSERT_EQ(sampler->refresh(e.view()), Status::kOk);
  const Law before = law_of(*sampler, d);
  OwnedEstimates noisier = e;
  noisier.noise.topLeftCorner(1, 1) *= 10;
  // The diagonal shape follows C_00; in the scalar one it needs a shorter step.
  if (name == ScalarNoiseCompletion::kName) {
    EXPECT_EQ(sampler->refresh(noisier.view()), Status::kNotPositiveDefinite);
    EXPECT_EQ(law_of(*sampler, d).h, before.h);
    EXPECT_EQ(law_of(*sampler, d).injected, before.injected);
  }
}

// The step that is chosen is nine tenths of the largest, up to what power iteration leaves open.
TEST_P(NoiseCompletionLaw, chosen_step_is_just_below_the_threshold) {
  for (std::uint64_t seed = 20; seed < 30; ++seed) {
    const OwnedEstimates e = random_estimates(seed, d);
    const double scale = law_of(name, SamplerConfig{}, e)->h(0, 0) / shape(e)(0);
    EXPECT_NEAR(scale / threshold(shape(e), e), 0.9, 0.05) << seed;
  }
}

// Where H is that of the calibrated sampler the noise that is missing is none.
TEST(NoiseCompletionLimits, nothing_is_missing_in_one_dimension_at_the_exact_rate) {
  const OwnedEstimates e = random_estimates(40, 1);
  const Law law = *law_of("sgd-d-completed", with_step_size(1 - 1e-9), e);
  SamplerConfig bare;
  bare.injected_noise = 0;
  EXPECT_NEAR(law.h(0, 0) / law_of("calibrated", bare, e)->h(0, 0), 1.0, 1e-8);
  EXPECT_LT(law.injected(0, 0), 1e-8 * e.noise(0, 0) / e.minibatch_size);
}

}  // namespace
}  // namespace windhover::noise_completion_test
