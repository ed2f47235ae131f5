// Files whose noise is known, and the model that each gets.
#include "windhover/tools/evaluate/choose_model.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "windhover/tests/tools/support.h"
#include "windhover/tools/data/inspect.h"
#include "windhover/tools/evaluate/row_scores.h"

namespace windhover::choose_model_test {
namespace {

using Random = std::mt19937_64;
using Kind = TargetRule::Kind;

double normal(Random& random) { return std::normal_distribution<double>()(random); }
double even(Random& random) { return std::uniform_real_distribution<double>()(random); }
double poisson(Random& random, double mean) { return std::poisson_distribution<int>(mean)(random); }

struct Row {
  double x, y;
};
using Rows = std::vector<Row>;

// y(x) of x between 0 and 1.
Rows rows_of(int count, std::uint64_t seed, const std::function<double(double, Random&)>& y) {
  Random random(seed);
  Rows rows;
  for (int i = 0; i < count; ++i) {
    const double x = even(random);
    rows.push_back({x, y(x, random)});
  }
  return rows;
}

Inspection found(const Rows& rows, const InspectOptions& options = {.target = "y"}) {
  std::string text = "x,c,y\n";
  for (std::size_t i = 0; i < rows.size(); ++i)
    text += fmt::format("{},{},{}\n", rows[i].x, "uvw"[i % 3], rows[i].y);
  return inspect_and_choose(file_with("choice.csv", text), options);
}

std::string_view model_of(const Inspection& inspection) {
  return inspection.schema.target_rule().default_model();
}

double price(double x, Random& random) { return 100'000 * std::exp(x + 0.4 * normal(random)); }
double bell(double x, Random& random) { return 300 + 40 * x + 10 * normal(random); }
// A count of mean 3 to 12 and variance mu + mu^2 / 2.
double crowded(double x, Random& random) {
  const double mean = 3 * std::exp(1.4 * x);
  return poisson(random, std::gamma_distribution<double>(2, mean / 2)(random));
}

// Nothing but chance speaks for another one, and three standard errors are asked of that.
TEST(ChooseModel, NoiseOfOneWidthStaysLinear) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_EQ(model_of(found(rows_of(600, seed, bell))), "linear") << seed;
    // The numbers are as skewed as x is, and the noise is not.
    Rows skewed = rows_of(600, seed + 100, bell);
    Random random(seed);
    for (Row& row : skewed) {
      row.x = -std::log(even(random));
      row.y = 60 + 30 * row.x + 5 * normal(random);
    }
    const Inspection of_skewed = found(skewed);
    EXPECT_EQ(model_of(of_skewed), "linear") << seed;
    EXPECT_EQ(of_skewed.schema.target_rule().kind, Kind::kNumber);
    EXPECT_TRUE(says(of_skewed.target_note, "a number; log-normal predicted 580 rows "));
    EXPECT_TRUE(says(of_skewed.target_note, "worse than linear"));
    EXPECT_FALSE(says(of_skewed.target_note, "--model log-normal"));
    EXPECT_EQ(of_skewed.target_hint, "");
  }
}

TEST(ChooseModel, PricesThatAreOffByFactorsAreLogNormal) {
  const Inspection prices = found(rows_of(600, 1, price));
  EXPECT_EQ(model_of(prices), "log-normal");
  EXPECT_EQ(prices.schema.target_rule().kind, Kind::kPositive);
  EXPECT_TRUE(
      says(prices.target_note, "a number greater than 0; log-normal predicted 580 rows 0."));
  EXPECT_TRUE(says(prices.target_note, "better than linear; --model linear insists on that"));
  EXPECT_TRUE(says(prices.target_note, prices.target_hint));
  EXPECT_NE(prices.target_hint, "");
  // Naming the model gives the same schema.
  const Inspection named = found(rows_of(600, 1, price), {.target = "y", .model = "log-normal"});
  EXPECT_EQ(prices.schema.to_toml(), named.schema.to_toml());
}

// Waiting times: a log-normal has their density better by far, and a tail which they do not have.
// Its means would be what is read.
TEST(ChooseModel, AModelWhoseMeansAreOffIsNotTaken) {
  const Inspection waits = found(rows_of(2'000, 1, [](double x, Random& random) {
    return 100 * std::exp(x) * std::exponential_distribution<double>()(random);
  }));
  EXPECT_EQ(model_of(waits), "linear");
  EXPECT_TRUE(says(waits.target_note, "nats a row better than linear, but its means are "));
  EXPECT_TRUE(says(waits.target_note, "% too large"));
}

TEST(ChooseModel, BiasIsTheMeanMissBesideTheTargetsBeyondChance) {
  const std::vector<double> targets = {100, 100, 100, 100};
  const auto bias = [&](std::vector<double> misses) { return bias_of(misses, targets); };
  EXPECT_DOUBLE_EQ(bias({-30, -31, -29, -30}), -0.3);
  EXPECT_DOUBLE_EQ(bias({30, 31, 29, 30}), 0.3);
  EXPECT_EQ(bias({4, 5, 4, 5}), 0) << "little";
  EXPECT_EQ(bias({-300, 100, 150, 150}), 0) << "chance";
}

