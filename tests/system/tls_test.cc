// A daemon under TLS: what OpenSSL's block is for, and what the commands say to it.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/io/client.h"
#include "windhover/io/tls/tls_config.h"
#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/io/http/http_peer.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/tls/certificates.h"
#include "windhover/tests/system/live_daemon.h"
#include "windhover/tools/daemon/child_daemon.h"

namespace windhover {
namespace tls_test {

using testing::HttpPeer;
using testing::run_program;
using testing::TestCertificate;

struct Daemon {
  explicit Daemon(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {
        "--model.features",          "2",         "--engine.window_size",     "1000",
        "--server.observe.tcp_port", "0",         "--server.query.tcp_port",  "0",
        "--server.http.tcp_address", "127.0.0.1", "--server.tls.certificate", server.certificate(),
        "--server.tls.key",          server.key()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    child = std::make_unique<ChildDaemon>(WINDHOVER_DAEMON, arguments);
    options.tls.ca_file = root.certificate();
  }
  std::string query() const { return "tls://" + child->query_address(); }

  TestCertificate root{"daemon-authority", "", nullptr};
  TestCertificate server{"daemon-server", "IP:127.0.0.1", &root};
  std::unique_ptr<ChildDaemon> child;
  ClientOptions options;
};

// The value of one line of /metrics.
double metric(HttpPeer& peer, const std::string& name) {
  const std::string text = peer.get("/metrics").body;
  const std::size_t found = text.find("\n" + name + " ");
  EXPECT_NE(found, std::string::npos) << name;
  if (found == std::string::npos) return 0;
  return std::strtod(text.c_str() + found + name.size() + 2, nullptr);
}

TEST(TlsMemory, ConnectionNeedsLessThanItIsSaidTo) {
  Daemon daemon({"--server.max_sessions", "100"});
  HttpPeer peer("tls://" + daemon.child->http_address(), daemon.options.tls);
  const double base = metric(peer, "windhover_tls_memory_used_bytes");
  EXPECT_LT(2 * base, static_cast<double>(kTlsBaseBytes));
  EXPECT_EQ(metric(peer, "windhover_tls_memory_bytes"),
            static_cast<double>(kTlsBaseBytes + (200 + 32) * kTlsConnectionBytes));
  std::vector<std::unique_ptr<testing::RawPeer>> half;
  for (int i = 0; i < 50; ++i) {
    half.push_back(std::make_unique<testing::RawPeer>(daemon.child->query_address()));
    // The beginning of a record and of a ClientHello.
    half.back()->send(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) +
                      std::string(100, 'a'));
  }
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(std::make_unique<Client>());
    ASSERT_EQ(clients.back()->connect(daemon.query(), daemon.options), Status::kOk)
        << clients.back()->error_text();
  }
  const double used = metric(peer, "windhover_tls_memory_touched_bytes");
  const double each = (used - base) / 100;
  RecordProperty("bytes_a_connection", static_cast<int>(each));
  EXPECT_LT(each, static_cast<double>(kTlsConnectionBytes));
  EXPECT_GT(each, 0.4 * static_cast<double>(kTlsConnectionBytes));
}

TEST(TlsMemory, FullItRefusesConnectionsAndNothingElse) {
  constexpr std::size_t kConnections = 6;  // and the one that watches
  const std::size_t bytes = kTlsBaseBytes + (kConnections + 1) * kTlsConnectionBytes;
  Daemon daemon(
      {"--server.max_sessions", "64", "--server.tls.memory_bytes", std::to_string(bytes)});
  HttpPeer peer("tls://" + daemon.child->http_address(), daemon.options.tls);
  std::vector<std::unique_ptr<Client>> clients;
  int refused = 0;
  for (int i = 0; i < 40; ++i) {
    auto client = std::make_unique<Client>();
    if (ok(client->connect(daemon.query(), daemon.options))) {
      clients.push_back(std::move(client));
    } else {
      ++refused;
    }
  }
  EXPECT_EQ(clients.size(), kConnections);
  EXPECT_EQ(refused, 40 - static_cast<int>(kConnections));
  const std::string counter = "windhover_tls_handshakes_total{outcome=\"refused\"}";
  EXPECT_EQ(metric(peer, counter), refused);
  // Connections that are there go on, and when some go others may come.
  std::vector<ParameterSummary> parameters;
  Provenance provenance;
  for (const auto& client : clients) {
    EXPECT_EQ(client->posterior(parameters, provenance), Status::kOk) << client->error_text();
  }
  clients.resize(clients.size() / 2);
  Client late;
  EXPECT_TRUE(
      testing::comes_true([&] { return ok(late.connect(daemon.query(), daemon.options)); }));
  EXPECT_EQ(daemon.child->stop().exit_code, 0);
}

TEST(TlsDaemon, CommandsSpeakIt) {
  Daemon daemon;
  const auto windhover = [](std::vector<std::string> arguments) {
    return run_program(WINDHOVER_PROGRAM, std::move(arguments));
  };
  const std::string ca = daemon.root.certificate();
  testing::ProgramRun run = windhover({"status", "--to", daemon.query(), "--ca", ca});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  run = windhover({"predict", "--to", daemon.query(), "--ca", ca, "--x", "1,2"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  run = windhover({"status", "--to", daemon.query()});
  EXPECT_NE(run.error.find("certificate is not good"), std::string::npos) << run.error;
  run = windhover({"status", "--to", daemon.query(), "--ca", ca, "--server-name", "example.org"});
  EXPECT_EQ(run.exit_code, 1);
  run = windhover({"status", "--to", daemon.child->query_address()});
  EXPECT_EQ(run.exit_code, 1);
}

// It is taken up, as the clock that judges it may be wrong.
TEST(TlsDaemon, ACertificateThatClientsRefuseIsToldOf) {
  const TestCertificate root("old-authority", "", nullptr);
  const TestCertificate old("expired", "IP:127.0.0.1", &root, -7'000);
  const std::vector<std::string> files = {"--server.tls.certificate", old.certificate(),
                                          "--server.tls.key", old.key()};
  std::vector<std::string> check = {"--check-config", "--model.features", "1"};
  check.insert(check.end(), files.begin(), files.end());
  const testing::ProgramRun run = run_program(WINDHOVER_DAEMON, check);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.error.find(old.certificate() + ": the certificate has expired on 20"), 0U)
      << run.error;
  testing::LiveDaemon daemon("expired", files);
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  ASSERT_TRUE(daemon.logs("certificate_expired"));
  // Another one in its place.
  const TestCertificate good("good", "IP:127.0.0.1", &root, 30 * 86'400);
  std::rename(good.key().c_str(), old.key().c_str());
  std::rename(good.certificate().c_str(), old.certificate().c_str());
  ::kill(daemon.pid(), SIGHUP);
  ASSERT_TRUE(daemon.logs("certificate"));
  EXPECT_GE(daemon.events("certificate").at(0).at("days_left"), 28);
  EXPECT_EQ(daemon.stop(), 0);
}

// As soon as the log of a daemon at work tells of it.
TEST(TlsDaemon, ACertificateThatExpiresSoonIsToldOfByACheck) {
  const TestCertificate root("root-of-soon", "", nullptr);
  const TestCertificate own("own-soon", "IP:127.0.0.1", &root, 13 * 86'400);
  const TestCertificate clients("clients-soon", "", nullptr, 12 * 86'400);
  const std::string identities = testing::write_identities("soon-identities", "cert:ada query *\n");
  const testing::ProgramRun run = run_program(
      WINDHOVER_DAEMON, {"--check-config", "--model.features", "1", "--server.tls.certificate",
                         own.certificate(), "--server.tls.key", own.key(), "--server.tls.client_ca",
                         clients.certificate(), "--server.identities_file", identities});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out.find("ok block="), 0U) << run.out;
  EXPECT_EQ(run.error.find(own.certificate() + ": the certificate expires on 20"), 0U) << run.error;
  EXPECT_NE(run.error.find(clients.certificate() +
                           ": an authority of clients' certificates expires on 20"),
            std::string::npos)
      << run.error;
}

// Nobody whom it vouches for can come in.
TEST(TlsDaemon, AnAuthorityOfClientsThatHasExpiredIsToldOf) {
  const TestCertificate root("root", "", nullptr);
  const TestCertificate own("own", "IP:127.0.0.1", &root, 30 * 86'400);
  const TestCertificate old("old-clients", "", nullptr, -7'000);
  const std::string identities = testing::write_identities("ca-identities", "cert:ada query *\n");
  const std::vector<std::string> files = {
      "--server.tls.certificate", own.certificate(), "--server.tls.key",         own.key(),
      "--server.tls.client_ca",   old.certificate(), "--server.identities_file", identities};
  std::vector<std::string> check = {"--check-config", "--model.features", "1"};
  check.insert(check.end(), files.begin(), files.end());
  const testing::ProgramRun run = run_program(WINDHOVER_DAEMON, check);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.error.find(old.certificate() +
                           ": an authority of clients' certificates has expired on 20"),
            0U)
      << run.error;
  testing::LiveDaemon daemon("expired-clients", files);
  ASSERT_TRUE(daemon.ready()) << daemon.error();
  ASSERT_TRUE(daemon.logs("client_ca_expired"));
  const TestCertificate good("good-clients", "", nullptr, 30 * 86'400);
  std::rename(good.certificate().c_str(), old.certificate().c_str());
  ::kill(daemon.pid(), SIGHUP);
  ASSERT_TRUE(daemon.logs("client_ca"));
  EXPECT_GE(daemon.events("client_ca").at(0).at("days_left"), 28);
  EXPECT_EQ(daemon.stop(), 0);
}

}  // namespace tls_test
}  // namespace windhover
