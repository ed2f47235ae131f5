#include "windhover/tools/cli/fit_report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "windhover/tests/tools/support.h"
#include "windhover/tools/fit/fit.h"

namespace windhover::fit_report_test {
namespace {

// Rows of which y is what `y` makes of their number.
std::string report_of(auto y, const std::string& model = "", int rows = 300) {
  std::string text = "a,c,y\n";
  for (int i = 0; i < rows; ++i) {
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

TEST(FitReport, EndsWithWhatElseTheTargetMayBe) {
  const auto count = [](int i) { return std::to_string(i * 7 % 11); };
  const std::string counts = last_line(report_of(count));
  EXPECT_TRUE(says(counts, "y was taken for a number, and the model is linear"));
  EXPECT_TRUE(says(counts, "if these are counts, say --model negative-binomial"));
  const auto price = [](int i) { return std::to_string(900 * std::exp(std::sin(i * 12.9898))); };
  const std::string prices = last_line(report_of(price));
  EXPECT_TRUE(says(prices, "y was taken for a number, and the model is log-normal; log-normal "));
  EXPECT_TRUE(says(prices, "better than linear; --model linear insists on that"));
  // Too few rows to try it on.
  const auto far = [](int i) { return std::to_string(900 * std::exp(2 * std::sin(i * 12.9898))); };
  EXPECT_TRUE(says(last_line(report_of(far, "", 65)), "try --model log-normal"));
  for (const char* model : {"poisson", "linear"}) {
    EXPECT_FALSE(says(report_of(count, model), "was taken for")) << model;
  }
  const auto kelvin = [](int i) { return std::to_string(288 + std::sin(i * 12.9898)); };
  EXPECT_FALSE(says(report_of(kelvin), "was taken for"));
}

TEST(FitReport, SaysHowToReadCategoriesBesideAnIntercept) {
  const auto kelvin = [](int i) { return std::to_string(288 + std::sin(i * 12.9898)); };
  EXPECT_TRUE(says(last_line(report_of(kelvin)), "only their differences are "));
}

}  // namespace
}  // namespace windhover::fit_report_test
