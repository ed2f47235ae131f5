// TLS between a server and its clients, over real sockets.
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <fstream>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/io/http/http_peer.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/server_fixture.h"
#include "windhover/tests/io/tls/authority.h"

namespace windhover {
namespace tls_server_test {

using testing::Authority;
using testing::eventually;
using testing::RawPeer;
using testing::small_engine;
using testing::small_server;
using testing::TestCertificate;
using testing::TestRows;
using testing::TestServer;
using testing::tls;
using testing::token_line;
using testing::write_identities;

TEST(Tls, RowsAndQuestionsGoThrough) {
  const Authority authority;
  TestServer server(authority.config());
  Client client;
  ASSERT_EQ(client.connect(tls(server.observe_address()), authority.options()), Status::kOk)
      << client.error_text();
  // The rows are more than a record, than the socket's buffers, and than the window.
  const TestRows rows(50'000);
  ASSERT_EQ(client.observe(rows.rows()), Status::kOk) << client.error_text();
  EXPECT_EQ(client.totals().accepted, 50'000U);
  std::vector<double> draws;
  Provenance provenance;
  ASSERT_EQ(client.draws(draws, provenance), Status::kOk) << client.error_text();
  EXPECT_EQ(draws.size(), provenance.draws * 4);
  Client other;
  ASSERT_EQ(other.connect(tls(server.query_address()), authority.options()), Status::kOk);
  std::vector<ParameterSummary> parameters;
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(other.posterior(parameters, provenance), Status::kOk) << other.error_text();
  }
  EXPECT_EQ(server.counter(IoCounter::kTlsHandshakes), 2U);
  other.close();
  client.close();
  EXPECT_TRUE(eventually([&] { return server.counter(IoCounter::kConnectionsClosed) == 2; }));
  EXPECT_EQ(server.counter(IoCounter::kTlsFailures), 0U);
  EXPECT_EQ(server.counter(IoCounter::kSocketErrors), 0U);
}

TEST(Tls, ServerMustHaveTheNameAndTheAuthority) {
  const Authority authority;
  const TestCertificate stranger("stranger", "", nullptr);
  TestServer server(authority.config());
  const std::string address = tls(server.query_address());
  Client client;
  ClientOptions options = authority.options();
  options.tls.server_name = "localhost";
  EXPECT_EQ(client.connect(address, options), Status::kOk) << client.error_text();
  options.tls.server_name = "other.example";
  EXPECT_EQ(client.connect(address, options), Status::kNotPermitted);
  EXPECT_NE(client.error_text().find("certificate is not good"), std::string::npos)
      << client.error_text();
  options = authority.options();
  options.tls.ca_file = stranger.certificate();
  EXPECT_EQ(client.connect(address, options), Status::kNotPermitted);
  options.tls.ca_file = {};  // those whom the system trusts do not know it
  EXPECT_EQ(client.connect(address, options), Status::kNotPermitted);
  options.tls.ca_file = "no such file";
  EXPECT_EQ(client.connect(address, options), Status::kInvalidArgument);
  EXPECT_TRUE(eventually([&] { return server.counter(IoCounter::kTlsFailures) == 3; }));
}

TEST(Tls, ExpiredServerIsNotTrusted) {
  const Authority authority;
  const TestCertificate expired("expired", "IP:127.0.0.1", &authority.root, -3600);
  ServerConfig config = authority.config();
  config.tls.certificate = expired.certificate();
  config.tls.key = expired.key();
  TestServer server(config);
  Client client;
  EXPECT_EQ(client.connect(tls(server.query_address()), authority.options()),
            Status::kNotPermitted);
  EXPECT_NE(client.error_text().find("expired"), std::string::npos) << client.error_text();
}

// No plain text by accident, in either direction.
TEST(Tls, PlainAndSecretDoNotMix) {
  const Authority authority;
  TestServer secret(authority.config());
  TestServer plain;
  RawPeer peer(secret.query_address());
  EXPECT_FALSE(peer.hello());
  EXPECT_TRUE(peer.ends());
  Client client;
  EXPECT_NE(client.connect(tls(plain.query_address()), authority.options()), Status::kOk);
  EXPECT_NE(client.connect(secret.query_address()), Status::kOk);
  EXPECT_EQ(secret.counter(IoCounter::kFrames), 0U);
  EXPECT_GE(secret.counter(IoCounter::kTlsFailures), 1U);
}

TEST(Tls, CertificateOfAClientIsAnIdentity) {
  const Authority authority;
  const TestCertificate clients("clients", "", nullptr);
  const TestCertificate ada("ada", "", &clients);
  const TestCertificate bob("other-name", "DNS:bob.example", &clients);
  const TestCertificate nobody("nobody", "", &clients);
  const TestCertificate stranger("ada", "", &authority.root);
  const std::string file =
      write_identities("certificates", "cert:ada query *\ncert:bob.example observe *\n" +
                                           token_line("eve", "query"));
  ServerConfig config = authority.config();
  config.identities_file = file;
  config.tls.client_ca = clients.certificate();
  TestServer server(config);
  const auto as = [&](const TestCertificate& own) {
    ClientOptions options = authority.options();
    options.tls.certificate = own.certificate();
    options.tls.key = own.key();
    return options;
  };
  const std::string address = tls(server.observe_address());
  Client client;
  std::vector<ParameterSummary> parameters;
  Provenance provenance;
  // The names of files are those of certificates: the stranger's were written last.
  const TestCertificate again("ada", "", &clients);
  ASSERT_EQ(client.connect(address, as(again)), Status::kOk) << client.error_text();
  EXPECT_EQ(client.posterior(parameters, provenance), Status::kOk) << client.error_text();
  EXPECT_EQ(client.observe(TestRows(3).rows()), Status::kNotPermitted);
  ASSERT_EQ(client.connect(address, as(bob)), Status::kOk) << client.error_text();
  EXPECT_EQ(client.observe(TestRows(3).rows()), Status::kOk);
  EXPECT_EQ(client.connect(address, as(nobody)), Status::kNotPermitted);
  EXPECT_EQ(client.connect(address, authority.options()), Status::kNotPermitted);
  // A token does without.
  ClientOptions token = authority.options();
  token.token = "eve-token";
  EXPECT_EQ(client.connect(address, token), Status::kOk) << client.error_text();
  const TestCertificate false_ada("ada", "", &authority.root);
  EXPECT_NE(client.connect(address, as(false_ada)), Status::kOk);
}

// What clients are shown ends with the first of its certificates that does.
TEST(Tls, DatesAreThoseOfTheWholeChain) {
  const Authority authority;
  const TestCertificate between("between", "", nullptr, 3600);
  std::ofstream(authority.server.certificate(), std::ios::app)
      << std::ifstream(between.certificate()).rdbuf();
  TestServer server(authority.config());
  const CertificateDates dates = server.server().certificates().own;
  EXPECT_EQ(dates.until_s - dates.from_s, 86'400 + 3600);
}

// Clients of one that has expired are refused, so their file is as good as the worst of it.
TEST(Tls, DatesOfClientsAuthoritiesAreThoseOfAllInTheirFile) {
  const Authority authority;
  const TestCertificate clients("clients-now", "", nullptr, 3 * 86'400);
  const TestCertificate before("clients-before", "", nullptr, -3600);
  TestServer without(authority.config());
  EXPECT_FALSE(without.server().certificates().client_ca.known());
  const std::string file = write_identities("client-ca", "cert:ada query *\n");
  ServerConfig config = authority.config();
  config.tls.client_ca = clients.certificate();
  config.identities_file = file;
  config.max_identities = 8;
  TestServer server(config);
  CertificateDates dates = server.server().certificates().client_ca;
  EXPECT_EQ(dates.until_s - dates.from_s, 4 * 86'400);
  std::ofstream(clients.certificate(), std::ios::app)
      << std::ifstream(before.certificate()).rdbuf();
  ASSERT_TRUE(server.server().reload().ok());
  dates = server.server().certificates().client_ca;
  EXPECT_EQ(dates.until_s - dates.from_s, 86'400 - 3600);
  EXPECT_EQ(server.server().certificates().own, without.server().certificates().own);
}

// One that is still to become good leaves the others their clients.
TEST(Tls, AnAuthorityOfClientsThatIsNotValidYetHoldsUpNobodyElse) {
  const Authority authority;
  const TestCertificate now("clients-good", "", nullptr, 3 * 86'400);
  const TestCertificate later("clients-later", "", nullptr, 9 * 86'400, 2 * 86'400);
  const TestCertificate ada("ada", "", &now);
  std::ofstream(now.certificate(), std::ios::app) << std::ifstream(later.certificate()).rdbuf();
  const std::string file = write_identities("client-ca-later", "cert:ada query *\n");
  ServerConfig config = authority.config();
  config.tls.client_ca = now.certificate();
  config.identities_file = file;
  config.max_identities = 8;
  TestServer server(config);
  const TlsDates dates = server.server().certificates();
  EXPECT_EQ(dates.client_ca.until_s - dates.client_ca_begins_s, 4 * 86'400);
  EXPECT_GE(dates.client_ca.from_s - dates.client_ca_begins_s, 3 * 86'400);
  Client client;
  ClientOptions as_ada = authority.options();
  as_ada.tls.certificate = ada.certificate();
  as_ada.tls.key = ada.key();
  EXPECT_EQ(client.connect(tls(server.query_address()), as_ada), Status::kOk)
      << client.error_text();
}

TEST(Tls, NewCertificateIsForNewConnections) {
  const Authority authority;
  TestServer server(authority.config());
  const std::string address = tls(server.query_address());
  const CertificateDates dates = server.server().certificates().own;
  EXPECT_EQ(dates.until_s - dates.from_s, 2 * 86'400);
  Client old;
  ASSERT_EQ(old.connect(address, authority.options()), Status::kOk);
  Provenance provenance;
  std::vector<ParameterSummary> parameters;
  // A key that does not fit changes nothing.
  const TestCertificate root("second-authority", "", nullptr);
  { const TestCertificate unfit("server", "IP:127.0.0.1", &root); }
  const TestCertificate other("other", "IP:127.0.0.1", &root, 3 * 86'400);
  std::rename(other.key().c_str(), authority.server.key().c_str());
  const auto refused = server.server().reload();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(std::string(refused.error().sentence).find(authority.server.key()), 0U);
  EXPECT_EQ(server.server().certificates().own, dates);
  Client again;
  ASSERT_EQ(again.connect(address, authority.options()), Status::kOk) << again.error_text();
  std::rename(other.certificate().c_str(), authority.server.certificate().c_str());
  ASSERT_TRUE(server.server().reload().ok());
  const CertificateDates new_dates = server.server().certificates().own;
  EXPECT_EQ(new_dates.until_s - new_dates.from_s, 4 * 86'400);
  EXPECT_EQ(old.posterior(parameters, provenance), Status::kOk);
  EXPECT_EQ(again.connect(address, authority.options()), Status::kNotPermitted);
  ClientOptions second = authority.options();
  second.tls.ca_file = root.certificate();
  EXPECT_EQ(again.connect(address, second), Status::kOk) << again.error_text();
}

TEST(Tls, FilesThatAreWrongAreNamedAtTheStart) {
  const Authority authority;
  const auto sentence_with = [&](auto change) {
    ServerConfig config = authority.config();
    change(config);
    RealClock clock;
    MappedBlock engine_block(Engine::footprint(small_engine()).value());
    Engine* engine = Engine::create(small_engine(), engine_block.bytes(), clock).value();
    MappedBlock block(Server::footprint(config, small_engine()).value());
    auto server = Server::create(config, *engine, block.bytes(), clock);
    return std::string(server.value()->open().error().sentence);
  };
  EXPECT_EQ(sentence_with([](ServerConfig& c) { c.tls.key = "none"; }).find("none: "), 0U);
  EXPECT_NE(
      sentence_with([](ServerConfig& c) { c.tls.certificate = c.tls.key; }).find("no certificate"),
      std::string::npos);
  ::chmod(authority.server.key().c_str(), 0640);
  EXPECT_NE(sentence_with([](ServerConfig&) {}).find("chmod 600"), std::string::npos);
  ServerConfig half = authority.config();
  half.tls.key = {};
  EXPECT_EQ(check(half, small_engine()).status(), Status::kInvalidConfig);
  ServerConfig unnamed = authority.config();
  unnamed.tls.client_ca = authority.root.certificate();
  EXPECT_EQ(check(unnamed, small_engine()).status(), Status::kInvalidConfig);
}

// Rows go on to the observe endpoint inside, where there is no TLS.
TEST(Tls, HttpSpeaksItWithTheSameCertificate) {
  const Authority authority;
  ServerConfig config = authority.config();
  config.http.listen.tcp_address = "127.0.0.1";
  EngineConfig engine = small_engine();
  engine.max_readers = kServerReaders + kHttpReaders + 1;
  engine.max_watchers = kServerWatchers + kHttpWatchers;
  TestServer server(config, engine);
  const std::string address = "127.0.0.1:" + std::to_string(server.server().http().port);
  testing::HttpPeer peer(tls(address), authority.options().tls);
  ASSERT_TRUE(peer.connected());
  EXPECT_EQ(peer.get("/readyz").status, 200);
  const testing::HttpResponse metrics = peer.get("/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_GT(metrics.body.size(), 16'384U);  // more than a record
  const std::string gauge = "\nwindhover_tls_certificate_expiry_timestamp_seconds ";
  const std::size_t found = metrics.body.find(gauge);
  ASSERT_NE(found, std::string::npos);
  EXPECT_EQ(std::stod(metrics.body.substr(found + gauge.size())),
            static_cast<double>(server.server().certificates().own.until_s));
  const std::string json = "Content-Type: application/json\r\n";
  for (int i = 0; i < 5; ++i) {
    const testing::HttpResponse rows = peer.ask(
        "POST", "/v1/observe", json, R"({"rows":1,"features_f64":[1,2,3],"targets_f64":[1]})");
    EXPECT_EQ(rows.status, 200) << rows.body;
  }
  EXPECT_EQ(server.counter(IoCounter::kRowsAccepted), 5U);
  testing::HttpPeer plain(address);
  EXPECT_TRUE(plain.send("GET /healthz HTTP/1.1\r\n\r\n"));
  EXPECT_EQ(plain.receive().status, 0);
}

}  // namespace tls_server_test
}  // namespace windhover
