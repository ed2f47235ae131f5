// Fits of rows that are more than features and a target: offsets, weights, trials.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "windhover/platform/random.h"
#include "windhover/tests/tools/fit_options.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/fit/fit.h"

namespace windhover {
namespace {

// Offsets that are far larger than what the features say.
TEST(Fit, AnOffsetIsTakenOffAndItsColumnIsNoFeature) {
  for (const bool binary : {false, true}) {
    std::string text = "a,o,y\n";
    for (int i = 0; i < 2000; ++i) {
      const double a = std::sin(i * 1.7);
      const double o = (binary ? 2 : 50) * std::cos(i * 0.37);
      const double noise = std::sin(i * 12.9898) * 1.3;
      const double y = 0.5 * a + o + noise + 2;
      text += std::to_string(a) + "," + std::to_string(o) + "," +
              (binary ? (y > 2 ? "yes" : "no") : std::to_string(y)) + "\n";
    }
    FitOptions o = options_of(binary);
    o.path = file_with("fit_offset.csv", text);
    o.standardize = false;
    o.data.offset = {"o", false};
    const auto out = fit(o);
    ASSERT_EQ(out["parameters"].size(), 2U);
    EXPECT_LT(out["kl_summary"].get<double>(), 0.05);
    EXPECT_EQ(out["file"]["columns"][1]["reads_as"], "offset");
    if (binary) continue;
    EXPECT_NEAR(out["parameters"][0]["mean"].get<double>(), 0.5, 0.15);
    EXPECT_NEAR(out["noise_variance"].get<double>() / out["noise_variance_reference"].get<double>(),
                1.0, 0.02);
    EXPECT_LT(out["noise_variance"].get<double>(), 1.5);  // offsets left in it would be 1,250
  }
}

// The posterior and its exact one are those of so many equal rows.
TEST(Fit, AWeightOfTwoIsTheRowTwice) {
  for (const bool binary : {false, true}) {
    std::string once = "a,w,y\n";
    std::string rows = "a,y\n";
    std::string more;
    for (int i = 0; i < 1500; ++i) {
      const double a = std::sin(i * 1.7);
      const double y = 0.5 * a + std::sin(i * 12.9898) * 1.3 + 2;
      const std::string target = binary ? (y > 2 ? "yes" : "no") : std::to_string(y);
      const int copies = 1 + i % 3 % 2;
      once += std::to_string(a) + "," + std::to_string(copies) + "," + target + "\n";
      rows += std::to_string(a) + "," + target + "\n";
      if (copies == 2) more += std::to_string(a) + "," + target + "\n";
    }
    FitOptions o = options_of(binary);
    o.standardize = false;
    o.path = file_with("fit_weight.csv", once);
    o.data.weight = "w";
    const auto weighted = fit(o);
    EXPECT_EQ(weighted["file"]["columns"][1]["reads_as"], "weight");
    EXPECT_LT(weighted["kl_summary"].get<double>(), 0.05);
    FitOptions twice = options_of(binary);
    twice.standardize = false;
    twice.path = file_with("fit_rows.csv", rows + more);
    const auto equal = fit(twice);
    ASSERT_EQ(weighted["parameters"].size(), 2U);
    for (std::size_t j = 0; j < 2; ++j) {
      const auto& one = weighted["parameters"][j];
      const auto& other = equal["parameters"][j];
      const double sd = other["sd"].get<double>();
      EXPECT_NEAR(one["mode"].get<double>(), other["mode"].get<double>(), 1e-4 * sd) << j;
      EXPECT_NEAR(one["sd"].get<double>(), sd, 1e-4 * sd) << j;
    }
    if (binary) continue;
    const double variance = equal["noise_variance"].get<double>();
    EXPECT_NEAR(weighted["noise_variance"].get<double>(), variance, 1e-4 * variance);
    EXPECT_NEAR(weighted["noise_variance_reference"].get<double>(),
                equal["noise_variance_reference"].get<double>(), 1e-9 * variance);
  }
}

// The posterior and its exact one are those of the single trials.
TEST(Fit, RowsOfTrialsAreTheirSingleTrials) {
  std::string counted = "a,n,y\n";
  std::string single = "a,w,y\n";
  for (int i = 0; i < 800; ++i) {
    const double a = std::sin(i * 1.7);
    const int trials = 1 + i % 7;
    const int successes = static_cast<int>((0.5 + 0.4 * std::sin(i * 12.9898)) * (trials + 0.999));
    const std::string x = std::to_string(a);
    counted += x + "," + std::to_string(trials) + "," + std::to_string(successes) + "\n";
    single += x + "," + std::to_string(successes) + ",yes\n";
    single += x + "," + std::to_string(trials - successes) + ",no\n";
  }
  FitOptions o = options_of(true);
  o.standardize = false;
  o.prior_precision = 1.0;
  FitOptions equal = o;
  o.path = file_with("fit_trials.csv", counted);
  o.data.positive.reset();
  o.data.trials = "n";
  o.model = "";
  equal.path = file_with("fit_single.csv", single);
  equal.data.weight = "w";
  const auto found = fit(o);
  EXPECT_EQ(found["model"], "binomial");
  EXPECT_EQ(found["file"]["columns"][1]["reads_as"], "trials");
  EXPECT_LT(found["kl_summary"].get<double>(), 0.05);
  const auto expected = fit(equal);
  ASSERT_EQ(found["parameters"].size(), 2U);
  for (std::size_t j = 0; j < 2; ++j) {
    const auto& one = found["parameters"][j];
    const auto& other = expected["parameters"][j];
    const double sd = other["sd"].get<double>();
    EXPECT_NEAR(one["mode"].get<double>(), other["mode"].get<double>(), 1e-4 * sd) << j;
    EXPECT_NEAR(one["sd"].get<double>(), sd, 1e-4 * sd) << j;
  }
  std::string wrong = counted + "0.5,3,4\n";
  o.path = file_with("fit_wrong.csv", wrong);
  EXPECT_THROW(fit(o), UserError);
}

// The learner's own weights of rows are not the file's, which has none.
TEST(FitRows, SurprisingRowsMayCountForLess) {
  for (const SurprisingRows use : {SurprisingRows::kDownWeight, SurprisingRows::kSetAside}) {
    FitOptions o = options_of(false);
    o.horizon.surprising_rows = use;
    EXPECT_GT(fit(o)["steps"].get<std::uint64_t>(), 0U);
  }
}

}  // namespace
}  // namespace windhover
