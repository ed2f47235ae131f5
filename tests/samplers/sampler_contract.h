// The contract of a sampler, for every sampler of the registry: what its tests share. They are
// instantiated in registry_test.cc.
#ifndef WINDHOVER_TESTS_SAMPLERS_SAMPLER_CONTRACT_H_
#define WINDHOVER_TESTS_SAMPLERS_SAMPLER_CONTRACT_H_

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "windhover/samplers/registry.h"
#include "windhover/tests/samplers/support.h"

namespace windhover {

inline constexpr Index kDimension = 5;

std::vector<std::string_view> sampler_names();

OwnedEstimates ordinary_estimates(Index d = kDimension);

class SamplerContract : public testing::TestWithParam<std::string_view> {
 protected:
  const SamplerEntry& entry = *find_sampler(GetParam());
  AnySampler& make(const SamplerConfig& config, Index d = kDimension);
  // noiseless_config(), at temperature 1 where 0 is refused.
  SamplerConfig noiseless() const;

  // A gradient that is the same at every theta, and no prior.
  struct FixedGradient {
    explicit FixedGradient(const Vector& g);
    ModelConfig config;
    Table table;
    Vector prior;
    RowGradientModel model;
    GradientSource source;
  };

  // Where a chain is after a few moves.
  Vector path(AnySampler& sampler, const SamplerConfig& config);
  Vector path(const SamplerConfig& config);
  // Walks on the quadratic loss itself, where there is no law to look at.
  void stays_near_the_mode(const SamplerConfig& config, const OwnedEstimates& estimates);

  Memory memory;
};

}  // namespace windhover

#endif  // WINDHOVER_TESTS_SAMPLERS_SAMPLER_CONTRACT_H_
