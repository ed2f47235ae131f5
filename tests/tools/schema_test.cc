#include "windhover/tools/data/schema.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "windhover/tests/tools/schema_fixture.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

using Numbers = std::vector<double>;
using Names = std::vector<std::string>;

constexpr const char* kFlights = R"(
target = "delay"
positive_above = 15
missing = "skip"

[derived.hour]
from = "date"
format = "MMDDhhmm"
part = "hour"

[[feature]]
field = "distance"
kind = "number"
shift = 700
scale = 500

[[feature]]
field = "hour"
kind = "harmonic"
period = 24
harmonics = 2

[[feature]]
field = "origin"
kind = "category"
categories = ["ATL", "ORD"]
other = "column"

[[feature]]
field = "destination"
kind = "category"
categories = ["LAX"]
)";

constexpr const char* kFlightRows =
    "date,delay,distance,origin,destination\n"
    "01010600,16,1200,ORD,LAX\n"
    "01011830,15,700,XYZ,LAX\n"
    "01011830,,700,XYZ,LAX\n"
    "01011830,3,700,ATL,JFK\n";

TEST(Schema, NamesItsFeatures) {
  const Schema schema = parsed(kFlights);
  EXPECT_EQ(schema.feature_names(),
            (Names{"distance", "hour sin 1", "hour cos 1", "hour sin 2", "hour cos 2", "origin=ATL",
                   "origin=ORD", "origin=other", "destination=LAX"}));
  EXPECT_EQ(schema.max_nonzeros(), 7U);
  EXPECT_EQ(schema.target_description(), "delay > 15");
}

TEST(Schema, EncodesRowsOfAFile) {
  const Schema schema = parsed(kFlights);
  Table table(file_with("flights.csv", kFlightRows), schema.table_options());
  const RowEncoder encoder(schema, table);
  EncodedRow row;
  ASSERT_TRUE(table.next());
  ASSERT_TRUE(encoder.encode(table, row));
  const Numbers expected = {1, 1, 0, 0, -1, 0, 1, 0, 1};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(row.values[i], expected[i], 1e-12);
  EXPECT_EQ(row.target, 1.0);
  ASSERT_TRUE(table.next());
  ASSERT_TRUE(encoder.encode(table, row));
  EXPECT_EQ(row.values[7], 1.0);
  EXPECT_NEAR(row.values[1], std::sin(2 * M_PI * 18.5 / 24), 1e-12);
  EXPECT_EQ(row.target, 0.0);
  ASSERT_TRUE(table.next());
  EXPECT_FALSE(encoder.encode(table, row)) << "the target is missing";
  ASSERT_TRUE(table.next());
  EXPECT_FALSE(encoder.encode(table, row)) << "a category that is not listed";
}

// A question has no target, takes part in what features do with empty cells, and is never skipped.
TEST(Schema, EncodesQuestionsOfAFileByTheSameRules) {
  const Schema schema = parsed(R"(
target = "y"
positive = "yes"
negative = "no"
missing = "skip"
[[feature]]
field = "x"
kind = "number"
shift = 3
scale = 2
missing = "column"
[[feature]]
field = "z"
kind = "number"
shift = 0
scale = 1
)");
  Table table(file_with("asked.csv", "z,x\n5,7\n5,\n,7\n4,3\n"), schema.table_options());
  EXPECT_TRUE(says(refusal_of([&] { (void)RowEncoder(schema, table); }), "has no column \"y\""));
  const RowEncoder scaled(schema, table, RowUse::kQuestion);
  const RowEncoder as_it_stands(schema, table, RowUse::kQuestion, false);
  EncodedRow row;
  ASSERT_TRUE(table.next());
  ASSERT_TRUE(scaled.encode(table, row));
  EXPECT_EQ(row.values, (Numbers{2, 0, 5}));
  ASSERT_TRUE(as_it_stands.encode(table, row));
  EXPECT_EQ(row.values, (Numbers{7, 0, 5}));
  ASSERT_TRUE(table.next());
  ASSERT_TRUE(scaled.encode(table, row));
  EXPECT_EQ(row.values, (Numbers{0, 1, 5}));
  ASSERT_TRUE(table.next());
  EXPECT_THROW((void)scaled.encode(table, row), RowError);
  ASSERT_TRUE(table.next());
  ASSERT_TRUE(scaled.encode(table, row));
  EXPECT_EQ(row.values, (Numbers{0, 0, 4}));
}

TEST(Schema, GivesTheSameNumbersSparse) {
  const Schema dense = parsed(kFlights);
  const Schema sparse = parsed(std::string("sparse = true\n") + kFlights);
  Table table(file_with("sparse.csv", kFlightRows), dense.table_options());
  const RowEncoder encode_dense(dense, table);
  const RowEncoder encode_sparse(sparse, table);
  ASSERT_TRUE(table.next());
  ASSERT_TRUE(table.next());
  EncodedRow a, b;
  ASSERT_TRUE(encode_dense.encode(table, a));
  ASSERT_TRUE(encode_sparse.encode(table, b));
  Numbers spread(dense.features(), 0.0);
  for (std::size_t i = 0; i < b.indices.size(); ++i) {
    if (i > 0) {
      EXPECT_LT(b.indices[i - 1], b.indices[i]);
    }
    EXPECT_NE(b.values[i], 0.0);
    spread[b.indices[i]] = b.values[i];
  }
  EXPECT_EQ(spread, a.values);
}

