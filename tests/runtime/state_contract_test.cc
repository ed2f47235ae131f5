// The state of an engine is whole: saved at any moment and restored into another engine, of the
// same configuration and with a past of its own, it goes on bit for bit. Likewise through the bytes
// of a checkpoint.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/state_contract.h"

namespace windhover::test::state_contract_test {
namespace {

std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> all = scenarios();
  for (const ModelEntry& entry : model_registry()) {
    for (const Horizon horizon : {Horizon::kFading, Horizon::kAll}) {
      for (const std::uint32_t nonzeros : {0U, 4U}) {
        Scenario s{std::string("no-window/") + to_string(horizon) + "/" + std::string(entry.name) +
                       (nonzeros > 0 ? "/sparse" : ""),
                   scenarios().front().config};
        s.config.model.name = entry.name;
        s.config.model.max_nonzeros = nonzeros;
        s.config.horizon = horizon;
        s.config.sampler.chains = 0;
        if (check(s.config).ok()) all.push_back(s);
      }
    }
  }
  for (Scenario& s : all) {
    // An adaptive one of 240 rows would have one memory.
    const bool adaptive = s.config.horizon == Horizon::kAdaptive;
    if (!adaptive) s.config.window_size = std::min<std::uint64_t>(s.config.window_size, 240);
    s.config.retained_draws = 8;
    s.config.checkpoints = true;
    s.rows = 900;
  }
  return all;
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Scenario& s : all_scenarios()) names.push_back(s.name);
  return names;
}

class StateContract : public testing::TestWithParam<std::string> {
 protected:
  StateContract() {
    for (Scenario& s : all_scenarios()) {
      if (s.name == GetParam()) scenario = s;
    }
  }
  Scenario scenario;
};

TEST_P(StateContract, restored_engine_goes_on_bit_for_bit) {
  const Data data = data_of(scenario);
  Host original(scenario.config, scenario, data, 1'000'000, 0);
  std::uint32_t threads = 1;  // 2: and through bytes
  // The state is compared before the first row, in the cold start, while C is measured, and later
  // on.
  for (const int steps : {0, 3, 1, 2, 3, 5, 7, 9}) {
    for (int i = 0; i < steps; ++i) original.step();
    ASSERT_NO_FATAL_FAILURE(expect_same_future(original, scenario, data, 2, threads));
    threads = 3 - threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, StateContract, testing::ValuesIn(names()),
                         [](const testing::TestParamInfo<std::string>& tested) {
                           std::string name = tested.param;
                           for (char& c : name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

Scenario scenario_named(const std::string& name) {
  for (const Scenario& s : scenarios()) {
    if (s.name != name) continue;
    Scenario found = s;
    found.config.checkpoints = true;
    return found;
  }
  ADD_FAILURE() << name;
  return {};
}

// Polls a round at a time until the engine is where the test wants it.
template <class Reached>
void expect_same_future_once(const Scenario& s, Reached&& reached) {
  const Data data = data_of(s);
  Host original(s.config, s, data, 1'000'000, 0);
  bool there = false;
  while (!there && !original.at_end()) {
    original.step(0);
    for (int round = 0; round < 6 && !there; ++round) {
      original.engine()->poll(1);
      there = reached(original.engine());
    }
  }
  ASSERT_TRUE(there) << "the stream does not lead there";
  expect_same_future(original, s, data, 12, 2);
}

// A pass of the cold start takes several rounds.
TEST(StateContractAtAMoment, half_a_pass_of_the_cold_start) {
  Scenario s = scenario_named("setting/standardize-logistic");
  s.config.window_size = 12'000;
  s.config.model.features = 40;
  s.config.window_slack = 8192;
  s.rows = 6000;
  const Data data = data_of(s);
  Host original(s.config, s, data, 1'000'000, 0);
  while (original.position() < 5000) original.step(0);
  original.engine()->poll(2);
  ASSERT_EQ(original.engine()->learner().view().phase, Learner::Phase::kWarmingUp);
  ASSERT_EQ(original.engine()->learner().view().estimator().done().rows(), 0.0);
  expect_same_future(original, s, data, 6, 2);
}

TEST(StateContractAtAMoment, approach) {
  expect_same_future_once(scenario_named("model/logistic"), [](TestEngine& e) {
    return e->learner().view().phase == Learner::Phase::kApproach;
  });
}

TEST(StateContractAtAMoment, burn_in) {
  expect_same_future_once(scenario_named("model/logistic"), [](TestEngine& e) {
    return e->learner().view().phase == Learner::Phase::kBurnIn;
  });
}

TEST(StateContractAtAMoment, chains_have_just_diverged) {
  Scenario s = scenario_named("setting/chains-lost");
  s.config.sampler.name = "sgld";
  s.config.sampler.initial_temperature = 2;
  s.config.sampler.step_size = 100;
  expect_same_future_once(
      s, [](TestEngine& e) { return e->counters().get(RuntimeCounter::kDivergences) > 0; });
}

TEST(StateContractAtAMoment, seeding_of_chains_without_a_window) {
  expect_same_future_once(scenario_named("horizon/all/sparse"), [](TestEngine& e) {
    return e->learner().view().phase == Learner::Phase::kApproach;
  });
}

// Rows from a part of the feature space not seen before: the posterior is looked for anew.
TEST(StateContractAtAMoment, just_started_over) {
  Scenario s = scenario_named("stream/poisson/outliers");
  bool began = false;
  expect_same_future_once(s, [&](TestEngine& e) {
    const bool warming_up = e->learner().view().phase == Learner::Phase::kWarmingUp;
    began = began || !warming_up;
    return began && warming_up;
  });
}

// Helpers read the transform of the features that was restored.
TEST(StateContractAtAMoment, two_threads_at_work) {
  Scenario s = scenario_named("setting/standardize");
  s.rows = 900;
  const Data data = data_of(s);
  Host original(s.config, s, data, 1'000'000, 0);
  for (int i = 0; i < 20; ++i) original.step();
  ASSERT_EQ(original.engine()->learner().view().phase, Learner::Phase::kSampling);
  const auto restored = other_run(s, data, 2);
  restore(*restored, save(*original.engine()), original);
  std::atomic<bool> running{true};
  std::thread helper([&] {
    while (running.load()) {
      if (restored->engine()->assist(1) == 0) std::this_thread::yield();
    }
  });
  original.take_trace();
  for (int i = 0; i < 12; ++i) {
    original.step();
    restored->step();
  }
  running.store(false);
  helper.join();
  EXPECT_EQ(difference(save(*restored->engine()), save(*original.engine())), "");
  EXPECT_EQ(restored->take_trace(), original.take_trace());
}

}  // namespace
}  // namespace windhover::test::state_contract_test
