#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "windhover/platform/random.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/reproduce/driver.h"
#include "windhover/tools/reproduce/files.h"
#include "windhover/tools/reproduce/runs.h"

namespace windhover::reproduce::driver_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A directory of the test alone, empty.
fs::path directory(const std::string& name) {
  const fs::path path = path_of("reproduce-" + name);
  fs::remove_all(path);
  fs::create_directories(path);
  return path;
}

std::atomic<int> computed = 0;  // parts of kWorks, since the test began

void works(const Context& context, Report& report) {
  context.parallel(3, [&](std::size_t i) {
    context.part(std::string("part-").append(std::to_string(i)), "", [&] {
      ++computed;
      return nlohmann::ordered_json{{"value", i}, {"none", std::nan("")}};
    });
  });
  report.add(Figure{.group = "a group",
                    .name = "good",
                    .ours = 0.5,
                    .mcse = 0.01,
                    .papers = 0.7,
                    .papers_source = "Table 1",
                    .bar = at_most(0.6)});
  report.add(Figure{.group = "a group", .name = "bad", .ours = 2, .bar = Bar{0.9, 1.1}});
  report.add(Figure{.group = "a group", .name = "not a number", .bar = at_least(0)});
  report.note("What was found.");
  Panel panel{.title = "it's 100 %", .x_label = "passes", .y_label = "KL (nats)", .log_y = true};
  panel.series.push_back(
      {.label = "ours", .x = {1, 2, 3}, .y = {1, -1, 10}, .error = {0.1, 0.1, 0.1}});
  panel.series.push_back({.label = "the paper's", .x = {1, 2}, .y = {3, 4}, .papers = true});
  report.add(panel);
  report.add(Panel{.title = "names",
                   .x_label = "method",
                   .y_label = "error",
                   .series = {{.label = "", .x = {0, 1}, .y = {1, 2}}},
                   .categories = {"first", "second"}});
}

void throws(const Context& context, Report&) {
  context.parallel(4, [](std::size_t i) {
    if (i == 2) throw RunError("the third part went wrong");
  });
}

