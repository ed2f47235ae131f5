#include "windhover/tools/data/hashed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "windhover/tests/tools/support.h"
#include "windhover/tools/data/schema.h"

namespace windhover {
namespace {

using Numbers = std::vector<double>;
using Places = std::vector<std::uint32_t>;

std::uint64_t hash_of(const std::vector<std::string>& texts) {
  HashedKey key;
  for (const std::string& text : texts) key.add(text);
  return key.hash();
}

Schema schema_of(const std::string& features) {
  return Schema::from_text("target = \"y\"\nsparse = true\n" + features, "hashed.toml");
}

std::string hash_feature(const std::string& fields, const std::string& more = "") {
  return "[[feature]]\nhash = [" + fields + "]\nbuckets = 1000\n" + more;
}

// The hashes come from the library of xxhash.com itself, of the bytes 6:origin3:ORD and so on.
TEST(HashedKey, IsXxh3OfNamesAndTextsWithTheirLengths) {
  EXPECT_EQ(hash_of({"origin", "ORD"}), 0x353931ceca7037c5U);
  EXPECT_EQ(hash_of({"origin", "ORD", "carrier", "AA"}), 0x8e88e8ff3727b0beU);
  EXPECT_EQ(hash_of({"origin", ""}), 0x0fb95c5ad6a6aa9dU);
  EXPECT_EQ(hash_of({"text", "caf\xc3\xa9"}), 0x4528bca56c75e4d4U);
}

TEST(HashedKey, TellsWhereTextsEnd) {
  const std::set<std::uint64_t> hashes = {
      hash_of({"ab", "c"}),       hash_of({"a", "bc"}),         hash_of({"abc", ""}),
      hash_of({"a", "b", "c"}),   hash_of({"1:ab", "c"}),       hash_of({"a", "1:bc"}),
      hash_of({"a", "b1:c", ""}), hash_of({"a", "b", "c", ""}),
  };
  EXPECT_EQ(hashes.size(), 8U);
}

TEST(NextWord, SplitsAtAllThatIsNoLetterOrDigit) {
  std::string_view text = "  FREE entry, don't\twait: caf\xc3\xa9 4u!";
  std::vector<std::string> words;
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text))
    words.emplace_back(word);
  EXPECT_EQ(words,
            (std::vector<std::string>{"FREE", "entry", "don", "t", "wait", "caf\xc3\xa9", "4u"}));
  EXPECT_TRUE(text.empty());
}

TEST(SchemaHash, GivesATextOneBucketAfterTheColumnsBeforeIt) {
  const Schema schema =
      schema_of("[[feature]]\nfield = \"x\"\nkind = \"number\"\nshift = 0\nscale = 1\n" +
                hash_feature("\"origin\"") + hash_feature("\"origin\", \"carrier\""));
  EXPECT_EQ(schema.features(), 2001U);
  EXPECT_EQ(schema.max_nonzeros(), 3U);
  const EncodedRow row = schema.encode({{"x", "7"}, {"origin", "ORD"}, {"carrier", "AA"}});
  EXPECT_EQ(row.indices, (Places{0, 1 + 941, 1001 + 670}));
  EXPECT_EQ(row.values, (Numbers{7, 1, 1}));
  EXPECT_EQ(schema.feature_name(0), "x");
  EXPECT_EQ(schema.feature_name(942), "hash(origin) 941");
  EXPECT_EQ(schema.feature_name(1671), "hash(origin x carrier) 670");
  EXPECT_EQ(schema.feature_names().at(2000), "hash(origin x carrier) 999");
}

// A file and a question are read alike.
TEST(SchemaHash, TakesAnEmptyCellForATextUnlessItIsSaidToBeMissing) {
  const std::string rows = "origin,carrier,y\n,AA,1\n";
  const auto places = [&](const std::string& more) {
    const Schema schema = schema_of(hash_feature("\"origin\", \"carrier\"", more));
    Table table(file_with("empty_cells.csv", rows), schema.table_options());
    const RowEncoder encoder(schema, table);
    EncodedRow row;
    EXPECT_TRUE(table.next());
    EXPECT_TRUE(encoder.encode(table, row));
    EXPECT_EQ(row.indices, schema.encode({{"origin", ""}, {"carrier", "AA"}}).indices);
    return row.indices;
  };
  const auto bucket = static_cast<std::uint32_t>(hash_of({"origin", "", "carrier", "AA"}) % 1000);
  EXPECT_EQ(places(""), Places{bucket});
  EXPECT_EQ(places("missing = \"zero\"\n"), Places{});
  EXPECT_EQ(places("missing = \"column\"\n"), Places{1000});
  const Schema schema = schema_of("missing = \"skip\"\n" +
                                  hash_feature("\"origin\", \"carrier\"", "missing = \"row\"\n"));
  EXPECT_TRUE(says(refusal_of([&] {
                     schema.encode({{"origin", "ORD"}, {"carrier", ""}});
                   }),
                   "\"\" where a text of origin x carrier is expected"));
  Table table(path_of("empty_cells.csv"), schema.table_options());
  const RowEncoder encoder(schema, table);
  EncodedRow row;
  ASSERT_TRUE(table.next());
  EXPECT_FALSE(encoder.encode(table, row));
  EXPECT_TRUE(row.skipped.empty);
  EXPECT_TRUE(says(row.skipped.why, "origin"));
}

