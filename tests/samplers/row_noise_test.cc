// The likelihood of rows of many columns and its dispersion.
#include "windhover/samplers/row_blocks/row_noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "windhover/tests/samplers/support.h"

namespace windhover::row_noise_test {
namespace {

constexpr std::uint32_t kChains = 4;

ModelConfig model_of(const char* name, double noise) {
  ModelConfig model;
  model.name = name;
  model.features = 4;
  model.max_nonzeros = 1;
  model.noise_variance = noise;
  return model;
}

// A row of one column at which the chains are off by so much.
class Looks {
 public:
  Looks(const ModelConfig& model, double off)
      : layout_(model), likelihood_(model), block_(memory_.arena(), 2, kChains) {
    numbers_[RowLayout::kCountIndex] = 1;
    for (std::uint32_t c = 0; c < kChains; ++c) {
      block_.eta[c] = off;
      block_.before[c] = block_.after[c] = static_cast<float>(off);
    }
  }
  RowColumns row() const { return {layout_, likelihood_, true, numbers_.data()}; }
  const StepBlock& block() const { return block_; }

 private:
  Memory memory_;
  RowLayout layout_;
  RowLikelihood likelihood_;
  std::array<double, 8> numbers_{};
  StepBlock block_;
};

TEST(RowNoise, GivenIsInUnits) {
  RowNoise noise(model_of("linear", 4), kChains);
  noise.set_units({.shift = 10, .scale = 4});
  EXPECT_FALSE(noise.dispersion().learned());
  EXPECT_EQ(noise.dispersion().value(), 0.25);
  EXPECT_EQ(noise.likelihood().target(14), 1);
}

// Classes have no noise.
TEST(RowNoise, OfClassesIsOne) {
  RowNoise noise(model_of("logistic", 4), kChains);
  noise.set_units({.shift = 0, .scale = 4});
  EXPECT_FALSE(noise.dispersion().learned());
  EXPECT_EQ(noise.dispersion().value(), 1);
}

// Chains are off by 0.5 at 200 rows, all alike, of which the parameters know none.
TEST(RowNoise, IsLearnedFromWhatChainsKeep) {
  const ModelConfig model = model_of("linear", 0);
  const Looks looks(model, 0.5);
  RowNoise noise(model, kChains);
  noise.set_units({});
  EXPECT_TRUE(noise.dispersion().learned());
  for (int i = 0; i < 200; ++i) noise.keep(looks.row(), looks.block().after, 1);
  for (int i = 0; i < 2'000; ++i) {
    noise.look(looks.row(), 1, looks.block(), 200);
    if (i % 200 == 199) noise.end(200, 200, 0);
  }
  EXPECT_NEAR(noise.dispersion().value(), 0.25, 0.25 / 100);
}

// The noise is the same to the bit, whatever has come and gone meanwhile.
TEST(RowNoise, RowsThatGoTakeWhatTheyBrought) {
  const ModelConfig model = model_of("linear", 0);
  const Looks looks(model, 0.3);
  const Looks far(model, 1e5);
  RowNoise one(model, kChains);
  RowNoise other(model, kChains);
  for (RowNoise* noise : {&one, &other}) {
    noise->set_units({});
    for (int i = 0; i < 50; ++i) noise->keep(looks.row(), looks.block().after, 1);
  }
  other.keep(far.row(), far.block().after, 1);
  other.keep(far.row(), far.block().after, -1);
  for (RowNoise* noise : {&one, &other}) {
    for (int i = 0; i < 200; ++i) noise->look(looks.row(), 1, looks.block(), 50);
    noise->end(50, 50, 2);
  }
  EXPECT_NE(one.dispersion().value(), 1);
  EXPECT_EQ(one.dispersion().value(), other.dispersion().value());
}

// What Student's t says of a row far off hangs on the dispersion, and follows it.
TEST(RowNoise, TheLikelihoodHasWhatWasLearned) {
  const ModelConfig model = model_of("student-t", 0);
  const Looks looks(model, 0.1);
  RowNoise noise(model, kChains);
  noise.set_units({});
  const float before = noise.likelihood().at(3, 0).residual;
  for (int i = 0; i < 2'000; ++i) {
    noise.look(looks.row(), 1, looks.block(), 200);
    if (i % 200 == 199) noise.end(200, 200, 0);
  }
  ASSERT_LT(noise.dispersion().value(), 0.5);
  RowLikelihood likelihood(model);
  likelihood.set_units({});
  likelihood.set_dispersion(noise.dispersion().value());
  EXPECT_EQ(noise.likelihood().at(3, 0).residual, likelihood.at(3, 0).residual);
  EXPECT_LT(noise.likelihood().at(3, 0).residual, before);
}

}  // namespace
}  // namespace windhover::row_noise_test
