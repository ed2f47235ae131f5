// Columns that a row has beside its features: exposures, offsets, trials, weights.
#include <gtest/gtest.h>

#include <string>

#include "windhover/tests/tools/inspect_fixture.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/data/inspect.h"

namespace windhover::inspect_extras_test {
namespace {

using inspect_fixture::column;
using inspect_fixture::Names;
using inspect_fixture::refused;

TEST(InspectExtras, AnExposureIsNoFeatureAndMakesCounts) {
  const std::string path = file_with("visits.csv", "h,x,visits\n1,2,3\n,4,5\n2,7,0\n8,1,40\n");
  const Inspection found = inspect(path, {.target = "visits", .offset = OffsetRule{"h", true}});
  EXPECT_EQ(found.schema.feature_names(), Names{"x"});
  EXPECT_EQ(found.schema.target_rule().default_model(), "negative-binomial");
  EXPECT_EQ(column(found, "h").reads_as, "exposure");
  EXPECT_EQ(column(found, "h").features, 0U);
  EXPECT_TRUE(says(column(found, "h").note, "rows where it is empty are left out"));
  EXPECT_EQ(Schema::from_text(found.schema.to_toml(), "S.toml").fingerprint(),
            found.schema.fingerprint());
  // Nothing else has an exposure, and no target is one.
  const std::string half = file_with("half.csv", "h,x,visits\n1,2,3.5\n3,4,5\n2,7,0\n");
  EXPECT_THROW(inspect(half, {.target = "visits", .offset = OffsetRule{"h", true}}), UserError);
  EXPECT_THROW(
      inspect(path, {.target = "visits", .offset = OffsetRule{"h", true}, .model = "linear"}),
      UserError);
  EXPECT_THROW(inspect(path, {.target = "visits", .offset = OffsetRule{"visits", true}}),
               UserError);
  EXPECT_THROW(inspect(path, {.target = "visits", .offset = OffsetRule{"hours", true}}), UserError);
  const Inspection added = inspect(half, {.target = "visits", .offset = OffsetRule{"h", false}});
  EXPECT_EQ(added.schema.target_rule().default_model(), "linear");
}

TEST(InspectExtras, TrialsAreNoFeatureAndMakeTheModelBinomial) {
  const std::string path = file_with("trials.csv", "n,x,w,y\n1,2,1,1\n,4,1,5\n12,7,2,0\n8,1,1,4\n");
  const Inspection found = inspect(path, {.target = "y", .trials = "n"});
  EXPECT_EQ(found.schema.feature_names(), (Names{"x", "w"}));
  EXPECT_EQ(found.schema.target_rule().default_model(), "binomial");
  EXPECT_EQ(column(found, "n").reads_as, "trials");
  EXPECT_EQ(column(found, "n").features, 0U);
  EXPECT_TRUE(says(column(found, "n").note, "rows where it is 0 or empty are left out"));
  EXPECT_EQ(Schema::from_text(found.schema.to_toml(), "S.toml").fingerprint(),
            found.schema.fingerprint());
  // 0 and 1 too are counts of trials.
  const std::string two = file_with("two.csv", "n,x,y\n1,2,1\n1,4,0\n1,7,0\n");
  EXPECT_EQ(inspect(two, {.target = "y", .trials = "n"}).schema.target_rule().default_model(),
            "binomial");
  EXPECT_THROW(inspect(path, {.target = "y", .trials = "y"}), UserError);
  EXPECT_THROW(inspect(path, {.target = "y", .trials = "trials"}), UserError);
  EXPECT_THROW(inspect(path, {.target = "y", .weight = "n", .trials = "n"}), UserError);
  EXPECT_THROW(inspect(path, {.target = "y", .offset = OffsetRule{"w", false}, .trials = "n"}),
               UserError);
  EXPECT_THROW(inspect(path, {.target = "y", .trials = "n", .model = "poisson"}), UserError);
  EXPECT_THROW(inspect(path, {.target = "y", .model = "binomial"}), UserError);
  for (const char* row : {"3,1,1,4", "2.5,1,1,2", "3,1,1,1.5"}) {
    const std::string wrong =
        file_with("wrong.csv", "n,x,w,y\n1,2,1,1\n9,3,1,5\n" + std::string(row) + "\n");
    try {
      inspect(wrong, {.target = "y", .trials = "n"});
      ADD_FAILURE() << row << " is taken";
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("line 4"), std::string::npos) << error.what();
    }
  }
}

TEST(InspectExtras, AWeightIsNoFeature) {
  const std::string path = file_with("weights.csv", "w,x,y\n1,2,3.5\n,4,5\n2,7,0\n8,1,4\n");
  const Inspection found = inspect(path, {.target = "y", .weight = "w"});
  EXPECT_EQ(found.schema.feature_names(), Names{"x"});
  EXPECT_EQ(column(found, "w").reads_as, "weight");
  EXPECT_EQ(column(found, "w").features, 0U);
  EXPECT_TRUE(says(column(found, "w").note, "rows where it is 0 or empty are left out"));
  EXPECT_EQ(Schema::from_text(found.schema.to_toml(), "S.toml").fingerprint(),
            found.schema.fingerprint());
  EXPECT_THROW(inspect(path, {.target = "y", .weight = "y"}), UserError);
  EXPECT_THROW(inspect(path, {.target = "y", .weight = "weight"}), UserError);
  EXPECT_THROW(inspect(path, {.target = "y", .offset = OffsetRule{"w", false}, .weight = "w"}),
               UserError);
}

TEST(InspectExtras, TrialsSayWhatToType) {
  const InspectOptions trials = {.target = "y", .trials = "n"};
  // As many successes of other numbers of trials are other rates.
  const std::string same = file_with("same.csv", "n,x,y\n10,2,1\n20,4,1\n50,7,1\n");
  EXPECT_EQ(inspect(same, trials).schema.target_rule().default_model(), "binomial");
  EXPECT_TRUE(says(refused("n,x,y\n9,2,yes\n9,4,no\n9,7,maybe\n", trials), "leave --trials out"));
  EXPECT_TRUE(says(refused("n,x,y\n9,2,2.5\n9,4,1\n9,7,3\n", trials), "leave --trials out"));
  InspectOptions both = trials;
  both.positive = "1";
  EXPECT_TRUE(says(refused("n,x,y\n1,2,1\n1,4,0\n1,7,0\n", both), "--positive"));
}

}  // namespace
}  // namespace windhover::inspect_extras_test
