#include "windhover/tools/fit/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "windhover/platform/random.h"
#include "windhover/tests/tools/fit_options.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/fit/file_units.h"
#include "windhover/tools/fit/moments.h"

namespace windhover {
namespace {

// The thresholds are far above the Monte Carlo error of these few steps: what is tested here is
// that each number is what its name says, not how good the sampler is.
TEST(Fit, ReportsALinearFit) {
  const auto out = fit(options_of(false));
  EXPECT_GE(out["steps"].get<std::uint64_t>(), 40'000U);
  EXPECT_GT(out["steps_counted"].get<std::uint64_t>(), 0U);
  EXPECT_LT(out["kl_draws"].get<double>(), 0.1);
  EXPECT_LT(out["kl_law"].get<double>(), 0.05);
  EXPECT_LT(out["kl_summary"].get<double>(), 1e-3);
  EXPECT_NEAR(out["noise_variance"].get<double>() / out["noise_variance_reference"].get<double>(),
              1.0, 0.02);
  EXPECT_GT(out["r_hat_chance"].get<double>(), 1);
  EXPECT_LT(out["r_hat_max"].get<double>(), out["r_hat_chance"].get<double>());
  EXPECT_GT(out["footprint_bytes"].get<std::uint64_t>(), 2000U * 32);
  ASSERT_EQ(out["parameters"].size(), 3U);
  EXPECT_EQ(out["parameters"][2]["name"], "intercept");
  EXPECT_TRUE(out["parameters"][2]["column_sd"].is_null());
  EXPECT_GT(out["parameters"][0]["column_sd"].get<double>(), 0);
  for (const char* key : {"mean", "mode", "sd", "sd_robust", "q5", "q50", "q95", "ess_bulk",
                          "ess_tail", "mcse_mean", "autocorrelation_time", "r_hat"}) {
    EXPECT_TRUE(out["parameters"][0][key].is_number()) << key;
  }
#ifdef WINDHOVER_SANITIZED
  EXPECT_TRUE(out["allocations_after_start"].is_null());
#else
  EXPECT_EQ(out["allocations_after_start"], 0);
#endif
}

// In two files that differ in their units alone a product stands in the same place of a picture.
TEST(ColumnSds, OfAProductAreThoseOfItsNumbers) {
  std::string text = "a,b,c,y\n";
  for (int i = 0; i < 500; ++i) {
    text += std::to_string(20 * std::sin(i * 1.7)) + "," + std::to_string(std::cos(i * 0.91) * 3) +
            "," + (i % 3 == 0 ? "u" : "v") + ",1\n";
  }
  const std::string path = file_with("products.csv", text);
  const auto sds_with = [&](const std::string& scale) {
    const std::string number = "\"\nkind = \"number\"\nshift = 0\nscale = ";
    const Schema schema = Schema::from_text(
        "target = \"y\"\n[[feature]]\nfield = \"a" + number + scale + "\n[[feature]]\nfield = \"b" +
            number +
            "1\n[[feature]]\nfield = \"c\"\nkind = \"category\"\ncategories = [\"u\", \"v\"]\n"
            "[[feature]]\ninteraction = [\"a\", \"b\"]\n"
            "[[feature]]\ninteraction = [\"c\", \"a\"]\n",
        "s.toml");
    return column_sds(schema, load_dataset(path, schema, false));
  };
  const std::vector<double> one = sds_with("1");
  ASSERT_EQ(one.size(), 7U);
  EXPECT_NEAR(one[0], 20 / std::sqrt(2), 0.2);
  EXPECT_EQ(one[2], 1.0);
  EXPECT_DOUBLE_EQ(one[4], one[0] * one[1]);
  EXPECT_DOUBLE_EQ(one[5], one[0]);
  EXPECT_DOUBLE_EQ(one[6], one[0]);
  const std::vector<double> four = sds_with("4");
  EXPECT_DOUBLE_EQ(four[0], one[0]);
  EXPECT_DOUBLE_EQ(four[4], one[4] / 4);
  EXPECT_DOUBLE_EQ(four[6], one[6] / 4);
}

TEST(Fit, ReportsALogisticFitWithoutIntercept) {
  FitOptions o = options_of(true);
  o.intercept = false;
  const auto out = fit(o);
  EXPECT_EQ(out["parameters"].size(), 2U);
  EXPECT_LT(out["kl_law"].get<double>(), 0.05);
  EXPECT_LT(out["kl_summary"].get<double>(), 0.05);
}

// 64 draws leave a mean 0.1 sd of error; with the gradients' help it has none for a Gaussian
// posterior, and little for one that is nearly so.
TEST(Fit, ZeroVarianceMeansAreThoseOfThePosterior) {
  for (const bool binary : {false, true}) {
    const auto out = fit(options_of(binary));
    double plain = 0;
    double corrected = 0;
    for (const auto& p : out["parameters"]) {
      const double mean = p["mean"].get<double>();
      const double sd = p["sd"].get<double>();
      plain = std::max(plain, std::abs(p["mean_draws"].get<double>() - mean) / sd);
      corrected = std::max(corrected, std::abs(p["mean_zero_variance"].get<double>() - mean) / sd);
    }
    EXPECT_GT(plain, 0.02);
    EXPECT_LT(plain, 0.7);
    EXPECT_LT(corrected, binary ? 0.02 : 1e-8);
  }
  FitOptions o = options_of(false);
  o.horizon.horizon = Horizon::kAll;
  o.sampler_config.chains = 0;
  EXPECT_TRUE(fit(o)["parameters"][0]["mean_zero_variance"].is_null());
}

// The exact posterior is that of the linear model of log y.
TEST(Fit, MeasuresALogNormalFitByTheExactPosterior) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < 1500; ++i) {
    const double a = std::sin(0.7 * i);
    const double b = std::cos(1.3 * i);
    text += std::to_string(a) + "," + std::to_string(b) + "," +
            std::to_string(std::exp(8 + 0.5 * a - b + 0.4 * std::sin(11.9 * i))) + "\n";
  }
  FitOptions o;
  o.path = file_with("fit_prices.csv", text);
  o.data.target = "y";
  o.model = "log-normal";
  o.steps = 20'000;
  const auto out = fit(o);
  EXPECT_LT(out["kl_summary"].get<double>(), 1e-6);
  EXPECT_LT(out["kl_law"].get<double>(), 0.05);
  EXPECT_NEAR(out["parameters"][0]["mean"].get<double>(), 0.5, 0.05);
  EXPECT_NEAR(out["noise_variance"].get<double>(), 0.08, 0.01);
  // A schema that says nothing of the target lets a zero through.
  o.path = file_with("fit_free.csv", "a,y\n1,2\n2,3\n3,0\n4,5\n");
  o.data = {};
  o.schema = file_with(
      "fit_free.toml",
      "target = \"y\"\n[[feature]]\nfield = \"a\"\nkind = \"number\"\nshift = 0\nscale = 1\n");
  EXPECT_TRUE(says(refusal_of([&] { (void)fit(o); }), "row 3 of the file is refused"));
}

TEST(Fit, WithADiagonalNoiseCovarianceSaysNullWhereItTakesTheFullOne) {
  FitOptions o = options_of(false);
  o.sampler = "sgfs-d";
  o.sampler_config.noise_structure = NoiseStructure::kDiagonal;
  const auto out = nlohmann::json::parse(fit(o).dump());
  EXPECT_TRUE(out["ou_ratio"].is_null());
  EXPECT_TRUE(out["misspecification_index"].is_null());
  EXPECT_TRUE(out["parameters"][0]["sd_robust"].is_null());
  EXPECT_TRUE(out["parameters"][0]["sd"].is_number());
}

TEST(Fit, SaysThatAModelHasNoReferenceAndFitsItAllTheSame) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < 1500; ++i) {
    const double a = std::sin(i * 1.7), b = std::cos(i * 0.91);
    const double y = 1.2 * a - b + std::sin(i * 12.9898);
    text += std::to_string(a) + "," + std::to_string(b) + "," +
            (y > 0.5    ? "2"
             : y > -0.5 ? "1"
                        : "0") +
            "\n";
  }
  FitOptions o;
  o.path = file_with("fit_counts.csv", text);
  o.data.target = "y";
  o.steps = 20'000;
  for (const char* model : {"poisson", "negative-binomial", "student-t", "softmax", "mlp-linear"}) {
    o.model = model;
    const auto out = fit(o);
    EXPECT_TRUE(out["kl_draws"].is_null() && out["kl_summary"].is_null()) << model;
    EXPECT_GE(out["steps"].get<std::uint64_t>(), 20'000U);
    if (std::string(model) == "mlp-linear") {
      EXPECT_EQ(out["parameters"].size(), 8U * 3 + 9);
      EXPECT_TRUE(std::isnan(out["parameters"][0]["mode"].get<double>()));
      EXPECT_EQ(out["parameters"][32]["name"], "theta32");
      continue;
    }
    const bool has_one =
        std::string(model) == "student-t" || std::string(model) == "negative-binomial";
    EXPECT_EQ(out.contains("noise_variance"), has_one);
    const bool softmax = std::string(model) == "softmax";
    ASSERT_EQ(out["parameters"].size(), softmax ? 6U : 3U) << model;
    EXPECT_EQ(out["parameters"][0]["name"], softmax ? "1: a" : "a");
    const auto& last = out["parameters"][softmax ? 3 : 0];  // the effect of a is positive
    EXPECT_GT(last["mean"].get<double>(), 2 * last["sd"].get<double>()) << model;
  }
  o.model = "softmax";
  o.classes = 2;
  EXPECT_TRUE(says(refusal_of([&] { (void)fit(o); }), "is refused"));
}

