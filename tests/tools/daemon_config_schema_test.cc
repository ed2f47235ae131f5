// What a daemon's configuration takes from a schema: rows, targets, units, priors.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "windhover/tests/tools/support.h"
#include "windhover/tools/daemon/daemon_config.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

TEST(DaemonConfig, TakesTheShapeOfRowsFromASchema) {
  const std::string schema = file_with(
      "rows.toml",
      "target = \"y\"\nsparse = true\n[[feature]]\nfield = \"c\"\nkind = \"category\"\n"
      "categories = [\"a\", \"b\"]\n[[feature]]\nfield = \"x\"\nkind = \"number\"\nshift = 0\n"
      "scale = 1\n");
  DaemonConfig config;
  config.set("model.schema", schema, "--model.schema");
  config.check();
  EXPECT_EQ(config.engine().model.features, 3U);
  EXPECT_EQ(config.engine().model.max_nonzeros, 2U);
  EXPECT_NE(config.engine().schema_fingerprint, 0U);

  EXPECT_TRUE(config.engine().model.prior_groups.empty());
  config.read_toml("[model]\nprior_precision = \"learn\"\nprior_groups = \"fields\"\n", "c.toml");
  config.check();
  EXPECT_TRUE(config.engine().model.learn_prior_precision);
  EXPECT_TRUE(std::ranges::equal(config.engine().model.prior_groups, std::vector{0U, 0U, 1U}));
}

TEST(DaemonConfig, TakesWhatMayBeMissingFromASchema) {
  const auto engine_of = [](const std::string& missing, const std::string& sparse) {
    DaemonConfig config;
    config.set("model.schema",
               file_with("gaps.toml", sparse +
                                          "target = \"y\"\n[[feature]]\nfield = \"x\"\n"
                                          "kind = \"number\"\nshift = 3\nscale = 2\n" +
                                          missing),
               "--model.schema");
    config.check();
    const auto features = config.engine().missing_features;
    return std::vector<MissingFeature>(features.begin(), features.end());
  };
  const auto marked = engine_of("missing = \"column\"\n", "");
  ASSERT_EQ(marked.size(), 2U);
  EXPECT_EQ(marked[0].fill, 0);
  EXPECT_EQ(marked[0].marker, 1U);
  EXPECT_FALSE(marked[1].may_lack());
  EXPECT_EQ(engine_of("missing = \"zero\"\n", "").size(), 1U);
  EXPECT_TRUE(engine_of("missing = \"row\"\n", "").empty());
  EXPECT_TRUE(engine_of("missing = \"column\"\n", "sparse = true\n").empty());
}

std::string schema_with(const std::string& target) {
  return file_with("target.toml", "target = \"y\"\n" + target +
                                      "[[feature]]\nfield = \"x\"\nkind = \"number\"\n"
                                      "shift = 0\nscale = 1\n");
}

TEST(DaemonConfig, TakesTheModelFromTheTargetOfTheSchema) {
  const auto model = [](const std::string& target) {
    DaemonConfig config;
    config.set("model.schema", schema_with(target), "test");
    config.check();
    return std::string(config.engine().model.name) + " " +
           std::to_string(config.engine().model.classes);
  };
  EXPECT_EQ(model(""), "linear 2");
  EXPECT_EQ(model("positive = \"yes\"\n"), "logistic 2");
  EXPECT_EQ(model("positive_above = 15\n"), "logistic 2");
  EXPECT_EQ(model("classes = [\"a\", \"b\"]\n"), "logistic 2");
  EXPECT_EQ(model("classes = [\"a\", \"b\", \"c\"]\n"), "softmax 3");
  EXPECT_EQ(model("target_kind = \"count\"\n"), "negative-binomial 2");
  EXPECT_EQ(model("target_kind = \"number\"\n"), "linear 2");
  EXPECT_EQ(model("target_kind = \"positive-number\"\n"), "log-normal 2");
  EXPECT_EQ(model("target_kind = \"positive-number\"\nmodel = \"linear\"\n"), "linear 2");
  EXPECT_EQ(model("target_kind = \"number\"\nmodel = \"student-t\"\n"), "student-t 2");
}

