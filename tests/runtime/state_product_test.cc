// The state of an engine is whole for every sampler with every model, dense and sparse, on every
// horizon that keeps a window, with one thread and with two. state_contract_test.cc has what comes
// without a window, and streams that are disturbed.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/state_contract.h"

namespace windhover::test::state_product_test {
namespace {

// An adaptive window has several memories from here on.
constexpr std::uint32_t kRows = 400;

Scenario scenario_of(std::string_view model, std::string_view sampler, Horizon horizon,
                     std::uint32_t nonzeros) {
  Scenario s;
  s.name = std::string(model) + "/" + std::string(sampler) + "/" + to_string(horizon) +
           (nonzeros > 0 ? "/sparse" : "/dense");
  s.config = small_config("linear", 4, kRows);
  s.config.model.name = model;
  s.config.model.noise_variance = 0;
  s.config.model.max_nonzeros = nonzeros;
  s.config.model.classes = 3;
  s.config.model.hidden = 2;
  s.config.sampler.name = sampler;
  s.config.sampler.minibatch_size = 16;
  s.config.sampler.chains = 2;
  s.config.retained_draws = 8;
  s.config.horizon = horizon;
  s.config.checkpoints = true;
  s.rows = 600;
  return s;
}

// Into the phases after the cold start, then saved for either number of threads.
void expect_state_is_whole(const Scenario& s, const Data& data) {
  Host original(s.config, s, data, 1'000'000, 0);
  for (int i = 0; i < 12; ++i) original.step();
  const auto is_warming_up = [&] {
    return original.engine()->learner().view().phase == Learner::Phase::kWarmingUp;
  };
  for (int i = 0; i < 2000 && is_warming_up(); ++i) original.engine()->poll(1);
  ASSERT_FALSE(is_warming_up());
  for (const std::uint32_t threads : {1u, 2u}) {
    ASSERT_NO_FATAL_FAILURE(expect_same_future(original, s, data, 2, threads));
  }
}

class StateProduct : public testing::TestWithParam<std::string> {};

TEST_P(StateProduct, EngineRestoredGoesOnBitForBitWithEverySampler) {
  for (const Horizon horizon : {Horizon::kWindow, Horizon::kAdaptive, Horizon::kForgetting}) {
    for (const std::uint32_t nonzeros : {0U, 4U}) {
      std::size_t taken = 0;
      for (const SamplerEntry& sampler : sampler_registry()) {
        const Scenario s = scenario_of(GetParam(), sampler.name, horizon, nonzeros);
        if (!check(s.config).ok()) continue;
        ++taken;
        SCOPED_TRACE(s.name);
        ASSERT_NO_FATAL_FAILURE(expect_state_is_whole(s, data_of(s)));
      }
      // Networks have no memory to choose.
      const bool none = horizon == Horizon::kAdaptive && find_model(GetParam())->network;
      EXPECT_EQ(taken, none ? 0 : sampler_registry().size()) << to_string(horizon) << nonzeros;
    }
  }
}

std::vector<std::string> models() {
  std::vector<std::string> names;
  for (const ModelEntry& entry : model_registry()) names.emplace_back(entry.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Models, StateProduct, testing::ValuesIn(models()),
                         [](const testing::TestParamInfo<std::string>& tested) {
                           std::string name = tested.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace windhover::test::state_product_test
