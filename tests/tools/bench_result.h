// What the tests of `windhover bench` ask of a command line and of a result.
#ifndef WINDHOVER_TESTS_TOOLS_BENCH_RESULT_H_
#define WINDHOVER_TESTS_TOOLS_BENCH_RESULT_H_

#include <CLI/CLI.hpp>
#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/tools/support.h"
#include "windhover/tools/bench/suite.h"
#include "windhover/tools/heap/heap_counter.h"

namespace windhover {

// Exit code of `windhover bench ...` as the command line judges it, 0 when it runs.
inline int exit_code(std::initializer_list<std::string> arguments) {
  CLI::App app;
  add_bench(app);
  // CLI11 wants them last first.
  std::vector<std::string> reversed(arguments);
  std::reverse(reversed.begin(), reversed.end());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code();
  }
  return 0;
}

inline void expect_shape(const Json& result, const std::string& suite) {
  EXPECT_EQ(result["suite"], suite);
  for (const char* what : {"version", "revision", "processor", "instruction_set", "compiler"}) {
    EXPECT_FALSE(result[what].get<std::string>().empty()) << what;
  }
  EXPECT_TRUE(result["options"]["chains"].is_number());
  EXPECT_TRUE(result["limits"].is_object());
  ASSERT_FALSE(result["runs"].empty());
  std::set<std::string> names;
  for (const Json& run : result["runs"]) {
    EXPECT_TRUE(names.insert(run["name"].get<std::string>()).second) << run["name"];
    EXPECT_GT(run["resident_bytes"].get<double>(), 0);
    if (!run.contains("heap_calls")) continue;  // a start
    EXPECT_EQ(run["heap_calls"].is_null(), !heap_calls().has_value());
    if (run["heap_calls"].is_number()) {
      EXPECT_EQ(run["heap_calls"].get<std::uint64_t>(), 0U) << run["name"];
    }
  }
  EXPECT_TRUE(says(text_of(result), result["runs"][0]["name"].get<std::string>()));
  EXPECT_EQ(Json::parse(result.dump()), result);
}

}  // namespace windhover

#endif  // WINDHOVER_TESTS_TOOLS_BENCH_RESULT_H_