using Unlisted = std::vector<std::pair<std::string, std::string>>;

TEST(Schema, EncodesAQuestionByName) {
  const Schema schema = parsed(kFlights);
  const EncodedRow direct = schema.encode(
      {{"distance", "1200"}, {"hour", "6"}, {"origin", "ORD"}, {"destination", "LAX"}});
  const EncodedRow by_date = schema.encode(
      {{"distance", "1200"}, {"date", "01010600"}, {"origin", "ORD"}, {"destination", "LAX"}});
  EXPECT_EQ(direct.values, by_date.values);
  EXPECT_EQ(direct.values[6], 1.0);
  EXPECT_TRUE(direct.unlisted.empty());
  const EncodedRow elsewhere = schema.encode(
      {{"distance", "1200"}, {"hour", "6"}, {"origin", "QQQ"}, {"destination", "LAX"}});
  EXPECT_EQ(elsewhere.unlisted, (Unlisted{{"origin", "QQQ"}}));
}

TEST(Schema, ADerivedCategoryThatIsNotListedIsToldByWhatItIs) {
  const Schema schema = parsed(R"(
target = "delay"
positive_above = 15

[derived.hour]
from = "date"
format = "MMDDhhmm"
part = "hour"

[[feature]]
field = "hour"
kind = "category"
categories = ["6", "18"]
other = "column"
)");
  EXPECT_EQ(schema.encode({{"date", "01010900"}}).unlisted, (Unlisted{{"hour", "9"}}));
}

TEST(Schema, RefusesAQuestionItDoesNotUnderstand) {
  const Schema schema = parsed(kFlights);
  const auto refusal = [&](std::map<std::string, std::string> fields) {
    return refusal_of([&] { (void)schema.encode(fields); });
  };
  std::map<std::string, std::string> good = {
      {"distance", "1"}, {"hour", "6"}, {"origin", "ORD"}, {"destination", "LAX"}};
  auto fields = good;
  fields.erase("hour");
  EXPECT_TRUE(says(refusal(fields), "also needs hour: give hour=VALUE"));
  fields.erase("distance");
  EXPECT_TRUE(says(refusal(fields), "needs distance, hour: give distance=VALUE, hour=VALUE"));
  fields["distanse"] = "1";  // what it was meant to be comes first
  EXPECT_TRUE(says(refusal(fields), "\"distanse\" is no field"));
  EXPECT_TRUE(says(refusal({}), "needs distance, hour, origin, destination"));
  fields = good;
  fields["colour"] = "red";
  EXPECT_TRUE(says(refusal(fields), "no field of the schema flights.toml; its fields are date, "));
  fields.erase("colour");
  fields["distanse"] = "1";
  EXPECT_TRUE(says(refusal(fields), "flights.toml; did you mean distance; its fields are"));
  fields = good;
  fields["destination"] = "Mars";
  EXPECT_TRUE(says(refusal(fields), "\"Mars\" is no destination"));
  EXPECT_TRUE(says(refusal(fields), "LAX"));
  fields = good;
  fields["distance"] = "far";
  EXPECT_TRUE(says(refusal(fields), "distance = \"far\""));
  fields = good;
  fields.erase("hour");
  fields["date"] = "1010600";
  EXPECT_TRUE(says(refusal(fields), "does not have the form MMDDhhmm"));
}

TEST(Schema, RefusesRowsWhenMissingIsRefused) {
  const Schema schema = parsed(replaced(kFlights, "\"skip\"", "\"refuse\""));
  Table table(file_with("refuse.csv", kFlightRows), schema.table_options());
  const RowEncoder encoder(schema, table);
  EncodedRow row;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(table.next());
  EXPECT_TRUE(says(refusal_of([&] { (void)encoder.encode(table, row); }),
                   "refuse.csv, line 4, column delay: \"\" where a finite number is expected"));
  ASSERT_TRUE(table.next());
  EXPECT_TRUE(says(refusal_of([&] { (void)encoder.encode(table, row); }),
                   "line 5, column destination: \"JFK\" is no destination"));
}

TEST(Schema, LeavesOtherCategoriesAtZeroWhenTold) {
  const Schema schema = parsed(replaced(kFlights, "\"column\"", "\"zero\""));
  EXPECT_EQ(schema.features(), 8U);
  const EncodedRow row = schema.encode(
      {{"distance", "700"}, {"hour", "6"}, {"origin", "XYZ"}, {"destination", "LAX"}});
  EXPECT_EQ(row.values[5], 0.0);
  EXPECT_EQ(row.values[6], 0.0);
  EXPECT_EQ(row.values[7], 1.0);
}

