// What windhoverd tells a service manager: the test is the manager, with a socket of its own.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/tests/system/live_daemon.h"

namespace windhover::notify_test {

using testing::LiveDaemon;

class Manager {
 public:
  explicit Manager(const std::string& name) : path_(testing::temporary_path(name)) {
    socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~Manager() {
    ::close(socket_);
    ::unlink(path_.c_str());
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  LiveDaemon::Variables variables(const std::string& watchdog_us = "") const {
    LiveDaemon::Variables all = {{"NOTIFY_SOCKET", path_}};
    if (!watchdog_us.empty()) all.emplace_back("WATCHDOG_USEC", watchdog_us);
    return all;
  }

  // Waits for a message with that line in it, and keeps all that came; a minute at most.
  bool hears(const std::string& line) {
    return testing::comes_true([&] {
      take();
      return std::ranges::any_of(heard_, [&](const std::string& m) { return has(m, line); });
    });
  }
  void forget() {
    take();
    heard_.clear();
  }
  std::size_t count(const std::string& line) {
    take();
    return static_cast<std::size_t>(
        std::ranges::count_if(heard_, [&](const std::string& m) { return has(m, line); }));
  }
  const std::vector<std::string>& heard() const { return heard_; }

 private:
  static bool has(const std::string& message, const std::string& line) {
    return ("\n" + message).find("\n" + line) != std::string::npos;
  }
  void take() {
    std::array<char, 4096> bytes;
    for (ssize_t n; (n = ::recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT)) >= 0;) {
      heard_.emplace_back(bytes.data(), static_cast<std::size_t>(n));
    }
  }

  std::string path_;
  int socket_ = -1;
  std::vector<std::string> heard_;
};

TEST(Notify, SaysWhatTheDaemonDoes) {
  Manager manager("manager");
  LiveDaemon daemon("notifies", {}, manager.variables());
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  ASSERT_TRUE(manager.hears("READY=1"));
  ASSERT_TRUE(manager.hears("STATUS=warming_up: 0 rows"));
  Client client;
  ASSERT_EQ(client.connect(daemon.observe()), Status::kOk) << client.error_text();
  const std::vector<double> x = {1, 2, 3};
  ASSERT_EQ(client.observe({x, x, {}, {}}), Status::kOk) << client.error_text();
  EXPECT_TRUE(manager.hears("STATUS=warming_up: 3 rows, 1 observe and 0 query connections"));
  manager.forget();
  ASSERT_EQ(kill(daemon.pid(), SIGHUP), 0);
  EXPECT_TRUE(manager.hears("RELOADING=1"));
  EXPECT_TRUE(manager.hears("MONOTONIC_USEC="));
  EXPECT_TRUE(manager.hears("READY=1"));
  client.close();
  EXPECT_EQ(daemon.stop(), 0);
  EXPECT_TRUE(manager.hears("STOPPING=1"));
  EXPECT_EQ(manager.count("WATCHDOG=1"), 0U) << "nobody asked";
}

// The line that `systemctl status` shows.
TEST(Notify, StatusBeginsWithSendersThatWait) {
  Manager manager("held-up-manager");
  const std::string folder = testing::temporary_path("held-up-daemon");
  LiveDaemon daemon("held-up",
                    {"--data.folder", folder, "--data.log_bytes", "1392640", "--data.segment_bytes",
                     "278528", "--data.commit_bytes", "139264"},
                    manager.variables());
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  std::filesystem::create_directory(folder + "/checkpoint.new");
  Client client;
  ClientOptions options;
  options.reply_timeout = std::chrono::milliseconds(500);
  ASSERT_EQ(client.connect(daemon.observe(), options), Status::kOk) << client.error_text();
  const std::vector<double> x(1'000, 1.0);
  // However often the disk takes longer than the client waits.
  for (int i = 0; i < 1'000 && daemon.events("log_full").empty(); ++i) {
    (void)client.observe({x, x, {}, {}});
  }
  EXPECT_TRUE(manager.hears("STATUS=senders wait (log_full); "));
  EXPECT_TRUE(daemon.logs("log_full"));
  manager.forget();  // it says what has changed
  std::filesystem::remove(folder + "/checkpoint.new");
  EXPECT_TRUE(daemon.logs("log_has_room"));
  EXPECT_TRUE(testing::comes_true(
      [&] { return manager.count("STATUS=") > manager.count("STATUS=senders wait"); }));
}

TEST(Notify, FeedsTheWatchdogWhileAllThreadsTurn) {
  Manager manager("fed_manager");
  LiveDaemon daemon("fed", {}, manager.variables("400000"));
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  EXPECT_TRUE(testing::comes_true([&] { return manager.count("WATCHDOG=1") >= 10; }));
  EXPECT_EQ(daemon.stop(), 0);
}

TEST(Notify, StarvesTheWatchdogWhereAThreadStandsStill) {
  Manager manager("starved_manager");
  const std::string fault = testing::temporary_path("starved.fault");
  LiveDaemon::Variables variables = manager.variables("400000");
  variables.insert(variables.end(), {{"LD_PRELOAD", WINDHOVER_FAULT_PRELOAD},
                                     {"WINDHOVER_FAULT_THREAD", "wh-query"},
                                     {"WINDHOVER_STALL_WHILE", fault}});
  LiveDaemon daemon("starved", {"--process.watchdog_timeout", "2000"}, variables);
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  ASSERT_TRUE(manager.hears("WATCHDOG=1"));
  std::ofstream(fault) << "now";
  // Nobody reads the socket meanwhile, which keeps nobody waiting.
  ASSERT_TRUE(daemon.logs("thread_stands_still"));
  manager.forget();
  // A turn of the watcher in between, told by what it says of a connection.
  Client client;
  ASSERT_EQ(client.connect(daemon.observe()), Status::kOk) << client.error_text();
  ASSERT_TRUE(manager.hears("STATUS=warming_up: 0 rows, 1 observe"));
  EXPECT_EQ(manager.count("WATCHDOG=1"), 0U);
  std::filesystem::remove(fault);
  EXPECT_TRUE(manager.hears("WATCHDOG=1"));
  client.close();
  EXPECT_EQ(daemon.stop(), 0);
}

#ifndef WINDHOVER_SANITIZED
// All of it, a reload and a connection that is not served included.
TEST(Notify, MakesNoHeapCall) {
  Manager manager("heap_manager");
  LiveDaemon::Variables variables = manager.variables("400000");
  variables.emplace_back("LD_PRELOAD", WINDHOVER_HEAP_COUNTER_PRELOAD);
  LiveDaemon daemon("notify_heap", {"--server.max_sessions", "1"}, variables);
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  Client client;
  ASSERT_EQ(client.connect(daemon.observe()), Status::kOk) << client.error_text();
  Client at_the_operators_place;
  EXPECT_EQ(at_the_operators_place.connect(daemon.observe()), Status::kOk);
  Client another;
  EXPECT_NE(another.connect(daemon.observe()), Status::kOk);
  ASSERT_TRUE(daemon.logs("connections_refused"));
  ASSERT_EQ(kill(daemon.pid(), SIGHUP), 0);
  ASSERT_TRUE(daemon.logs("reloaded"));
  EXPECT_TRUE(testing::comes_true([&] { return manager.count("WATCHDOG=1") >= 10; }));
  client.close();
  EXPECT_EQ(daemon.stop(), 0);
  EXPECT_NE(daemon.output().find(" heap_calls=0 "), std::string::npos) << daemon.output();
}
#endif

}  // namespace windhover::notify_test
