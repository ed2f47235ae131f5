// windhoverd as an operator meets it: signals, the lines it prints, an address that is taken.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/io/tls/certificates.h"
#include "windhover/tests/system/heap_calls.h"
#include "windhover/tests/system/run_program.h"
#include "windhover/tests/temporary_folder.h"
#include "windhover/tools/daemon/child_daemon.h"

namespace windhover {
namespace {

std::vector<std::string> arguments(std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--model.features", "1", "--engine.window_size", "1000",
                           "--server.observe.tcp_port", "0", "--server.query.tcp_port", "0"});
  return more;
}

// Each signal that would end a process that does nothing about it, but for those that stop it and
// those of a fault or a wish for a core file.
TEST(DaemonSignals, OthersThanTheStoppingOnesLeaveTheRowsAlone) {
  ChildDaemon daemon(WINDHOVER_DAEMON, arguments(), WINDHOVER_HEAP_COUNTER_PRELOAD);
  Client client;
  ASSERT_EQ(client.connect(daemon.observe_address()), Status::kOk) << client.error_text();
  const std::vector<double> x = {1, 2, 3};
  const std::vector<double> y = {2, 4, 6};
  ASSERT_EQ(client.observe({x, y, {}, {}}), Status::kOk) << client.error_text();
  const std::set<int> ending = {SIGTERM, SIGINT,  SIGQUIT, SIGKILL, SIGXCPU, SIGILL,
                                SIGTRAP, SIGABRT, SIGBUS,  SIGFPE,  SIGSEGV, SIGSYS};
  const std::set<int> stopping = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};  // until SIGCONT
  std::uint64_t rows = 3;
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    const bool of_libc = signal > SIGSYS && signal < SIGRTMIN;
    if (ending.contains(signal) || stopping.contains(signal) || of_libc) continue;
    ASSERT_EQ(kill(daemon.pid(), signal), 0) << signal;
    ASSERT_EQ(client.observe({x, y, {}, {}}), Status::kOk)
        << strsignal(signal) << ": " << client.error_text();
    rows += 3;
  }
  const ChildDaemon::Stopped stopped = daemon.stop();
  EXPECT_EQ(stopped.exit_code, 0);
  EXPECT_EQ(stopped.observations, rows);
  testing::expect_no_heap_call(stopped);
}

TEST(DaemonSignals, InterruptStopsAsTerminateDoes) {
  ChildDaemon daemon(WINDHOVER_DAEMON, arguments(), WINDHOVER_HEAP_COUNTER_PRELOAD);
  const ChildDaemon::Stopped stopped = daemon.stop(SIGINT);
  EXPECT_EQ(stopped.exit_code, 0);
  testing::expect_no_heap_call(stopped);
}

TEST(DaemonReady, SaysWhichRowsThePosteriorIsOf) {
  for (const auto& [horizon, words] : std::vector<std::pair<std::string, std::string>>{
           {"window", "horizon=window rows=1000: the posterior is of the last 1000 rows"},
           {"forgetting",
            "horizon=forgetting rows=1000: the posterior is of the last 2000 rows, older"},
           {"fading", "horizon=fading rows=1000: the posterior is of all rows, older"},
           {"all", "horizon=all: the posterior is of all rows"}}) {
    ChildDaemon daemon(WINDHOVER_DAEMON, arguments({"--engine.horizon", horizon}));
    EXPECT_NE(daemon.ready_line().find(words), std::string::npos) << daemon.ready_line();
    EXPECT_GT(daemon.block_bytes(), 0U);
  }
}

TEST(DaemonReady, SaysWhichHorizonIsChosenWhereNoneIsGiven) {
  ChildDaemon adaptive(WINDHOVER_DAEMON, arguments());
  EXPECT_NE(adaptive.ready_line().find("horizon=adaptive rows=1000: "), std::string::npos);
  EXPECT_NE(adaptive.ready_line().find(" (chosen)"), std::string::npos);
  ChildDaemon network(WINDHOVER_DAEMON, arguments({"--model.name", "mlp-linear"}));
  EXPECT_NE(network.ready_line().find("horizon=window rows=1000: "), std::string::npos);
  EXPECT_NE(network.ready_line().find(" (chosen)"), std::string::npos);
  ChildDaemon given(WINDHOVER_DAEMON, arguments({"--engine.horizon", "window"}));
  EXPECT_EQ(given.ready_line().find("(chosen)"), std::string::npos);
}

// A folder is bound to its horizon; one of before there was a choice holds a window.
TEST(DaemonReady, GoesOnWithTheWindowThatAFolderHolds) {
  const testing::TemporaryFolder folder;
  const auto started = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--data.folder", folder.path().string()});
    ChildDaemon daemon(WINDHOVER_DAEMON, arguments(more));
    const std::string ready = daemon.ready_line();
    EXPECT_EQ(daemon.stop(SIGTERM).exit_code, 0);
    return ready;
  };
  EXPECT_NE(started({"--engine.horizon", "window"}).find("horizon=window"), std::string::npos);
  const std::string again = started({});
  EXPECT_NE(again.find("horizon=window rows=1000: "), std::string::npos) << again;
  EXPECT_NE(again.find(" (chosen)"), std::string::npos) << again;
}

