// What a row has beside its features: the exposure or offset, the trials, and the weight.
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

constexpr const char* kVisits =
    "target = \"visits\"\ntarget_kind = \"count\"\nexposure = \"hours\"\nmissing = \"skip\"\n"
    "[[feature]]\nfield = \"x\"\nkind = \"number\"\nshift = 0\nscale = 1\n";

TEST(Schema, AnExposureIsTheOffsetsExponential) {
  const Schema schema = parsed(kVisits);
  ASSERT_TRUE(schema.has_offset());
  EXPECT_EQ(schema.features(), 1U);
  EXPECT_EQ(schema.encode({{"x", "3"}, {"hours", "8"}}).offset, std::log(8.0));
  EXPECT_EQ(schema.encode({{"x", "3"}}).offset, 0.0);
  for (const char* wrong : {"0", "-1", "", "many", "NaN"}) {
    EXPECT_THROW(schema.encode({{"x", "3"}, {"hours", wrong}}), UserError) << wrong;
  }
  const Schema added = parsed(replaced(kVisits, "exposure", "offset"));
  EXPECT_EQ(added.encode({{"x", "3"}, {"hours", "-8"}}).offset, -8.0);
  // Leaving the exposure out, or making it an offset, gives a row another meaning.
  const Schema none = parsed(replaced(kVisits, "exposure = \"hours\"\n", ""));
  EXPECT_NE(schema.fingerprint(), none.fingerprint());
  EXPECT_NE(schema.fingerprint(), added.fingerprint());
  EXPECT_EQ(parsed(schema.to_toml()).fingerprint(), schema.fingerprint());
  EXPECT_THROW(parsed(replaced(kVisits, "exposure", "offset = \"x\"\nexposure")), UserError);
  // It is one of counts.
  const Schema unstated = parsed(replaced(kVisits, "target_kind = \"count\"\n", ""));
  EXPECT_EQ(unstated.target_rule().default_model(), "negative-binomial");
  EXPECT_THROW(parsed(replaced(kVisits, "\"count\"", "\"number\"")), UserError);
  EXPECT_THROW(parsed(replaced(kVisits, "\"count\"", "\"count\"\nmodel = \"linear\"")), UserError);
}

// The server would refuse it too, without a word of line, column or value.
TEST(Schema, ANumberThatNoRowMayHaveIsSaidWithItsLineColumnAndText) {
  const char* const kTwo =
      "target = \"y\"\ntarget_kind = \"number\"\nmissing = \"skip\"\n"
      "[[feature]]\nfield = \"a\"\nkind = \"number\"\nshift = 0\nscale = 1\n"
      "[[feature]]\nfield = \"b\"\nkind = \"number\"\nshift = 0\nscale = 1\n"
      "[[feature]]\ninteraction = [\"a\", \"b\"]\n";
  const std::string rows = "a,b,y\n1,2,3\n1,-1e36,3\n1,2,1e36\n1e20,1e20,3\n1e34,1,1e34\n";
  const std::vector<std::string> whys = {"", "line 3, column b: \"-1e36\" is too large",
                                         "line 4, column y: \"1e36\" is too large",
                                         "line 5: a x b is too large", ""};
  for (const bool skips : {true, false}) {
    const Schema schema =
        parsed(skips ? kTwo : replaced(kTwo, "missing = \"skip\"", "missing = \"refuse\""));
    Table table(file_with("large.csv", rows), schema.table_options());
    const RowEncoder encoder(schema, table, RowUse::kObservation, false);
    EncodedRow row;
    for (const std::string& why : whys) {
      ASSERT_TRUE(table.next());
      if (why.empty()) {
        EXPECT_TRUE(encoder.encode(table, row));
      } else if (skips) {
        EXPECT_FALSE(encoder.encode(table, row));
        EXPECT_TRUE(says(row.skipped.why, why)) << row.skipped.why;
        EXPECT_FALSE(row.skipped.empty);
      } else {
        EXPECT_TRUE(says(refusal_of([&] { encoder.encode(table, row); }), why));
      }
    }
  }
}

