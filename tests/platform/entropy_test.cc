#include "windhover/platform/entropy.h"

#include <array>

#include <gtest/gtest.h>

namespace windhover::test::entropy_test {
namespace {

// 256 bits that are alike once in 2^256 times.
TEST(Entropy, EachFillIsAnotherOne) {
  std::array<std::byte, 32> one{};
  std::array<std::byte, 32> other{};
  ASSERT_TRUE(fill_with_entropy(one));
  EXPECT_NE(one, other) << "written";
  ASSERT_TRUE(fill_with_entropy(other));
  EXPECT_NE(one, other);
  std::array<std::byte, 257> too_many{};
  EXPECT_FALSE(fill_with_entropy(too_many));
}

}  // namespace
}  // namespace windhover::test::entropy_test
