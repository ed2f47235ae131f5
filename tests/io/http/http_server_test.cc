#include "windhover/io/http/http_server.h"

#include <cerrno>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/io/server.h"
#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/io/http/http_fixture.h"
#include "windhover/tests/io/http/http_peer.h"
#include "windhover/tests/io/server_fixture.h"
#include "windhover/tests/io/stranger_elsewhere.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover {
namespace http_server_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::eventually;
using testing::http_engine;
using testing::http_server;
using testing::HttpPeer;
using testing::HttpResponse;
using testing::StrangerElsewhere;
using testing::TestRows;
using testing::TestServer;

std::string address_of(TestServer& server) {
  return "127.0.0.1:" + std::to_string(server.server().http().port);
}

// The value of a sample, named as it stands in the text; -1: it is not there.
double sample_in(const std::string& text, const std::string& name) {
  const std::size_t found = text.find("\n" + name + " ");
  return found == std::string::npos ? -1
                                    : std::strtod(text.c_str() + found + name.size() + 2, nullptr);
}

double sample_of(TestServer& server, const std::string& name) {
  return sample_in(HttpPeer(address_of(server)).get("/metrics").body, name);
}

TEST(HttpServerConfig, IsOffUnlessItIsSaidWhere) {
  EXPECT_FALSE(ServerConfig().http.enabled());
  EXPECT_EQ(readers_of(ServerConfig()), kServerReaders);
  EXPECT_EQ(readers_of(http_server()), kServerReaders + kHttpReaders);
  TestServer server;
  EXPECT_EQ(server.server().http().port, 0);
}

TEST(HttpServerConfig, ImpossibleOnesAreRefusedWithASentence) {
  const auto status_with = [](auto change) {
    ServerConfig config = http_server();
    change(config);
    const Result<bool> checked = check(config, http_engine());
    if (checked.ok()) return Status::kOk;
    EXPECT_FALSE(std::string(checked.error().sentence).empty());
    return checked.status();
  };
  EXPECT_EQ(status_with([](ServerConfig&) {}), Status::kOk);
  EXPECT_EQ(status_with([](ServerConfig& c) { c.http.listen.tcp_address = "0.0.0.0"; }),
            Status::kNotPermitted);
  EXPECT_EQ(status_with([](ServerConfig& c) {
              c.http.listen = {"", 9100, ""};
            }),
            Status::kInvalidConfig);
  EXPECT_EQ(status_with([](ServerConfig& c) { c.http.max_connections = 0; }),
            Status::kInvalidConfig);
  EXPECT_EQ(status_with([](ServerConfig& c) { c.http.header_cap = 100; }), Status::kInvalidConfig);
  EXPECT_EQ(status_with([](ServerConfig& c) { c.http.body_cap = 0; }), Status::kInvalidConfig);
  EXPECT_EQ(status_with([](ServerConfig& c) { c.http.idle_timeout = milliseconds(0); }),
            Status::kInvalidConfig);
  EngineConfig few = http_engine();
  few.max_readers = kServerReaders;
  few.max_watchers = 1024;
  EXPECT_EQ(check(http_server(), few).status(), Status::kInvalidConfig);
}

TEST(HttpServerConfig, TakenPortIsNamed) {
  TestServer first(http_server(), http_engine());
  RealClock clock;
  MappedBlock engine_block(Engine::footprint(http_engine()).value());
  Engine* engine = Engine::create(http_engine(), engine_block.bytes(), clock).value();
  ServerConfig config = http_server();
  config.http.listen.tcp_port = first.server().http().port;
  MappedBlock block(Server::footprint(config, http_engine()).value());
  auto server = Server::create(config, *engine, block.bytes(), clock);
  const Result<bool> opened = server.value()->open();
  EXPECT_EQ(opened.status(), Status::kUnavailable);
  EXPECT_EQ(std::string(opened.error().sentence), "http.tcp_address 127.0.0.1 with tcp_port " +
                                                      std::to_string(first.server().http().port) +
                                                      " cannot be bound");
  EXPECT_EQ(opened.error().number, EADDRINUSE);
}

TEST(HttpServer, ServesOnAUnixPathToo) {
  ServerConfig config = http_server();
  const std::string path = testing::temporary_path("http_socket");
  config.http.listen = {"", 0, path};
  TestServer server(config, http_engine());
  EXPECT_EQ(HttpPeer("unix:" + path).get("/readyz").status, 200);
}

