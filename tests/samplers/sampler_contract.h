// The contract of a sampler, for every sampler of the registry: what its tests share. They are
// instantiated in registry_test.cc.
#ifndef WINDHOVER_TESTS_SAMPLERS_SAMPLER_CONTRACT_H_
#define WINDHOVER_TESTS_SAMPLERS_SAMPLER_CONTRACT_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "windhover/samplers/registry.h"
#include "windhover/tests/samplers/support.h"

namespace windhover {

inline constexpr Index kDimension = 5;

inline std::vector<std::string_view> sampler_names() {
  std::vector<std::string_view> names;
  for (const SamplerEntry& entry : sampler_registry()) names.push_back(entry.name);
  return names;
}

inline OwnedEstimates ordinary_estimates(Index d = kDimension) {
  return {random_covariance(1, d), random_covariance(2, d)};
}

class SamplerContract : public testing::TestWithParam<std::string_view> {
 protected:
  const SamplerEntry& entry = *find_sampler(GetParam());
  AnySampler& make(const SamplerConfig& config, Index d = kDimension) {
    return *entry.make(memory.arena(), config, static_cast<std::uint32_t>(d));
  }

  // A gradient that is the same at every theta, and no prior.
  struct FixedGradient {
    explicit FixedGradient(const Vector& g)
        : config{.features = static_cast<std::uint32_t>(g.size()), .intercept = false},
          table(config, g.transpose(), Vector::Zero(1)),
          prior(Vector::Zero(g.size())),
          model(config),
          source(&model, config.features, prior.data()) {
      source.set_scale(1000.0, 1.0);
      source.set_minibatch(table.all());
    }
    ModelConfig config;
    Table table;
    Vector prior;
    RowGradientModel model;
    GradientSource source;
  };

  // Where a chain is after a few moves.
  Vector path(AnySampler& sampler, const SamplerConfig& config) {
    FixedGradient gradient(normals(5, kDimension, 1));
    OwnedChain chain(entry, config, Vector::Zero(kDimension));
    Rng rng(7);
    sampler.start(chain.get(), rng);
    for (int step = 0; step < 5; ++step) {
      EXPECT_EQ(sampler.step(chain.get(), gradient.source, rng), Status::kOk);
    }
    return chain.theta();
  }
  // Without a law to look at: a walk on the quadratic loss itself.
  void stays_near_the_mode(const SamplerConfig& config, const OwnedEstimates& estimates) {
    Memory own;
    const Index d = estimates.curvature.rows();
    AnySampler& sampler = *entry.make(own.arena(), config, static_cast<std::uint32_t>(d));
    ASSERT_EQ(sampler.refresh(estimates.view()), Status::kOk);
    FunctionGradient gradient(d, [&](const double* theta, double* g) {
      Eigen::Map<Vector>(g, d) = estimates.curvature * Eigen::Map<const Vector>(theta, d);
    });
    OwnedChain chain(entry, config, Vector::Zero(d));
    Rng rng(7);
    sampler.start(chain.get(), rng);
    double farthest = 0;
    for (int step = 0; step < 1000; ++step) {
      ASSERT_EQ(sampler.step(chain.get(), gradient.source(), rng), Status::kOk);
      const Vector& at = chain.theta();
      farthest = std::max(farthest, estimates.n * at.dot(estimates.curvature * at));
    }
    // Chi-squared with d degrees of freedom, and room for how well each of them does.
    EXPECT_LT(farthest, 20.0 * static_cast<double>(d));
  }
  Vector path(const SamplerConfig& config) {
    AnySampler& sampler = make(config);
    EXPECT_EQ(sampler.refresh(ordinary_estimates().view()), Status::kOk);
    return path(sampler, config);
  }

  Memory memory;
};

}  // namespace windhover

#endif  // WINDHOVER_TESTS_SAMPLERS_SAMPLER_CONTRACT_H_
