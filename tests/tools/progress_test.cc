#include "windhover/tools/cli/progress.h"

#include <gtest/gtest.h>

#include <string>

#include "windhover/tests/tools/support.h"
#include "windhover/tools/heap/heap_counter.h"

namespace windhover::progress_test {
namespace {

// What is drawn while an engine is at work is no heap call of its process.
TEST(Progress, DrawsWithoutTheHeap) {
  ::testing::internal::CaptureStderr();
  Progress bar(true);
  Progress lines(false, 0);
  const auto before = heap_calls();
  for (const double part : {0.0, 0.005, 0.5, 1.0}) {
    bar.draw(part, "of the steps, and of these as many as there are");
    bar.draw_with_rest(part, "of the steps");
    lines.draw_with_rest(part, "of the steps");
  }
  const auto after = heap_calls();
  const std::string drawn = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(before, after);
  EXPECT_TRUE(says(drawn, "[..............................]   0 % of the steps"));
  EXPECT_TRUE(says(drawn, "[###############...............]  50 % of the steps, about 0 s left"));
  EXPECT_TRUE(says(drawn, "[##############################] 100 %"));
  EXPECT_FALSE(says(drawn, "  1 % of the steps, about"));
}

}  // namespace
}  // namespace windhover::progress_test