TEST(Schema, RowsWithoutAnExposureAreSkippedOrEndTheReading) {
  const std::string rows = "visits,hours,x\n2,4,1\n3,0,1\n3,,1\n3,long,1\n5,1,1\n";
  for (const bool skips : {true, false}) {
    const Schema schema =
        parsed(skips ? kVisits : replaced(kVisits, "missing = \"skip\"", "missing = \"refuse\""));
    Table table(file_with("visits.csv", rows), schema.table_options());
    const RowEncoder encoder(schema, table);
    EncodedRow row;
    ASSERT_TRUE(table.next());
    ASSERT_TRUE(encoder.encode(table, row));
    EXPECT_EQ(row.offset, std::log(4.0));
    for (const bool empty : {false, true, false}) {
      ASSERT_TRUE(table.next());
      if (!skips) {
        EXPECT_THROW(encoder.encode(table, row), RowError);
        continue;
      }
      EXPECT_FALSE(encoder.encode(table, row));
      EXPECT_EQ(row.skipped.empty, empty);
      EXPECT_NE(row.skipped.why.find("an exposure"), std::string::npos) << row.skipped.why;
    }
    ASSERT_TRUE(table.next());
    ASSERT_TRUE(encoder.encode(table, row));
    EXPECT_EQ(row.offset, 0.0);
  }
  // A file of questions may leave it out.
  const Schema schema = parsed(kVisits);
  Table questions(file_with("questions.csv", "x\n1\n"), schema.table_options());
  EncodedRow row;
  ASSERT_TRUE(questions.next());
  ASSERT_TRUE(RowEncoder(schema, questions, RowUse::kQuestion).encode(questions, row));
  EXPECT_EQ(row.offset, 0.0);
}

TEST(Schema, TrialsMakeACountBinomial) {
  const std::string counted = replaced(kVisits, "exposure = \"hours\"", "trials = \"n\"");
  const Schema schema = parsed(counted);
  ASSERT_TRUE(schema.has_trials());
  EXPECT_FALSE(schema.has_offset());
  EXPECT_EQ(schema.features(), 1U);
  EXPECT_EQ(schema.target_rule().default_model(), "binomial");
  EXPECT_EQ(schema.target_description(), "visits of n");
  EXPECT_EQ(schema.encode({{"x", "3"}, {"n", "8"}}).trials, 8.0);
  EXPECT_EQ(schema.encode({{"x", "3"}}).trials, 1.0);
  for (const char* wrong : {"0", "-1", "", "many", "NaN", "2.5", "2e9"}) {
    EXPECT_THROW(schema.encode({{"x", "3"}, {"n", wrong}}), UserError) << wrong;
  }
  const Schema none = parsed(replaced(kVisits, "exposure = \"hours\"\n", ""));
  EXPECT_NE(schema.fingerprint(), none.fingerprint());
  EXPECT_EQ(parsed(schema.to_toml()).fingerprint(), schema.fingerprint());
  EXPECT_EQ(parsed(schema.to_toml()).target_rule().default_model(), "binomial");
  const Schema unstated = parsed(replaced(counted, "target_kind = \"count\"\n", ""));
  EXPECT_EQ(unstated.fingerprint(), schema.fingerprint());
  EXPECT_NO_THROW(parsed(replaced(counted, "\"count\"", "\"count\"\nmodel = \"binomial\"")));
  // They are those of a count and of no other model, and go with no offset.
  EXPECT_THROW(parsed(replaced(counted, "\"count\"", "\"number\"")), UserError);
  EXPECT_THROW(parsed(replaced(counted, "\"count\"", "\"count\"\nmodel = \"poisson\"")), UserError);
  EXPECT_THROW(parsed(replaced(counted, "trials", "offset = \"x\"\ntrials")), UserError);
  EXPECT_THROW(parsed(replaced(counted, "\"n\"", "\"\"")), UserError);
  try {
    parsed(replaced(kVisits, "exposure = \"hours\"", "model = \"binomial\""));
    ADD_FAILURE() << "a binomial model without trials is taken";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("trials = \"FIELD\""), std::string::npos)
        << error.what();
  }
}

