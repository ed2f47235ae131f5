#include "windhover/tools/client/category_effects.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "windhover/tests/tools/served.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/compare.h"
#include "windhover/tools/fit/fit.h"

namespace windhover::category_effects_test {
namespace {

using nlohmann::ordered_json;

// How far the sd of 64 draws may be off: four of its own standard errors.
const double kDrawn = 4 / std::sqrt(2.0 * 64);

// 1,500 rows: a number a, a category c of north, south and far, and y. With `columns` south and far
// are columns of their own, 0 or 1, so that north is what they are told against.
std::string rows_of(bool columns, auto y) {
  std::string text = columns ? "a,south,far,y\n" : "a,c,y\n";
  for (int i = 0; i < 1500; ++i) {
    const double a = std::sin(i * 1.7);
    const int c = i * 7 % 11 < 5 ? 0 : i * 7 % 11 < 9 ? 1 : 2;
    const std::string cells = columns  ? c == 1   ? ",1,0,"
                                         : c == 2 ? ",0,1,"
                                                  : ",0,0,"
                              : c == 0 ? ",north,"
                              : c == 1 ? ",south,"
                                       : ",far,";
    text += std::to_string(a) + cells + y(a, c, i) + "\n";
  }
  return file_with(columns ? "effects_columns.csv" : "effects.csv", text);
}

ordered_json fit_of(const std::string& path, const std::vector<std::string>& against = {},
                    bool intercept = true) {
  FitOptions o;
  o.path = path;
  o.data.target = "y";
  o.against = against;
  o.intercept = intercept;
  o.steps = 20'000;
  return fit(o);
}

ordered_json named(const ordered_json& list, const std::string& name) {
  for (const ordered_json& entry : list) {
    if (entry["name"] == name) return entry;
  }
  ADD_FAILURE() << name << " is not in " << list.dump();
  return {{"mean", NAN}, {"sd", NAN}};
}

double number(const ordered_json& entry, const char* key) { return entry[key].get<double>(); }

std::string price(double a, int c, int i) {
  return std::to_string(1000 + 20 * a + 30 * c + 10 * std::sin(i * 12.9898));
}

// The prior alone tells the two apart, which is 10^4 times as wide as the effects are known.
TEST(CategoryEffects, AreThoseOfAModelWithColumnsForAllButTheReference) {
  const ordered_json one_hot = fit_of(rows_of(false, price), {"c=north"});
  const ordered_json columns = fit_of(rows_of(true, price));
  EXPECT_EQ(one_hot["category_effects"]["sd"], "exact");
  const ordered_json& effects = one_hot["category_effects"]["effects"];
  ASSERT_EQ(effects.size(), 2);
  for (const char* name : {"south", "far"}) {
    const ordered_json effect = named(effects, std::string("c=") + name);
    const ordered_json explicit_one = named(columns["parameters"], name);
    const double sd = number(explicit_one, "sd");
    EXPECT_EQ(effect["above"], "c=north");
    EXPECT_NEAR(number(effect, "mean"), number(explicit_one, "mean"), 0.05 * sd) << name;
    EXPECT_NEAR(number(effect, "sd"), sd, 0.01 * sd) << name;
    EXPECT_NEAR(number(effect, "q95"), number(effect, "mean") + 1.6449 * number(effect, "sd"),
                1e-3 * sd);
    const ordered_json by_itself = named(one_hot["parameters"], std::string("c=") + name);
    EXPECT_GT(number(by_itself, "sd"), 20 * sd) << name;
  }
}

TEST(CategoryEffects, OfAnAverageSumToNothingAndNeedNoIntercept) {
  const std::string path = rows_of(false, price);
  const ordered_json beside = fit_of(path)["category_effects"]["effects"];
  const ordered_json without = fit_of(path, {}, false)["category_effects"]["effects"];
  ASSERT_EQ(beside.size(), 3);
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(beside[i]["above"], "the average of c");
    sum += number(beside[i], "mean");
    const double sd = number(beside[i], "sd");
    EXPECT_NEAR(number(without[i], "mean"), number(beside[i], "mean"), 0.05 * sd);
    EXPECT_NEAR(number(without[i], "sd"), sd, 0.01 * sd);
  }
  EXPECT_NEAR(sum, 0, 1e-6);
  EXPECT_NEAR(number(named(beside, "c=far"), "mean"), 30, 4 * number(beside[0], "sd"));
}

// With several classes the effects come from the draws, each class by itself.
TEST(CategoryEffects, OfClassesAreThoseOfAModelWithColumnsForAllButTheReference) {
  const auto kind = [](double a, int c, int i) {
    const double u = 3 * std::sin(i * 12.9898) + a + c;
    return std::string(u < -0.5 ? "red" : u < 1.5 ? "green" : "blue");
  };
  const ordered_json one_hot = fit_of(rows_of(false, kind), {"c=north"});
  const ordered_json columns = fit_of(rows_of(true, kind));
  EXPECT_EQ(one_hot["category_effects"]["sd"], "of 64 draws");
  const ordered_json& effects = one_hot["category_effects"]["effects"];
  ASSERT_EQ(effects.size(), 4);
  for (const ordered_json& effect : effects) {
    std::string name = effect["name"];
    name.erase(name.find("c="), 2);
    const ordered_json explicit_one = named(columns["parameters"], name);
    const double sd = number(explicit_one, "sd");
    EXPECT_NEAR(number(effect, "mean"), number(explicit_one, "mean"), 0.2 * sd) << name;
    EXPECT_NEAR(number(effect, "sd"), sd, kDrawn * sd) << name;
  }
}

class EffectsOfAServer : public ::testing::TestWithParam<bool> {};

// Compares with the whole covariance, which the questions of `compare` find out.
TEST_P(EffectsOfAServer, AreThoseOfItsCovariance) {
  const std::string path = schema_file(GetParam());
  const Schema schema = Schema::from_file(path);
  Served served(path_of("effects.sock"), schema, "linear");
  (void)send_file(options_for(served, path));
  Client client;
  connect_or_throw(client, served.address());
  const ServedPosterior whole = fetch_posterior(client, 60);
  const std::vector<CategoryGroup> groups = category_groups(schema);
  ASSERT_EQ(groups.size(), 1);
  std::uint32_t draws = 0;
  const std::vector<double> means(whole.mean.begin(), whole.mean.end());
  const std::vector<CategoryEffect> effects =
      served_category_effects(client, groups, means.size(), means, draws);
  EXPECT_EQ(draws, GetParam() ? 64 : 0);
  ASSERT_EQ(effects.size(), 2);
  const Eigen::Vector4d c(0, 0.5, -0.5, 0);
  const double sd = std::sqrt(c.dot(whole.covariance * c));
  EXPECT_EQ(effects[0].parameter, 1);
  EXPECT_NEAR(effects[0].mean, c.dot(whole.mean), 1e-9);
  EXPECT_NEAR(effects[1].mean, -c.dot(whole.mean), 1e-9);
  for (const CategoryEffect& effect : effects) {
    EXPECT_NEAR(effect.sd, sd, (GetParam() ? kDrawn : 1e-6) * sd);
  }
}

INSTANTIATE_TEST_SUITE_P(CategoryEffects, EffectsOfAServer, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "Sparse" : "Dense"; });

