// The prior that nobody gave, in the units of a file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "windhover/platform/random.h"
#include "windhover/tests/tools/fit_options.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/fit/fit.h"
#include "windhover/tools/fit/moments.h"

namespace windhover {
namespace {

// Prices as they come. The answer of N(0, 1) on them is its prior's, and says so.
TEST(Fit, DefaultPriorIsInTheUnitsOfTheFile) {
  std::string text = "sqm,rooms,balcony,price\n";
  std::vector<double> noise(1500);
  fill_normals(17, {.purpose = Purpose::kTest}, noise);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const auto at = static_cast<double>(i);
    const double sqm = 100 + 40 * std::sin(at * 1.7);
    const auto rooms = static_cast<double>(1 + i * 7 % 5);
    const double balcony = i % 3 == 0 ? 1 : 0;
    const double price = 20'000 + 3'000 * sqm + 5'000 * rooms + 8'000 * balcony + 20'000 * noise[i];
    text += std::to_string(sqm) + "," + std::to_string(rooms) + "," + std::to_string(balcony) +
            "," + std::to_string(price) + "\n";
  }
  FitOptions o;
  o.path = file_with("fit_prices.csv", text);
  o.data.target = "price";
  o.steps = 40'000;
  o.sampler_config.chains = 4;
  const auto out = fit(o);
  EXPECT_EQ(out["status"], "ok") << out["status_reason"];
  EXPECT_LT(out["kl_summary"].get<double>(), 1e-6);
  EXPECT_LT(out["kl_draws"].get<double>(), 0.1);
  EXPECT_NEAR(out["noise_variance"].get<double>() / out["noise_variance_reference"].get<double>(),
              1.0, 0.02);
  const double truth[] = {3'000, 5'000, 8'000, 20'000};
  for (std::size_t j = 0; j < 4; ++j) {
    const auto& p = out["parameters"][j];
    const double sd = p["sd"].get<double>();
    EXPECT_NEAR(p["mean"].get<double>(), truth[j], 5 * sd) << j;
    EXPECT_NEAR(p["mean_zero_variance"].get<double>(), p["mean"].get<double>(), 1e-6 * sd) << j;
    EXPECT_NEAR(p["mean_draws"].get<double>(), p["mean"].get<double>(), 5 * sd / 8) << j;
  }
  // 2.5 sd(y), about 88,000, over the range of a column of two values.
  const double prior_sd = 1 / std::sqrt(out["parameters"][2]["prior_precision"].get<double>());
  EXPECT_NEAR(prior_sd / 2.5, 88'000, 3'000);
  o.prior_precision = 1;
  o.intercept_precision = 0.1;
  const auto raw = fit(o);
  EXPECT_EQ(raw["status"], "degraded");
  EXPECT_EQ(raw["status_reason"], "prior");
  EXPECT_GT(raw["prior_conflict"].get<double>(), 1);
}

// The prior of a column in units of it, times its unit.
double unit_of(const nlohmann::ordered_json& parameter, double prior_precision) {
  return std::sqrt(parameter["prior_precision"].get<double>() / prior_precision);
}

TEST(Fit, StandardisesNumbersAndLeavesCategoriesAsTheyAre) {
  FitOptions o = towns();
  o.standardize = true;
  o.prior_precision = 4;
  o.intercept_precision = 1;
  const auto out = fit(o);
  ASSERT_EQ(out["model"], "linear");
  ASSERT_EQ(out["parameters"].size(), 6U);
  EXPECT_EQ(out["parameters"][2]["name"], "town=a");
  EXPECT_NEAR(unit_of(out["parameters"][0], 4), 40 / std::sqrt(2.0), 0.5);
  for (std::size_t j = 1; j < 5; ++j) {
    EXPECT_NEAR(unit_of(out["parameters"][j], 4), 1, 1e-9) << j;
  }
  o.standardize = false;
  const auto raw = fit(o);
  EXPECT_NEAR(unit_of(raw["parameters"][0], 4), 1, 1e-9);
  // With a schema numbers enter as it says.
  o.schema = file_with("fit_towns.toml", inspect(o.path, o.data).schema.to_toml());
  o.data = {};
  o.standardize = false;
  const auto by_schema = fit(o);
  EXPECT_EQ(by_schema["parameters"], out["parameters"]);
}

TEST(Fit, DefaultPriorTakesTextAndEmptyCells) {
  for (const bool standardize : {false, true}) {
    FitOptions o = towns();
    o.standardize = standardize;
    const auto out = fit(o);
    EXPECT_EQ(out["status"], "ok") << out["status_reason"];
    EXPECT_LT(out["kl_summary"].get<double>(), 1e-6);
    ASSERT_EQ(out["parameters"].size(), 6U);
    const auto& sqm = out["parameters"][0];
    EXPECT_NEAR(sqm["mean"].get<double>(), 3'000, 5 * sqm["sd"].get<double>());
    const double b_over_a =
        out["parameters"][3]["mean"].get<double>() - out["parameters"][2]["mean"].get<double>();
    // There are 400 rows of each, with noise of 20,000 and one number in 50 unknown (its sd is
    // 85,000): the sd of the difference is 1,650.
    EXPECT_NEAR(b_over_a, 30'000, 5 * 1'650);
    // 2.5 sd(y), about 88,000, for a column that is 0 or 1.
    const double prior_sd = 1 / std::sqrt(out["parameters"][3]["prior_precision"].get<double>());
    EXPECT_NEAR(prior_sd / 2.5, 88'000, 5'000);
  }
}

}  // namespace
}  // namespace windhover