TEST(Schema, TrialsThatCannotBeEndTheReadingWithTheirLine) {
  const Schema schema = parsed(replaced(kVisits, "exposure = \"hours\"", "trials = \"n\""));
  const auto read = [&](const std::string& row, EncodedRow& out) {
    Table table(file_with("trials.csv", "visits,n,x\n1,4,1\n" + row + "\n"),
                schema.table_options());
    const RowEncoder encoder(schema, table);
    EXPECT_TRUE(table.next());
    EXPECT_TRUE(encoder.encode(table, out));
    EXPECT_EQ(out.trials, 4.0);
    EXPECT_TRUE(table.next());
    return encoder.encode(table, out);
  };
  EncodedRow row;
  EXPECT_TRUE(read("5,5,1", row));
  EXPECT_EQ(row.target, 5.0);
  EXPECT_EQ(row.trials, 5.0);
  for (const char* left_out : {"0,0,1", "3,,1", ",4,1"}) {
    EXPECT_FALSE(read(left_out, row)) << left_out;
    EXPECT_TRUE(row.skipped.empty) << left_out;
  }
  for (const char* wrong :
       {"6,5,1", "1,0,1", "1,2.5,1", "1,many,1", "1,-3,1", "1.5,3,1", "1,2e9,1"}) {
    try {
      read(wrong, row);
      ADD_FAILURE() << wrong << " is taken";
    } catch (const RowError& error) {
      EXPECT_NE(std::string(error.what()).find("line 3"), std::string::npos) << error.what();
    }
  }
  // A file of questions may leave them out.
  Table questions(file_with("questions.csv", "x\n1\n"), schema.table_options());
  ASSERT_TRUE(questions.next());
  ASSERT_TRUE(RowEncoder(schema, questions, RowUse::kQuestion).encode(questions, row));
  EXPECT_EQ(row.trials, 1.0);
}

TEST(Schema, AWeightIsANumberOfRowsAndZeroLeavesItsRowOut) {
  const std::string weighted = replaced(kVisits, "exposure = \"hours\"", "weight = \"w\"");
  const Schema plain = parsed(replaced(kVisits, "exposure = \"hours\"\n", ""));
  const std::string rows =
      "visits,w,x\n2,4,1\n3,0,1\n3,,1\n3,many,1\n3,-1,1\n3,1e300,1\n3,nan,1\n5,0.5,1\n";
  for (const bool skips : {true, false}) {
    const Schema schema =
        parsed(skips ? weighted : replaced(weighted, "missing = \"skip\"", "missing = \"refuse\""));
    ASSERT_TRUE(schema.has_weight());
    EXPECT_EQ(schema.features(), 1U);
    EXPECT_NE(schema.fingerprint(), plain.fingerprint());
    EXPECT_EQ(parsed(schema.to_toml()).fingerprint(), schema.fingerprint());
    Table table(file_with("weights.csv", rows), schema.table_options());
    const RowEncoder encoder(schema, table);
    EncodedRow row;
    ASSERT_TRUE(table.next());
    ASSERT_TRUE(encoder.encode(table, row));
    EXPECT_EQ(row.weight, 4.0);
    ASSERT_TRUE(table.next());
    EXPECT_FALSE(encoder.encode(table, row));  // whatever `missing` says
    EXPECT_TRUE(row.skipped.empty);
    for (const bool empty : {true, false, false, false, true}) {
      ASSERT_TRUE(table.next());
      if (!skips) {
        EXPECT_THROW(encoder.encode(table, row), RowError);
        continue;
      }
      EXPECT_FALSE(encoder.encode(table, row));
      EXPECT_EQ(row.skipped.empty, empty) << row.skipped.why;
      EXPECT_NE(row.skipped.why.find("a weight, a number from 1e-06 to 1e+06"), std::string::npos)
          << row.skipped.why;
    }
    ASSERT_TRUE(table.next());
    ASSERT_TRUE(encoder.encode(table, row));
    EXPECT_EQ(row.weight, 0.5);
    // A question may have the field, and counts as any other.
    EXPECT_EQ(schema.encode({{"x", "3"}}).weight, 1.0);
    EXPECT_EQ(schema.encode({{"x", "3"}, {"w", "8"}}).weight, 1.0);
  }
  EXPECT_THROW(parsed(replaced(kVisits, "exposure = \"hours\"", "weight = \"\"")), UserError);
}

}  // namespace
}  // namespace windhover
