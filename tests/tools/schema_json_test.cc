#include "windhover/tools/data/schema_json.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace windhover {
namespace schema_json_test {

using nlohmann::json;

constexpr const char* kEverything = R"(
target = "delay"
positive_above = 15
missing = "skip"

[[feature]]
field = "distance"
kind = "number"
shift = 700
scale = 500
missing = "column"

[[feature]]
field = "night"
kind = "number"
reads = "boolean"
shift = 0
scale = 1
missing = "zero"

[[feature]]
field = "day"
kind = "harmonic"
reads = "year-month-day"
period = 365.25
harmonics = 2

[[feature]]
field = "origin"
kind = "category"
categories = ["ATL", "O\"RD"]
other = "column"

[[feature]]
field = "age"
kind = "spline"
knots = [0, 2.5, 7]
missing = "zero"

[[feature]]
interaction = ["age", "origin"]
)";

json parsed(const std::string& toml) {
  return json::parse(to_json_text(Schema::from_text(toml, "test.toml")));
}

TEST(SchemaJson, SaysWhatColumnsAreCalledAndHowFieldsBecomeThem) {
  const json schema = parsed(kEverything);
  EXPECT_EQ(schema.at("target"), "delay");
  EXPECT_EQ(schema.at("target_description"), "delay > 15");
  EXPECT_EQ(schema.at("target_kind"), "binary");
  const json& features = schema.at("features");
  ASSERT_EQ(features.size(), 6U);
  EXPECT_EQ(features[0], json::parse(R"({"field":"distance","missing":"column","kind":"number",
      "columns":["distance","distance missing"],"reads":"number","shift":700.0,"scale":500.0})"));
  EXPECT_EQ(features[1].at("reads"), "boolean");
  EXPECT_EQ(features[1].at("missing"), "zero");
  EXPECT_EQ(features[2].at("kind"), "harmonic");
  EXPECT_EQ(features[2].at("reads"), "date");
  EXPECT_EQ(features[2].at("period"), 365.25);
  EXPECT_EQ(features[2].at("columns").size(), 4U);
  EXPECT_EQ(features[3], json::parse(R"({"field":"origin","missing":"row","kind":"category",
      "columns":["origin=ATL","origin=O\"RD","origin=other"],
      "categories":["ATL","O\"RD"],"other":"column"})"));
  EXPECT_EQ(features[4], json::parse(R"({"field":"age","missing":"zero","kind":"spline",
      "columns":["age at 0","age at 7"],"reads":"number","knots":[0.0,2.5,7.0]})"));
  EXPECT_EQ(features[5].at("kind"), "interaction");
  EXPECT_EQ(features[5].at("fields"), json({"age", "origin"}));
  EXPECT_EQ(features[5].at("columns").size(), 6U);
  EXPECT_FALSE(features[5].contains("missing"));
}

TEST(SchemaJson, ColumnsAreThoseOfTheRowInTheirOrder) {
  const Schema schema = Schema::from_text(kEverything, "test.toml");
  const json described = parsed(kEverything);
  std::vector<std::string> names;
  for (const json& feature : described.at("features")) {
    for (const json& name : feature.at("columns")) names.push_back(name);
  }
  EXPECT_EQ(names, schema.feature_names());
}

TEST(SchemaJson, SaysHowFilesAreWrittenWhereThatIsNotAsUsual) {
  EXPECT_FALSE(parsed(kEverything).contains("file"));
  EXPECT_FALSE(parsed(kEverything).contains("sparse"));
  const json other =
      parsed(std::string("separator = \"tab\"\nheader = false\nquotes = false\ndecimal = \",\"\n"
                         "sparse = true\n") +
             kEverything);
  EXPECT_EQ(other.at("file"),
            json::parse(R"({"separator":"\t","header":false,"quotes":false,"decimal":","})"));
  EXPECT_EQ(other.at("sparse"), true);
}

