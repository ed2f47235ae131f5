#include "windhover/platform/status.h"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

namespace windhover {
namespace {

TEST(Status, EachHasItsOwnSnakeCaseLabel) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Status::kCount); ++i) {
    const std::string label = to_string(static_cast<Status>(i));
    EXPECT_TRUE(seen.insert(label).second) << label;
    for (const char c : label) EXPECT_TRUE(std::islower(c) != 0 || c == '_') << label;
  }
}

TEST(Status, LabelsFollowTheOrderOfTheEnum) {
  EXPECT_STREQ(to_string(Status::kOk), "ok");
  EXPECT_STREQ(to_string(Status::kWindowFull), "window_full");
  EXPECT_STREQ(to_string(Status::kNotPermitted), "not_permitted");
  EXPECT_STREQ(to_string(Status::kIoError), "io_error");
}

TEST(Status, ValueOutsideTheListIsUnknown) {
  EXPECT_STREQ(to_string(Status::kCount), "unknown");
  EXPECT_STREQ(to_string(static_cast<Status>(255)), "unknown");
}

TEST(Status, OnlyOkIsOk) {
  EXPECT_TRUE(ok(Status::kOk));
  EXPECT_FALSE(ok(Status::kInvalidConfig));
  static_assert(sizeof(Status) == 1);
}

}  // namespace
}  // namespace windhover
