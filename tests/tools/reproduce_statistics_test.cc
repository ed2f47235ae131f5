// What the experiments' figures and their errors are computed with.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "windhover/platform/random.h"
#include "windhover/samplers/reference/hamiltonian_monte_carlo.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/reproduce/crossover.h"
#include "windhover/tools/reproduce/data_sets.h"
#include "windhover/tools/reproduce/error_curve.h"
#include "windhover/tools/reproduce/fisher_runs.h"
#include "windhover/tools/reproduce/hmc.h"
#include "windhover/tools/reproduce/kl_cases.h"
#include "windhover/tools/reproduce/laws.h"
#include "windhover/tools/reproduce/runs.h"

namespace windhover::reproduce::statistics_test {
namespace {

std::vector<double> normals(std::size_t count, std::uint64_t seed) {
  std::vector<double> z(count);
  fill_normals(seed, {.step = 1}, z);
  return z;
}

RunMoments at(double mean) {
  return {1, Eigen::VectorXd::Constant(1, mean), Eigen::MatrixXd::Identity(1, 1)};
}

TEST(ReproduceJackknife, OfAMeanIsTheStandardErrorOfTheMean) {
  std::vector<RunMoments> runs;
  const std::vector<double> means = {1, 4, 2, 9, 3};
  for (const double mean : means) runs.push_back(at(mean));
  const Estimate e = jackknife(runs, [](const RunMoments& run) { return run.mean[0]; });
  const Estimate direct = mean_of(means);
  EXPECT_NEAR(e.value, direct.value, 1e-12);
  EXPECT_NEAR(e.mcse, direct.mcse, 1e-12);
}

TEST(ReproduceJackknife, OfASmoothFunctionIsItsSlopeTimesTheError) {
  std::vector<RunMoments> runs;
  for (const double z : normals(50, 3)) runs.push_back(at(10 + 0.1 * z));
  const Estimate mean = jackknife(runs, [](const RunMoments& run) { return run.mean[0]; });
  const Estimate square =
      jackknife(runs, [](const RunMoments& run) { return run.mean[0] * run.mean[0]; });
  EXPECT_NEAR(square.mcse, 2 * mean.value * mean.mcse, 1e-3 * square.mcse);
}

TEST(ReproduceShareOfErrors, HasTheRowsErrorAndTheSeedsInQuadrature) {
  const double rows = std::sqrt(0.2 * 0.8 / 400);
  const Estimate one = share_of_errors({0.2}, 400);
  EXPECT_DOUBLE_EQ(one.value, 0.2);
  EXPECT_NEAR(one.mcse, rows, 1e-15);
  const Estimate two = share_of_errors({0.1, 0.3}, 400);
  EXPECT_DOUBLE_EQ(two.value, 0.2);
  EXPECT_NEAR(two.mcse, std::hypot(0.1, rows), 1e-15);  // s^2 / R = 0.02 / 2
  EXPECT_TRUE(std::isnan(share_of_errors({NAN, 0.1}, 400).value));
}

TEST(ReproduceBar, ThatNoiseWouldWidenIsNotMet) {
  const Bar precise = around(0.9, 0.02, {0.91, 0.02 / 3});
  EXPECT_TRUE(precise.decided);
  EXPECT_TRUE(precise.holds(0.91));
  const Bar coarse = around(0.9, 0.02, {0.91, 0.007});
  EXPECT_FALSE(coarse.decided);
  EXPECT_FALSE(coarse.holds(0.9));
  EXPECT_FALSE(around(0.9, 0.02, {0.9, NAN}).holds(0.9));
  Report report;
  report.add(Figure{.group = "g", .name = "coarse", .ours = 0.9, .mcse = 0.007, .bar = coarse});
  EXPECT_TRUE(says(report.page({}), "too few replications to tell | **no** |"));
}

TEST(ReproduceReport, PrintsThePapersFiguresAsPrinted) {
  Report report;
  const auto add = [&](const char* name, double papers, int decimals) {
    report.add(Figure{.group = "g",
                      .name = name,
                      .ours = 1,
                      .papers = papers,
                      .papers_source = "Table 1",
                      .papers_decimals = decimals});
  };
  add("five digits", 1000.9, -1);
  add("a zero", 14, 1);
  add("thousands", 5000, -1);
  const std::string page = report.page({});
  EXPECT_TRUE(says(page, "| five digits | 1 | 1000.9 | Table 1 |"));
  EXPECT_TRUE(says(page, "| a zero | 1 | 14.0 | Table 1 |"));
  EXPECT_TRUE(says(page, "| thousands | 1 | 5000 | Table 1 |"));
  add("|mean|", 1, -1);
  EXPECT_TRUE(says(report.page({}), "| \\|mean\\| | 1 | 1 | Table 1 |"));
}

// A script says which columns of its data a series is drawn from, and what is drawn beside it.
TEST(ReproducePlot, DrawsErrorsNamesAndTics) {
  Panel panel{.title = "", .x_label = "", .y_label = "", .log_y = true};
  panel.y_tics = {1, 1.5};
  const auto script_of = [&](const Series& series) {
    panel.series = {series};
    return gnuplot_script({.title = "", .panels = {panel}}, "name");
  };
  Series series{.label = "s", .x = {1, 2}, .y = {2, 1}, .error = {0.5, 3}, .style = Style::kLine};
  panel.title = "two \"lines\"\nof it";
  EXPECT_TRUE(says(script_of(series), "set title \"two \\\"lines\\\"\\nof it\""));
  const std::string band = script_of(series);
  EXPECT_TRUE(says(band, "using 1:5:6 with filledcurves"));
  EXPECT_TRUE(says(band, "1 2 1 1 1.5 2.5 \"\""));
  EXPECT_TRUE(says(band, "2 1 2 2 0.01 4 \"\""));  // it would be below 0
  EXPECT_TRUE(says(band, "set ytics (1, 1.5)"));
  series.style = Style::kPoints;
  EXPECT_TRUE(says(script_of(series), "using 1:2:5:6 with yerrorbars"));
  series.x_error = {0.25, 0.25};
  EXPECT_TRUE(says(script_of(series), "using 1:2:3:4:5:6 with xyerrorbars"));
  series.names = {"first", "it's 2nd"};
  const std::string named = script_of(series);
  EXPECT_TRUE(says(named, "using 1:2:7 with labels"));
  EXPECT_TRUE(says(named, "\"it's 2nd\""));
}

TEST(ReproduceMeanCurve, HasTheErrorOfSeedsAndRows) {
  const ErrorCurve one{.examples = {1, 2}, .error = {0.1, 0.2}, .alone = {}};
  const ErrorCurve two{.examples = {1, 2}, .error = {0.3, NAN}, .alone = {}};
  const Series curve = mean_curve("m", 0, 100, 400, {one, two});
  EXPECT_DOUBLE_EQ(curve.y[0], 20);
  EXPECT_NEAR(curve.error[0], 100 * share_of_errors({0.1, 0.3}, 400).mcse, 1e-12);
  EXPECT_TRUE(std::isnan(curve.y[1]));
}

TEST(ReproducePairedDifference, HasTheErrorOfTheDifferences) {
  // What both have in common, ten times as large as what tells them apart, cancels.
  const std::vector<double> common = normals(12, 7);
  const std::vector<double> own = normals(12, 8);
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> differences;
  for (std::size_t i = 0; i < common.size(); ++i) {
    theirs.push_back(10 * common[i]);
    ours.push_back(10 * common[i] + own[i] + 2);
    differences.push_back(own[i] + 2);
  }
  const Estimate paired = paired_difference(ours, theirs);
  const Estimate direct = mean_of(differences);
  EXPECT_NEAR(paired.value, direct.value, 1e-12);
  EXPECT_NEAR(paired.mcse, direct.mcse, 1e-12);
  EXPECT_LT(5 * paired.mcse, std::hypot(mean_of(ours).mcse, mean_of(theirs).mcse));
}

TEST(ReproduceKlFigures, WhatIsBelowTheFloorIsDrawnThereWithItsOwnMark) {
  Report report;
  add_kl_figures("g", true,
                 {{.label = "default", .exact = 1e-25, .bar = at_most(0.1)},
                  {.label = "SGD", .papers = 14, .exact = 2.0, .papers_decimals = 1},
                  {.label = "unstable", .exact = INFINITY}},
                 report);
  const std::vector<Series>& series = report.plot().panels.at(0).series;
  EXPECT_TRUE(says(series[1].label, "below 1e-06"));
  EXPECT_EQ(series[1].y, (std::vector<double>{1e-6}));
  EXPECT_EQ(series[0].y, (std::vector<double>{2.0, INFINITY}));
  EXPECT_TRUE(says(report.page({}), "| SGD, exact | 2 | 14.0 | Table 1 |"));
}

TEST(ReproduceReport, MarksWhatAClockMeasured) {
  Report report;
  report.add(Figure{.group = "g", .name = "speed", .ours = 2, .timed = true});
  EXPECT_TRUE(says(report.page({}), "| speed | 2 (timed) |"));
  EXPECT_EQ(report.to_json({}).at("figures")[0].at("timed"), true);
}

TEST(ReproduceLaws, AutocorrelationTimesAreThoseOfARecursion) {
  // The autocorrelation time of theta <- (1 - a) theta + noise is 2 / a - 1.
  Law law{0.5 * Eigen::MatrixXd::Identity(2, 2), Eigen::MatrixXd::Zero(2, 2)};
  const Eigen::MatrixXd curvature = Eigen::Vector2d(1, 0.02).asDiagonal();
  const Eigen::MatrixXd sigma = Eigen::Vector2d(3, 70).asDiagonal();
  const Eigen::VectorXd times = autocorrelation_times(law, curvature, sigma);
  EXPECT_NEAR(times[0], 2 / 0.5 - 1, 1e-12);
  EXPECT_NEAR(times[1], 2 / 0.01 - 1, 1e-9);
  EXPECT_FALSE(too_slow_to_measure({{}, 10, 19}, 2000));
  EXPECT_TRUE(too_slow_to_measure({{}, 10.1, 19}, 2000));
}

TEST(ReproduceHmc, DrawsUntilItsGradientsAfterTheWarmUpReachTheBudget) {
  std::size_t evaluations = 0;
  const reference::LogDensity normal = [&](const auto& x, auto& gradient) {
    ++evaluations;
    gradient[0] = -x[0];
    return -0.5 * x[0] * x[0];
  };
  reference::Options options{.warm_up = 100, .draws = 100'000, .most_gradients = 400};
  const reference::Run run = reference::hamiltonian_monte_carlo(normal, {0.0}, options);
  const std::size_t drawing = run.gradients - run.warm_up_gradients;
  EXPECT_EQ(run.gradients, evaluations);
  EXPECT_GE(drawing, 400U);
  // One draw fewer had not reached it: the same run again.
  options.draws = run.draws.size() - 1;
  const reference::Run shorter = reference::hamiltonian_monte_carlo(normal, {0.0}, options);
  EXPECT_EQ(shorter.warm_up_gradients, run.warm_up_gradients);
  EXPECT_LT(shorter.gradients - shorter.warm_up_gradients, 400U);
  options.draws = 0;
  EXPECT_EQ(reference::hamiltonian_monte_carlo(normal, {0.0}, options).gradients,
            run.warm_up_gradients);
}

TEST(ReproduceSummary, ErrorOfASpreadIsThatOfSquares) {
  // theta' = rho theta + noise: squares forget by rho^2, so that their effective draws are
  // (1 - rho^2) / (1 + rho^2) of all, those of the mean (1 - rho) / (1 + rho).
  constexpr std::size_t kDraws = 20'000;
  constexpr double kRho = 0.9;
  std::vector<std::vector<double>> chain;
  double theta = 0;
  for (const double z : normals(kDraws, 5)) {
    theta = kRho * theta + std::sqrt(1 - kRho * kRho) * z;
    chain.push_back({theta});
  }
  const Summary summary = summarize({chain});
  constexpr double kSquare = kRho * kRho;
  const double effective = kDraws * (1 - kSquare) / (1 + kSquare);
  EXPECT_NEAR(spread_errors({chain}, summary)[0], 1 / std::sqrt(2 * effective),
              0.15 / std::sqrt(2 * effective));
  EXPECT_NEAR(summary.bulk[0], kDraws * (1 - kRho) / (1 + kRho), 0.15 * kDraws * 0.1 / 1.9);
}

TEST(ReproduceSummary, ErrorOfEffectiveDrawsIsThatOfRepeatedRuns) {
  // Independent draws of two parameters, the second of which hardly moves.
  constexpr std::size_t kDraws = 2000;
  const auto chain_of = [&](std::uint64_t seed) {
    Draws draws(1);
    const std::vector<double> z = normals(2 * kDraws, seed);
    double slow = 0;
    for (std::size_t i = 0; i < kDraws; ++i) {
      slow = 0.9 * slow + std::sqrt(1 - 0.81) * z[2 * i];
      draws[0].push_back({z[2 * i + 1], slow});
    }
    return draws;
  };
  std::vector<double> effective;
  std::vector<double> errors;
  for (std::uint64_t seed = 20; seed < 50; ++seed) {
    const Draws draws = chain_of(seed);
    const Summary summary = summarize(draws);
    effective.push_back(summary.least_effective());
    errors.push_back(error_of_effective(draws, summary));
  }
  const Estimate mean = mean_of(effective);
  const double spread = mean.mcse * std::sqrt(30.0) / mean.value;
  EXPECT_NEAR(mean_of(errors).value, spread, 0.4 * spread);  // 30 runs tell it to an eighth
}

TEST(ReproduceBias, IsTheWorstParametersInUnitsOfTheTruth) {
  const nlohmann::ordered_json truth = {{"mean", std::vector<double>(10, 1.0)},
                                        {"sd", std::vector<double>(10, 2.0)}};
  std::vector<double> mean(10, 1.0);
  std::vector<double> sd(10, 2.0);
  mean[3] = 0.0;
  mean[5] = 1.5;
  sd[2] = 2.2;
  sd[7] = 1.0;
  const Bias off = bias(mean, sd, truth);
  EXPECT_DOUBLE_EQ(off.mean, 0.5);
  EXPECT_DOUBLE_EQ(off.ratio, 0.5);
  mean[9] = NAN;
  EXPECT_TRUE(std::isnan(bias(mean, sd, truth).mean));
}

TEST(ReproduceCrossover, IsWhereTheLeadPassesOne) {
  const std::vector<std::size_t> sizes = {100, 1000, 10'000};
  const std::vector<double> errors = {0.01, 0.02, 0.03};
  const Crossover between = crossover_of(sizes, {0.01, 0.1, 10}, errors);
  EXPECT_NEAR(between.rows, std::sqrt(1000.0 * 10'000), 1e-6);
  // The error is how much the crossing moves with either lead.
  const double less = crossover_of(sizes, {0.01, 0.1 * 1.0002, 10}, errors).rows;
  const double more = crossover_of(sizes, {0.01, 0.1, 10 * 1.0003}, errors).rows;
  EXPECT_NEAR(between.mcse, 100 * std::hypot(less - between.rows, more - between.rows),
              1e-3 * between.mcse);
  EXPECT_TRUE(std::isnan(crossover_of(sizes, {2, 3, 4}, errors).rows));
  EXPECT_STREQ(crossover_of(sizes, {0.2, 0.3, 0.4}, errors).words, "at no size");
}

// One row of the ten numbers and what follows them.
std::string covertype_row(const std::string& rest) { return "1,2,3,4,5,6,7,8,9,10," + rest + "\n"; }
// One-hot columns of UCI's file.
std::string covertype_columns(int wilderness, int soil) {
  std::string out;
  for (int i = 1; i <= 4; ++i) out += i == wilderness ? "1," : "0,";
  for (int i = 1; i <= 40; ++i) out += i == soil ? "1," : "0,";
  return out;
}

TEST(ReproduceCovertype, FoldedAndUnfoldedFilesAreTheSame) {
  const std::string header = "a,b,c,d,e,f,g,h,i,j,Wilderness_Area,Soil_Type,Cover_Type\n";
  const Dataset folded = load_covertype(
      file_with("sample.csv", header + covertype_row("2,40,7") + covertype_row("4,1,1")));
  const Dataset full =
      load_covertype(file_with("covtype.data", covertype_row(covertype_columns(2, 40) + "7") +
                                                   covertype_row(covertype_columns(4, 1) + "1")));
  ASSERT_EQ(folded.columns(), 54U);
  EXPECT_EQ(folded.features, full.features);
  EXPECT_EQ(folded.targets, (std::vector<double>{6, 0}));
  EXPECT_EQ(full.targets, folded.targets);
  EXPECT_EQ(folded.row(0)[10 + 1], 1);
  EXPECT_EQ(folded.row(0)[10 + 4 + 39], 1);
  EXPECT_EQ(std::accumulate(folded.row(1) + 10, folded.row(1) + 54, 0.0), 2);
}

TEST(ReproduceCovertype, RefusesCategoriesThatAreNone) {
  const std::string header = "a,b,c,d,e,f,g,h,i,j,Wilderness_Area,Soil_Type,Cover_Type\n";
  const auto refusal = [&](const std::string& rest) {
    const std::string path =
        file_with("wrong.csv", header + covertype_row("1,1,1") + covertype_row(rest));
    return refusal_of([&] { load_covertype(path); });
  };
  EXPECT_TRUE(says(refusal("1,41,1"),
                   "row 2: Soil_Type is 41, which has to be a whole number from "
                   "1 to 40"));
  EXPECT_TRUE(says(refusal("0,1,1"), "Wilderness_Area is 0"));
  EXPECT_TRUE(says(refusal("1,1,8"), "Cover_Type is 8"));
  EXPECT_TRUE(says(refusal("1.5,1,1"), "Wilderness_Area is 1.5"));
  std::string two = covertype_columns(1, 2);
  two[2] = '1';  // a second wilderness area
  const std::string path = file_with("covtype.data", covertype_row(two + "1"));
  EXPECT_TRUE(says(refusal_of([&] { load_covertype(path); }), "row 1: Wilderness_Area is 0"));
}

TEST(ReproduceMnist, RefusesImagesAndLabelsThatDoNotBelongTogether) {
  const IdxFile images{.sizes = {2, 1, 2}, .bytes = {0, 255, 51, 0}};
  const auto refusal = [](const IdxFile& of, const IdxFile& labels) {
    return refusal_of([&] { digits_of(of, labels, "FILE"); });
  };
  EXPECT_TRUE(says(refusal(images, {.sizes = {3}, .bytes = {1, 2, 3}}),
                   "FILE has 2 images, but there are 3 labels"));
  EXPECT_TRUE(says(refusal(images, {.sizes = {2}, .bytes = {1, 10}}), "a label is 10, not 0 to 9"));
  EXPECT_TRUE(says(refusal({.sizes = {0, 1, 2}, .bytes = {}}, {.sizes = {0}, .bytes = {}}),
                   "FILE has no images"));
  EXPECT_TRUE(says(refusal({.sizes = {2}, .bytes = {1, 2}}, {.sizes = {2}, .bytes = {1, 2}}),
                   "images need three sizes"));
  const Dataset digits = digits_of(images, {.sizes = {2}, .bytes = {9, 0}}, "FILE");
  EXPECT_EQ(digits.columns(), 2U);
  EXPECT_DOUBLE_EQ(digits.row(1)[0], 0.2);
  EXPECT_EQ(digits.targets, (std::vector<double>{9, 0}));
}

}  // namespace
}  // namespace windhover::reproduce::statistics_test