TEST(SchemaHash, CrossesDerivedFieldsByTheirNumbers) {
  const Schema schema =
      schema_of("[derived.hour]\nfrom = \"time\"\nformat = \"hhxx\"\npart = \"hour\"\n" +
                hash_feature("\"hour\", \"origin\""));
  const Places expected = {
      static_cast<std::uint32_t>(hash_of({"hour", "6", "origin", "ORD"}) % 1000)};
  EXPECT_EQ(schema.encode({{"time", "0659"}, {"origin", "ORD"}}).indices, expected);
  for (const char* hour : {"6", "06", "6.0", " 6"}) {
    EXPECT_EQ(schema.encode({{"hour", hour}, {"origin", "ORD"}}).indices, expected) << hour;
    Table asked(file_with("asked.csv", std::string("hour,origin\n") + hour + ",ORD\n"),
                schema.table_options());
    EncodedRow question;
    ASSERT_TRUE(asked.next());
    ASSERT_TRUE(RowEncoder(schema, asked, RowUse::kQuestion).encode(asked, question));
    EXPECT_EQ(question.indices, expected) << hour;
  }
  Table table(file_with("hours.csv", "time,origin,y\n0600,ORD,1\nlate,ORD,1\n"),
              schema.table_options());
  const RowEncoder encoder(schema, table);
  EncodedRow row;
  ASSERT_TRUE(table.next());
  ASSERT_TRUE(encoder.encode(table, row));
  EXPECT_EQ(row.indices, expected);
  ASSERT_TRUE(table.next());
  EXPECT_TRUE(says(refusal_of([&] { encoder.encode(table, row); }), "where hhxx is expected"));
  EXPECT_TRUE(says(refusal_of([&] { schema.encode({{"hour", "6"}}); }), "give origin=VALUE"));
  EXPECT_TRUE(says(refusal_of([&] {
                     schema.encode({{"hour", "6"}, {"origin", "ORD"}, {"gate", "7"}});
                   }),
                   "its fields are hour, origin, time"));
}

TEST(SchemaHash, CountsWordsUpToTheMostOfARow) {
  const Schema schema = schema_of(hash_feature("\"text\"", "words = true\nmost = 4\n"));
  EXPECT_EQ(schema.max_nonzeros(), 4U);
  const EncodedRow row = schema.encode({{"text", "free, free now: free! later or never"}});
  const auto now = static_cast<std::uint32_t>(hash_of({"text", "now"}) % 1000);
  ASSERT_GT(now, 550U);
  EXPECT_EQ(row.indices, (Places{550, now}));
  EXPECT_EQ(row.values, (Numbers{3, 1}));
  ASSERT_EQ(row.words_left_out.size(), 1U);
  EXPECT_EQ(row.words_left_out[0].second, 3U);
  EXPECT_TRUE(schema.encode({{"text", " ... "}}).indices.empty());
  HashTallies tallies(schema);
  tallies.add(row);
  const auto seen = tallies.to_json();
  EXPECT_EQ(seen[0]["texts"], 2);
  EXPECT_EQ(seen[0]["words_left_out"], 3);
  EXPECT_TRUE(says(describe_hashed(seen), "2 different texts in 2 of 1000 buckets; 0.00 %"));
  // No more values than columns.
  EXPECT_EQ(schema_of("[[feature]]\nhash = [\"t\"]\nbuckets = 2\nwords = true\n").max_nonzeros(),
            2U);
}

TEST(SchemaHash, ComesBackFromTomlAndGivesColumnsTheirMeaning) {
  const std::string feature = hash_feature("\"a\", \"b\"", "missing = \"zero\"\n");
  const Schema schema = schema_of(feature);
  EXPECT_EQ(Schema::from_text(schema.to_toml(), "again.toml").to_toml(), schema.to_toml());
  std::set<std::uint64_t> meanings = {schema.fingerprint()};
  const auto adds = [&](const std::string& other) {
    const Schema made = schema_of(other);
    EXPECT_EQ(Schema::from_text(made.to_toml(), "again.toml").fingerprint(), made.fingerprint());
    return meanings.insert(made.fingerprint()).second;
  };
  EXPECT_FALSE(adds(feature));
  EXPECT_TRUE(adds(hash_feature("\"a\", \"b\"")));
  EXPECT_TRUE(adds(hash_feature("\"b\", \"a\"")));
  EXPECT_TRUE(adds(hash_feature("\"a x b\"")));
  EXPECT_TRUE(adds("[[feature]]\nhash = [\"a\", \"b\"]\nbuckets = 1001\nmissing = \"zero\"\n"));
  EXPECT_TRUE(adds(hash_feature("\"a\"")));
  EXPECT_TRUE(adds(hash_feature("\"a\"", "words = true\n")));
  EXPECT_TRUE(adds(hash_feature("\"a\"", "words = true\nmost = 7\n")));
}

