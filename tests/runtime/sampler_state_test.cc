// Samplers that keep state for each chain, in the engine: memory, replay, divergence, and the law
// that comes out.
#include <gtest/gtest.h>

#include <bit>

#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/engine_fixture.h"
#include "windhover/tests/runtime/saved_state.h"

namespace windhover::test::sampler_state_test {
namespace {

EngineConfig config_for(std::string_view sampler) {
  EngineConfig config = small_config("linear", 3, 400);
  config.sampler.name = sampler;
  config.sampler.minibatch_size = 32;
  config.sampler.chains = 3;
  return config;
}

// What the sampler keeps for three chains: behind the section's version, before a flag each.
std::vector<std::uint64_t> chain_states(TestEngine& engine) {
  std::vector<std::uint64_t> bits =
      save(engine->learner()).bits_of("what the sampler keeps for each chain");
  return {bits.begin() + 1, bits.end() - 3};
}

class SamplerInEngine : public testing::TestWithParam<std::string> {};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const SamplerEntry& entry : sampler_registry()) all.emplace_back(entry.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Registry, SamplerInEngine, testing::ValuesIn(names()),
                         [](const auto& name) {
                           std::string safe = name.param;
                           std::replace(safe.begin(), safe.end(), '-', '_');
                           return safe;
                         });

TEST_P(SamplerInEngine, footprint_is_exact) {
  const EngineConfig config = config_for(GetParam());
  const std::size_t bytes = Engine::footprint(config).value();
  const MappedBlock block(bytes);
  RealClock clock;
  EXPECT_TRUE(Engine::create(config, block.bytes(), clock).ok());
  EXPECT_FALSE(Engine::create(config, block.bytes().first(bytes - 1), clock).ok());
}

TEST_P(SamplerInEngine, runs_without_divergence_and_repeats_itself) {
  const EngineConfig config = config_for(GetParam());
  const Data data = linear_data(900, 3, 1.0, 5);
  SavedState states[2];
  for (auto& run : states) {
    ManualClock clock;
    TestEngine engine(config, &clock);
    for (Index row = 0; row < data.rows(); row += 30) {
      engine.feed(data, row, row + 30);
      engine->poll(20);
    }
    EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), 0u);
    EXPECT_EQ(engine->counters().get(RuntimeCounter::kFactorizationFailures), 0u);
    EXPECT_NE(engine->learner().view().phase, Learner::Phase::kWarmingUp);
    const std::size_t size =
        find_sampler(GetParam())->state_size(config.sampler, engine->dimension());
    EXPECT_EQ(chain_states(engine).size(), 3 * size)
        << "visit_state() leaves the chains' state out";
    run = save(*engine);
  }
  EXPECT_EQ(difference(states[0], states[1]), "");
}

// A chain that left for good begins again, and its state with it: the count of moves that annealing
// needs stands at less than the rounds.
TEST(SamplerState, begins_anew_after_a_divergence) {
  EngineConfig config = config_for("sgld");
  config.sampler.initial_temperature = 2;
  config.sampler.step_size = 100;
  TestEngine engine(config);
  const Data data = linear_data(400, 3, 1.0, 6);
  engine.feed(data);
  engine.poll_rounds(3000);
  EXPECT_GT(engine->counters().get(RuntimeCounter::kDivergences), 3u);
  for (const double theta : engine->learner().view().chains) EXPECT_TRUE(std::isfinite(theta));
  const std::vector<std::uint64_t> states = chain_states(engine);
  ASSERT_EQ(states.size(), 3u);
  for (const std::uint64_t moves : states) EXPECT_LT(std::bit_cast<double>(moves), 2000.0);
}

// The chains' own moments in the engine: the same bars as for the calibrated sampler, plus the 5 %
// of the computed step (a KL of 0.0025 in four dimensions).
TEST(SamplerState, sghmc_draws_from_the_posterior) {
  EngineConfig config = config_for("sghmc");
  config.draws_per_observation = 0;
  TestEngine engine(config);
  const Data data = linear_data(400, 3, 1.0, 7);
  engine.feed(data);
  const Gaussian posterior =
      linear_posterior(data.design(), data.y, config.model.noise_variance, config.model);
  ASSERT_TRUE(engine.poll_until_sampling());
  Trace trace(posterior.mean);
  engine->learner().set_trace(Trace::add, &trace);
  engine.poll_rounds(60'000);
  // 180,000 moves at an autocorrelation time of some 30: KL D (D + 3) / (4 x 6000) = 0.0012 twice.
  EXPECT_LT(kl(trace.moments(), posterior), 0.01);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), 0u);
}

// Means of n / S iterates, where the model holds: the posterior, but for what a mean over so few
// relaxations is wider.
TEST(SamplerState, iterate_averages_draw_from_the_posterior_where_the_model_holds) {
  EngineConfig config = small_config("linear", 3, 4000);
  config.sampler.name = "iasg";
  config.sampler.minibatch_size = 20;
  config.draws_per_observation = 0;
  TestEngine engine(config);
  const Data data = linear_data(4000, 3, 1.0, 9);
  engine.feed(data);
  const Gaussian posterior =
      linear_posterior(data.design(), data.y, config.model.noise_variance, config.model);
  ASSERT_TRUE(engine.poll_until_sampling());
  Trace trace(posterior.mean);
  engine->learner().set_trace(Trace::add, &trace);
  engine.poll_rounds(100'000);
  EXPECT_LT(kl(trace.moments(), posterior), 0.05);
}

// Refined iterates are no draws: nothing is retained, traced or said to be ok.
TEST(SamplerState, optimising_chains_give_no_draws) {
  EngineConfig config = config_for("santa-r");
  config.draws_per_observation = 0;
  TestEngine engine(config);
  const Data data = linear_data(400, 3, 1.0, 8);
  engine.feed(data);
  ASSERT_TRUE(engine.poll_until_sampling());
  Trace trace(VectorXd::Zero(4));
  engine->learner().set_trace(Trace::add, &trace);
  engine.poll_rounds(2000);
  engine->poll(0);
  EXPECT_EQ(trace.count(), 0.0);
  EXPECT_NE(engine.provenance().status, PosteriorStatus::kOk);
}

}  // namespace
}  // namespace windhover::test::sampler_state_test