TEST(HttpServer, MetricsAreThoseOfTheServer) {
  TestServer server(http_server(), http_engine());
  Client client;
  ASSERT_EQ(client.connect(server.observe_address()), Status::kOk) << client.error_text();
  TestRows rows(1000);
  rows.targets[3] = std::numeric_limits<double>::quiet_NaN();
  ASSERT_EQ(client.observe(rows.rows()), Status::kOk) << client.error_text();
  HttpPeer peer(address_of(server));
  std::string text;
  ASSERT_TRUE(eventually([&] {
    text = peer.get("/metrics").body;
    return sample_in(text, "windhover_lag_rows{model=\"default\"}") == 0;
  })) << text;
  EXPECT_EQ(sample_in(text, "windhover_rows_total{outcome=\"accepted\"}"), 999);
  EXPECT_EQ(sample_in(text, "windhover_rows_total{outcome=\"refused\"}"), 1);
  EXPECT_EQ(sample_in(text,
                      "windhover_engine_rows_refused_total{model=\"default\",reason="
                      "\"not_finite\"}"),
            1);
  EXPECT_EQ(sample_in(text, "windhover_head_rows{model=\"default\"}"), 999);
  EXPECT_EQ(sample_in(text, "windhover_sessions{endpoint=\"observe\"}"), 1);
  EXPECT_EQ(sample_in(text, "windhover_sessions{endpoint=\"http\"}"), 1);
  EXPECT_EQ(sample_in(text, "windhover_sessions_limit{endpoint=\"query\"}"), 8);
  EXPECT_EQ(sample_in(text, "windhover_sessions_limit{endpoint=\"http\"}"), 32);
  EXPECT_NEAR(sample_in(text, "windhover_noise_variance{model=\"default\"}"), 1, 1e-9);
  EXPECT_GT(sample_in(text, "windhover_uptime_seconds"), 0);
  EXPECT_GT(sample_in(text, "windhover_start_time_seconds"), 1.5e9);
  EXPECT_GT(sample_in(text, "windhover_resident_bytes"), 1e6);
  EXPECT_GT(sample_in(text, "windhover_engine_snapshots_total{model=\"default\"}"), 0);
  EXPECT_EQ(sample_in(text, "windhover_checkpoints_total{model=\"default\"}"), -1) << "no folder";

  v1::StatusResult status;
  ASSERT_EQ(client.status(status), Status::kOk) << client.error_text();
  EXPECT_EQ(sample_in(text, "windhover_block_bytes"),
            static_cast<double>(status.footprint_bytes()));
  text = peer.get("/metrics").body;
  EXPECT_EQ(sample_in(text, "windhover_question_duration_seconds_count{endpoint=\"observe\"}"), 1);
}

