// windhover top beside a daemon.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "windhover/tests/system/live_daemon.h"

namespace windhover::top_test {

TEST(WindhoverTop, PrintsOneFrameForAPipe) {
  testing::LiveDaemon daemon("looked_at", {});
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--once"}, {}}) {
    std::vector<std::string> arguments = {"top", "--to", daemon.query(), "--every", "0.1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const testing::ProgramRun run = testing::run_program(WINDHOVER_PROGRAM, arguments);
    EXPECT_EQ(run.exit_code, 0) << run.error;
    EXPECT_TRUE(run.out.starts_with("windhover top - " + daemon.query() + " - up ")) << run.out;
    EXPECT_NE(run.out.find("linear    warming_up  few_draws"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("rows accepted               0        0"), std::string::npos) << run.out;
    EXPECT_EQ(run.out.find('\x1b'), std::string::npos) << "no terminal";
  }
  EXPECT_EQ(daemon.stop(), 0);
}

TEST(WindhoverTop, SaysThatNobodyAnswers) {
  const testing::ProgramRun run = testing::run_program(
      WINDHOVER_PROGRAM,
      {"top", "--once", "--to", "unix:" + testing::temporary_path("nobody.socket")});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.error, "");
}

}  // namespace windhover::top_test
