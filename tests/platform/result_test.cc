#include "windhover/platform/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace windhover {
namespace {

Result<int> half_of(int number) {
  if (number % 2 != 0) return Error{Status::kInvalidArgument, "number must be even", 1.0 * number};
  return number / 2;
}

TEST(Result, SuccessHoldsTheValueAndNoError) {
  const Result<int> result = half_of(8);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value(), 4);
  EXPECT_EQ(result.status(), Status::kOk);
  EXPECT_STREQ(result.error().sentence, "");
}

TEST(Result, FailureHoldsStatusSentenceAndNumber) {
  const Result<int> result = half_of(7);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status(), Status::kInvalidArgument);
  EXPECT_EQ(result.error().status, Status::kInvalidArgument);
  EXPECT_STREQ(result.error().sentence, "number must be even");
  EXPECT_EQ(result.error().number, 7.0);
}

TEST(Result, ValueCanBeChangedAndMovedOut) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(1));
  *result.value() = 2;
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 2);
}

}  // namespace
}  // namespace windhover
