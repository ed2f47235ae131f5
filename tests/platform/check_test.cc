#include "windhover/platform/check.h"

#include <gtest/gtest.h>

namespace windhover {
namespace {

#ifdef NDEBUG
TEST(Check, WithNdebugConditionIsNotEvaluated) {
  int evaluated = 0;
  WINDHOVER_CHECK(++evaluated == 2);
  EXPECT_EQ(evaluated, 0);
}
#else
TEST(Check, TrueConditionIsEvaluatedOnceAndPasses) {
  int evaluated = 0;
  WINDHOVER_CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

TEST(CheckDeathTest, FalseConditionStopsTheProgram) { EXPECT_DEATH(WINDHOVER_CHECK(1 == 2), ""); }
#endif

}  // namespace
}  // namespace windhover
