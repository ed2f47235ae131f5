// Parts of long runs: what is kept, what is computed again, and what is not thrown away.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "windhover/tests/tools/support.h"
#include "windhover/tools/reproduce/driver.h"

namespace windhover::reproduce::parts_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

fs::path directory(const std::string& name) {
  const fs::path path = path_of("parts-" + name);
  fs::remove_all(path);
  fs::create_directories(path);
  return path;
}

std::atomic<int> computed = 0;
bool fails = false;              // after its parts
std::string steps = "10 steps";  // the settings of the parts

void two_parts(const Context& context, Report& report) {
  for (const char* key : {"first", "second"}) {
    context.part(key, steps, [&] { return ordered_json(++computed); });
  }
  if (fails) throw RunError("interrupted");
  report.add(Figure{.group = "g", .name = "figure", .ours = 1});
}

const std::vector<Experiment> kFake = {
    {"fake", "Author 2000, Table 1", "nothing", {"CASP.csv"}, two_parts}};

int parts_computed(const Settings& settings) {
  computed = 0;
  run_experiments(kFake, "fake", settings, {}, [](const Outcome&) {});
  return computed;
}

class ReproduceParts : public ::testing::Test {
 protected:
  void SetUp() override {
    fails = false;
    steps = "10 steps";
    std::ofstream(out / "CASP.csv") << "1,2\n";
  }
  // Two finished parts of a run that did not come to its end.
  void interrupt() {
    fails = true;
    EXPECT_THROW(parts_computed({.data = out, .out = out}), RunError);
    fails = false;
  }
  void rewrite(const char* part, const std::function<void(ordered_json&)>& change) const {
    const fs::path path = out / "fake.parts" / part;
    auto json = ordered_json::parse(text_of(path));
    change(json);
    std::ofstream(path) << json.dump();
  }

  const fs::path out = directory(::testing::UnitTest::GetInstance()->current_test_info()->name());
  const Settings resumed{.data = out, .out = out, .resume = true};
};

TEST_F(ReproduceParts, OfAnUnfinishedRunGoOnlyWhenToldTo) {
  interrupt();
  const std::string refusal = refusal_of([&] { parts_computed({.data = out, .out = out}); });
  EXPECT_TRUE(says(refusal, (out / "fake.parts").string() +
                                " holds parts of a run that did not come to its end: --resume goes "
                                "on with them, --fresh throws them away"));
  EXPECT_EQ(parts_computed(resumed), 0);
  interrupt();
  EXPECT_EQ(parts_computed({.data = out, .out = out, .fresh = true}), 2);
  // Parts of a run that came to its end may go.
  EXPECT_EQ(parts_computed({.data = out, .out = out}), 2);
}

TEST_F(ReproduceParts, OfOtherDataAreComputedAgain) {
  interrupt();
  std::ofstream(out / "CASP.csv", std::ios::app) << "3,4\n";
  EXPECT_EQ(parts_computed(resumed), 2);
  EXPECT_EQ(parts_computed(resumed), 0);
  fs::rename(out / "CASP.csv", out / "CASP.csv.gz");
  EXPECT_EQ(parts_computed(resumed), 2);
}

TEST_F(ReproduceParts, OfOtherSettingsAreComputedAgain) {
  interrupt();
  steps = "20 steps";
  EXPECT_EQ(parts_computed(resumed), 2);
  EXPECT_EQ(parts_computed(resumed), 0);
}

TEST_F(ReproduceParts, OfAnotherBuildAreKeptAndSaidToBe) {
  interrupt();
  parts_computed(resumed);
  EXPECT_FALSE(says(text_of(out / "fake.md"), "builds"));
  rewrite("first.json", [](ordered_json& part) { part["build"] = "another"; });
  EXPECT_EQ(parts_computed(resumed), 0);
  EXPECT_TRUE(says(text_of(out / "fake.md"), "Its parts come from 2 builds of the program"));
  EXPECT_EQ(ordered_json::parse(text_of(out / "fake.json")).at("builds"), 2);
}

TEST_F(ReproduceParts, CountTheSecondsOfAllRunsThatAreResumed) {
  interrupt();
  const auto seconds = [&] {
    return ordered_json::parse(text_of(out / "fake.json")).at("seconds").get<double>();
  };
  rewrite("elapsed.json", [](ordered_json& elapsed) { elapsed["seconds"] = 1000.0; });
  parts_computed(resumed);
  EXPECT_GE(seconds(), 1000);
  EXPECT_LT(seconds(), 1100);
  Settings other = resumed;
  other.seed = 2;  // another run, so the time is another's
  parts_computed(other);
  EXPECT_LT(seconds(), 100);
}

TEST_F(ReproduceParts, ThePageSaysTheCommandAsItWas) {
  interrupt();
  Settings settings = resumed;
  settings.data = out / "with space";
  fs::create_directory(settings.data);
  fs::copy(out / "CASP.csv", settings.data / "CASP.csv");
  settings.threads = 3;
  run_experiments(kFake, "all", settings, {}, [](const Outcome&) {});
  EXPECT_TRUE(says(text_of(out / "fake.md"),
                   "windhover reproduce all --data '" + settings.data.string() + "' --out " +
                       out.string() + " --resume --seed 1 --threads 3\n"));
}

}  // namespace
}  // namespace windhover::reproduce::parts_test
