// Threads of windhoverd that stand still or are thrown out of their loops: reported, survived, or
// the end of the process, as it was told.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/tests/system/live_daemon.h"

namespace windhover::watchdog_test {

using testing::LiveDaemon;

// The file that a fault lasts for.
class Fault {
 public:
  explicit Fault(const std::string& name) : path_(testing::temporary_path(name + ".fault")) {}
  ~Fault() { end(); }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;

  void begin() const { std::ofstream(path_) << "now"; }
  void end() const { std::filesystem::remove(path_); }

  LiveDaemon::Variables variables(const std::string& thread, const std::string& what) const {
    return {
        {"LD_PRELOAD", WINDHOVER_FAULT_PRELOAD}, {"WINDHOVER_FAULT_THREAD", thread}, {what, path_}};
  }

 private:
  std::string path_;
};

constexpr const char* kStall = "WINDHOVER_STALL_WHILE";
constexpr const char* kThrow = "WINDHOVER_THROW_WHILE";
const std::vector<std::string> kReport = {"--process.watchdog_timeout", "2000",
                                          "--server.http.tcp_address", "127.0.0.1"};
const std::vector<std::string> kExit = {"--process.watchdog_timeout", "2000",
                                        "--process.watchdog",         "exit",
                                        "--server.http.tcp_address",  "127.0.0.1"};

class Watchdog : public ::testing::TestWithParam<const char*> {};

TEST_P(Watchdog, ReportsAThreadThatStandsStillAndThatGoesOn) {
  const std::string thread = GetParam();
  const Fault fault("report_" + thread);
  LiveDaemon daemon("report_" + thread, kReport, fault.variables("wh-" + thread, kStall));
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  fault.begin();
  ASSERT_TRUE(daemon.logs("thread_stands_still"));
  const auto event = daemon.events("thread_stands_still")[0];
  EXPECT_EQ(event["thread"], thread);
  EXPECT_EQ(event["level"], "error");
  EXPECT_GE(event["ms"].get<int>(), 2000);
  fault.end();
  EXPECT_TRUE(daemon.logs("thread_goes_on"));
  EXPECT_EQ(daemon.stop(), 0);
  EXPECT_EQ(daemon.events("thread_stands_still").size(), 1U);
}

TEST_P(Watchdog, EndsTheProcessWhereToldTo) {
  const std::string thread = GetParam();
  const Fault fault("exit_" + thread);
  LiveDaemon daemon("exit_" + thread, kExit, fault.variables("wh-" + thread, kStall));
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  fault.begin();
  EXPECT_EQ(daemon.wait(), 3);
  EXPECT_EQ(daemon.error(), "windhoverd: the " + thread +
                                " thread stands still, and process.watchdog = \"exit\": the "
                                "process ends without it\n");
  ASSERT_EQ(daemon.events("stopping").size(), 1U);
  EXPECT_EQ(daemon.events("stopping")[0]["stalled"], thread);
}

INSTANTIATE_TEST_SUITE_P(Threads, Watchdog,
                         ::testing::Values("learner", "observe", "query", "http"),
                         [](const auto& of) { return std::string(of.param); });

TEST(EndpointFault, IsSurvivedAndCounted) {
  const Fault fault("survived");
  LiveDaemon daemon("survived", kExit, fault.variables("wh-query", kThrow));
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  fault.begin();
  ASSERT_TRUE(daemon.logs("faults"));
  fault.end();
  EXPECT_GE(daemon.events("faults")[0]["endpoint"].get<int>(), 1);
  Client client;
  ASSERT_EQ(client.connect(daemon.query()), Status::kOk) << client.error_text();
  v1::StatusResult status;
  EXPECT_EQ(client.status(status), Status::kOk) << client.error_text();
  client.close();
  EXPECT_EQ(daemon.stop(), 0);
}

TEST(EndpointFault, ThatDoesNotEndIsSeenByTheWatchdog) {
  const Fault fault("for_ever");
  LiveDaemon daemon("for_ever", kExit, fault.variables("wh-observe", kThrow));
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  fault.begin();
  EXPECT_EQ(daemon.wait(), 3);
  EXPECT_FALSE(daemon.events("faults").empty());
}

}  // namespace windhover::watchdog_test
