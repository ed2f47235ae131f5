// The suites of `windhover bench` that serve: a folder kept, many models, hostile peers.
#include <gtest/gtest.h>

#include <string>

#include "windhover/tests/tools/bench_result.h"

namespace windhover::bench_server_test {

TEST(BenchSuites, ModelsLearnAndAnswerEach) {
  BenchOptions options;
  options.dimensions = {4};
  options.models = {3};
  options.seconds = 0.3;
  options.rate = 500;
  const Json result = run_bench("models", options);
  ASSERT_EQ(result["runs"].size(), 1U);
  const Json& run = result["runs"][0];
  EXPECT_GT(run["rows_per_second"].get<double>(), 0);
  EXPECT_GT(run["touch_seconds"].get<double>(), 0);
  EXPECT_GT(run["start_seconds"].get<double>(), run["touch_seconds"].get<double>());
  EXPECT_GT(run["bytes_a_model"].get<double>(), run["engine_bytes"].get<double>());
  EXPECT_LE(run["age_p50"].get<double>(), run["age_p99"].get<double>());
  EXPECT_LE(run["age_p99"].get<double>(), run["age_max"].get<double>());
  EXPECT_LE(run["replay_least"].get<double>(), run["replay_p50"].get<double>());
  EXPECT_NE(exit_code({"models", "--models", "0"}), 0);
}

TEST(BenchSuites, ComingComparesQuietTurnsWithThoseInWhichModelsComeAndGo) {
  BenchOptions options;
  options.dimensions = {4};
  options.seconds = 0.5;
  options.query_rate = 200;
  const Json result = run_bench("coming", options);
  expect_shape(result, "coming");
  ASSERT_EQ(result["runs"].size(), 2U);
  for (const Json& run : result["runs"]) {
    EXPECT_EQ(run["unanswered"], 0) << run["name"];
    EXPECT_EQ(run["questions"], 100) << run["name"];
    EXPECT_LE(run["p50_us"].get<double>(), run["p99_us"].get<double>());
  }
  EXPECT_EQ(result["runs"][0]["orders"], 0);
  EXPECT_GE(result["runs"][1]["orders"].get<double>(), 3);
  const double quiet = result["runs"][0]["p99_us"].get<double>();
  const double coming = result["runs"][1]["p99_us"].get<double>();
  EXPECT_DOUBLE_EQ(result["runs"][1]["p99_of_quiet"].get<double>(), coming / quiet);
}

TEST(BenchSuites, HostileAnswersEverythingBesideEachKindOfPeers) {
  BenchOptions options;
  options.dimensions = {5};
  options.seconds = 0.3;
  options.query_rate = 200;
  const Json result = run_bench("hostile", options);
  EXPECT_EQ(result["suite"], "hostile");
  ASSERT_EQ(result["runs"].size(), 9U);
  for (const Json& run : result["runs"]) {
    EXPECT_EQ(run["unanswered"], 0) << run["name"];
    EXPECT_EQ(run["refused"], 0) << run["name"];
    EXPECT_GT(run["newcomers"]["came"], 0) << run["name"];
    EXPECT_LE(run["newcomers_over_http"]["answered"], run["newcomers_over_http"]["came"]);
    EXPECT_GT(run["rows_per_second"].get<double>(), 0) << run["name"];
    const bool quiet = run["name"].get<std::string>().starts_with("quiet");
    EXPECT_EQ(run["hostile_connections"].get<double>() > 0, !quiet) << run["name"];
  }
}

TEST(BenchSuites, DurableMeasuresEachOfItsPartsBesideTheDisk) {
  BenchOptions options;
  options.dimensions = {5};
  options.seconds = 0.05;
  options.window_rows = {2000};
  const Json result = run_bench("durable", options);
  expect_shape(result, "durable");
  // Frames of one row and of 256; two numbers of connections; nothing kept, a log, checkpoints; a
  // checkpoint and two copies; a start.
  ASSERT_EQ(result["runs"].size(), 2U + 2 + 3 + 3 + 1);
  const auto run = [&](const std::string& name) {
    for (const Json& r : result["runs"]) {
      if (r["name"].get<std::string>().starts_with(name)) return r;
    }
    return Json();
  };
  EXPECT_GT(run("acknowledgement")["logged"]["count"].get<double>(), 0);
  EXPECT_GT(run("ingest")["of_the_lesser"].get<double>(), 0);
  EXPECT_GT(run("questions D=5 log and")["p99_of_nothing_kept"].get<double>(), 0);
  EXPECT_GT(run("checkpoint")["of_new_file"].get<double>(), 0);
  const Json start = run("start");
  EXPECT_GE(start["rows_in_log"].get<double>(), 1000);
  EXPECT_GT(start["first_answer_seconds"].get<double>(), 0);
  EXPECT_GE(start["settled_seconds"], start["all_rows_seconds"]);
  EXPECT_GE(start["all_rows_seconds"], start["first_answer_seconds"]);
}

TEST(BenchSuites, DurableRunsThePartsThatAreNamed) {
  BenchOptions options;
  options.dimensions = {5};
  options.parts = {"checkpoints"};
  const Json result = run_bench("durable", options);
  for (const Json& run : result["runs"]) {
    EXPECT_FALSE(run["name"].get<std::string>().starts_with("start")) << run["name"];
  }
  EXPECT_NE(exit_code({"durable", "--parts", "everything"}), 0);
  options.dimensions = {5, 10};
  EXPECT_TRUE(says(refusal_of([&] { (void)run_bench("durable", options); }),
                   "--dimension takes one value for durable"));
}

}  // namespace windhover::bench_server_test
