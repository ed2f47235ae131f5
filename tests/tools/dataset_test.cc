#include "windhover/tools/data/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "windhover/tests/tools/support.h"
#include "windhover/tools/data/inspect.h"

namespace windhover {
namespace {

using Numbers = std::vector<double>;
using Names = std::vector<std::string>;

TEST(Dataset, TakesEveryColumnButTheTargetAsAFeature) {
  const Dataset data = load_dataset(file_with("named.csv", "\"a\";y;\"b c\"\n1;10;3\n3;20;3"),
                                    {.table = {.separator = ';'}, .target = "y"});
  EXPECT_EQ(data.names, (Names{"a", "b c"}));
  EXPECT_EQ(data.target_name, "y");
  EXPECT_EQ(data.features, (Numbers{1, 3, 3, 3}));
  EXPECT_EQ(data.targets, (Numbers{10, 20}));
  EXPECT_EQ(data.mean, (Numbers{2, 3}));
  EXPECT_EQ(data.sd, (Numbers{1, 0}));
}

TEST(Dataset, ReadsNumberedColumnsAndALabel) {
  const Dataset data =
      load_dataset(file_with("numbered.txt", "74\t85\t123\t1\r\n73\t84\t122\t2\r\n"),
                   {.table = {.separator = '\t', .header = false}, .target = "4", .positive = "1"});
  EXPECT_EQ(data.names, (Names{"1", "2", "3"}));
  EXPECT_EQ(data.targets, (Numbers{1, 0}));
}

TEST(Dataset, KeepsItsDigitsFarFromZero) {
  const Dataset data =
      load_dataset(file_with("far.csv", "x,y\n1e9,0\n1000000001,0\n"), {.target = "y"});
  EXPECT_EQ(data.sd, (Numbers{0.5}));
}

TEST(Dataset, RefusesAMissingCellOrPassesItsRowOver) {
  const std::string path = file_with("missing.csv", "x,y\n1,2\n?,3\n4,\n5,6\n");
  EXPECT_TRUE(says(refusal_of([&] { (void)load_dataset(path, {.target = "y"}); }),
                   "missing.csv, line 3, column x: \"?\" where a finite number is expected"));
  const Dataset data = load_dataset(path, {.target = "y", .missing = MissingPolicy::kSkip});
  EXPECT_EQ(data.features, (Numbers{1, 5}));
  EXPECT_EQ(data.targets, (Numbers{2, 6}));
  EXPECT_EQ(data.skipped_rows, 2U);
}

TEST(Dataset, RefusesWhatCannotBeFitted) {
  const std::string path = file_with("small.csv", "x,y\n1,2\n");
  EXPECT_TRUE(says(refusal_of([&] { (void)load_dataset(path, {.target = "z"}); }), "no column"));
  EXPECT_TRUE(says(
      refusal_of([&] { (void)load_dataset(path, {.table = {.separator = ';'}, .target = "1"}); }),
      "no column but the target"));
  EXPECT_TRUE(
      says(refusal_of([&] { (void)load_dataset(path, {.target = "y", .positive = "yes"}); }),
           "no row of"));
  EXPECT_TRUE(says(
      refusal_of([&] { (void)load_dataset(file_with("header.csv", "x,y\n"), {.target = "y"}); }),
      "no usable row"));
}

// Each of ten rows in three of ten draws, 0.3 +- 0.0102 of 2,000 seeds: five standard errors.
TEST(DatasetSample, HasEveryRowAsOftenAndInTheOrderOfTheFile) {
  std::string text = "x,y\n";
  for (int i = 0; i < 10; ++i) text += std::to_string(i * i) + "," + std::to_string(i) + "\n";
  const std::string path = file_with("ten.csv", text);
  const Schema schema = inspect(path, {.target = "y"}).schema;
  std::array<int, 10> times{};
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    const Dataset sample = load_sample(path, schema, 3, seed);
    ASSERT_EQ(sample.rows(), 3U);
    EXPECT_TRUE(std::ranges::is_sorted(sample.targets));
    for (std::size_t i = 0; i < 3; ++i) {
      ++times[static_cast<std::size_t>(sample.targets[i])];
      EXPECT_EQ(sample.features[i], sample.targets[i] * sample.targets[i]);
    }
  }
  for (const int n : times) EXPECT_NEAR(n / 2'000.0, 0.3, 0.051);
  EXPECT_EQ(load_sample(path, schema, 3, 7).targets, load_sample(path, schema, 3, 7).targets);
  EXPECT_EQ(load_sample(path, schema, 20, 7).features, load_dataset(path, schema, false).features);
}

TEST(DatasetSample, LeavesOutRowsThatCannotBeUsed) {
  const std::string path = file_with("gaps.csv", "x,y\n1,2\n2,\n3,4\n4,NA\n7,6\n");
  const Schema schema = inspect(path, {.target = "y"}).schema;
  EXPECT_EQ(load_sample(path, schema, 9, 1).targets, (Numbers{2, 4, 6}));
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    EXPECT_EQ(load_sample(path, schema, 2, seed).rows(), 2U) << seed;
  }
}

}  // namespace
}  // namespace windhover
