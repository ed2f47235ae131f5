// `windhover bench`: that its options, its result and its comparison hold; not how fast anything
// is.
#include <gtest/gtest.h>

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "windhover/tests/tools/bench_result.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/bench/load.h"
#include "windhover/tools/bench/suite.h"

namespace windhover {
namespace {

Json result_of(const std::string& suite, double figure) {
  return {{"suite", suite},
          {"limits", {{"tcp", {{"mb_per_second", 1000.0}}}}},
          {"runs",
           {{{"name", "a"}, {"rows_per_second", figure}, {"latency", {{"p50_us", 10.0}}}},
            {{"name", "b"}, {"window_full", 0}, {"heap_calls", figure > 120 ? 5 : 0}}}}};
}

TEST(Bench, NamesTheSuitesThereAreWhenAskedForAnother) {
  const std::string refusal = refusal_of([] { (void)run_bench("speed", {}); });
  EXPECT_TRUE(says(refusal, "no suite \"speed\"; there are step"));
  EXPECT_TRUE(says(refusal_of([] { (void)run_bench("stpe", {}); }), "did you mean step; there"));
  for (const BenchSuite& suite : bench_suites()) EXPECT_TRUE(says(refusal, suite.name));
}

TEST(Bench, RefusesOptionsOutsideTheirRange) {
  EXPECT_NE(exit_code({}), 0);
  EXPECT_NE(exit_code({"step", "--dimension", "1"}), 0);
  EXPECT_NE(exit_code({"ingest", "--chains", "0"}), 0);
  EXPECT_NE(exit_code({"query", "--shares", "0.5,2"}), 0);
  EXPECT_NE(exit_code({"ingest", "--seconds", "much"}), 0);
  EXPECT_THROW((void)exit_code({"speed"}), UserError);
}

// They are refused before anything is measured.
TEST(Bench, RefusesOptionsThatItsSuiteDoesNotRead) {
  EXPECT_TRUE(
      says(refusal_of([] {
             (void)exit_code({"step", "--nonzeros", "8"});
           }),
           "--nonzeros means nothing to step; it is for ingest, query, mixed, soak, sparse"));
  EXPECT_THROW((void)exit_code({"mixed", "--plot", "."}), UserError);
  EXPECT_THROW((void)exit_code({"query", "--rate", "5"}), UserError);
  const std::string path = file_with("old.json", result_of("query", 1).dump());
  EXPECT_TRUE(says(refusal_of([&] {
                     (void)exit_code({"soak", "--compare", path});
                   }),
                   "the old result is of suite \"query\", this one of \"soak\""));
}

TEST(Bench, RefusesRowsThatFitIntoNoFrame) {
  BenchOptions options;
  options.dimensions = {9000};
  EXPECT_TRUE(says(refusal_of([&] { (void)run_bench("ingest", options); }),
                   "a row of 72000 bytes does not fit into a frame of 65536"));
}

TEST(Bench, RefusesToCompareWithWhatIsNoResult) {
  EXPECT_TRUE(says(refusal_of([] { (void)read_result("/nowhere/old.json"); }), "/nowhere"));
  for (const char* content : {"", "[1", "{}", "{\"suite\": 1, \"runs\": [{}]}"}) {
    const std::string path = file_with("old.json", content);
    EXPECT_TRUE(says(refusal_of([&] { (void)read_result(path); }), "is not what")) << content;
    // The file is refused before anything is measured.
    EXPECT_THROW((void)exit_code({"soak", "--compare", path}), UserError);
  }
}

TEST(BenchCompare, GivesRatiosOfWhatBothHave) {
  const std::string path = file_with("old.json", result_of("ingest", 100.0).dump());
  const Json before = read_result(path);
  Json after = result_of("ingest", 150.0);
  after["runs"].push_back({{"name", "new"}, {"rows_per_second", 1.0}});
  const Json compared = ratios(before, after);
  EXPECT_EQ(compared["limits"]["tcp.mb_per_second"], 1.0);
  EXPECT_EQ(compared["a"]["rows_per_second"], 1.5);
  EXPECT_EQ(compared["a"]["latency.p50_us"], 1.0);
  EXPECT_FALSE(compared["b"].contains("window_full"));  // 0 on both sides
  EXPECT_EQ(compared["b"]["heap_calls"], "0 -> 5");
  EXPECT_FALSE(compared.contains("new"));
  EXPECT_TRUE(says(text_of_ratios(before, after), "1.500"));
  EXPECT_TRUE(says(text_of_ratios(before, after), "0 -> 5"));
  const std::string refusal = refusal_of([&] { (void)ratios(result_of("query", 1), after); });
  EXPECT_TRUE(says(refusal, "\"query\""));
}

// A ratio of two results that do not mean the same says nothing.
TEST(BenchCompare, RefusesResultsOfOtherOptionsAndMarksOtherMachines) {
  Json before = result_of("ingest", 100.0);
  Json after = result_of("ingest", 150.0);
  before["options"] = {{"chains", 4}};  // and what it does not know: the defaults
  after["options"] = to_json(BenchOptions{});
  before["processor"] = "slow";
  after["processor"] = "fast";
  const Json compared = ratios(before, after);
  EXPECT_EQ(compared["differs"]["processor"], "slow -> fast");
  EXPECT_FALSE(compared["differs"].contains("compiler"));
  EXPECT_TRUE(says(text_of_ratios(before, after), "processor: slow -> fast"));
  before["options"]["chains"] = 8;
  EXPECT_TRUE(says(refusal_of([&] { (void)ratios(before, after); }), "chains was 8, now 4"));
  // It is refused before anything is measured.
  const std::string path = file_with("old.json", before.dump());
  EXPECT_TRUE(says(refusal_of([&] {
                     (void)exit_code({"ingest", "--compare", path});
                   }),
                   "chains was 8, now 4"));
}

TEST(BenchSuites, StepHasLimitsAndUniqueRunsWithoutHeapCalls) {
  BenchOptions options;
  options.dimensions = {10};
  options.seconds = 0.001;
  const Json result = run_bench("step", options);
  expect_shape(result, "step");
  const auto begins = [&](const char* name) {
    return std::ranges::count_if(result["runs"], [&](const Json& run) {
      return run["name"].get<std::string>().starts_with(name);
    });
  };
  EXPECT_EQ(begins("move calibrated no normals D=10 "), 2);  // two windows
  EXPECT_EQ(begins("move calibrated with normals D=10 "), 1);
  EXPECT_GT(begins("round in a stream "), 0);
  for (const Json& run : result["runs"]) {
    if (!run.contains("chains_times_draws")) continue;
    EXPECT_NEAR(run["chains_times_draws"].get<double>(), 64, 1e-9) << run["name"];
  }
  EXPECT_GT(result["limits"]["fma_double_gflops"].get<double>(), 0);
  for (const Json& run : result["runs"]) {
    for (const char* ratio : {"of_roofline", "noise_of_syrk", "curvature_of_syrk"}) {
      if (run.contains(ratio)) {
        EXPECT_GT(run[ratio].get<double>(), 0) << run["name"];
      }
    }
  }
}

TEST(BenchSuites, IngestCountsRowsAndBytes) {
  BenchOptions options;
  options.dimensions = {10};
  options.rows_per_frame = {16};
  options.connections = {1, 3};
  options.seconds = 0.1;
  const Json result = run_bench("ingest", options);
  expect_shape(result, "ingest");
  ASSERT_EQ(result["runs"].size(), 2U);
  for (const Json& run : result["runs"]) {
    EXPECT_GT(run["rows_per_second"].get<double>(), 1000) << run["name"];
    EXPECT_GT(run["of_loopback"].get<double>(), 0) << run["name"];
  }
}

TEST(BenchSuites, IngestAndQueryGoOverUnixDomainSocketsToo) {
  BenchOptions options;
  options.dimensions = {10};
  options.rows_per_frame = {16};
  options.seconds = 0.1;
  options.unix_sockets = true;
  const Json sent = run_bench("ingest", options)["runs"][0];
  EXPECT_EQ(sent["name"], "D=10 dense 16 a frame 1 conn Unix");
  EXPECT_GT(sent["of_loopback"].get<double>(), 0);
  options.shares = {0.5};
  const Json asked = run_bench("query", options)["runs"][0];
  EXPECT_EQ(asked["name"], "D=10 1 conn ingest 50% Unix");
  EXPECT_EQ(asked["unanswered"], 0);
  EXPECT_GT(asked["chains_times_draws"].get<double>(), 0);
  EXPECT_TRUE(asked["window_full"].is_number());
}

TEST(BenchSuites, IngestInSinglePrecisionSendsNothingElse) {
  BenchOptions options;
  std::vector<IngestShape> shapes = ingest_shapes(options);
  EXPECT_TRUE(std::ranges::any_of(shapes, &IngestShape::single_precision));
  EXPECT_FALSE(std::ranges::all_of(shapes, &IngestShape::single_precision));
  options.single_precision = true;
  for (const std::vector<std::uint32_t>& dimensions :
       {std::vector<std::uint32_t>{}, std::vector<std::uint32_t>{10, 1000}}) {
    options.dimensions = dimensions;
    std::set<std::string> names;
    for (const IngestShape& shape : ingest_shapes(options)) {
      EXPECT_TRUE(shape.single_precision) << name_of(shape);
      EXPECT_TRUE(says(name_of(shape), " f32 ")) << name_of(shape);
      EXPECT_TRUE(names.insert(name_of(shape)).second) << name_of(shape);
    }
    EXPECT_GE(names.size(), 5U);
  }
}

TEST(BenchSuites, IngestKeepsToItsRate) {
  BenchOptions options;
  options.dimensions = {10};
  options.rows_per_frame = {16};
  options.rate = 20'000;
  options.seconds = 0.5;
  const double rows = run_bench("ingest", options)["runs"][0]["rows_per_second"].get<double>();
  EXPECT_GT(rows, 10'000);
  EXPECT_LT(rows, 25'000);
}

TEST(BenchSuites, QueryAnswersEveryQuestionAndResolvesWhatItsCountAllows) {
  BenchOptions options;
  options.dimensions = {10};
  options.connections = {3};
  options.shares = {0.0};
  options.seconds = 0.2;
  options.query_rate = 1000;
  const Json result = run_bench("query", options);
  expect_shape(result, "query");
  const Json& latency = result["runs"][0]["latency"];
  EXPECT_EQ(result["runs"][0]["unanswered"], 0);
  EXPECT_EQ(latency["count"], 200);
  EXPECT_GT(latency["p90_us"].get<double>(), 0);
  EXPECT_TRUE(latency["p999_us"].is_null());
}

TEST(BenchSuites, QueryAsksForSparseRowsToo) {
  BenchOptions options;
  options.dimensions = {101};
  options.nonzeros = 5;
  options.shares = {0.5};
  options.seconds = 0.1;
  const Json run = run_bench("query", options)["runs"][0];
  EXPECT_EQ(run["name"], "D=101 sparse 1 conn ingest 50%");
  EXPECT_EQ(run["unanswered"], 0);
  EXPECT_EQ(run["refused"], 0);
  EXPECT_GT(run["rows_per_second"].get<double>(), 1000);
}

TEST(BenchSuites, QueryInRealTimeSaysWhatWasPermittedAndLeavesItsThreadAsItWas) {
  int policy = -1;
  sched_param priority{};
  ASSERT_EQ(pthread_getschedparam(pthread_self(), &policy, &priority), 0);
  BenchOptions options;
  options.dimensions = {10};
  options.shares = {0.0};
  options.seconds = 0.1;
  options.query_rate = 1000;
  options.real_time = true;
  const Json result = run_bench("query", options);
  munlockall();
  for (const Json& run : result["runs"]) {
    for (const char* what : {"memory_locked", "query_thread_pinned", "query_thread_prioritised",
                             "asker_prioritised"}) {
      EXPECT_TRUE(run["real_time"][what].is_boolean()) << what;
      EXPECT_TRUE(says(text_of(result), what));
    }
  }
  int after = -1;
  ASSERT_EQ(pthread_getschedparam(pthread_self(), &after, &priority), 0);
  EXPECT_EQ(after, policy);
}

TEST(BenchSuites, MixedServesMoreConnectionsThanAServerHasByDefault) {
  BenchOptions options;
  options.dimensions = {10};
  options.connections = {100};
  options.seconds = 0.3;
  const Json result = run_bench("mixed", options);
  expect_shape(result, "mixed");
  EXPECT_EQ(result["runs"][0]["unanswered"], 0);
}

TEST(BenchSuites, GrowthFollowsTheStreamTheDimensionsAndTheStart) {
  BenchOptions options;
  options.dimensions = {5};
  options.observations = 1e5;
  options.seconds = 0.001;
  const Json result = run_bench("growth", options);
  expect_shape(result, "growth");
  // Starts, stream, engines and moves of two samplers.
  ASSERT_EQ(result["runs"].size(), 2U + 1 + 2 + 2);
  for (const char* limit : {"of_gemv_and_syrk", "of_gemv"}) {
    EXPECT_TRUE(std::ranges::any_of(result["runs"], [&](const Json& run) {
      return run.contains(limit) && run[limit].get<double>() > 0;
    })) << limit;
  }
}

TEST(BenchSuites, SoakGivesItsTimeInSlices) {
  BenchOptions options;
  options.dimensions = {10};
  options.minutes = 0.01;
  const Json result = run_bench("soak", options);
  expect_shape(result, "soak");
  EXPECT_EQ(result["runs"].size(), 1U);
  EXPECT_GT(result["observations"].get<double>(), 0);
}

TEST(BenchSuites, MixedAndSoakRefuseListsOfWhatTheyTakeOneOf) {
  for (const char* suite : {"mixed", "soak"}) {
    BenchOptions options;
    options.connections = {1, 2, 3};
    EXPECT_TRUE(says(refusal_of([&] { (void)run_bench(suite, options); }),
                     "--connections takes one value for mixed and soak, not 3"));
    options.dimensions = {10, 100};
    EXPECT_TRUE(says(refusal_of([&] { (void)run_bench(suite, options); }),
                     "--dimension takes one value for mixed and soak, not 2"));
  }
}

}  // namespace
}  // namespace windhover
