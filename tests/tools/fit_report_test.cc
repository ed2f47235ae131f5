#include "windhover/tools/cli/fit_report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "windhover/tests/tools/support.h"
#include "windhover/tools/fit/fit.h"

namespace windhover::fit_report_test {
namespace {

// 300 rows of which y is what `y` makes of their number.
std::string report_of(auto y, const std::string& model = "") {
  std::string text = "a,c,y\n";
  for (int i = 0; i < 300; ++i) {
    text += std::to_string(std::sin(i * 1.7)) + (i % 3 == 0 ? ",u," : ",v,") + y(i) + "\n";
  }
  FitOptions o;
  o.path = file_with("report.csv", text);
  o.data.target = "y";
  o.model = model;
  o.steps = 2'000;
  return describe_fit(fit(o));
}

// The last line, which stands beside the answer.
std::string last_line(std::string text) {
  text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

TEST(FitReport, SaysHowToReadCategoriesBesideAnIntercept) {
  const auto kelvin = [](int i) { return std::to_string(288 + std::sin(i * 12.9898)); };
  EXPECT_TRUE(says(last_line(report_of(kelvin)), "only their differences are known"));
}

}  // namespace
}  // namespace windhover::fit_report_test
