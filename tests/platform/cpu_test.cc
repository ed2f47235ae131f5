#include "windhover/platform/cpu.h"

#include <gtest/gtest.h>

namespace windhover {
namespace {

TEST(InstructionSet, LimitGoesDownAndNeverAboveTheProcessor) {
  const InstructionSet best = instruction_set();
  limit_instruction_set(InstructionSet::kBaseline);
  EXPECT_EQ(instruction_set(), InstructionSet::kBaseline);
  limit_instruction_set(InstructionSet::kAvx512);
  EXPECT_EQ(instruction_set(), best);
}

TEST(InstructionSet, HasAName) {
  EXPECT_STREQ(to_string(InstructionSet::kBaseline), "baseline");
  EXPECT_STREQ(to_string(InstructionSet::kAvx2), "avx2");
  EXPECT_STREQ(to_string(InstructionSet::kAvx512), "avx512");
}

}  // namespace
}  // namespace windhover