TEST(DaemonCheckConfig, SaysOkWithTheSizeOfTheBlock) {
  ChildDaemon daemon(WINDHOVER_DAEMON, arguments());
  std::vector<std::string> flags = arguments();
  flags.push_back("--check-config");
  const testing::ProgramRun run = testing::run_program(WINDHOVER_DAEMON, flags);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.out, "ok block=" + std::to_string(daemon.block_bytes()) + " bytes\n");
  EXPECT_EQ(run.error, "");
}

TEST(DaemonCheckConfig, SaysWhereTheFileIsWrong) {
  const std::string file = testing::temporary_path("check.toml");
  const auto refusal = [&](const std::string& text, std::vector<std::string> flags) {
    std::ofstream(file) << text;
    flags.insert(flags.end(), {"--check-config", file});
    const testing::ProgramRun run = testing::run_program(WINDHOVER_DAEMON, flags);
    EXPECT_EQ(run.exit_code, 2) << run.out;
    EXPECT_EQ(run.out, "");
    return run.error;
  };
  EXPECT_EQ(refusal("[model]\nfeatures = 2\n[engine]\nwindow_size = 3\n", {}),
            file + ":4:15: window_size must be 4 to 10^9; it is 3\n");
  EXPECT_EQ(refusal("[model]\nfeatures = 2\n", {"--model.max_nonzeros", "3"}),
            "--model.max_nonzeros: model.max_nonzeros must be at most model.features; it is 3\n");
  EXPECT_EQ(refusal("[model]\nfeatures = 3.5\n", {}),
            file +
                ":2:12: model.features = \"3.5\" is not allowed: a whole number of 0 to "
                "4294967295 is expected\n");
}

// All that a start would read, before the old daemon is stopped.
TEST(DaemonCheckConfig, ReadsCertificateKeyAndIdentitiesToo) {
  constexpr long kMonth = 30 * 86'400;  // so that they do not expire soon
  const testing::TestCertificate authority("check-authority", "", nullptr, kMonth);
  const testing::TestCertificate server("check-server", "DNS:localhost", &authority, kMonth);
  const std::string hash = testing::hash_text("x");
  const std::string identities = testing::write_identities("check-identities", "# none\n");
  const std::string file = testing::temporary_path("check-files.toml");
  const auto check = [&](const std::string& certificate, const std::string& key,
                         const std::string& client_ca) {
    std::ofstream(file) << "[model]\nfeatures = 2\n[server]\nidentities_file = \"" << identities
                        << "\"\ntls.certificate = \"" << certificate << "\"\ntls.key = \"" << key
                        << "\"\ntls.client_ca = \"" << client_ca << "\"\n";
    const testing::ProgramRun run =
        testing::run_program(WINDHOVER_DAEMON, {"--check-config", file});
    EXPECT_EQ(run.exit_code, run.error.empty() ? 0 : 2) << run.out;
    EXPECT_EQ(run.out.starts_with("ok "), run.error.empty()) << run.out;
    return run.error;
  };
  const std::string certificate = server.certificate();
  const std::string key = server.key();
  EXPECT_EQ(check(certificate, key, authority.certificate()), "");
  const auto begins = [](const std::string& error, const std::string& with) {
    return error.starts_with(with + ": ");
  };
  EXPECT_TRUE(begins(check("nowhere.pem", key, ""), "nowhere.pem"));
  EXPECT_TRUE(begins(check(key, key, ""), key));
  EXPECT_TRUE(begins(check(certificate, certificate, ""), certificate));
  EXPECT_TRUE(begins(check(certificate, key, key), key));
  testing::write_identities("check-identities", "ada query default " + hash + "\n");
  EXPECT_EQ(check(certificate, key, ""), "");
  testing::write_identities("check-identities", "\nada query elsewhere " + hash + "\n");
  EXPECT_EQ(check(certificate, key, ""), identities + ":2: the server has no model of that name\n");
  testing::write_identities("check-identities", "role:query frames=x\n");
  EXPECT_TRUE(begins(check(certificate, key, ""), identities + ":1"));
  testing::write_identities("check-identities", "", 0644);
  EXPECT_TRUE(begins(check(certificate, key, ""), identities));
}

TEST(DaemonAddressTaken, IsNamedWithTheReason) {
  ChildDaemon first(WINDHOVER_DAEMON, arguments());
  const std::string& address = first.query_address();
  const std::string port = address.substr(address.rfind(':') + 1);
  const testing::ProgramRun second = testing::run_program(
      WINDHOVER_DAEMON,
      {"--model.features", "1", "--server.query.tcp_port", port, "--process.log_level", "warning"});
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_EQ(second.error, "windhoverd: query.tcp_address 127.0.0.1 with tcp_port " + port +
                              " cannot be bound: Address already in use; stop the process that "
                              "has it, or give another (port 0: any free one)\n");
}

TEST(DaemonAddressTaken, PathIsNamedToo) {
  const std::string path = testing::temporary_path("no_folder") + "/socket";
  const testing::ProgramRun run =
      testing::run_program(WINDHOVER_DAEMON, {"--model.features", "1", "--server.observe.unix_path",
                                              path, "--process.log_level", "warning"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.error, "windhoverd: observe.unix_path " + path +
                           " cannot be bound: No such file or directory\n");
}

}  // namespace
}  // namespace windhover
