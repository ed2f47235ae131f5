// `windhover bench sparse`, and the descents that it is set beside.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "windhover/tests/temporary_folder.h"
#include "windhover/tests/tools/bench_result.h"
#include "windhover/tools/bench/sparse_rows.h"
#include "windhover/tools/evaluate/sparse_descent.h"

namespace windhover::bench_sparse_test {
namespace {

BenchOptions few_columns() {
  BenchOptions options;
  options.dimensions = {512};
  options.nonzeros = 8;
  options.seconds = 0.02;
  return options;
}

TEST(BenchSuites, SparseMeasuresRowsPredictionsMemoryAndTheStart) {
  const Json result = run_bench("sparse", few_columns());
  expect_shape(result, "sparse");
  // Start, memory; in turns and beside a thread, of two laws with weights and without; two
  // predictions.
  ASSERT_EQ(result["runs"].size(), 2U + 2 * 2 * 2 + 2);
  const auto count = [&](const std::string& name) {
    return std::ranges::count_if(result["runs"], [&](const Json& run) {
      return run["name"].get<std::string>().starts_with(name);
    });
  };
  EXPECT_EQ(count("learn in turns "), 4);
  EXPECT_EQ(count("learn D=512 "), 4);
  EXPECT_EQ(count("predict D=512 nonzeros=8 rows="), 2);
  for (const Json& run : result["runs"]) {
    if (run.contains("of_sgd")) {
      EXPECT_GT(run["of_sgd"].get<double>(), 0) << run["name"];
      EXPECT_EQ(run["chains"], 8);
    }
    if (run.contains("planned_bytes")) {
      EXPECT_GT(run["planned_bytes"].get<double>(), 0);
    }
  }
  for (const char* law : {"even", "zipf"}) {
    EXPECT_GT(result["limits"][law]["sgd_rows_per_second"].get<double>(), 0);
    EXPECT_GT(result["limits"][law]["adagrad_rows_per_second"].get<double>(), 0);
  }
}

TEST(BenchSuites, SparseRefusesFewerColumnsThanItsRowsHave) {
  BenchOptions options = few_columns();
  options.dimensions = {15};
  EXPECT_TRUE(says(refusal_of([&] { (void)run_bench("sparse", options); }),
                   "at least twice as many columns as --nonzeros, 8"));
  options.dimensions = {512, 1024};
  EXPECT_THROW((void)run_bench("sparse", options), UserError);
  EXPECT_TRUE(says(refusal_of([] {
                     (void)exit_code({"step", "--dimension", "1000000"});
                   }),
                   "--dimension 1000000 is for sparse alone"));
}

// A program `vw` in PATH, which says whether it got the rows.
TEST(BenchSparse, VowpalWabbitIsStartedWhereItIsFound) {
  const SparseRows rows(64, 4, 100, ColumnLaw::kEven, false);
  const testing::TemporaryFolder folder;
  const std::string program = (folder.path() / "vw").string();
  const auto with_program = [&](const std::string& script) {
    std::ofstream(program) << "#!/bin/sh\n" << script;
    EXPECT_EQ(chmod(program.c_str(), 0700), 0);
    return vowpal_wabbit_seconds(rows, 64);
  };
  const std::string path = std::getenv("PATH");
  ASSERT_EQ(setenv("PATH", (folder.path().string() + ":" + path).c_str(), 1), 0);
  const std::string last = "for file in \"$@\"; do :; done\n";
  EXPECT_GT(with_program(last + "test $(grep -cE '^-?1 \\|( [0-9]+){4}$' \"$file\") -eq 100"), 0);
  EXPECT_THROW((void)with_program(last + "exit 3"), RunError);
  ASSERT_EQ(setenv("PATH", folder.path().c_str(), 1), 0);
  std::filesystem::remove(program);
  const double none = vowpal_wabbit_seconds(rows, 64);
  ASSERT_EQ(setenv("PATH", path.c_str(), 1), 0);
  EXPECT_TRUE(std::isnan(none));
}

// Each field has a column, and Zipf's are met as his law says.
TEST(BenchSparse, RowsHaveOneColumnOfEachField) {
  constexpr std::uint32_t kFeatures = 4'000;
  constexpr std::uint32_t kFields = 4;
  constexpr std::uint64_t kRows = 20'000;
  for (const ColumnLaw law : {ColumnLaw::kEven, ColumnLaw::kZipf}) {
    const SparseRows rows(kFeatures, kFields, kRows, law, false);
    double first = 0;
    double ones = 0;
    for (std::uint64_t i = 0; i < kRows; ++i) {
      for (std::uint32_t k = 0; k < kFields; ++k) {
        EXPECT_EQ(rows.indices(i)[k] / (kFeatures / kFields), k);
        first += rows.indices(i)[k] % (kFeatures / kFields) == 0 ? 1 : 0;
      }
      ones += rows.target(i);
    }
    const double share = law == ColumnLaw::kEven ? 1e-3 : std::log(2) / std::log(1000);
    const double n = kFields * double{kRows};
    EXPECT_NEAR(first / n, share, 5 * std::sqrt(share / n));
    EXPECT_NEAR(ones / kRows, 0.5, 0.1);
  }
}

// Both rules come to what a category's rows say; the adaptive one of one met rarely too.
TEST(SparseDescent, LearnsTheLogOddsOfColumns) {
  for (const auto rule : {SparseDescent::Rule::kPlain, SparseDescent::Rule::kAdaptive}) {
    SparseDescent descent(3, rule, SparseDescent::Loss::kLogistic, 0.3);
    const double one = 1;
    for (int i = 0; i < 40'000; ++i) {
      const std::uint32_t column = i % 20 == 0 ? 1 : 0;
      const int turn = i % 20 == 0 ? i / 20 : i;
      descent.learn(&column, &one, 1, turn % 4 == 0 ? (column == 1 ? 0 : 1) : column);
    }
    const std::uint32_t often = 0;
    const std::uint32_t rare = 1;
    EXPECT_NEAR(descent.predictor(&often, &one, 1), -std::log(3), 0.4);
    EXPECT_NEAR(descent.predictor(&rare, &one, 1), std::log(3), 0.4);
  }
}

// A step of any rate stops where the row's own loss is least; a weight is as many rows.
TEST(SparseDescent, AStepIsNeverTooLong) {
  const std::vector<std::uint32_t> columns = {0, 1};
  const std::vector<double> values = {3, -2};
  SparseDescent descent(2, SparseDescent::Rule::kPlain, SparseDescent::Loss::kSquared, 1e9);
  descent.learn(columns.data(), values.data(), 2, 5);
  EXPECT_NEAR(descent.predictor(columns.data(), values.data(), 2), 5, 1e-5);
  SparseDescent once(2, SparseDescent::Rule::kPlain, SparseDescent::Loss::kSquared, 1e-4);
  SparseDescent twice = once;
  once.learn(columns.data(), values.data(), 2, 5, 2);
  for (int i = 0; i < 2; ++i) twice.learn(columns.data(), values.data(), 2, 5);
  EXPECT_NEAR(once.predictor(columns.data(), values.data(), 2),
              twice.predictor(columns.data(), values.data(), 2), 1e-4);
}

}  // namespace
}  // namespace windhover::bench_sparse_test