TEST(ChooseModel, CountsAreNegativeBinomial) {
  const Inspection crowds = found(rows_of(600, 1, crowded));
  EXPECT_EQ(model_of(crowds), "negative-binomial");
  EXPECT_EQ(crowds.schema.target_rule().kind, Kind::kCount);
  EXPECT_TRUE(says(crowds.target_note, "a count; negative-binomial predicted 580 rows 0."));
  // What they may be beside.
  EXPECT_TRUE(says(crowds.target_note, "if these are classes, --model softmax"));
}

// A normal model of a Poisson number of mean 0.8 loses 0.1 nats; of mean 0.05, where it is 0 nearly
// always, 0.03 where what rounds to 0, 1 and 2 is compared, while its density at 0 is 1.8.
TEST(ChooseModel, FewOfAKindAreCountsToo) {
  for (const double scale : {0.8, 0.05}) {
    const Rows few = rows_of(2'000, 1, [&](double x, Random& random) {
      return poisson(random, scale * std::exp(x - 0.5));
    });
    EXPECT_EQ(model_of(found(few)), "negative-binomial") << scale;
  }
}

TEST(ChooseModel, RoundedMeasurementsStayLinear) {
  // Their variance is twice their mean, which a count's may be: they are not skewed enough.
  const auto rounded = [](double mean, double sd, double step) {
    return rows_of(800, 2, [=](double x, Random& random) {
      return step * std::max(0.0, std::round((mean + sd * (x + normal(random))) / step));
    });
  };
  for (const auto& [mean, sd] : {std::pair(50.0, 10.0), {200.0, 10.0}, {80.0, 3.0}}) {
    EXPECT_EQ(model_of(found(rounded(mean, sd, 1))), "linear") << mean;
  }
  // Whole as they are, nobody counted them.
  Rows steps = rows_of(600, 3, crowded);
  for (Row& row : steps) row.y *= 5;
  const Inspection of_steps = found(steps);
  EXPECT_EQ(model_of(of_steps), "linear");
  EXPECT_FALSE(says(of_steps.target_note, "predicted"));
}

// Its rows are drawn at random, so that it matters little how they are sorted.
TEST(ChooseModel, OfSortedFilesIsThatOfOthers) {
  const auto by_x = [](const Row& a, const Row& b) { return a.x < b.x; };
  Rows prices = rows_of(600, 1, price), bells = rows_of(600, 1, bell);
  std::ranges::sort(prices, by_x);
  std::ranges::sort(bells, by_x);
  EXPECT_EQ(model_of(found(prices)), "log-normal");
  EXPECT_EQ(model_of(found(bells)), "linear");
}

// Noise by factors around a straight line, of which each model has one half right: the log-normal
// is ahead, but behind where every x is less than those before.
TEST(ChooseModel, IsNotBehindInTheOrderOfTheFile) {
  Rows rows = rows_of(600, 11, [](double x, Random& random) {
    return (2 + 30 * x) * std::exp(0.28 * normal(random));
  });
  EXPECT_EQ(model_of(found(rows)), "log-normal");
  std::ranges::sort(rows, [](const Row& a, const Row& b) { return a.x > b.x; });
  const Inspection sorted = found(rows);
  EXPECT_EQ(model_of(sorted), "linear");
  EXPECT_TRUE(says(sorted.target_note,
                   "better than linear in random order, but worse in the order of the file"));
}

TEST(ChooseModel, WantsEvidence) {
  Rows few = rows_of(69, 1, price);
  EXPECT_EQ(model_of(found(few)), "linear");
  EXPECT_FALSE(says(found(few).target_note, "predicted"));
  few = rows_of(70, 1, price);
  EXPECT_TRUE(says(found(few).target_note, "predicted 50 rows"));
}

