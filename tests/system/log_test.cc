// What windhoverd logs in its life.
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/tests/system/live_daemon.h"

namespace windhover::log_test {

using testing::LiveDaemon;

// Rows of y = 2 x with a little noise, `count` of them; every tenth is none when `bad`.
void send_rows(Client& client, int count, bool bad) {
  std::vector<double> x, y;
  for (int i = 0; i < count; ++i) {
    x.push_back(0.01 * (i % 100));
    y.push_back(bad && i % 10 == 0 ? std::numeric_limits<double>::quiet_NaN()
                                   : 2 * x.back() + 0.1 * ((i * 7919) % 13 - 6));
  }
  ASSERT_EQ(client.observe({x, y, {}, {}}), Status::kOk) << client.error_text();
}

TEST(DaemonLogs, TellALifeFromStartToStop) {
  LiveDaemon daemon("life", {});
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  ASSERT_TRUE(daemon.logs("ready"));
  const auto start = daemon.events("start");
  ASSERT_EQ(start.size(), 1U);
  EXPECT_EQ(start[0]["version"], WINDHOVER_VERSION);
  EXPECT_EQ(start[0]["pid"], daemon.pid());
  EXPECT_EQ(start[0]["level"], "info");
  const std::string ts = start[0]["ts"];
  ASSERT_EQ(ts.size(), 27U);
  EXPECT_EQ(ts[10], 'T');
  EXPECT_EQ(ts[26], 'Z');
  const auto configuration = daemon.events("configuration");
  ASSERT_EQ(configuration.size(), 1U);
  EXPECT_EQ(configuration[0]["features"], 1);
  EXPECT_EQ(configuration[0]["window_size"], 1000);
  EXPECT_EQ(daemon.events("ready")[0]["observe"], daemon.observe());

  Client client;
  ASSERT_EQ(client.connect(daemon.observe()), Status::kOk) << client.error_text();
  send_rows(client, 1000, true);
  // A line of the model's, which says why, and one of the server's.
  ASSERT_TRUE(testing::comes_true([&] { return daemon.events("rows_refused").size() == 2; }));
  EXPECT_EQ(daemon.events("rows_refused")[0]["model"], "default");
  EXPECT_EQ(daemon.events("rows_refused")[0]["not_finite"], 100);
  EXPECT_EQ(daemon.events("rows_refused")[1]["rows"], 100);
  ASSERT_TRUE(testing::comes_true([&] {
    const auto changes = daemon.events("status_changed");
    return !changes.empty() && changes.back()["to"] != "warming_up";
  }));
  const auto first = daemon.events("status_changed")[0];
  EXPECT_EQ(first["model"], "default");
  EXPECT_TRUE(first.contains("reason"));
  EXPECT_EQ(daemon.stop(), 0);
  EXPECT_EQ(daemon.events("stopping")[0]["signal"], "TERM");
  const auto stopped = daemon.events("stopped");
  ASSERT_EQ(stopped.size(), 1U);
  EXPECT_EQ(stopped[0]["rows"], 900);
  EXPECT_EQ(stopped[0]["refused"], 100);
  EXPECT_EQ(stopped[0]["connections"], 1);
  EXPECT_EQ(daemon.error(), "");
}

TEST(DaemonLogs, OpenTheirFileAnewOnHangup) {
  LiveDaemon daemon("rotate", {});
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  ASSERT_TRUE(daemon.logs("ready"));
  const std::string old = daemon.log_file() + ".1";
  std::filesystem::rename(daemon.log_file(), old);
  ASSERT_EQ(kill(daemon.pid(), SIGHUP), 0);
  ASSERT_TRUE(daemon.logs("reloaded"));
  EXPECT_EQ(daemon.stop(), 0);
  EXPECT_TRUE(daemon.events("start").empty());
  EXPECT_EQ(daemon.events("stopped").size(), 1U);
  EXPECT_EQ(testing::content_of(old).find("\"stopped\""), std::string::npos);
}

TEST(DaemonLogs, GoToStandardErrorAsText) {
  LiveDaemon daemon("text", {"--process.log_file", ""});
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  EXPECT_EQ(daemon.stop(), 0);
  const std::string error = daemon.error();
  for (const char* part : {"Z info start version=", "Z info ready observe=unix:",
                           "Z info stopping signal=TERM\n", "Z info stopped rows=0 refused=0 "}) {
    EXPECT_NE(error.find(part), std::string::npos) << part << " is not in\n" << error;
  }
}

TEST(DaemonLogs, TellHowARecoveryWent) {
  const std::string folder = testing::temporary_path("kept_folder");
  const std::vector<std::string> options = {
      "--data.folder",        folder,    "--data.log_bytes",    "8388608",
      "--data.segment_bytes", "1048576", "--data.commit_bytes", "524288"};
  {
    LiveDaemon daemon("keeps", options);
    ASSERT_TRUE(daemon.ready()) << daemon.error();
    Client client;
    ASSERT_EQ(client.connect(daemon.observe()), Status::kOk) << client.error_text();
    send_rows(client, 500, false);
    EXPECT_EQ(daemon.stop(), 0);
    ASSERT_EQ(daemon.events("checkpoint_taken").size(), 1U);
    EXPECT_EQ(daemon.events("checkpoint_taken")[0]["rows"], 500);
  }
  LiveDaemon daemon("comes_back", options);
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  ASSERT_TRUE(daemon.logs("ready"));
  EXPECT_EQ(daemon.events("ready")[0]["kept_rows"], 500);
  EXPECT_EQ(daemon.stop(), 0);
  std::filesystem::remove_all(folder);
}

TEST(DaemonLogs, AreRefusedWhereTheirFileCannotBe) {
  const testing::ProgramRun run = testing::run_program(
      WINDHOVER_DAEMON, {"--model.features", "1", "--process.log_file", "/no/such/folder/log"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.error,
            "windhoverd: process.log_file /no/such/folder/log cannot be opened: No such file or "
            "directory\n");
}

}  // namespace windhover::log_test
