#include "windhover/io/durable/pause.h"

#include <gtest/gtest.h>

namespace windhover {
namespace {

TEST(Pause, LastsItsLength) {
  Pause pause;
  EXPECT_EQ(pause.left_ns(0), 0);
  pause.begin(100, 50);
  EXPECT_EQ(pause.left_ns(100), 50);
  EXPECT_EQ(pause.left_ns(149), 1);
  EXPECT_EQ(pause.left_ns(150), 0);
}

TEST(Pause, BeginsAnewWhenTheClockIsSetBack) {
  Pause pause;
  pause.begin(1'000, 50);
  EXPECT_EQ(pause.left_ns(1'040), 10);
  EXPECT_EQ(pause.left_ns(-500), 50);
  EXPECT_EQ(pause.left_ns(-460), 10);
  EXPECT_EQ(pause.left_ns(-450), 0);
}

TEST(Pause, ThatIsOverStaysOver) {
  Pause pause;
  pause.begin(1'000, 50);
  EXPECT_EQ(pause.left_ns(2'000), 0);
  EXPECT_EQ(pause.left_ns(1'010), 0);
  EXPECT_EQ(pause.left_ns(0), 0);
  pause.begin(0, 50);
  EXPECT_EQ(pause.left_ns(10), 40);
}

}  // namespace
}  // namespace windhover