TEST(ChooseModel, NoLogNormalWhereANumberIsNotAboveZero) {
  for (const double other : {0.0, -3.5}) {
    Rows prices = rows_of(600, 1, price);
    prices[400].y = other;
    const Inspection with = found(prices);
    EXPECT_EQ(model_of(with), "linear") << other;
    EXPECT_FALSE(says(with.target_note, "log-normal")) << other;
  }
  // The 0 is seen also where it is not among the rows that are drawn.
  for (const std::size_t row : {100U, 3'000U, 6'000U, 7'900U}) {
    Rows many = rows_of(8'000, 1, price);
    many[row].y = 0;
    EXPECT_EQ(model_of(found(many)), "linear") << row;
  }
}

TEST(ChooseModel, LeavesTheChoiceToWhoHasMadeOne) {
  const Rows prices = rows_of(600, 1, price);
  const Inspection linear = found(prices, {.target = "y", .model = "linear"});
  EXPECT_EQ(model_of(linear), "linear");
  EXPECT_EQ(linear.target_note, "a number");
  const Inspection shifted = found(prices, {.target = "y", .offset = OffsetRule{"x", false}});
  EXPECT_FALSE(says(shifted.target_note, "predicted"));
  Rows weighted = prices;
  for (Row& row : weighted) row.x += 1;
  EXPECT_FALSE(says(found(weighted, {.target = "y", .weight = "x"}).target_note, "predicted"));
  EXPECT_EQ(model_of(found(weighted)), "log-normal");
}

TEST(ChooseModel, IsAFunctionOfTheFile) {
  const Rows prices = rows_of(2'500, 1, price);
  const Inspection once = found(prices), again = found(prices);
  EXPECT_TRUE(says(once.target_note, "predicted 1980 rows"));
  EXPECT_EQ(once.target_note, again.target_note);
  EXPECT_EQ(once.schema.to_toml(), again.schema.to_toml());
}

TEST(ChooseModel, DoesNotReadAPipe) {
  EXPECT_TRUE(says(refusal_of([] { (void)inspect_and_choose("-", {.target = "y"}); }),
                   refusal_of([] { (void)inspect("-", {.target = "y"}); })));
  EXPECT_TRUE(says(refusal_of([] { (void)inspect("-", {.target = "y"}); }), "standard input"));
}

TEST(Lead, IsClearAboveChanceAndWhatIsWorthTheWhile) {
  EXPECT_TRUE((Lead{0.021, 0.006, 100}.is_clear()));
  EXPECT_FALSE((Lead{0.021, 0.0071, 100}.is_clear()));
  EXPECT_FALSE((Lead{0.019, 0.001, 100}.is_clear()));
  EXPECT_TRUE((Lead{-0.021, 0.01, 100}.is_behind()));
  EXPECT_FALSE((Lead{-0.021, 0.011, 100}.is_behind()));
  EXPECT_FALSE((Lead{-0.019, 0.001, 100}.is_behind()));
  const std::vector<double> scores = {1, 4, 2, 5}, over = {0, 1, 2, 3};
  const Lead lead = lead_of(scores, over);  // 1, 3, 0, 2
  EXPECT_DOUBLE_EQ(lead.mean, 1.5);
  EXPECT_DOUBLE_EQ(lead.error, std::sqrt(5.0 / 3 / 4));
  EXPECT_EQ(lead.rows, 4U);
}

Dataset dataset_of(const Rows& rows) {
  Dataset data;
  data.names = {"x"};
  for (const Row& row : rows) {
    data.features.push_back(row.x);
    data.targets.push_back(row.y);
  }
  return data;
}

double mean_of(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum / static_cast<double>(numbers.size());
}

// The scores less the entropy of y given x, which a right model comes to but for chance, (0.5 to
// 0.8) / 44 a standard error here, and for what it learns meanwhile, 3 / 2 log(2,000 / 20) / 1,980.
TEST(RowScores, AreNatsOfYItself) {
  const double of_bell = 0.5 * std::log(2 * std::numbers::pi * std::numbers::e);
  const Rows prices = rows_of(2'000, 5, price), bells = rows_of(2'000, 5, bell);
  double mean_log = 0;
  for (const Row& row : prices) mean_log += std::log(row.y) / 2'000;
  EXPECT_NEAR(mean_of(row_scores("linear", dataset_of(bells), false, 0.5).scores),
              -of_bell - std::log(10), 0.06);
  EXPECT_NEAR(mean_of(row_scores("log-normal", dataset_of(prices), false, 0.5).scores),
              -of_bell - std::log(0.4) - mean_log, 0.06);
  EXPECT_EQ(row_scores("linear", dataset_of(bells), false, 0.5).scores.size(), 1'980U);
}

// Scores of whole numbers are probabilities of what rounds to them, which no density is.
TEST(RowScores, OfWholeNumbersAreOfProbabilities) {
  Rows bells = rows_of(2'000, 5, bell);
  for (Row& row : bells) row.y = std::round(row.y);
  const std::vector<double> densities = row_scores("linear", dataset_of(bells), false, 0.5).scores;
  EXPECT_NEAR(mean_of(row_scores("linear", dataset_of(bells), true, 0.5).scores),
              mean_of(densities),
              0.001);  // 1 / (24 sd^2)
  const Dataset narrow =
      dataset_of(rows_of(1'000, 6, [](double x, Random&) { return std::round(2 * x); }));
  for (const char* model : {"linear", "negative-binomial"}) {
    const std::vector<double> scores = row_scores(model, narrow, true, 0.5).scores;
    EXPECT_LE(std::ranges::max(scores), 1e-12) << model;
    EXPECT_GT(std::ranges::min(scores), -1'000) << model;
  }
  EXPECT_GT(std::ranges::max(row_scores("linear", narrow, false, 0.5).scores), 0);
}

}  // namespace
}  // namespace windhover::choose_model_test
