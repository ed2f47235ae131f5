#include "windhover/tools/data/inspect.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/tests/tools/inspect_fixture.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/data/dataset.h"

namespace windhover {
namespace {

using inspect_fixture::column;
using inspect_fixture::inspected;
using inspect_fixture::Names;
using inspect_fixture::Numbers;
using inspect_fixture::refused;

TEST(Inspect, FindsSemicolonsDecimalCommasQuotesAMarkAndCarriageReturns) {
  const std::string path = file_with(
      "europe.csv",
      "\xEF\xBB\xBF\"living area\";rooms;y\r\n \"70,5\" ;3;210,25\r\n80;4;250\r\n61,25;2;190\r\n");
  const Inspection found = inspect(path, {.target = "y"});
  EXPECT_EQ(found.schema.feature_names(), (Names{"living area", "rooms"}));
  EXPECT_EQ(found.schema.parts().numbers.decimal, ',');
  const Dataset data = load_dataset(path, found.schema, false);
  EXPECT_EQ(data.features, (Numbers{70.5, 3, 80, 4, 61.25, 2}));
  EXPECT_EQ(data.targets, (Numbers{210.25, 250, 190}));
}

TEST(Inspect, FindsTabsAndThatNothingNamesTheColumns) {
  const Inspection found =
      inspected("numbers.txt", "1\t2\t7.5\n2\t9\t8\n3\t5\t6\n", {.target = "3"});
  EXPECT_EQ(found.schema.parts().table.separator, '\t');
  EXPECT_FALSE(found.schema.parts().table.header);
  EXPECT_EQ(found.schema.feature_names(), (Names{"1", "2"}));
  EXPECT_TRUE(says(column(found, "1").note, "counts the rows"));
}

TEST(Inspect, FindsThatQuotesAreLetters) {
  std::string before = "y\tz\tx\n";
  for (int i = 0; i < 20; ++i)
    before += fmt::format("{}\t{}\t{}\n", i % 3, i % 7, i % 2 ? "u" : "v");
  for (const char* rows : {"2\t7\t\"a\" b\n3\t5\tc\n1\t5\t\"d\"\n", "2\t7\t\"a\n3\t5\tc\n"}) {
    const Inspection found = inspected("said.txt", before + rows);
    EXPECT_FALSE(found.schema.parts().table.quotes) << rows;
    EXPECT_NE(found.schema.to_toml().find("quotes = false"), std::string::npos);
  }
  const Inspection lines =
      inspected("lines.txt", before + "1\t4\t\"a\nb\"\n3\t9\t\"say \"\"d\"\"\"\n");
  EXPECT_TRUE(lines.schema.parts().table.quotes);
  // One bad cell of a file in which all cells are in quotes is no reason.
  std::string all;
  for (int i = 0; i < 9; ++i) all += fmt::format("\"{}\",\"{}\"\n", i % 3, i);
  EXPECT_NE(refused("\"y\",\"x\"\n" + all + "\"1\",\"a\nsay \"b\" c\"\n").find("quotes amid"),
            std::string::npos);
}

TEST(Inspect, KeepsNamesApartAndNumbersThoseThatAreMissing) {
  const Inspection found = inspected("names.csv", ",a,a,y\n5,1,2,3\n6,2,4,9\n9,4,1,8\n");
  EXPECT_EQ(found.schema.feature_names(), (Names{"1", "a", "a (2)"}));
}

TEST(Inspect, MakesCategoriesBooleansAndLeavesOutWhatSaysNothing) {
  const Inspection found = inspected("people.csv",
                                     "name,town,smoker,planet,empty,age,y\n"
                                     "Ada,Rome,yes,Earth,,30,1.5\n"
                                     "Bob,Oslo,no,Earth,NA,40,2.5\n"
                                     "Cy,Rome,No,Earth,,35,2\n"
                                     "Di,Oslo,YES,Earth,?,51,9\n");
  EXPECT_EQ(found.schema.feature_names(), (Names{"town=Oslo", "town=Rome", "smoker", "age"}));
  EXPECT_TRUE(says(column(found, "name").note, "identifier"));
  EXPECT_TRUE(says(column(found, "name").note, "hash = [\"name\"] and words = true"));
  EXPECT_TRUE(says(column(found, "planet").note, "the same"));
  EXPECT_TRUE(says(column(found, "empty").note, "no cell holds anything"));
  EXPECT_EQ(column(found, "smoker").reads_as, "yes or no");
}

TEST(Inspect, TakesTheMeanForAnEmptyCellAndSaysSo) {
  const std::string path =
      file_with("gaps.csv", "x,c,y\n1,a,1.5\n,b,2\n3,NA,7\n8,b,\n2,a,nan\n2,a,4\n");
  const Inspection found = inspect(path, {.target = "y"});
  EXPECT_EQ(found.schema.feature_names(), (Names{"x", "x missing", "c=a", "c=b", "c missing"}));
  EXPECT_TRUE(says(column(found, "x").note, "empty in lines 3: they count as the mean, 3.2"));
  const Dataset data = load_dataset(path, found.schema, false);
  EXPECT_EQ(data.targets, (Numbers{1.5, 2, 7, 4}));
  EXPECT_EQ(data.skipped_rows, 2U);
  EXPECT_EQ(data.skipped_lines, (std::vector<std::uint64_t>{5, 6}));
  EXPECT_EQ(Numbers(data.row(1), data.row(1) + 5), (Numbers{3.2, 1, 0, 1, 0}));
  EXPECT_EQ(Numbers(data.row(2), data.row(2) + 5), (Numbers{3, 0, 0, 0, 1}));
  const Inspection skipping = inspect(path, {.target = "y", .skip_missing = true});
  const Dataset fewer = load_dataset(path, skipping.schema, false);
  EXPECT_EQ(fewer.targets, (Numbers{1.5, 4}));
  EXPECT_EQ(fewer.skipped_rows, 4U);
}

TEST(Inspect, ReadsDatesInTheOrderThatFits) {
  const Inspection iso =
      inspected("iso.csv", "t,y\n1970-01-02,1.5\n1970-01-03T12:00:00Z,2\n1970-01-05,7\n");
  EXPECT_EQ(iso.schema.feature_names(),
            (Names{"t", "t period 1 sin 1", "t period 1 cos 1", "t period 1 sin 2",
                   "t period 1 cos 2", "t period 1 sin 3", "t period 1 cos 3"}));
  EXPECT_NEAR(*iso.schema.rules()[0].shift, (1 + 2.5 + 4) / 3, 1e-12);
  const Inspection us = inspected("us.csv", "t,y\n1/31/2020,1.5\n2/1/2020,2\n2/2/2020,7\n");
  EXPECT_TRUE(says(column(us, "t").note, "month-day-year"));
  const std::string either = "t,y\n1/2/2020,1.5\n2/1/2020,2\n3/3/2020,7\n";
  EXPECT_TRUE(says(refused(either), "--dates day-month-year or --dates month-day-year"));
  const Inspection said =
      inspected("said.csv", either, {.target = "y", .dates = Reads::kDayMonthYear});
  EXPECT_TRUE(says(column(said, "t").note, "day-month-year"));
}

TEST(Inspect, GivesLongTimesWavesOfTheWeekAndOfTheSeason) {
  const auto from_to = [](const char* name, const char* last) {
    return inspected(name, std::string("t,y\n2020-01-01,1.5\n2020-01-03,2\n") + last + ",7\n");
  };
  EXPECT_EQ(from_to("days.csv", "2020-01-28").schema.feature_names(), (Names{"t"}));
  const Inspection weeks = from_to("weeks.csv", "2020-01-29");
  EXPECT_EQ(weeks.schema.feature_names(), (Names{"t", "t period 7 sin 1", "t period 7 cos 1"}));
  EXPECT_TRUE(says(column(weeks, "t").note, "a wave of the week"));
  EXPECT_EQ(from_to("years.csv", "2022-01-02").schema.features(), 5U);
  // Whatever comes first in a date.
  std::string american = "t,y\n", british = american;
  for (int day = 0; day < 60; ++day) {
    const int month = day / 30 + 1, of_month = day % 30 + 1;
    if (month == 2 && of_month > 28) break;
    american += fmt::format("{}/{}/2020,{}\n", month, of_month, day % 7 + 0.5);
    british += fmt::format("{}/{}/2020,{}\n", of_month, month, day % 7 + 0.5);
  }
  for (const std::string& file : {american, british}) {
    const Names names = inspected("slashes.csv", file).schema.feature_names();
    EXPECT_EQ(names, (Names{"t", "t period 7 sin 1", "t period 7 cos 1"}));
  }
  std::string hours = "t,y\n";  // for two weeks
  for (int hour = 0; hour < 14 * 24; ++hour)
    hours += fmt::format("3/{}/2020 {}:00,{}\n", hour / 24 + 1, hour % 24, hour % 7 + 0.5);
  const InspectOptions month_first{.target = "y", .dates = Reads::kMonthDayYear};
  EXPECT_EQ(inspected("hours.csv", hours, month_first).schema.features(), 7U);
  // Sales, of which some are of one day: no series.
  const Inspection sales =
      inspected("sales.csv", "t,y\n2020-01-01,1.5\n2020-01-01,2\n2020-01-03,2.5\n2020-03-01,7\n");
  EXPECT_EQ(sales.schema.feature_names(), (Names{"t"}));
}

TEST(Inspect, KeepsTheMostFrequentOfManyCategories) {
  std::string content = "c,y\n";
  for (int i = 0; i < 3000; ++i)
    content += "town" + std::to_string(i % 1000) + "," + std::to_string(i % 7 + 0.5) + "\n";
  const Inspection found = inspected("towns.csv", content, {.target = "y", .most_categories = 20});
  EXPECT_EQ(found.schema.features(), 21U);
  EXPECT_EQ(found.schema.feature_names().back(), "c=other");
  EXPECT_TRUE(says(column(found, "c").note, "the 20 most frequent of 1000"));
  EXPECT_TRUE(says(column(found, "c").note, "hash = [\"c\"] and buckets = 16384"));
}

TEST(Inspect, TellsTheTargetsKind) {
  const auto rule = [](const std::string& values, InspectOptions options = {.target = "y"}) {
    std::string content = "x,y\n";
    int x = 0;
    for (const char c : values) {
      content += std::to_string(x * x) + "," + std::string(1, c) + "\n";
      ++x;
    }
    return inspected("target.csv", content, options);
  };
  EXPECT_EQ(rule("nyyn").schema.target_rule().default_model(), "logistic");
  EXPECT_EQ(rule("nyyn").schema.target_rule().positive, "y");
  EXPECT_EQ(rule("nyyn").schema.target_rule().negative, "n");
  EXPECT_EQ(rule("abca").schema.target_rule().classes, (Names{"a", "b", "c"}));
  EXPECT_EQ(rule("abca").schema.target_rule().default_model(), "softmax");
  EXPECT_EQ(rule("1001").schema.target_rule().default_model(), "logistic");
  EXPECT_EQ(rule("1239").schema.target_rule().default_model(), "linear");
  EXPECT_TRUE(says(rule("1239").target_note, "--model negative-binomial"));
  EXPECT_EQ(rule("1239", {.target = "y", .model = "poisson"}).schema.target_rule().kind,
            TargetRule::Kind::kCount);
  EXPECT_EQ(rule("1001", {.target = "y", .model = "linear"}).schema.target_rule().kind,
            TargetRule::Kind::kNumber);
}

// 200 rows of x and y(x, z), z a standard normal's quantiles in a scattered order.
template <class F>
Inspection of_numbers(F&& y, const InspectOptions& options = {.target = "y"}) {
  constexpr int kRows = 200;
  std::string content = "x,y\n";
  for (int i = 0; i < kRows; ++i) {
    const double z = normal_quantile((i * 73 % kRows + 0.5) / kRows);
    content += fmt::format("{},{}\n", i * i, y(z));
  }
  return inspected("numbers.csv", content, options);
}

// By 0.1 nats a number: log-normal numbers gain s^2 / 2 + log((e^(s^2) - 1) / s^2) / 2, which is
// 0.77 for s = 1, 0.19 for 0.5 and 0.03 for 0.2; normal ones lose.
TEST(Inspect, ProposesLogNormalForClearlySkewedPositiveNumbers) {
  const auto proposes = [](const Inspection& found) {
    EXPECT_EQ(found.schema.target_rule().default_model(), "linear");
    return says(found.target_note, "--model log-normal");
  };
  EXPECT_TRUE(proposes(of_numbers([](double z) { return 250'000 * std::exp(z); })));
  EXPECT_TRUE(proposes(of_numbers([](double z) { return 1e-9 * std::exp(0.5 * z); })));
  EXPECT_FALSE(proposes(of_numbers([](double z) { return std::exp(0.2 * z); })));
  EXPECT_FALSE(proposes(of_numbers([](double z) { return 288 + 12 * z; })));  // kelvin
  EXPECT_FALSE(proposes(of_numbers([](double z) { return std::exp(z) - 0.5; })));
  EXPECT_FALSE(proposes(of_numbers([](double z) { return 1'000 * normal_cdf(z); })));  // even
  // Few rows are no evidence.
  EXPECT_FALSE(proposes(inspected("few.csv", "x,y\n1,1.5\n4,2.5\n9,9.5\n16,1.2\n25,30.1\n")));
}

TEST(Inspect, WholeNumbersMayBeCountsFirst) {
  const auto few = of_numbers([](double z) { return 1 + std::floor(4 * std::exp(z)); });
  EXPECT_TRUE(says(few.target_note, "if these are counts, say --model negative-binomial"));
  EXPECT_FALSE(says(few.target_note, "log-normal"));
  EXPECT_TRUE(says(few.target_note, few.target_hint) && few.target_hint.starts_with("if these"));
  // Counts of a busy hour and of a quiet one are far apart.
  const auto spread = of_numbers([](double z) { return std::floor(60 * std::exp(z)); });
  EXPECT_TRUE(says(spread.target_note, "if these are counts, say --model negative-binomial"));
  const auto many = of_numbers([](double z) { return 20 + std::floor(400 * std::exp(z)); });
  EXPECT_TRUE(says(many.target_note, "--model log-normal"));
  EXPECT_TRUE(says(many.target_note, "if these are counts, --model negative-binomial"));
}

TEST(Inspect, LogNormalWantsNumbersAboveZero) {
  const InspectOptions asked{.target = "y", .model = "log-normal"};
  const auto found = of_numbers([](double z) { return std::exp(z); }, asked);
  EXPECT_EQ(found.target_hint, "");
  EXPECT_EQ(found.schema.target_rule().kind, TargetRule::Kind::kPositive);
  EXPECT_EQ(found.schema.target_rule().default_model(), "log-normal");
  EXPECT_EQ(found.schema.target_rule().encode("2.5", {}), 2.5);
  for (const char* text : {"0", "-1", "cheap", "inf"}) {
    EXPECT_EQ(found.schema.target_rule().encode(text, {}), std::nullopt) << text;
  }
  const auto refusal = [&](const std::string& content) {
    return refusal_of([&] { inspected("positive.csv", content, asked); });
  };
  EXPECT_TRUE(says(refusal("x,y\n1,2.5\n4,0\n9,3.5\n"), "\"0\" in line 3"));
  EXPECT_TRUE(says(refusal("x,y\n1,2.5\n4,-1\n9,3.5\n"), "numbers greater than 0"));
  EXPECT_TRUE(says(refusal("x,y\n1,2.5\n4,cheap\n9,3.5\n"), "is text"));
}

TEST(Inspect, FindsAPositiveNumberWrittenInAnotherWay) {
  const std::string path = file_with("ones.csv", "x,y\n1,1.0\n4,0.0\n2,1.0\n9,0.0\n");
  const Inspection found = inspect(path, {.target = "y", .positive = "1"});
  EXPECT_EQ(load_dataset(path, found.schema, false).targets, (Numbers{1, 0, 1, 0}));
  EXPECT_TRUE(says(refusal_of([&] { (void)inspect(path, {.target = "y", .positive = "yes"}); }),
                   "has \"yes\" in column y, which is to mean 1; it has 0.0, 1.0"));
}

TEST(Inspect, RefusesAModelThatContradictsTheTarget) {
  const auto with = [](const std::string& model) {
    return InspectOptions{.target = "y", .model = model};
  };
  EXPECT_TRUE(says(refused("x,y\n1,yes\n2,no\n", with("linear")), "leave --model out"));
  EXPECT_TRUE(says(refused("x,y\n1,10.5\n2,20\n4,30\n", with("logistic")), "--positive VALUE"));
  EXPECT_TRUE(says(refused("x,y\n1,1\n2,2.5\n4,3\n", with("poisson")), "\"2.5\" in line 3"));
  EXPECT_TRUE(says(refused("x,y\n1,1\n2,-2\n4,3\n", with("poisson")), "\"-2\" in line 3"));
  EXPECT_TRUE(says(refused("x,y\n1,4\n2,4\n"), "the same in every row"));
}

TEST(Inspect, RefusesWithWhatToType) {
  EXPECT_TRUE(says(refused("price,n\n1,2\n3,4\n", {.target = "pirce"}), "did you mean price"));
  EXPECT_TRUE(says(refused("x,y\n\"1,234\",5\n\"2,345\",6\n\"3,456\",9\n"), "--decimal ."));
  EXPECT_TRUE(says(refused("x,y\n$12,5\n$13,6.5\n17 or so,1\n"), "line 2, column x: \"$12\""));
  EXPECT_TRUE(says(refused("a;b;y\n1,5;1.5;1\n2,5;2.5;2\n"), "--decimal"));
  std::string junk = "x,y\n";
  for (int i = 0; i < 20; ++i) junk += std::to_string(i * i) + "," + std::to_string(i) + "\n";
  EXPECT_TRUE(says(refused(junk + "unknown,5\n"), "--missing-text \"unknown\""));
  const Inspection told =
      inspected("junk.csv", junk + "unknown,5\n", {.target = "y", .missing_texts = {"unknown"}});
  EXPECT_EQ(column(told, "x").missing, 1U);
  EXPECT_TRUE(says(refused(std::string("a,y\n\xE9t\xE9,1\nb,2\nb,3\n\xE9t\xE9,5\n")), "not UTF-8"));
  EXPECT_TRUE(says(refused(std::string("\xFF\xFEx\0", 4)), "UTF-16"));
  EXPECT_TRUE(says(refused("PK\x03\x04zip"), "spreadsheet"));
  EXPECT_TRUE(says(refused("y\n1\n2\n"), "no column but the target"));
}

TEST(Inspect, TheSchemaKeepsAModelThatWouldNotFollowFromTheTarget) {
  const std::string numbers = "x,y\n1,1.5\n4,2\n9,7\n";
  const auto toml = [](const std::string& content, const std::string& model) {
    return inspected("kept.csv", content, {.target = "y", .model = model}).schema.to_toml();
  };
  const std::string kept = toml(numbers, "student-t");
  EXPECT_TRUE(says(kept, "model = \"student-t\""));
  EXPECT_EQ(Schema::from_text(kept, "kept.toml").target_rule().default_model(), "student-t");
  EXPECT_EQ(Schema::from_text(kept, "kept.toml").to_toml(), kept);
  EXPECT_EQ(Schema::from_text(kept, "kept.toml").fingerprint(),
            Schema::from_text(toml(numbers, ""), "plain.toml").fingerprint());
  EXPECT_TRUE(says(toml("x,y\n1,0\n2,3\n5,2\n", "poisson"), "model = \"poisson\""));
  for (const char* model : {"", "linear"}) EXPECT_FALSE(says(toml(numbers, model), "model ="));
  const auto read = [](const std::string& keys) {
    return refusal_of([&] {
      (void)Schema::from_text(
          "target = \"y\"\n" + keys + "[[feature]]\nfield = \"x\"\nkind = \"number\"\n", "s.toml");
    });
  };
  EXPECT_TRUE(says(read("model = \"studnet\"\n"), "`windhover models` lists them"));
  EXPECT_TRUE(says(read("model = \"poisson\"\ntarget_kind = \"number\"\n"),
                   "the model poisson is not for the target y"));
}

TEST(Inspect, WritesASchemaThatReadsBackTheSame) {
  const Inspection found = inspected(
      "round.csv", "t,c,s,n,y\n2020-01-02,a,yes,1.5,p\n2020-01-03,b,no,,q\n2020-01-09,a,no,4,p\n");
  const Schema again = Schema::from_text(found.schema.to_toml(), "again.toml");
  EXPECT_EQ(again.fingerprint(), found.schema.fingerprint());
  EXPECT_EQ(again.to_toml(), found.schema.to_toml());
  EXPECT_EQ(again.encode({{"t", "2020-01-04"}, {"c", "z"}, {"s", "TRUE"}, {"n", "NA"}}).values,
            (Numbers{(18265 - *again.rules()[0].shift) / *again.rules()[0].scale, 0, 0, 1, 0, 1}));
}

TEST(TargetRule, RefusesATargetOutsideOfItsCategories) {
  const Schema schema = Schema::from_text(
      "target = \"y\"\nmissing = \"skip\"\nclasses = [\"bus\", \"car\", \"van\"]\n[[feature]]\n"
      "field = \"x\"\nkind = \"number\"\nshift = 0\nscale = 1\n",
      "s.toml");
  Table table(file_with("outside.csv", "x,y\n1,van\n2,tram\n"), schema.table_options());
  const RowEncoder encoder(schema, table);
  EncodedRow row;
  ASSERT_TRUE(table.next());
  ASSERT_TRUE(encoder.encode(table, row));
  EXPECT_EQ(row.target, 2.0);
  ASSERT_TRUE(table.next());
  EXPECT_TRUE(says(refusal_of([&] { (void)encoder.encode(table, row); }),
                   "line 3, column y: \"tram\" where one of bus, car, van is expected"));
}

TEST(TargetRule, IsFilledInFromAFile) {
  const auto completed = [](const std::string& keys) {
    return Schema::from_text(
               "target = \"y\"\n" + keys + "[[feature]]\nfield = \"x\"\nkind = \"number\"\n",
               "draft.toml")
        .collected_from(file_with("fill.csv", "x,y\n1,spam\n2,ham\n3,ham\n"));
  };
  EXPECT_EQ(completed("target_kind = \"classes\"\n").target_rule().classes, (Names{"ham", "spam"}));
  EXPECT_EQ(completed("target_kind = \"binary\"\n").target_rule().positive, "spam");
  EXPECT_EQ(completed("positive = \"ham\"\n").target_rule().negative, "spam");
  EXPECT_TRUE(
      says(refusal_of([&] { (void)completed("target_kind = \"number\"\npositive = \"ham\"\n"); }),
           "contradicts"));
}

}  // namespace
}  // namespace windhover