TEST(HttpServer, FormatFollowsTheAcceptHeader) {
  TestServer server(http_server(), http_engine());
  HttpPeer peer(address_of(server));
  const HttpResponse plain = peer.get("/metrics");
  EXPECT_EQ(plain.field("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_FALSE(plain.body.ends_with("# EOF\n"));
  const HttpResponse open =
      peer.get("/metrics", "Accept: application/openmetrics-text;version=1.0.0\r\n");
  EXPECT_EQ(open.field("Content-Type"),
            "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_TRUE(open.body.ends_with("# EOF\n"));
  const HttpResponse head = peer.ask("HEAD", "/metrics");
  EXPECT_EQ(head.status, 200);
  EXPECT_GT(std::stoul(head.field("Content-Length")), 10'000U);
  EXPECT_EQ(peer.get("/healthz").status, 200) << "the connection is still good";
}

TEST(HttpServer, PipelinedRequestsAreAllAnswered) {
  TestServer server(http_server(), http_engine());
  HttpPeer peer(address_of(server));
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
  ASSERT_TRUE(peer.send(bytes));
  for (int i = 0; i < 300; ++i) ASSERT_EQ(peer.receive().status, 200) << i;
}

TEST(HttpServer, GarbageClosesTheConnectionAndIsCounted) {
  TestServer server(http_server(), http_engine());
  HttpPeer peer(address_of(server));
  ASSERT_TRUE(peer.send(std::string("\x16\x03\x01\x00\x05hello\r\n\r\n", 14)));
  EXPECT_EQ(peer.receive().status, 400);
  EXPECT_TRUE(peer.ends());
  EXPECT_EQ(sample_of(server, "windhover_http_malformed_total"), 1);
}

TEST(HttpServer, OneTooManyIsToldSoAndAPlaceIsFreeAgain) {
  ServerConfig config = http_server();
  config.http.max_connections = 2;
  TestServer server(config, http_engine());
  HttpPeer first(address_of(server));
  ASSERT_EQ(first.get("/healthz").status, 200);
  {
    HttpPeer second(address_of(server));
    ASSERT_EQ(second.get("/healthz").status, 200);
    for (HttpPeer* peer : {&first, &second}) {
      ASSERT_TRUE(
          peer->send("POST /nothing HTTP/1.1\r\nExpect: 100-continue\r\n"
                     "Content-Length: 2\r\n\r\n"));
      ASSERT_EQ(peer->receive().status, 100);
    }
    HttpPeer third(address_of(server));
    const HttpResponse response = third.get("/v1/models");
    EXPECT_EQ(response.status, 503);
    EXPECT_EQ(response.body, "{\"error\":\"too many connections are open\"}\n");
    EXPECT_TRUE(third.ends());
    ASSERT_TRUE(first.send("{}"));
    EXPECT_EQ(first.receive().status, 404);
  }
  EXPECT_TRUE(
      eventually([&] { return HttpPeer(address_of(server)).get("/healthz").status == 200; }));
  EXPECT_GE(sample_in(first.get("/metrics").body,
                      "windhover_http_connections_total{outcome=\"refused\"}"),
            1);
}

// While all places are taken by peers of whom nobody is known, or that have nothing under way.
TEST(HttpServer, StrangersAndIdleOnesGiveWayToWhoComes) {
  const std::string file =
      testing::write_identities("http_strangers", testing::token_line("ada", "query"));
  ServerConfig config = http_server();
  config.identities_file = file;
  config.http.max_connections = 4;
  TestServer server(config, http_engine());
  const std::string token = "Authorization: Bearer ada-token\r\n";
  HttpPeer ada(address_of(server));
  ASSERT_EQ(ada.get("/metrics", token).status, 200);
  std::deque<HttpPeer> strangers;
  for (int i = 0; i < 40; ++i) {
    strangers.emplace_back(address_of(server));
    if (i % 3 == 1) (void)strangers.back().send("GET /metr");
    if (i % 3 == 2) (void)strangers.back().get("/metrics");  // 401
  }
  EXPECT_EQ(ada.get("/metrics", token).status, 200) << "the same connection";
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(HttpPeer(address_of(server)).get("/metrics", token).status, 200);
    (void)strangers.emplace_back(address_of(server)).send("GET /metr");
  }
  EXPECT_GE(server.counter(IoCounter::kStrangersLetGo), 30U);
  // Now all are ada's: the one that has been idle for longest goes.
  std::deque<HttpPeer> known;
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(known.emplace_back(address_of(server)).get("/metrics", token).status, 200) << i;
  }
  EXPECT_TRUE(ada.ends());
}

// One that is slow to say who it is, and a crowd at another address.
TEST(HttpServer, ACrowdOfStrangersMakesRoomForItself) {
  const std::string file =
      testing::write_identities("http_crowd", testing::token_line("ada", "query"));
  ServerConfig config = http_server();
  config.identities_file = file;
  config.http.max_connections = 4;
  TestServer server(config, http_engine());
  HttpPeer ada(address_of(server));
  ASSERT_EQ(ada.get("/healthz").status, 200) << "she is there, and nobody knows who she is";
  std::deque<StrangerElsewhere> crowd;
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(crowd.emplace_back(server.server().http().port).connected());
  }
  // The first four have had a place; of the others each has taken that of one of the crowd.
  EXPECT_TRUE(eventually([&] { return server.counter(IoCounter::kStrangersLetGo) >= 37; }));
  EXPECT_EQ(ada.get("/metrics", "Authorization: Bearer ada-token\r\n").status, 200);
}

// Each of these would keep its place for ever if nobody looked at the clock.
TEST(HttpServer, PeersThatTakeTooLongAreGone) {
  ServerConfig config = http_server();
  config.http.header_timeout = milliseconds(2000);
  config.http.request_timeout = milliseconds(2000);
  config.http.idle_timeout = milliseconds(1000);
  TestServer server(config, http_engine());
  HttpPeer silent(address_of(server));
  HttpPeer head(address_of(server));
  HttpPeer body(address_of(server));
  HttpPeer idle(address_of(server));
  ASSERT_TRUE(head.send("GET /healthz HTTP/1.1\r\nHost: "));
  ASSERT_TRUE(body.send("GET /v1/models HTTP/1.1\r\nContent-Length: 10\r\n\r\n12345"));
  ASSERT_EQ(idle.get("/healthz").status, 200);
  for (HttpPeer* peer : {&silent, &head, &body, &idle}) EXPECT_TRUE(peer->ends());
  EXPECT_GE(sample_of(server, "windhover_http_timeouts_total"), 4);
}

TEST(HttpServer, BytesThatDripDoNotBuyTime) {
  ServerConfig config = http_server();
  config.http.header_timeout = milliseconds(300);
  TestServer server(config, http_engine());
  HttpPeer peer(address_of(server));
  const std::string head = "GET /healthz HTTP/1.1\r\n" + std::string(4000, 'a');
  std::size_t sent = 0;
  while (sent < head.size() && peer.send(head.substr(sent, 1))) {
    ++sent;
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_LT(sent, head.size()) << "20 s of dripping";
  EXPECT_TRUE(eventually([&] { return sample_of(server, "windhover_http_timeouts_total") >= 1; }));
}

TEST(HttpServer, PeerThatDoesNotReadIsGone) {
  ServerConfig config = http_server();
  config.http.request_timeout = milliseconds(300);
  TestServer server(config, http_engine());
  HttpPeer peer(address_of(server));
  // These are more answers than sockets hold, so that the server has to wait for their reader.
  std::string bytes;
  for (int i = 0; i < 3000; ++i) bytes += "GET /metrics HTTP/1.1\r\n\r\n";
  peer.send(bytes);
  EXPECT_TRUE(eventually([&] { return sample_of(server, "windhover_http_timeouts_total") >= 1; }));
}

TEST(HttpServer, LearnerThatStandsStillIsSeen) {
  ServerConfig config = http_server();
  config.http.stall_timeout = seconds(60);
  TestServer server(config, http_engine());
  HttpPeer peer(address_of(server));
  ASSERT_TRUE(eventually([&] { return server.engine().progress().polls() > 0; }));
  server.learn(false);
  HttpResponse response;
  ASSERT_TRUE(eventually([&] {
    server.clock().put_forward(seconds(5));
    return (response = peer.get("/healthz")).status == 503;
  }));
  EXPECT_NE(response.body.find("the learner thread has stood still"), std::string::npos)
      << response.body;
  server.learn(true);
  EXPECT_TRUE(eventually([&] { return peer.get("/healthz").status == 200; }));
}

TEST(HttpServer, RecoveringIsNotReady) {
  TestServer server(http_server(), http_engine());
  HttpPeer peer(address_of(server));
  ASSERT_EQ(peer.get("/readyz").status, 200);
  server.engine().progress().set_recovery_target(500);
  const HttpResponse recovering = peer.get("/readyz");
  EXPECT_EQ(recovering.status, 503);
  EXPECT_NE(recovering.body.find("of 500 rows in its answer"), std::string::npos);
  Client client;
  ASSERT_EQ(client.connect(server.observe_address()), Status::kOk) << client.error_text();
  ASSERT_EQ(client.observe(TestRows(600).rows()), Status::kOk) << client.error_text();
  EXPECT_TRUE(eventually([&] { return peer.get("/readyz").status == 200; }));
}

// While an endpoint still drains, HTTP says why it is not ready.
TEST(HttpServer, StoppingIsSaidAndThenItEnds) {
  auto server = std::make_unique<TestServer>(http_server(), http_engine());
  std::vector<std::unique_ptr<HttpPeer>> peers;
  for (int i = 0; i < 5; ++i) {
    peers.push_back(std::make_unique<HttpPeer>(address_of(*server)));
    ASSERT_EQ(peers.back()->get("/healthz").status, 200);
  }
  ASSERT_TRUE(peers[0]->send("GET /healthz HTTP/1.1\r\n"));  // one that will never be whole
  server.reset();
  for (const auto& peer : peers) EXPECT_TRUE(peer->ends());
}

TEST(HttpServer, OpenedAndNeverStartedItGoesInOrder) {
  RealClock clock;
  MappedBlock engine_block(Engine::footprint(http_engine()).value());
  Engine* engine = Engine::create(http_engine(), engine_block.bytes(), clock).value();
  MappedBlock block(Server::footprint(http_server(), http_engine()).value());
  auto server = Server::create(http_server(), *engine, block.bytes(), clock);
  ASSERT_TRUE(server.value()->open().ok());
  EXPECT_NE(server.value()->http().port, 0);
  server.value()->request_stop();
  server.value()->run_observe();
  server.value()->run_query();
  server.value()->run_http();
}

}  // namespace http_server_test
}  // namespace windhover