// Bars as they come out of floating point and of Monte Carlo errors.
void barred(const Context&, Report& report) {
  report.leave_out("the comparison, as nothing is there");
  const auto add = [&](const char* name, const Bar& bar) {
    report.add(Figure{.group = "bars", .name = name, .ours = 0.8342, .bar = bar});
  };
  add("sum", at_most(0.1 + 0.2));
  add("derived", at_most(0.0446127));
  add("large", at_least(20'000));
  add("zero", at_most(0));
  add("small", at_most(1e-10));
  add("margin", Bar{0.88 - 3 * 0.0152508, 0.92 + 3 * 0.0152508});
  add("about 1", Bar{1 - 0.00234567, 1 + 0.00234567});
  add("exactly 1", Bar{1, 1});
}

const std::vector<Experiment> kFakes = {
    {"works", "Author 2000, Table 1", "that it works", {}, works},
    {"needs-data", "Author 2000, Figure 2", "nothing", {"CASP.csv"}, works},
    {"throws", "Author 2000, Figure 3", "nothing", {}, throws},
    {"whole", "Author 2000, Figure 4", "the same with --quick", {}, barred, false},
};

struct Ran {
  bool sound = false;
  std::vector<Outcome> outcomes;
};

Ran run(const std::string& name, const Settings& settings) {
  computed = 0;
  Ran ran;
  ran.sound = run_experiments(kFakes, name, settings, {},
                              [&](const Outcome& outcome) { ran.outcomes.push_back(outcome); });
  return ran;
}

TEST(ReproduceRegistry, EveryExperimentIsDescribedAndItsDataAreKnown) {
  std::set<std::string_view> names = {"all", "list"};
  for (const Experiment& experiment : experiments()) {
    EXPECT_TRUE(names.insert(experiment.name).second) << experiment.name;
    EXPECT_FALSE(experiment.source.empty()) << experiment.name;
    EXPECT_FALSE(experiment.summary.empty()) << experiment.name;
    EXPECT_NE(experiment.run, nullptr) << experiment.name;
    for (const std::string_view file : experiment.files) {
      EXPECT_FALSE(origin_of(file).empty()) << file;
    }
    EXPECT_TRUE(says(text_of(WINDHOVER_SOURCE_DIR "/tools/reproduce/results.md"),
                     std::string(experiment.name)));
  }
}

TEST(ReproduceList, NamesEachWithItsSourceAndData) {
  const std::string text = list_text(kFakes);
  EXPECT_TRUE(says(text, "needs-data  Author 2000, Figure 2: nothing"));
  EXPECT_TRUE(says(text, "needs CASP.csv"));
  const auto json = list_json(kFakes);
  ASSERT_EQ(json.size(), kFakes.size());
  EXPECT_EQ(json[1]["files"][0], "CASP.csv");
}

TEST(ReproduceRun, WritesNumbersPageAndPictures) {
  const fs::path out = directory("writes");
  const Ran ran = run("works", {.data = out, .out = out, .seed = 7});
  ASSERT_EQ(ran.outcomes.size(), 1U);
  EXPECT_TRUE(says(ran.outcomes[0].sentence, "3 figures, 1 of 3 bars met"));
  const auto result = nlohmann::ordered_json::parse(text_of(out / "works.json"));
  EXPECT_EQ(result["seed"], 7);
  EXPECT_EQ(result["figures"][0]["papers"], 0.7);
  EXPECT_EQ(result["figures"][0]["met"], true);
  EXPECT_EQ(result["figures"][1]["met"], false);
  EXPECT_TRUE(result["figures"][2]["ours"].is_null());
  EXPECT_EQ(result["figures"][2]["met"], false);
  EXPECT_EQ(result["panels"][0]["series"][0]["y"][1], -1);
  const std::string page = text_of(out / "works.md");
  EXPECT_TRUE(says(page, "| good | 0.5 ± 0.01 | 0.7 | Table 1 | ≤ 0.6 | yes |"));
  EXPECT_TRUE(says(page, "| bad | 2 |  |  | 0.9 to 1.1 | **no** |"));
  EXPECT_TRUE(says(page, "![works](works.svg)"));
  EXPECT_TRUE(says(page, "What was found."));
  const std::string svg = text_of(out / "works.svg");
  EXPECT_TRUE(says(svg, "KL (nats)"));
  EXPECT_TRUE(says(svg, "it's 100 %"));
  EXPECT_TRUE(says(svg, "second"));
  EXPECT_TRUE(says(text_of(out / "works.png").substr(1, 3), "PNG"));
  EXPECT_TRUE(says(text_of(out / "index.md"), "[works](works.md)"));
  EXPECT_TRUE(says(text_of(out / "index.md"), "1 of 3"));
}

TEST(ReproduceRun, SkipsWhatHasNoDataWithOneSentence) {
  const fs::path out = directory("skips");
  const Ran ran = run("needs-data", {.data = out, .out = out});
  ASSERT_EQ(ran.outcomes.size(), 1U);
  EXPECT_TRUE(ran.sound);
  EXPECT_TRUE(ran.outcomes[0].skipped);
  EXPECT_TRUE(says(ran.outcomes[0].sentence, "skipped: CASP.csv is not in " + out.string()));
  EXPECT_TRUE(says(ran.outcomes[0].sentence, "Rana 2013"));
  EXPECT_TRUE(says(text_of(out / "index.md"), "skipped: CASP.csv"));
  EXPECT_EQ(computed, 0);
}

TEST(ReproduceRun, FindsCompressedData) {
  const fs::path out = directory("compressed");
  std::ofstream(out / "CASP.csv.gz") << "anything";
  EXPECT_FALSE(run("needs-data", {.data = out, .out = out}).outcomes[0].skipped);
}

TEST(ReproduceRun, AllGoesOnAfterAFailureAndSaysSo) {
  const fs::path out = directory("all");
  const Ran ran = run("all", {.data = out, .out = out});
  EXPECT_FALSE(ran.sound);
  ASSERT_EQ(ran.outcomes.size(), 4U);
  EXPECT_FALSE(ran.outcomes[0].failed);
  EXPECT_TRUE(ran.outcomes[1].skipped);
  EXPECT_TRUE(ran.outcomes[2].failed);
  EXPECT_EQ(ran.outcomes[2].sentence, "the third part went wrong");
  EXPECT_THROW(run("throws", {.data = out, .out = out}), RunError);
}

TEST(ReproduceRun, AllGoesOnWhereAFailureCannotBeWritten) {
  const fs::path out = directory("unwritable");
  fs::create_directories(out / "throws.failed" / "a directory of that name");
  std::vector<std::string> told;
  EXPECT_THROW(run_experiments(kFakes, "all", {.data = out, .out = out}, {},
                               [&](const Outcome& outcome) { told.push_back(outcome.name); }),
               RunError);
  EXPECT_EQ(told, (std::vector<std::string>{"works", "needs-data", "throws", "whole"}));
  EXPECT_TRUE(says(text_of(out / "index.md"), "[whole](whole.md)"));
}

TEST(ReproduceRun, NumbersAreSafeWhereAPictureCannotBeDrawn) {
  const fs::path out = directory("undrawn");
  fs::create_directories(out / "works.svg" / "a directory of that name");
  EXPECT_THROW(run("works", {.data = out, .out = out}), RunError);
  EXPECT_TRUE(says(text_of(out / "works.md"), "What was found."));
  EXPECT_TRUE(says(text_of(out / "works.json"), "a group"));
}

TEST(ReproduceRun, AFailureIsMarkedUntilARunSucceeds) {
  const fs::path out = directory("marked");
  const Settings settings{.data = out, .out = out};
  run("works", settings);
  fs::copy(out / "works.json", out / "throws.json");  // the result of a run that did not fail
  EXPECT_THROW(run("throws", settings), RunError);
  const auto row = [&] {
    const std::string index = text_of(out / "index.md");
    const std::size_t begin = index.find("throws");
    return index.substr(begin, index.find('\n', begin) - begin);
  };
  EXPECT_TRUE(says(row(), "failed: the third part went wrong"));
  EXPECT_FALSE(says(row(), "1 of 3"));
  // Another run does not forget it; one of its own that succeeds does.
  run("works", settings);
  EXPECT_TRUE(says(row(), "failed"));
  std::vector<Experiment> mended = kFakes;
  mended[2].run = works;
  run_experiments(mended, "throws", settings, {}, [](const Outcome&) {});
  EXPECT_FALSE(says(row(), "failed"));
  EXPECT_TRUE(says(row(), "1 of 3"));
}

TEST(ReproduceRun, OnlyWhatReadsFilesNeedsData) {
  const fs::path out = directory("no-data");
  EXPECT_TRUE(run("works", {.out = out}).sound);
  EXPECT_FALSE(says(text_of(out / "works.md"), "--data"));
  EXPECT_TRUE(says(text_of(out / "index.md"), "without --data there is no CASP.csv"));
  for (const char* name : {"needs-data", "all"}) {
    EXPECT_TRUE(says(refusal_of([&] { run(name, {.out = out}); }),
                     "--data is missing: the directory where needs-data finds CASP.csv"))
        << name;
  }
}

TEST(ReproduceRun, RefusesAnUnknownNameWithThoseThereAre) {
  const fs::path out = directory("unknown");
  const std::string refusal = refusal_of([&] { run("wroks", {.data = out, .out = out}); });
  EXPECT_TRUE(
      says(refusal,
           "there is no experiment \"wroks\"; did you mean works; there are works, needs-data, "
           "throws, whole, all"));
}

TEST(ReproduceRun, RefusesAnOutputThatIsNoDirectory) {
  const std::string file = file_with("reproduce-file", "text");
  EXPECT_TRUE(says(refusal_of([&] { run("works", {.data = ".", .out = file}); }), "--out " + file));
}

TEST(ReproduceRun, ResumesFinishedPartsOfTheSameRunOnly) {
  const fs::path out = directory("resumes");
  Settings settings{.data = out, .out = out};
  run("works", settings);
  EXPECT_EQ(computed, 3);
  settings.resume = true;
  run("works", settings);
  EXPECT_EQ(computed, 0);
  std::ofstream(out / "works.parts/part-1.json") << "{\"run\":";  // cut off
  run("works", settings);
  EXPECT_EQ(computed, 1);
  settings.quick = true;
  run("works", settings);
  EXPECT_EQ(computed, 3);
  settings.resume = false;
  run("works", settings);
  EXPECT_EQ(computed, 3);
}

TEST(ReproduceRun, SaysThatItIsQuickOnlyWhereSomethingIsLeftOut) {
  const fs::path out = directory("quick");
  const Settings settings{.data = out, .out = out, .quick = true};
  run("works", settings);
  run("whole", settings);
  EXPECT_TRUE(says(text_of(out / "works.md"), "A quick run"));
  EXPECT_FALSE(says(text_of(out / "whole.md"), "A quick run"));
  EXPECT_TRUE(says(text_of(out / "whole.md"), "--quick"));  // the command
  const auto quick = [&](const char* file) {
    return nlohmann::json::parse(text_of(out / file)).at("quick").get<bool>();
  };
  EXPECT_TRUE(quick("works.json"));
  EXPECT_FALSE(quick("whole.json"));
}

TEST(ReproduceRun, PrintsBarsWithTheDigitsThatAreMeant) {
  const fs::path out = directory("bars");
  run("whole", {.data = out, .out = out});
  const std::string page = text_of(out / "whole.md");
  EXPECT_TRUE(says(page, "Left out: the comparison, as nothing is there."));
  EXPECT_TRUE(says(text_of(out / "index.md"), "| left out: the comparison, as nothing is there |"));
  EXPECT_TRUE(says(page, "| sum | 0.8342 | ≤ 0.3 |"));
  EXPECT_TRUE(says(page, "| derived | 0.8342 | ≤ 0.0446 |"));
  EXPECT_TRUE(says(page, "| large | 0.8342 | ≥ 20000 |"));
  EXPECT_TRUE(says(page, "| zero | 0.8342 | ≤ 0 |"));
  EXPECT_TRUE(says(page, "| small | 0.8342 | ≤ 1e-10 |"));
  EXPECT_TRUE(says(page, "| margin | 0.8342 | 0.834 to 0.966 | **no** |"));
  EXPECT_TRUE(says(page, "| about 1 | 0.8342 | 0.99765 to 1.00235 |"));
  EXPECT_TRUE(says(page, "| exactly 1 | 0.8342 | 1 to 1 |"));
}

// Parts of a sample of a normal whose second coordinate follows the first.
std::vector<RunMoments> normal_parts(std::uint64_t seed, double shift, double stretch) {
  constexpr std::size_t kParts = 20;
  constexpr std::size_t kDraws = 500;
  std::vector<double> z(kParts * kDraws * 2);
  fill_normals(seed, {.step = 1}, z);
  std::vector<RunMoments> parts;
  for (std::size_t part = 0; part < kParts; ++part) {
    Moments moments(Eigen::VectorXd::Zero(2));
    for (std::size_t i = part * kDraws; i < (part + 1) * kDraws; ++i) {
      const double x = shift + stretch * z[2 * i];
      const double theta[] = {x, 10 * (0.8 * z[2 * i] + 0.6 * z[2 * i + 1])};
      moments.add(theta);
    }
    parts.push_back(moments_from(to_json(moments)));
  }
  return parts;
}

TEST(ReproduceComparison, OfTheSameLawIsWithinItsMonteCarloError) {
  double chance = 0;
  double kl = 0;
  constexpr int kPairs = 20;
  for (std::uint64_t seed = 1; seed <= kPairs; ++seed) {
    const Comparison c = compare(normal_parts(seed, 0, 1), normal_parts(seed + 100, 0, 1));
    EXPECT_LE(c.furthest.value, 4 * c.furthest.mcse) << seed;
    EXPECT_GE(c.least_sd.value, 1 - 4 * c.least_sd.mcse) << seed;
    EXPECT_LE(c.most_sd.value, 1 + 4 * c.most_sd.mcse) << seed;
    EXPECT_LE(c.kl.value, c.kl_by_chance.value + 4 * c.kl_by_chance.mcse) << seed;
    // A mean of 10,000 draws, twice.
    EXPECT_NEAR(c.furthest.mcse, std::sqrt(2.0 / 10'000), 0.008) << seed;
    chance += c.kl_by_chance.value / kPairs;
    kl += c.kl.value / kPairs;
  }
  // Five moments: half of a chi-squared of five degrees over each side's draws.
  constexpr double kExpected = 5.0 / 2 * 2 / 10'000;
  EXPECT_NEAR(chance, kExpected, 0.1 * kExpected);
  EXPECT_NEAR(kl, kExpected, 4 * kExpected * std::sqrt(2.0 / 5 / kPairs));
}

TEST(ReproduceComparison, SeesAMeanAndASpreadThatAreOff) {
  const std::vector<RunMoments> truth = normal_parts(1, 0, 1);
  const Comparison shifted = compare(normal_parts(2, 0.1, 1), truth);
  EXPECT_NEAR(shifted.furthest.value, 0.1, 4 * shifted.furthest.mcse);
  EXPECT_GT(shifted.furthest.value, 4 * shifted.furthest.mcse);
  EXPECT_NEAR(shifted.off[0].value, shifted.furthest.value, 1e-12);
  // Far off, its error is that of the shift: KL = s^2 / 2 (1 - 0.8^2)^-1.
  EXPECT_NEAR(shifted.kl.value, 0.01 / 2 / 0.36, 4 * shifted.kl.mcse);
  EXPECT_NEAR(shifted.kl.mcse, 0.1 / 0.36 * std::sqrt(2 * 0.36 / 10'000), 0.001);
  EXPECT_GT(shifted.kl.value, shifted.kl_by_chance.value + 4 * shifted.kl_by_chance.mcse);
  const Comparison wide = compare(normal_parts(2, 0, 1.1), truth);
  EXPECT_NEAR(wide.most_sd.value, 1.1, 4 * wide.most_sd.mcse);
  EXPECT_GT(wide.most_sd.value, 1 + 4 * wide.most_sd.mcse);
  EXPECT_GT(wide.kl.value, wide.kl_by_chance.value + 4 * wide.kl_by_chance.mcse);
}

TEST(ReproduceComparison, AnExactSideHasNoErrorOfItsOwn) {
  std::vector<RunMoments> exact(1);
  exact[0] = {1, Eigen::VectorXd::Zero(2), Eigen::MatrixXd(2, 2)};
  exact[0].covariance << 1, 8, 8, 100;
  const Comparison itself = compare(exact, exact);
  EXPECT_EQ(itself.furthest.value, 0);
  EXPECT_EQ(itself.furthest.mcse, 0);
  EXPECT_EQ(itself.kl_by_chance.value, 0);
  EXPECT_NEAR(itself.kl.value, 0, 1e-12);
  const Comparison c = compare(normal_parts(3, 0, 1), exact);
  EXPECT_LE(c.furthest.value, 4 * c.furthest.mcse);
  EXPECT_NEAR(c.furthest.mcse, std::sqrt(1.0 / 10'000), 0.006);
}

TEST(ReproduceFiles, AFailedWriteLeavesTheOldFileAndSaysSo) {
  const fs::path out = directory("full");
  write_file(out / "a.md", "old");
  EXPECT_EQ(text_of(out / "a.md"), "old");
  // What stands beside the file while it is written is a device that is always full.
  fs::create_symlink("/dev/full", out / "a.md.new");
  EXPECT_THROW(write_file(out / "a.md", "new"), RunError);
  EXPECT_EQ(text_of(out / "a.md"), "old");
}

TEST(ReproduceFiles, APictureThatIsCutOffIsNoticed) {
  const fs::path out = directory("cut");
  write_file(out / "p.gp", "print 'draws nothing'\n");
  EXPECT_THROW(draw(out, "p"), RunError);
}

}  // namespace
}  // namespace windhover::reproduce::driver_test
