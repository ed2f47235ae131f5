// Commands beside a daemon: what they print, and the exit codes that scripts go by.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "windhover/tests/system/live_daemon.h"
#include "windhover/tests/system/run_program.h"
#include "windhover/tests/temporary_folder.h"
#include "windhover/tools/daemon/child_daemon.h"

namespace windhover::testing::commands_test {
namespace {

ProgramRun windhover(std::vector<std::string> arguments) {
  return run_program(WINDHOVER_PROGRAM, std::move(arguments));
}

ChildDaemon daemon_with(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"--server.observe.tcp_port", "0", "--server.query.tcp_port",
                                        "0"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return ChildDaemon(WINDHOVER_DAEMON, arguments);
}

// A schema of x and y, and a file of 1,000 rows with these at its end.
struct Files {
  explicit Files(const std::string& rows = "") {
    std::ofstream(schema) << "target = \"y\"\nmissing = \"skip\"\n[[feature]]\nfield = \"x\"\n"
                             "kind = \"number\"\nshift = 0\nscale = 1\n";
    std::ofstream file(data);
    file << "x,y\n";
    for (int i = 0; i < 1'000; ++i) file << i % 7 - 3 << ',' << i % 7 + (i % 5) * 0.1 << '\n';
    file << rows;
  }
  ProgramRun send(const ChildDaemon& daemon, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"send",     data,   "--to",  daemon.observe_address(),
                                          "--schema", schema, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return windhover(arguments);
  }

  std::string schema = temporary_path("commands.toml");
  std::string data = temporary_path("commands.csv");
};

TEST(WindhoverSend, EndsWithOneWhereACellCannotBeRead) {
  ChildDaemon daemon = daemon_with({"--model.features", "1"});
  const Files empty("1,\n,2\n");
  ProgramRun run = empty.send(daemon);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_NE(run.error.find("line 1002, column y"), std::string::npos) << run.error;
  const Files wrong("two,2\n1,2\n");
  run = wrong.send(daemon);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(run.out).at("accepted"), 1'001);
  EXPECT_NE(run.error.find("line 1002, column x: \"two\""), std::string::npos) << run.error;
  EXPECT_NE(run.error.find("--allow-skipped"), std::string::npos) << run.error;
  EXPECT_EQ(wrong.send(daemon, {"--allow-skipped"}).exit_code, 0);
}

TEST(WindhoverStatus, SaysThatAModelIsPausedAndWhoseCountersAreWhose) {
  ChildDaemon daemon = daemon_with({"--model.features", "1"});
  const auto status = [&](const std::string& how) {
    return windhover({"status", "--to", daemon.query_address(), how}).out;
  };
  EXPECT_EQ(nlohmann::json::parse(status("--json")).at("paused"), false);
  ASSERT_EQ(windhover({"model", "pause", "--to", daemon.query_address()}).exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(status("--json")).at("paused"), true);
  const std::string text = windhover({"status", "--to", daemon.query_address()}).out;
  EXPECT_NE(text.find("\npaused: "), std::string::npos) << text;
  const std::size_t engine = text.find("\n  rows_accepted ");
  const std::size_t server = text.find("\n  rows_accepted ", engine + 1);
  EXPECT_LT(text.find("\ncounters of this model's engine\n"), engine) << text;
  EXPECT_LT(engine, text.find("\ncounters of the server\n")) << text;
  EXPECT_LT(text.find("\ncounters of the server\n"), server) << text;
  const ProgramRun watched =
      windhover({"status", "--to", daemon.query_address(), "--watch", "--times", "1"});
  EXPECT_NE(watched.out.find(", paused"), std::string::npos) << watched.out;
}

// With a diagonal noise structure no posterior is ok.
TEST(WindhoverHealth, EndsWithOneWhereAModelIsDegraded) {
  ChildDaemon daemon = daemon_with({"--model.features", "1", "--sampler.name", "sgd-d",
                                    "--sampler.noise_structure", "diagonal"});
  const Files files;
  ASSERT_EQ(files.send(daemon).exit_code, 0);
  ProgramRun run;
  EXPECT_TRUE(comes_true([&] {
    run = windhover({"health", "--to", daemon.query_address()});
    return run.exit_code != 2;
  }));
  EXPECT_EQ(run.exit_code, 1) << run.out;
  EXPECT_TRUE(run.out.starts_with("default: degraded, ")) << run.out;
  EXPECT_EQ(windhover({"health", "--to", daemon.query_address(), "--quiet"}).exit_code, 1);
}

}  // namespace
}  // namespace windhover::testing::commands_test