// Pages of three rows, and columns for other and missing categories, which no average is of.
TEST(CategoryEffects, OfPagesAreThoseOfOneQuestion) {
  const std::vector<CategoryGroup> groups = {{"c", 1, 2, 4, "the average of c", {}},
                                             {"d", 5, 2, 2, "d=y", 1}};
  // theta_j = j, with variance j + 1, independent, and no intercept.
  const auto ask = [](std::span<const double> rows) {
    std::vector<PredictiveSummary> answers(rows.size() / 7);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      double variance = 0;
      for (std::size_t j = 0; j < 7; ++j) {
        const double x = rows[i * 7 + j];
        answers[i].linpred_mean += x * static_cast<double>(j);
        variance += x * x * static_cast<double>(j + 1);
      }
      answers[i].linpred_sd = std::sqrt(variance);
    }
    return answers;
  };
  const std::vector<double> base = {3, 0, 0, 0, 0, 0, 0};
  for (const std::size_t most : {3U, 4U, 100U}) {
    const auto effects = exact_category_effects(groups, base, most, ask);
    ASSERT_EQ(effects.size(), 5);
    const std::vector<double> means = {-0.5, 0.5, 1.5, 2.5, -1};
    const std::vector<double> variances = {1.25, 1.25, 4 + 1.25, 5 + 1.25, 13};
    for (std::size_t k = 0; k < 5; ++k) {
      EXPECT_EQ(effects[k].parameter, k + 1);
      EXPECT_NEAR(effects[k].mean, means[k], 1e-12);
      EXPECT_NEAR(effects[k].sd * effects[k].sd, variances[k], 1e-10) << k;
    }
  }
}

TEST(CategoryEffects, OfDrawsAreTheirSpreadAroundTheMeansGiven) {
  const std::vector<CategoryGroup> groups = {{"c", 0, 2, 2, "c=u", 0}};
  const std::vector<double> means = {1, 5, 0, 2, 3, 0};
  const std::vector<double> draws = {0, 1, 9, 0, 2, 9, 0, 3, 8, 5, 9, 8, 0, 5, 7, 0, 0, 7};
  const auto effects = drawn_category_effects(groups, 3, means, draws);
  ASSERT_EQ(effects.size(), 2);
  EXPECT_EQ(effects[0].mean, 4);
  EXPECT_NEAR(effects[0].sd, 2, 1e-12);
  EXPECT_EQ(effects[1].parameter, 4);
  EXPECT_EQ(effects[1].mean, 1);
  EXPECT_NEAR(effects[1].sd, 2, 1e-12);
}

