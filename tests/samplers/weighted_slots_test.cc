#include "windhover/samplers/row_blocks/weighted_slots.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "windhover/platform/random.h"
#include "windhover/tests/samplers/support.h"

namespace windhover {
namespace {

class Slots {
 public:
  explicit Slots(std::uint64_t slots) : memory_(bytes(slots)) {
    slots_ = memory_.arena().make<WeightedSlots>(memory_.arena(), slots);
    slots_->reset();
  }
  WeightedSlots* operator->() { return slots_; }

 private:
  static std::size_t bytes(std::uint64_t slots) {
    Arena arena = Arena::measuring();
    (void)arena.make<WeightedSlots>(arena, slots);
    return arena.used();
  }

  Memory memory_;
  WeightedSlots* slots_ = nullptr;
};

// Each as often as it weighs, to 5 standard errors.
TEST(WeightedSlots, AreDrawnInProportion) {
  Slots slots(5);
  const std::vector<std::uint64_t> weights = {4, 0, 10, 1, 16};
  for (std::uint32_t i = 0; i < 5; ++i) slots->set(i, weights[i]);
  EXPECT_EQ(slots->total(), 31U);
  constexpr int kDraws = 100'000;
  std::vector<double> uniforms(kDraws);
  fill_uniforms(3, {0, 0, Purpose::kTest}, uniforms);
  std::vector<double> counts(5);
  for (const double u : uniforms) ++counts[slots->at(u)];
  for (std::size_t i = 0; i < 5; ++i) {
    const double p = static_cast<double>(weights[i]) / 31;
    EXPECT_NEAR(counts[i] / kDraws, p, 5 * std::sqrt(p * (1 - p) / kDraws)) << i;
  }
}

// Nothing of a slot is left once it is set to 0, whatever it weighed, and it is not drawn.
TEST(WeightedSlots, LeaveNothingBehind) {
  Slots slots(100);
  for (std::uint32_t i = 0; i < 100; ++i) slots->set(i, std::uint64_t{1} << (i % 55));
  for (std::uint32_t i = 0; i < 100; ++i) {
    if (i != 37) slots->set(i, 0);
  }
  slots->set(37, 1);
  EXPECT_EQ(slots->total(), 1U);
  EXPECT_EQ(slots->weight(37), 1U);
  for (const double u : {0.0, 0.3, 0.999'999'999'999'999'9}) EXPECT_EQ(slots->at(u), 37U);
  slots->set(37, 0);
  EXPECT_EQ(slots->total(), 0U);
}

TEST(WeightedSlots, OfOneSlotAndOfNone) {
  Slots one(1);
  one->set(0, 3);
  EXPECT_EQ(one->at(0.5), 0U);
  EXPECT_EQ(Slots(0)->total(), 0U);
}

}  // namespace
}  // namespace windhover
