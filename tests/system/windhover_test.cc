// windhover as somebody meets it who types it for the first time.
#include <gtest/gtest.h>

#include <filesystem>
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
  EXPECT_NE(run.error.find("no command \"snd\"; did you mean send;"), std::string::npos)
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
  for (const char* command : {"predict", "bench", "reproduce"}) {
    EXPECT_NE(help.out.find(command), std::string::npos) << command;
  }
  for (const char* program : {WINDHOVER_PROGRAM, WINDHOVER_DAEMON}) {
    const ProgramRun version = run_program(program, {"--version"});
    EXPECT_EQ(version.exit_code, 0);
    EXPECT_EQ(version.out, std::string(WINDHOVER_VERSION) + "\n");
  }
}

TEST(WindhoverCompanion, IsStartedWithItsArguments) {
  for (const char* command : {"bench", "reproduce"}) {
    const ProgramRun help = run_program(WINDHOVER_PROGRAM, {command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << help.error;
    EXPECT_NE(help.out.find(std::string("windhover ") + command), std::string::npos) << help.out;
  }
  const ProgramRun list = run_program(WINDHOVER_PROGRAM, {"reproduce", "list"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_NE(list.out.find("double-well"), std::string::npos) << list.out;
  const ProgramRun unknown = run_program(WINDHOVER_PROGRAM, {"bench", "nothing-of-that-name"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.error.find("nothing-of-that-name"), std::string::npos) << unknown.error;
}

TEST(WindhoverCompanion, ThatIsMissingIsNamedWithTheCommandThatBuildsIt) {
  const std::string alone = testing::temporary_path("windhover_alone");
  std::filesystem::copy_file(WINDHOVER_PROGRAM, alone);
  const ProgramRun run =
      run_program("/usr/bin/env", {"-i", "PATH=/nonexistent", alone, "bench", "step"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.error.find("cmake --build build --target windhover-bench"), std::string::npos)
      << run.error;
}

}  // namespace
}  // namespace windhover