TEST(SchemaJson, TheFingerprintIsThatOfTheSchema) {
  const Schema schema = Schema::from_text(kEverything, "test.toml");
  const auto said = parsed(kEverything).at("fingerprint").get<std::string>();
  EXPECT_EQ(said.size(), 16U);
  EXPECT_EQ(std::stoull(said, nullptr, 16), schema.fingerprint());
}

TEST(SchemaJson, ClassesHaveTheNamesThatAnswersHave) {
  const std::string feature =
      "[[feature]]\nfield = \"x\"\nkind = \"number\"\nshift = 0\nscale = 1\n";
  const json classes =
      parsed("target = \"kind\"\nclasses = [\"bus\", \"car\", \"van\"]\n" + feature);
  EXPECT_EQ(classes.at("target_kind"), "classes");
  EXPECT_EQ(classes.at("classes"), json({"bus", "car", "van"}));
  EXPECT_EQ(parsed("target = \"n\"\ntarget_kind = \"count\"\n" + feature).at("target_kind"),
            "count");
  EXPECT_EQ(
      parsed("target = \"n\"\ntarget_kind = \"positive-number\"\n" + feature).at("target_kind"),
      "positive-number");
  EXPECT_EQ(parsed("target = \"n\"\n" + feature).at("target_kind"), "number");
}

// However many columns there are, it is one entry.
TEST(SchemaJson, AHashedFeatureSaysWhereItsColumnsAre) {
  const std::string text =
      "target = \"y\"\nsparse = true\n"
      "[[feature]]\nfield = \"x\"\nkind = \"number\"\nshift = 0\nscale = 1\n"
      "[[feature]]\nhash = [\"a\", \"b\"]\nbuckets = 8388608\nmissing = \"column\"\n"
      "[[feature]]\nhash = [\"t\"]\nbuckets = 4096\nwords = true\n";
  const json features = parsed(text).at("features");
  ASSERT_EQ(features.size(), 3U);
  EXPECT_EQ(features[1], json::parse(R"({"field":"a x b","missing":"column","kind":"hash",
      "fields":["a","b"],"first_column":1,"buckets":8388608})"));
  EXPECT_EQ(features[2], json::parse(R"({"field":"t","kind":"hash",
      "fields":["t"],"first_column":8388610,"buckets":4096,"words":100})"));
}

// A file in another encoding is no reason not to start.
TEST(SchemaJson, WhatIsNoUtf8IsReplaced) {
  SchemaParts parts = Schema::from_text(kEverything, "test.toml").parts();
  parts.rules[3].categories[0] = "M\xfcnchen";
  const json schema = json::parse(to_json_text(Schema(parts)));
  EXPECT_EQ(schema["features"][3]["categories"][0], "M\xef\xbf\xbdnchen");
}

TEST(SchemaJson, EveryMemberIsDescribedInOpenapi) {
  std::ifstream file(std::string(WINDHOVER_SOURCE_DIR) + "/io/http/openapi.json");
  const json described = json::parse(file).at("components").at("schemas");
  const auto expect_described = [](const json& value, const json& of) {
    for (const auto& [key, member] : value.items()) {
      ASSERT_TRUE(of.at("properties").contains(key)) << key;
      const json& is = of["properties"][key];
      EXPECT_EQ(is.value("type", "") == "array", member.is_array()) << key;
      if (!is.contains("enum")) continue;
      EXPECT_NE(std::find(is["enum"].begin(), is["enum"].end(), member), is["enum"].end())
          << key << " is " << member;
    }
  };
  json schema =
      parsed(std::string("missing_texts = [\"unknown\"]\nseparator = \";\"\nsparse = true\n") +
             kEverything);
  EXPECT_EQ(schema.at("missing_texts"), json({"unknown"}));
  schema["features"].push_back(
      parsed("target = \"y\"\nsparse = true\n"
             "[[feature]]\nhash = [\"t\"]\nbuckets = 4096\nwords = true\n")["features"][0]);
  expect_described(schema, described.at("Schema"));
  for (const json& feature : schema.at("features")) {
    expect_described(feature, described.at("SchemaFeature"));
  }
}

}  // namespace schema_json_test
}  // namespace windhover
