#include "windhover/tools/data/encode_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "windhover/tests/tools/support.h"

namespace windhover {
namespace encode_file_test {

struct Encoded {
  std::string text;
  std::vector<std::string> skipped;
  EncodeReport report;
};

Encoded encoded(const std::string& schema, const std::string& path,
                RowUse use = RowUse::kObservation) {
  Encoded out;
  EncodeFile file;
  file.path = path;
  file.use = use;
  file.on_lines = [&](std::string_view lines) { out.text += lines; };
  file.on_skipped = [&](const std::string& why) { out.skipped.push_back(why); };
  out.report = encode_file(Schema::from_text(schema, "test.toml"), file);
  return out;
}

constexpr const char* kDense = R"(
target = "y"
missing = "skip"
[[feature]]
field = "x"
kind = "number"
shift = 1
scale = 2
missing = "column"
[[feature]]
field = "c"
kind = "category"
categories = ["a,b", "d"]
other = "zero"
)";

// The first frost ends no stream of temperatures that were above 0 until then.
TEST(EncodeFile, ATargetThatTheModelDoesNotTakeIsSkippedWithItsLine) {
  const std::string path = file_with("frost.csv", "y,x\n3,1\n0,2\n-4,3\n2.5,4\n,5\n");
  const auto taken = [&](const std::string& kind) {
    const std::string rule = "target = \"y\"\ntarget_kind = \"" + kind + "\"\nmissing = \"skip\"\n";
    return encoded(rule + "[[feature]]\nfield = \"x\"\nkind = \"number\"\nshift = 0\nscale = 1\n",
                   path);
  };
  const Encoded positive = taken("positive-number");
  EXPECT_EQ(positive.report.skipped, 3U);
  EXPECT_EQ(positive.report.unreadable, 2U);
  ASSERT_EQ(positive.skipped.size(), 3U);
  EXPECT_TRUE(says(positive.skipped[0], "line 3, column y: \"0\" where a number greater than 0"));
  const Encoded counts = taken("count");
  EXPECT_EQ(counts.report.unreadable, 2U);
  EXPECT_TRUE(says(counts.skipped[1], "line 5, column y: \"2.5\" where a whole number"));
}

TEST(EncodeFile, WritesTheNumbersThatAModelGets) {
  const std::string path = file_with("dense.csv", "y,c,x\n10,d,4\n0.1,\"a,b\",\n-1e30,else,1\n");
  const Encoded rows = encoded(kDense, path);
  EXPECT_EQ(rows.text,
            "row,y,x,x missing,\"c=a,b\",c=d\n"
            "1,10,1.5,0,0,1\n"
            "2,0.1,0,1,1,0\n"
            "3,-1e+30,0,0,0,0\n");
  EXPECT_EQ(rows.report.rows, 3U);
  EXPECT_EQ(rows.report.skipped, 0U);
}

TEST(EncodeFile, QuestionsHaveNoTarget) {
  const Encoded rows = encoded(kDense, file_with("questions.csv", "x,c\n4,d\n"), RowUse::kQuestion);
  EXPECT_EQ(rows.text, "row,x,x missing,\"c=a,b\",c=d\n1,1.5,0,0,1\n");
}

TEST(EncodeFile, RowsThatAreSkippedAreCountedAndKeepTheirNumbers) {
  const std::string bad = "bad,d,1\n";
  const std::string path =
      file_with("skipped.csv", "y,c,x\n,d,1\n" + bad + bad + bad + bad + bad + bad + "7,d,1\n");
  const Encoded rows = encoded(kDense, path);
  EXPECT_EQ(rows.text, "row,y,x,x missing,\"c=a,b\",c=d\n8,7,0,0,0,1\n");
  EXPECT_EQ(rows.report.rows, 8U);
  EXPECT_EQ(rows.report.skipped, 7U);
  EXPECT_EQ(rows.report.unreadable, 6U);
  ASSERT_EQ(rows.skipped.size(), 6U);
  EXPECT_TRUE(says(rows.skipped[0], "skipped.csv, line 2, column y"));
  EXPECT_TRUE(says(rows.skipped[4], "line 6"));
  EXPECT_EQ(rows.skipped[5], "more rows, which are only counted");
  EXPECT_TRUE(says(rows.report.trouble("FILE"), "6 rows of FILE have a cell that cannot be read"));
  EXPECT_EQ(EncodeReport{}.trouble("FILE"), "");
}

TEST(EncodeFile, WhereRowsAreNotSkippedTheFirstEndsIt) {
  const std::string strict =
      std::string(kDense).replace(std::string(kDense).find("skip"), 4, "refuse");
  const std::string path = file_with("strict.csv", "y,c,x\n1,d,1\nbad,d,1\n");
  EXPECT_TRUE(
      says(refusal_of([&] { (void)encoded(strict, path); }), "strict.csv, line 3, column y"));
}

constexpr const char* kSparse = R"(
target = "n"
target_kind = "count"
exposure = "hours"
weight = "copies"
sparse = true
[[feature]]
field = "x"
kind = "number"
shift = 0
scale = 1
[[feature]]
hash = ["t"]
words = true
buckets = 2
)";

TEST(EncodeFile, SparseRowsAreColumnsAndValuesBehindWhatBelongsToTheRow) {
  const std::string path =
      file_with("sparse.csv", "n,hours,copies,x,t\n3,1,2,0.5,to to to\n0,1,1,0,\n");
  const Encoded rows = encoded(kSparse, path);
  const std::string header = "row,y,offset,weight,features\n";
  // "to" is in one of two buckets.
  const std::string first = header + "1,3,0,2,0:0.5 1:3\n2,0,0,1,\n";
  const std::string second = header + "1,3,0,2,0:0.5 2:3\n2,0,0,1,\n";
  EXPECT_TRUE(rows.text == first || rows.text == second) << rows.text;
  const Encoded asked = encoded(kSparse, file_with("asked.csv", "x,t\n2,\n"), RowUse::kQuestion);
  EXPECT_EQ(asked.text, "row,offset,features\n1,0,0:2\n");
}

TEST(EncodeFile, TrialsGoAlong) {
  const std::string schema =
      "target = \"k\"\ntrials = \"n\"\n[[feature]]\nfield = \"x\"\nkind = \"number\"\n"
      "shift = 0\nscale = 1\n";
  EXPECT_EQ(encoded(schema, file_with("trials.csv", "k,n,x\n3,10,1\n")).text,
            "row,y,trials,x\n1,3,10,1\n");
}

TEST(EncodeFile, ALongFileComesInPiecesOfWholeLines) {
  std::string text = "y,c,x\n";
  for (int i = 0; i < 20'000; ++i) text += "1.2345678901234567,d,0.3\n";
  EncodeFile file;
  file.path = file_with("long.csv", text);
  std::size_t pieces = 0, lines = 0;
  file.on_lines = [&](std::string_view piece) {
    ++pieces;
    ASSERT_EQ(piece.back(), '\n');
    ASSERT_LT(piece.size(), 128U * 1024);
    lines += static_cast<std::size_t>(std::ranges::count(piece, '\n'));
  };
  EXPECT_EQ(encode_file(Schema::from_text(kDense, "test.toml"), file).rows, 20'000U);
  EXPECT_GT(pieces, 5U);
  EXPECT_EQ(lines, 20'001U);
}

}  // namespace encode_file_test
}  // namespace windhover