// c crossed with d, and with a number, whose products are 0 at its mean.
TEST(CategoryEffects, OfACrossedFieldAreThoseOverAnAverageOfTheOthersCategories) {
  const Schema schema = Schema::from_file(file_with(
      "crossed.toml",
      "target = \"y\"\n[[feature]]\nfield = \"a\"\nkind = \"number\"\nshift = 3\nscale = 2\n"
      "[[feature]]\nfield = \"c\"\nkind = \"category\"\ncategories = [\"u\", \"v\"]\nother = "
      "\"column\"\n"
      "missing = \"column\"\n"
      "[[feature]]\nfield = \"d\"\nkind = \"category\"\ncategories = [\"p\", \"q\", \"r\"]\nother "
      "= \"zero\"\n"
      "[[feature]]\ninteraction = [\"d\", \"c\"]\n[[feature]]\ninteraction = [\"a\", \"c\"]\n"));
  const std::vector<std::string> names = schema.feature_names();
  std::vector<double> theta(names.size());
  for (std::size_t j = 0; j < theta.size(); ++j) theta[j] = static_cast<double>(j * j % 17);
  const auto of = [&](const std::string& name) {
    const auto at = std::ranges::find(names, name);
    EXPECT_NE(at, names.end()) << name;
    return theta[static_cast<std::size_t>(at - names.begin())];
  };
  // The linear predictor of a row of c and d at the mean of a.
  const auto expected = [&](const std::string& c, const std::string& d) {
    return of("c=" + c) + of("d=" + d) + of("d=" + d + " x c=" + c);
  };
  const auto over_d = [&](const std::string& c) {
    return (expected(c, "p") + expected(c, "q") + expected(c, "r")) / 3;
  };
  const auto groups = category_groups(schema, {"c=v"});
  std::vector<double> draws = theta;
  for (const double x : theta) draws.push_back(2 * x);
  const auto effects = drawn_category_effects(groups, theta.size(), theta, draws);
  ASSERT_EQ(effects.size(), 3 + 3) << "u, other and missing above v; p, q, r above their average";
  EXPECT_NEAR(effects[0].mean, over_d("u") - over_d("v"), 1e-12);
  EXPECT_NEAR(effects[1].mean, over_d("other") - over_d("v"), 1e-12);
  const double p = (expected("u", "p") + expected("v", "p")) / 2;
  const double all = (over_d("u") + over_d("v")) / 2;
  EXPECT_NEAR(effects[3].mean, p - all, 1e-12);
  const auto ask = [&](std::span<const double> rows) {
    std::vector<PredictiveSummary> answers(rows.size() / theta.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      for (std::size_t j = 0; j < theta.size(); ++j) {
        answers[i].linpred_mean += rows[i * theta.size() + j] * theta[j];
      }
    }
    return answers;
  };
  const auto exact = exact_category_effects(groups, std::vector<double>(theta.size(), 0.0), 5, ask);
  ASSERT_EQ(exact.size(), effects.size());
  for (std::size_t k = 0; k < exact.size(); ++k) {
    EXPECT_NEAR(exact[k].mean, effects[k].mean, 1e-9) << k;
  }
}

TEST(CategoryEffects, OfOneListedCategoryAreAboveIt) {
  const Schema schema = Schema::from_file(
      file_with("one_listed.toml",
                "target = \"y\"\n[[feature]]\nfield = \"c\"\nkind = \"category\"\n"
                "categories = [\"u\"]\nother = \"column\"\n"));
  const CategoryGroup alone = category_groups(schema).at(0);
  EXPECT_EQ(alone.above, "c=u");
  const auto effects = drawn_category_effects({alone}, 3, std::vector<double>{1, 5, 0},
                                              std::vector<double>{0, 4, 0, 0, 6, 0});
  ASSERT_EQ(effects.size(), 1) << "it is nothing above itself";
  EXPECT_EQ(effects[0].parameter, 1);
  EXPECT_EQ(effects[0].mean, 4);
  const std::string other = schema.feature_name(alone.first + 1);
  EXPECT_EQ(category_groups(schema, {other}).at(0).above, other);
}

TEST(CategoryEffects, AreAgainstOneCategoryAFieldThatThereIs) {
  const Schema schema = Schema::from_file(schema_file(false));
  EXPECT_EQ(category_groups(schema, {"c=v"})[0].against, 1);
  const auto refused = [&](const std::vector<std::string>& against) {
    return refusal_of([&] { (void)category_groups(schema, against); });
  };
  EXPECT_TRUE(says(refused({"c=vv"}), "has no such category"));
  EXPECT_TRUE(says(refused({"c=vv"}), "did you mean c=v"));
  EXPECT_TRUE(says(refused({"a=1"}), "has no such category"));
  EXPECT_TRUE(says(refused({"c=u", "c=v"}), "c is told above c=u already"));
}

}  // namespace
}  // namespace windhover::category_effects_test
