// A daemon that asks who is there, and the commands that say it.
#include <unistd.h>

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "windhover/io/client.h"
#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/system/heap_calls.h"
#include "windhover/tests/system/live_daemon.h"
#include "windhover/tools/daemon/child_daemon.h"

namespace windhover {
namespace identities_test {

using testing::LiveDaemon;
using testing::run_program;
using testing::token_line;
using testing::write_identities;

std::string token_file(const std::string& name) {
  return write_identities(name + ".token", name + "-token\n");
}

testing::ProgramRun windhover(std::vector<std::string> arguments) {
  return run_program(WINDHOVER_PROGRAM, std::move(arguments));
}

TEST(DaemonIdentities, TokenFilesSayWhoAsks) {
  const std::string file = write_identities(
      "daemon.identities", token_line("ada", "query") + token_line("feeder", "observe"));
  ChildDaemon daemon(
      WINDHOVER_DAEMON,
      {"--model.features", "1", "--engine.window_size", "1000", "--server.observe.tcp_port", "0",
       "--server.query.tcp_port", "0", "--server.identities_file", file},
      WINDHOVER_HEAP_COUNTER_PRELOAD);
  const std::string to = daemon.query_address();
  testing::ProgramRun run = windhover({"status", "--to", to});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.error.find("not_permitted"), std::string::npos) << run.error;
  for (const char* command : {"status", "posterior", "top"}) {
    run = windhover({command, "--to", to, "--token-file", token_file("ada")});
    EXPECT_EQ(run.exit_code, 0) << run.error;
  }
  run = windhover({"predict", "--to", to, "--x", "1", "--token-file", token_file("feeder")});
  EXPECT_NE(run.error.find("role query"), std::string::npos) << run.error;
  run = windhover({"checkpoint", "take", "--to", to, "--token-file", token_file("ada")});
  EXPECT_NE(run.error.find("role admin"), std::string::npos) << run.error;
  ::setenv("WINDHOVER_TOKEN_FILE", token_file("ada").c_str(), 1);
  EXPECT_EQ(windhover({"predict", "--to", to, "--x", "1"}).exit_code, 0);
  ::unsetenv("WINDHOVER_TOKEN_FILE");
  const std::string open = write_identities("open.token", "ada-token\n", 0644);
  run = windhover({"status", "--to", to, "--token-file", open});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.error.find("chmod 600"), std::string::npos) << run.error;
  // Taken up anew without a heap call, good or not.
  Client client;
  ClientOptions options;
  options.token = "ada-token";
  ASSERT_EQ(client.connect(to, options), Status::kOk);
  v1::StatusResult status;
  write_identities("daemon.identities", "nonsense\n");
  ASSERT_EQ(::kill(daemon.pid(), SIGHUP), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(client.status(status), Status::kOk);
  write_identities("daemon.identities", token_line("eve", "query"));
  ASSERT_EQ(::kill(daemon.pid(), SIGHUP), 0);
  EXPECT_TRUE(testing::comes_true([&] { return client.status(status) == Status::kNotPermitted; }));
  const ChildDaemon::Stopped stopped = daemon.stop();
  EXPECT_EQ(stopped.exit_code, 0);
  testing::expect_no_heap_call(stopped);
}

TEST(DaemonIdentities, SighupIsLoggedWithFileAndLineAndNoSecret) {
  const std::string own = std::to_string(::geteuid());
  const std::string file = write_identities("hup.identities", "uid:" + own + " query *\n");
  LiveDaemon daemon("hup_identities", {"--server.identities_file", file});
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  Client client;
  ASSERT_EQ(client.connect(daemon.query()), Status::kOk) << client.error_text();
  write_identities("hup.identities", "uid:" + own + " query *\n\nada query * ada-token\n");
  ASSERT_EQ(::kill(daemon.pid(), SIGHUP), 0);
  ASSERT_TRUE(daemon.logs("identities_not_reloaded"));
  const std::string error = daemon.events("identities_not_reloaded")[0]["error"];
  EXPECT_TRUE(error.starts_with(file + ":3: ")) << error;
  std::vector<ParameterSummary> parameters;
  Provenance provenance;
  EXPECT_EQ(client.posterior(parameters, provenance), Status::kOk);
  write_identities("hup.identities", "uid:" + own + " observe *\n" + token_line("ada", "query"));
  ASSERT_EQ(::kill(daemon.pid(), SIGHUP), 0);
  ASSERT_TRUE(daemon.logs("identities_reloaded"));
  EXPECT_EQ(daemon.events("identities_reloaded")[0]["identities"], 2);
  EXPECT_EQ(client.posterior(parameters, provenance), Status::kNotPermitted);
  EXPECT_TRUE(client.connected());
  EXPECT_TRUE(daemon.logs("requests_refused"));
  EXPECT_EQ(daemon.stop(), 0);
  EXPECT_EQ(testing::content_of(daemon.log_file()).find("ada-token"), std::string::npos);
}

TEST(DaemonIdentities, BeyondLoopbackNobodyIsServedUnasked) {
  const std::vector<std::string> beyond = {"--model.features", "1", "--check-config",
                                           "--server.query.tcp_address", "0.0.0.0"};
  testing::ProgramRun run = run_program(WINDHOVER_DAEMON, beyond);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.error.find("identities_file"), std::string::npos) << run.error;
  const std::string file = write_identities("beyond.identities", token_line("ada", "query"));
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--server.serve_anyone", "true"},
        {"--server.identities_file", file}}) {
    std::vector<std::string> arguments = beyond;
    arguments.insert(arguments.end(), more.begin(), more.end());
    run = run_program(WINDHOVER_DAEMON, arguments);
    EXPECT_EQ(run.exit_code, 0) << run.error;
  }
}

TEST(TokenNew, TokenAndLineBelongTogether) {
  const std::string out = testing::temporary_path("new.token");
  const testing::ProgramRun run =
      windhover({"token", "new", "ada", "--role", "query", "--model", "default", "--out", out});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const std::string token = testing::content_of(out);
  EXPECT_EQ(token.size(), 10U + 64U + 1U);
  // The line alone, to be redirected.
  EXPECT_EQ(run.out, "ada query default " + testing::hash_text(token.substr(0, 74)) + "\n");
  EXPECT_EQ(run.error.find(token.substr(10, 64)), std::string::npos);
  EXPECT_NE(run.error.find(out), std::string::npos) << run.out;
  struct stat facts {};
  ASSERT_EQ(::stat(out.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  EXPECT_EQ(windhover({"token", "new", "ada", "--role", "query", "--out", out}).exit_code, 2);
  EXPECT_EQ(windhover({"token", "new", "uid:7", "--role", "query"}).exit_code, 2);
  EXPECT_NE(windhover({"token", "new", "ada", "--role", "reader"}).exit_code, 0);
}

}  // namespace identities_test
}  // namespace windhover
