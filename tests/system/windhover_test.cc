// windhover as somebody meets it who types it for the first time.
#include <gtest/gtest.h>

#include <string>

#include "windhover/tests/system/run_program.h"

namespace windhover {
namespace {

using testing::ProgramRun;
using testing::run_program;

TEST(WindhoverAlone, PrintsAShortGuide) {
  const ProgramRun run = run_program(WINDHOVER_PROGRAM, {});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.error, "");
  for (const char* what : {"windhoverd --model", "windhover send", "windhover predict",
                           "windhover status", "windhover fit", "windhover --help"}) {
    EXPECT_NE(run.out.find(what), std::string::npos) << what;
  }
}

TEST(WindhoverUnknown, CommandIsNamedWithTheNearest) {
  const ProgramRun run = run_program(WINDHOVER_PROGRAM, {"snd", "FILE.csv", "--to", "127.0.0.1:1"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.error.find("no command \"snd\" (did you mean \"send\"?);"), std::string::npos)
      << run.error;
  EXPECT_NE(run.error.find("predict, posterior, status"), std::string::npos) << run.error;
}

TEST(WindhoverUnknown, FlagIsNamed) {
  const ProgramRun run = run_program(WINDHOVER_PROGRAM, {"--bogus"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.error.find("--bogus"), std::string::npos) << run.error;
}

TEST(WindhoverHelp, ListsTheCommandsAndVersionIsOneLine) {
  const ProgramRun help = run_program(WINDHOVER_PROGRAM, {"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.out.find("predict"), std::string::npos);
  for (const char* program : {WINDHOVER_PROGRAM, WINDHOVER_DAEMON}) {
    const ProgramRun version = run_program(program, {"--version"});
    EXPECT_EQ(version.exit_code, 0);
    EXPECT_EQ(version.out, std::string(WINDHOVER_VERSION) + "\n");
  }
}

}  // namespace
}  // namespace windhover
