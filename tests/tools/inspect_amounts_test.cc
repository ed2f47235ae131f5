// Amounts as people write them: currency and percent signs, thousands in groups of three.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>

#include "windhover/tests/tools/inspect_fixture.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/data/inspect.h"
#include "windhover/tools/data/written_number.h"

namespace windhover::inspect_amounts_test {
namespace {

using inspect_fixture::column;
using inspect_fixture::inspected;
using inspect_fixture::Names;
using inspect_fixture::Numbers;
using inspect_fixture::refused;

// However few rows there are.
TEST(InspectAmounts, AreNumbersAndNoCategories) {
  const std::pair<const char*, double> amounts[] = {
      {"$5", 5},
      {"US$ 5", 5},
      {"-$5", -5},
      {"$-5", -5},
      {"($5)", -5},
      {"\"€3,20\"", 3.2},
      {"€3.20", 3.2},
      {"5 kr", 5},
      {"5 %", 5},
      {"\"1,234.50\"", 1234.5},
      {"\"$1,234,567\"", 1234567},
      {"\"1.234,50 €\"", 1234.5},
      {"1'234.50", 1234.5},
      {"1 234 567", 1234567},
      {"\"1\u00a0234,5\"", 1234.5},
  };
  for (const auto& [cell, value] : amounts) {
    const std::string amount = cell;
    const std::string seven = amount.ends_with('%') ? "7 %" : "7";  // in the same unit
    const std::string two = "x,y\n1," + amount + "\n2," + seven + "\n3," + amount + "\n";
    const std::string path = file_with("amounts.csv", two);
    const Inspection target = inspect(path, {.target = "y"});
    EXPECT_EQ(target.schema.target_rule().kind, TargetRule::Kind::kNumber) << amount;
    EXPECT_EQ(load_dataset(path, target.schema, false).targets, (Numbers{value, 7, value}))
        << amount;
    EXPECT_TRUE(says(target.schema.to_toml(), "thousands = true"));
    EXPECT_EQ(Schema::from_text(target.schema.to_toml(), "again.toml").to_toml(),
              target.schema.to_toml());
    const Inspection feature =
        inspected("f.csv", "x,y\n" + amount + ",1\n" + seven + ",2\n" + amount + ",4\n");
    EXPECT_EQ(column(feature, "x").reads_as, "number") << amount;
  }
}

TEST(InspectAmounts, HaveOneSignForThousandsAndTheOtherForDecimals) {
  // One cell tells for its column.
  const std::string path = file_with("told.csv", "x,y\n\"1,234\",5.5\n\"2,345.5\",6\n900,9\n");
  const Dataset data = load_dataset(path, inspect(path, {.target = "y"}).schema, false);
  EXPECT_EQ(data.features, (Numbers{1234, 2345.5, 900}));
  const std::string europe = "x;y\n1.234;5,5\n2.345,5;6\n900;9\n";
  EXPECT_EQ(inspected("europe.csv", europe).schema.parts().numbers, (NumberForm{',', true}));
  // Groups of three in one column do not explain another, which may be prices of fuel.
  EXPECT_TRUE(says(refused("lat;y\n52.520083;1,749\n48.1;1,659\n50.2;1,701\n"),
                   "line 2, column y: \"1,749\" may have"));
  EXPECT_TRUE(says(refused("x;y\n3.582;0,98\n2.345;0,5\n1.234;0,1\n"), "column x: \"3.582\""));
  // Nothing tells: who asks is asked.
  const std::string either = "x,y\n\"1,234\",5\n\"2,345\",6\n900,9\n";
  const auto with = [&](char decimal) {
    const std::string said = file_with("said.csv", either);
    const Inspection found = inspect(said, {.target = "y", .decimal = decimal});
    return load_dataset(said, found.schema, false).features;
  };
  EXPECT_EQ(with('.'), (Numbers{1234, 2345, 900}));
  EXPECT_EQ(with(','), (Numbers{1.234, 2.345, 900}));
  // Three decimals everywhere are what they were.
  const Inspection plain = inspected("plain.csv", "x,y\n1.234,5\n2.345,6\n9.123,9\n");
  EXPECT_EQ(plain.schema.parts().numbers, NumberForm{});
  // No number is one by half.
  for (const char* cell : {"1,23", "12,34,567", ",123", "$", "1,234,5", "0,123.5", "$ $5x"}) {
    EXPECT_FALSE(parse_adorned(cell, '.')) << cell;
  }
}

TEST(InspectAmounts, OfTwoUnitsAreRefused) {
  for (const char* cells :
       {"$5\n€6\n$7\n", "5 %\n0.06\n7 %\n", "1.5\n5 %\n2.5\n", "USD 5\n7 kr\nUSD 8\n"}) {
    std::string target = "x,y\n", feature = "x,y\n", row;
    int i = 0;
    for (std::istringstream rows(cells); std::getline(rows, row); ++i) {
      target += fmt::format("{},{}\n", i * i, row);
      feature += fmt::format("{},{}\n", row, i * i);
    }
    EXPECT_TRUE(says(refused(target), "is not of the unit of")) << cells;
    EXPECT_TRUE(says(refused(feature), "is not of the unit of")) << cells;
  }
  // No sign is no other currency.
  EXPECT_EQ(inspected("some.csv", "x,y\n$5,1\n6,2\nUSD 7,4\n").schema.features(), 1U);
}

TEST(InspectAmounts, AmongWordsAreRefusedOrCategories) {
  EXPECT_TRUE(says(refused("x,y\n1,$5\n2,$6\n3,free\n4,$7\n"), "line 2, column y: \"$5\""));
  // Who says so has categories.
  const std::string said = "x,y\n1,$5\n2,$7\n4,$5\n";
  const Inspection positive = inspected("p.csv", said, {.target = "y", .positive = "$5"});
  EXPECT_EQ(positive.schema.target_rule().positive, "$5");
  const Inspection classes = inspected("c.csv", said, {.target = "y", .model = "softmax"});
  EXPECT_EQ(classes.schema.target_rule().classes, (Names{"$5", "$7"}));
}

}  // namespace
}  // namespace windhover::inspect_amounts_test