// A sampler with momentum, and one whose coefficients change, have no law of the form that is
// solved.
TEST(Fit, SaysNothingOfALawThatThereIsNot) {
  for (const char* name : {"sghmc", "msgnht"}) {
    FitOptions o = options_of(false);
    o.sampler = name;
    const auto out = fit(o);
    EXPECT_TRUE(out["kl_law"].is_null()) << name;
    EXPECT_LT(out["kl_draws"].get<double>(), 0.3) << name;
  }
}

TEST(Fit, RepeatsItselfForTheSameSeed) {
  const auto first = fit(options_of(false));
  const auto second = fit(options_of(false));
  EXPECT_EQ(first["kl_draws"], second["kl_draws"]);
  FitOptions other = options_of(false);
  other.seed = 2;
  EXPECT_NE(fit(other)["kl_draws"], first["kl_draws"]);
}

TEST(Fit, TellsHowFarItIsUntilItsStepsAreDone) {
  FitOptions options = options_of(false);
  std::vector<std::uint64_t> told;
  options.tell = [&](std::uint64_t steps) { told.push_back(steps); };
  const auto steps = fit(options)["steps"].get<std::uint64_t>();
  ASSERT_GT(told.size(), 2U);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_GT(told.back(), 0U);
  EXPECT_LT(told.back(), steps);
}