TEST(SchemaHash, IsRefusedWithASentence) {
  const auto refusal = [](const std::string& features) {
    return refusal_of([&] { schema_of(features); });
  };
  const auto buckets = [&](const std::string& said) {
    return refusal("[[feature]]\nhash = [\"a\"]\nbuckets = " + said + "\n");
  };
  for (const char* wrong : {"0", "1", "-5", "16777217", "99999999999"}) {
    EXPECT_TRUE(says(buckets(wrong), "must be 2 to 16777216")) << wrong;
  }
  EXPECT_TRUE(says(buckets("\"many\""), "buckets must be a whole number"));
  EXPECT_EQ(schema_of("[[feature]]\nhash = [\"a\"]\nbuckets = 16777216\n").features(), 16777216U);
  EXPECT_TRUE(says(refusal("[[feature]]\nhash = [\"a\"]\n"), "buckets is missing"));
  EXPECT_TRUE(
      says(refusal("[[feature]]\nhash = [\"a\"]\nbuckets = 16777216\n" + hash_feature("\"b\"")),
           "have 16778216 columns"));
  EXPECT_TRUE(says(refusal(hash_feature("")), "at least 1 text"));
  EXPECT_TRUE(says(refusal(hash_feature("\"\"")), "names of fields"));
  EXPECT_TRUE(says(refusal(hash_feature("\"a\", \"a\"")), "different texts"));
  EXPECT_TRUE(says(refusal(hash_feature("\"a\", \"b\"", "words = true\n")), "of one field"));
  EXPECT_TRUE(says(refusal(hash_feature("\"a\"", "most = 7\n")), "unknown key \"most\""));
  EXPECT_TRUE(says(refusal(hash_feature("\"a\"", "kind = \"category\"\n")), "unknown key"));
  EXPECT_TRUE(says(refusal_of([] {
                     Schema::from_text("target = \"y\"\n[[feature]]\nhash = [\"a\"]\nbuckets = 9\n",
                                       "dense.toml");
                   }),
                   "hash needs sparse = true"));
  const Schema schema = schema_of(hash_feature("\"a\", \"b\""));
  const Table table(file_with("no_b.csv", "a,y\n1,2\n"), schema.table_options());
  EXPECT_TRUE(says(refusal_of([&] { RowEncoder(schema, table); }), "b"));
  EXPECT_TRUE(says(refusal_of([&] { schema.collected_from(path_of("no_b.csv")); }), "b"));
}

TEST(HashTally, KnowsWhatSharesABucketExactlyWhileTextsAreFew) {
  HashTally tally(10);
  for (const std::uint64_t hash : {1, 11, 11, 2, 3, 3, 3, 3}) tally.add(hash);
  const HashTally::Seen seen = tally.seen();
  EXPECT_FALSE(seen.estimated);
  EXPECT_EQ(seen.texts, 4);
  EXPECT_EQ(seen.buckets, 3);
  EXPECT_EQ(seen.shared, 3.0 / 8);
  EXPECT_EQ(HashTally(10).seen().shared, 0);
}

// The number of n texts that fall into one of m buckets is a Poisson variable of mean n/m: a text
// is alone with exp(-n/m), and m (1 - exp(-n/m)) buckets are used. At least one bucket in 32 is
// followed, so that estimates have a standard error of 1/sqrt(n/32) at most.
TEST(HashTally, EstimatesManyTextsFromSomeOfTheirBuckets) {
  constexpr double kTexts = 1'000'000, kBuckets = 1 << 20;
  HashTally tally(1 << 20);
  for (int i = 0; i < kTexts; ++i) tally.add(hash_of({"id", std::to_string(i)}));
  const HashTally::Seen seen = tally.seen();
  EXPECT_TRUE(seen.estimated && !seen.at_least);
  const double error = 4 / std::sqrt(kTexts / 32);
  EXPECT_NEAR(seen.texts / kTexts, 1, error);
  EXPECT_NEAR(seen.buckets / (kBuckets * (1 - std::exp(-kTexts / kBuckets))), 1, error);
  EXPECT_NEAR(seen.shared, 1 - std::exp(-kTexts / kBuckets), error);
}

TEST(HashTally, FollowsSomeTextsOfFewBuckets) {
  HashTally tally(2);
  for (int i = 0; i < 200'000; ++i) tally.add(hash_of({"id", std::to_string(i)}));
  EXPECT_TRUE(tally.seen().at_least);
  EXPECT_EQ(tally.seen().buckets, 2);
  EXPECT_EQ(tally.seen().shared, 1);
  EXPECT_GT(tally.seen().texts, HashTally::kMostTexts);
}

}  // namespace
}  // namespace windhover
