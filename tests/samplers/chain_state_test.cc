// What a sampler keeps for a chain: theta and state are all there is.
#include <gtest/gtest.h>

#include "windhover/samplers/constant_rate/calibrated.h"
#include "windhover/samplers/sampler_entry.h"
#include "windhover/tests/samplers/sampler_contract.h"

namespace windhover::chain_state_test {
namespace {

// What a chain's state is: so many numbers, all written by start(), enough to go on from.
void expect_whole_state(const SamplerEntry& entry, AnySampler& sampler, GradientSource& gradient) {
  OwnedChain chain(entry, SamplerConfig{}, Vector::Zero(kDimension));
  Rng rng(7);
  sampler.start(chain.get(), rng);
  EXPECT_TRUE(chain.state().allFinite()) << "start() left some of the state unwritten";
  const auto walk = [&](OwnedChain& moving, std::uint64_t from) {
    for (std::uint64_t step = from; step < from + 10; ++step) {
      rng.seek({.step = step, .purpose = Purpose::kInjectedNoise});
      ASSERT_EQ(sampler.step(moving.get(), gradient, rng), Status::kOk);
    }
  };
  walk(chain, 0);
  EXPECT_TRUE(chain.guard_is_untouched()) << "more than state_size() numbers";
  // A chain made of theta and state alone goes the same way, whatever others did in between.
  OwnedChain copy(entry, SamplerConfig{}, chain.theta());
  std::copy_n(chain.get().state, chain.state().size(), copy.get().state);
  walk(chain, 10);
  OwnedChain other(entry, SamplerConfig{}, normals(8, kDimension, 1));
  sampler.start(other.get(), rng);
  walk(other, 0);
  walk(copy, 10);
  EXPECT_EQ(copy.theta(), chain.theta());
  EXPECT_EQ(copy.state(), chain.state());
}

TEST_P(SamplerContract, theta_and_state_are_all_there_is_to_a_chain) {
  AnySampler& sampler = make(SamplerConfig{});
  ASSERT_EQ(sampler.refresh(ordinary_estimates().view()), Status::kOk);
  FixedGradient gradient(normals(5, kDimension, 1));
  expect_whole_state(entry, sampler, gradient.source);
}

// A sampler outside the registry that remembers its last gradient and counts its steps.
class Remembering {
 public:
  static constexpr std::string_view kName = "remembering";
  static Result<bool> check(const SamplerConfig&) noexcept { return true; }
  Remembering(Arena&, const SamplerConfig&, std::uint32_t dimension) noexcept
      : dimension_(dimension) {}
  static std::size_t state_size(const SamplerConfig& config, std::uint32_t dimension) noexcept {
    return config.chains > 100 ? 0 : dimension + 1;
  }
  void start(Chain& chain, Rng& rng) const noexcept {
    rng.fill_normals({chain.state, dimension_});
    chain.state[dimension_] = 0;
  }
  Status refresh(const Estimates&) noexcept { return Status::kOk; }
  Status step(Chain& chain, GradientSource& gradient, Rng&) const noexcept {
    gradient(chain.theta, chain.work);
    chain.state[dimension_] += 1;
    for (std::uint32_t j = 0; j < dimension_; ++j) {
      chain.theta[j] -= chain.state[j] / chain.state[dimension_];
      chain.state[j] = chain.work[j];
    }
    return Status::kOk;
  }
  void law(double*, double*) const noexcept {}
  void visit_state(StateVisitor&) noexcept {}

 private:
  std::uint32_t dimension_;
};
static_assert(KeepsState<Remembering>);
static_assert(!KeepsState<Calibrated>);

TEST(SamplerState, entry_tells_its_size_and_hands_it_to_the_sampler) {
  constexpr SamplerEntry kEntry = sampler_entry<Remembering>("", "", "1 D", "");
  SamplerConfig config;
  EXPECT_EQ(kEntry.state_size(config, 5), 6u);
  config.chains = 101;
  EXPECT_EQ(kEntry.state_size(config, 5), 0u);
  EXPECT_EQ(find_sampler("calibrated")->state_size(config, 5), 0u);
  Memory memory;
  AnySampler& sampler = *kEntry.make(memory.arena(), SamplerConfig{}, kDimension);
  const ModelConfig model_config{.features = kDimension, .intercept = false};
  const Table table(model_config, normals(5, 1, kDimension), Vector::Zero(1));
  RowGradientModel model(model_config);
  const Vector prior = Vector::Zero(kDimension);
  GradientSource gradient(&model, kDimension, prior.data());
  gradient.set_scale(1000.0, 1.0);
  gradient.set_minibatch(table.all());
  expect_whole_state(kEntry, sampler, gradient);
}

}  // namespace
}  // namespace windhover::chain_state_test