TEST(Schema, RefusesWhatItCannotRead) {
  const auto refusal = [](const std::string& from, const std::string& to) {
    return refusal_of([&] { (void)parsed(replaced(kFlights, from, to)); });
  };
  EXPECT_TRUE(says(refusal("scale = 500", "scale = 0"), "feature 1: scale = 0 must be greater"));
  EXPECT_TRUE(says(refusal("kind = \"harmonic\"", "kind = \"wave\""),
                   "\"wave\" must be one of number, harmonic, spline, category"));
  EXPECT_TRUE(
      says(refusal("shift = 700", "shfit = 700"), "unknown key \"shfit\"; did you mean shift"));
  EXPECT_TRUE(says(refusal("part = \"hour\"", "part = \"year\""), "has no Y"));
  EXPECT_TRUE(says(refusal("target = \"delay\"", ""), "target is missing"));
  EXPECT_TRUE(says(refusal("harmonics = 2", "harmonics = 0"), "harmonics = 0 must be 1 to 64"));
  EXPECT_TRUE(says(refusal("[\"LAX\"]", "[\"LAX\", \"LAX\"]"), "different texts"));
  EXPECT_TRUE(says(refusal("period = 24", "period = = 24"), "flights.toml, line"));
  EXPECT_TRUE(says(refusal_of([] { (void)Schema::from_file("/no/schema.toml"); }), "cannot read"));
  EXPECT_TRUE(says(refusal_of([] { (void)parsed("target = \"y\"\n"); }), "no [[feature]]"));
}

TEST(Schema, SurvivesBeingWrittenAndRead) {
  const Schema schema = parsed(kFlights);
  const Schema again = parsed(schema.to_toml());
  EXPECT_EQ(again.description(), schema.description());
  EXPECT_EQ(again.fingerprint(), schema.fingerprint());
  EXPECT_EQ(again.to_toml(), schema.to_toml());
  EXPECT_NE(parsed(replaced(kFlights, "shift = 700", "shift = 701")).fingerprint(),
            schema.fingerprint());
}

TEST(Schema, FillsInADraftFromAFile) {
  const Schema draft = parsed(
      "target = \"y\"\n[[feature]]\nfield = \"x\"\nkind = \"number\"\n"
      "[[feature]]\nfield = \"c\"\nkind = \"category\"\nmost = 2\nother = \"column\"\n");
  EXPECT_TRUE(draft.is_draft());
  EXPECT_TRUE(says(refusal_of([&] {
                     (void)draft.encode({{"x", "1"}, {"c", "a"}});
                   }),
                   "is a draft"));
  const Schema full =
      draft.collected_from(file_with("draft.csv", "x,c,y\n1,b,0\n3,b,0\n5,a,0\n7,d,0\n,d,0\n"));
  EXPECT_FALSE(full.is_draft());
  EXPECT_EQ(full.feature_names(), (Names{"x", "c=b", "c=d", "c=other"}));
  EXPECT_EQ(*full.rules()[0].shift, 4.0);
  EXPECT_NEAR(*full.rules()[0].scale, std::sqrt(5.0), 1e-12);
}

TEST(Schema, SaysTheUnitsOfANumber) {
  const std::string feature =
      "[[feature]]\nfield = \"x\"\nkind = \"number\"\nshift = 0\nscale = 1\n";
  const auto with = [&](const std::string& keys) {
    return parsed("target = \"y\"\n" + keys + feature);
  };
  const Schema schema = with("target_shift = -3.5\ntarget_scale = 20\n");
  EXPECT_EQ(schema.target_rule().shift, -3.5);
  EXPECT_EQ(schema.target_rule().scale, 20);
  EXPECT_EQ(parsed(schema.to_toml()).to_toml(), schema.to_toml());
  EXPECT_EQ(schema.fingerprint(), with("").fingerprint());
  const auto refusal = [&](const std::string& keys) { return refusal_of([&] { with(keys); }); };
  EXPECT_TRUE(says(refusal("target_shift = 1\n"), "given together"));
  EXPECT_TRUE(says(refusal("target_shift = 1\ntarget_scale = 0\n"), "greater than 0"));
  EXPECT_TRUE(says(refusal("target_shift = 1\ntarget_scale = 2\npositive = \"a\"\n"),
                   "for a target that is a number"));
  EXPECT_TRUE(says(refusal("target_shift = 1\ntarget_scale = 2\ntarget_kind = \"count\"\n"),
                   "for a target that is a number"));
}

TEST(Schema, FileOfQuestionsSaysWhichCategoriesAreNotListed) {
  const Schema schema = parsed(kFlights);
  const std::string path = file_with("questions.csv",
                                     "date,distance,origin,destination\n"
                                     "01010600,1200,ORD,LAX\n"
                                     "01010600,1200,XYZ,LAX\n");
  Table table(path, schema.table_options());
  const RowEncoder encoder(schema, table, RowUse::kQuestion);
  EncodedRow row;
  ASSERT_TRUE(table.next());
  ASSERT_TRUE(encoder.encode(table, row));
  EXPECT_TRUE(row.unlisted.empty());
  ASSERT_TRUE(table.next());
  ASSERT_TRUE(encoder.encode(table, row));
  EXPECT_EQ(row.unlisted, (Unlisted{{"origin", "XYZ"}}));
}

}  // namespace
}  // namespace windhover
