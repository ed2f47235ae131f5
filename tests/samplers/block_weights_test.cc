#include "windhover/samplers/row_blocks/block_weights.h"

#include <cmath>
#include <memory>

#include "windhover/tests/samplers/row_block_fixture.h"

namespace windhover::row_block_langevin_test {
namespace {

// Rows of one column and the intercept.
class Weights {
 public:
  explicit Weights(const std::vector<double>& weights) : data_(model()), memory_(bytes(kSlots)) {
    for (const double weight : weights) data_.add({0}, {1}, 1, weight);
    weights_ = memory_.arena().make<BlockWeights>(memory_.arena(), 2, kSlots);
    weights_->reset();
  }
  BlockWeights* operator->() { return weights_; }
  RowColumns row(std::uint32_t i) const {
    return RowColumns(RowLayout(model()), RowLikelihood(model()), true, data_.row(i));
  }
  void enter(std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t i = first; i < last; ++i) weights_->enter(row(i), i, 0.1F);
  }

 private:
  static constexpr std::uint64_t kSlots = 200;
  static ModelConfig model() {
    ModelConfig model = model_of(1, 1, 1);
    model.weight = true;
    return model;
  }
  static std::size_t bytes(std::uint64_t slots) {
    Arena arena = Arena::measuring();
    (void)arena.make<BlockWeights>(arena, 2, slots);
    return arena.used();
  }

  SparseData data_;
  Memory memory_;
  BlockWeights* weights_ = nullptr;
};

std::vector<double> light_before_heavy() {
  std::vector<double> weights(100, 1e-3);
  for (std::size_t i = 50; i < 100; ++i) weights[i] = 1e6;
  return weights;
}

// A row that came when all weighed as little is drawn as often as any row in half of the draws.
TEST(BlockWeights, LightRowsAreDrawnWhateverCameLater) {
  Weights weights(light_before_heavy());
  weights.enter(0, 100);
  constexpr std::uint32_t kDraws = 40'000;
  std::vector<double> uniforms(kDraws);
  fill_uniforms(3, {0, 0, Purpose::kTest}, uniforms);
  double light = 0;
  double unbiased = 0;
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const std::uint32_t slot = weights->slot_of(uniforms[i], i % 100);
    light += slot < 50 ? 1.0 / kDraws : 0;
    // Weight over draws: each row stands for what it weighs.
    unbiased += slot < 50 ? 100 * weights->length_of(weights.row(slot), slot) / kDraws : 0;
  }
  EXPECT_NEAR(light, 0.25, 5 * std::sqrt(0.25 * 0.75 / kDraws));
  EXPECT_NEAR(unbiased, 50 * 1e-3, 5 * 50 * 1e-3 * std::sqrt(3.0 / kDraws));
}

// What a row says of the draws is that of the rows that are there now, not of those when it came.
TEST(BlockWeights, NothingIsLeftOfRowsThatHaveGone) {
  Weights weights(light_before_heavy());
  weights.enter(0, 50);
  const double length = weights->length_of(weights.row(0), 0);
  const double of_column = weights->length_of(0);
  const double together = weights->weight_of(0);
  EXPECT_NEAR(together, 50 * 1e-3, 1e-6);
  EXPECT_NEAR(length, 1e-3, 1e-8);
  EXPECT_NEAR(of_column, 1e-3, 1e-8);
  weights.enter(50, 100);
  EXPECT_NEAR(weights->weight_of(0), 50e6, 1);
  EXPECT_NEAR(weights->length_of(weights.row(0), 0), 2e-3, 1e-5);
  for (std::uint32_t i = 50; i < 100; ++i) weights->leave(weights.row(i), i);
  EXPECT_EQ(weights->length_of(weights.row(0), 0), length);
  EXPECT_EQ(weights->length_of(0), of_column);
  EXPECT_EQ(weights->weight_of(0), together);
  EXPECT_EQ(weights->share_beyond(0), 1);
}

// Weights of 10^-6 to 10^6 in one column: sums are right to a part in 10^8.
TEST(BlockWeights, SumsAreOfWeightsOfAllSizes) {
  std::vector<double> weights;
  double sum = 0;
  for (int i = 0; i < 100; ++i) sum += weights.emplace_back(std::pow(10, -6 + 12 * i / 99.0));
  Weights rows(weights);
  rows.enter(0, 100);
  EXPECT_NEAR(rows->weight_of(0), sum, 1e-8 * sum);
  EXPECT_NEAR(rows->mean(), sum / 100, 1e-10 * sum);
  for (std::uint32_t i = 1; i < 100; ++i) rows->leave(rows.row(i), i);
  EXPECT_NEAR(rows->weight_of(0), 1e-6, 1e-13);
  EXPECT_NEAR(rows->mean(), 1e-6, 1e-13);
  EXPECT_NEAR(rows->length_of(0), 1e-6, 1e-8);
}

TEST(BlockWeights, ShareOfWhatIsNotHeaviest) {
  Weights weights(light_before_heavy());
  weights.enter(0, 60);
  EXPECT_NEAR(weights->share_beyond(0), 1, 1e-12);
  EXPECT_NEAR(weights->share_beyond(5), 0.5, 1e-6);
  EXPECT_NEAR(weights->share_beyond(10), 0.05 / 1e7, 1e-12);
  EXPECT_EQ(weights->share_beyond(60), 0);
}

}  // namespace
}  // namespace windhover::row_block_langevin_test