TEST(DaemonConfig, RefusesAModelThatContradictsTheSchema) {
  const auto refusal = [](const std::string& target, const std::string& model) {
    return refusal_of([&] {
      DaemonConfig config;
      config.set("model.schema", schema_with(target), "test");
      config.set("model.name", model, "test");
      config.check();
    });
  };
  EXPECT_TRUE(
      says(refusal("positive = \"yes\"\n", "linear"), "the model linear is not for the target y"));
  EXPECT_TRUE(says(refusal("positive = \"yes\"\n", "linear"), "which means logistic"));
  EXPECT_TRUE(says(refusal("target_kind = \"number\"\n", "logistic"),
                   "one of linear, log-normal, student-t"));
  EXPECT_TRUE(says(refusal("target_kind = \"number\"\n", "poisson"), "is a number"));
  EXPECT_TRUE(says(refusal("classes = [\"a\", \"b\", \"c\"]\n", "logistic"), "softmax"));
  EXPECT_EQ(refusal("", "logistic"), "nothing was refused");
  EXPECT_EQ(refusal("positive = \"yes\"\n", "mlp-logistic"), "nothing was refused");
}

TEST(DaemonConfig, LearnsThePriorPrecisionOfEachFeature) {
  DaemonConfig first;
  first.read_toml(
      "model.features = 3\nmodel.prior_precision = \"learn\"\nmodel.prior_groups = \"features\"",
      "c.toml");
  DaemonConfig config;
  config.read_toml(first.to_toml(), "printed.toml");
  config.check();
  EXPECT_TRUE(config.engine().model.learn_prior_precision);
  EXPECT_EQ(config.engine().model.prior_precision, ModelConfig().prior_precision);
  EXPECT_TRUE(std::ranges::equal(config.engine().model.prior_groups, std::vector{0U, 1U, 2U}));
  config.set("model.prior_precision", "3", "--model.prior_precision");
  EXPECT_FALSE(config.engine().model.learn_prior_precision);
  EXPECT_TRUE(says(refusal_of([&] { config.check(); }), "model.prior_groups must be empty"));
}

TEST(DaemonConfig, GivesTheTargetUnitsOfItsOwn) {
  DaemonConfig config;
  config.read_toml(
      "model.features = 3\n[engine]\nstandardize = \"scaled\"\nstandardize_target = \"given\"\n"
      "target_shift = 335000\ntarget_scale = 1e5\n",
      "c.toml");
  config.check();
  EXPECT_EQ(config.engine().standardize, Standardize::kScaled);
  EXPECT_EQ(config.engine().standardize_target, Standardize::kGiven);
  EXPECT_EQ(config.engine().target_shift, 335'000);
  EXPECT_EQ(config.engine().target_scale, 1e5);
  EXPECT_EQ(config.engine().model.prior_precision, 0);
  config.set("engine.target_scale", "0", "--engine.target_scale");
  EXPECT_TRUE(says(refusal_of([&] { config.check(); }), "target_scale must be positive"));
  config.set("model.name", "logistic", "--model.name");
  EXPECT_TRUE(says(refusal_of([&] { config.check(); }), "standardize_target must be off"));
}

TEST(DaemonConfig, TakesTheUnitsOfTheTargetFromTheSchema) {
  const std::string units = "target_shift = 335000\ntarget_scale = 1e5\n";
  DaemonConfig config;
  config.set("model.schema", schema_with(units), "test");
  config.check();
  EXPECT_EQ(config.engine().standardize_target, Standardize::kGiven);
  EXPECT_EQ(config.engine().target_shift, 335'000);
  EXPECT_EQ(config.engine().target_scale, 1e5);
  DaemonConfig said;
  said.set("model.schema", schema_with(units), "test");
  said.set("engine.standardize_target", "cold-start", "test");
  said.check();
  EXPECT_EQ(said.engine().standardize_target, Standardize::kColdStart);
}

}  // namespace
}  // namespace windhover