TEST(Fit, LearnsThePriorPrecisionAndMeasuresAgainstThePosteriorUnderIt) {
  FitOptions o = options_of(false);
  o.learn_prior_precision = true;
  o.prior_precision = 1;  // a number: y as it comes
  const auto one = fit(o);
  ASSERT_EQ(one["prior_precision"].size(), 1U);
  EXPECT_EQ(one["prior_precision"][0]["group"], "all");
  // One precision is of the standardised feature, the other of the feature as it comes: sd(sin) is
  // the root of 1/2.
  EXPECT_NEAR(one["parameters"][0]["prior_precision"].get<double>() /
                  one["prior_precision"][0]["precision"].get<double>(),
              0.5, 1e-3);
  EXPECT_LT(one["kl_summary"].get<double>(), 1e-3);
  EXPECT_LT(one["kl_draws"].get<double>(), 0.1);
  o.prior_group_a_feature = true;
  const auto each = fit(o);
  ASSERT_EQ(each["prior_precision"].size(), 2U);
  EXPECT_EQ(each["prior_precision"][1]["group"], each["parameters"][1]["name"]);
  EXPECT_LT(each["kl_summary"].get<double>(), 1e-3);
  // The fixed point of one coefficient: 1 / lambda = mean^2 + sd^2.
  const auto& p = each["parameters"][0];
  const double square = p["mean"].get<double>() * p["mean"].get<double>() +
                        p["sd"].get<double>() * p["sd"].get<double>();
  EXPECT_NEAR(p["prior_precision"].get<double>() * square, 1.0, 1e-4);
}

TEST(Fit, ReadsAPipeOnlyByACompleteSchema) {
  FitOptions o = towns();
  o.path = std::string("-");
  EXPECT_TRUE(says(refusal_of([&] { (void)fit(o); }), "standard input is read several times"));
}

TEST(Fit, RefusesMoreHashedColumnsThanItCanKeepTheCovarianceOf) {
  FitOptions o;
  std::string text = "c,y\n";
  for (int i = 0; i < 300; ++i) text += i % 3 == 0 ? "u,1\n" : i % 5 == 0 ? "v,1\n" : "v,0\n";
  o.path = file_with("hashed_fit.csv", text);
  o.steps = 2'000;
  const auto schema_of = [](const std::string& buckets) {
    return file_with("hashed_fit.toml",
                     "target = \"y\"\npositive = \"1\"\nsparse = true\n"
                     "[[feature]]\nhash = [\"c\"]\nbuckets = " +
                         buckets + "\n");
  };
  o.schema = schema_of("2001");
  const std::string refusal = refusal_of([&] { (void)fit(o); });
  EXPECT_TRUE(says(refusal, "has 2001 columns")) << refusal;
  EXPECT_TRUE(says(refusal, "windhover evaluate")) << refusal;
  o.schema = schema_of("8");
  const auto out = fit(o);
  ASSERT_EQ(out["parameters"].size(), 9U);
  EXPECT_EQ(out["parameters"][7]["name"], "hash(c) 7");
}

TEST(Fit, RefusesWhatDoesNotGoTogether) {
  FitOptions o = options_of(false);
  o.noise_variance = "reference";
  EXPECT_TRUE(says(refusal_of([&] { (void)fit(o); }), "needs --reference"));
  o.noise_variance = "-1";
  EXPECT_TRUE(says(refusal_of([&] { (void)fit(o); }), "--noise-variance \"-1\" is not allowed"));
  o = options_of(false);
  o.model = "logistic";
  EXPECT_TRUE(says(refusal_of([&] { (void)fit(o); }), "wants 0 or 1"));
  o = options_of(false);
  o.prior_precision = -1;
  EXPECT_TRUE(says(refusal_of([&] { (void)fit(o); }), "prior_precision"));
  o = options_of(false);
  o.reference = file_with("other.json",
                          R"({"N": 5, "map": [1], "A": [[1]], "C": [[1]], "posterior_cov": [[1]],
                             "noise_variance_sigma2": 1, "feature_shift": [], "feature_scale": []})");
  EXPECT_TRUE(says(refusal_of([&] { (void)fit(o); }), "needs the prior it is of"));
  o.prior_precision = 1;
  EXPECT_TRUE(says(refusal_of([&] { (void)fit(o); }), "it has 1 parameters, the model 3"));
}

}  // namespace
}  // namespace windhover
