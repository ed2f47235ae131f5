// Who has a connection to HTTP when there are more who want one: an identity as many as it may
// have, and an admin, the status and signs of life also when all are taken.
#include <deque>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/io/http/http_fixture.h"
#include "windhover/tests/io/http/http_peer.h"
#include "windhover/tests/io/server_fixture.h"

namespace windhover::testing::http_places_test {
namespace {

std::string bearer(const std::string& name) {
  return "Authorization: Bearer " + name + "-token\r\n";
}

// A request whose body does not come: its connection has something under way until then.
bool begins(HttpPeer& peer, const std::string& name, HttpResponse* refusal = nullptr) {
  (void)peer.send("POST /v1/predict HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n" +
                  bearer(name) + "\r\n");
  const HttpResponse response = peer.receive();
  if (refusal != nullptr) *refusal = response;
  return response.status == 100;
}

std::string line(const std::string& name, const std::string& roles, const std::string& limits) {
  std::string text = token_line(name, roles);
  return text.insert(text.size() - 1, limits);
}

std::string address_of(TestServer& server) {
  return "127.0.0.1:" + std::to_string(server.server().http().port);
}

TEST(HttpPlaces, AnIdentityHasAsManyAsItMay) {
  const std::string file = write_identities(
      "http_many", line("ada", "query", " connections=2") + line("eve", "query", ""));
  ServerConfig config = http_server();
  config.identities_file = file;
  config.limits.connections = 3;
  TestServer server(config, http_engine());
  std::deque<HttpPeer> peers;
  HttpResponse refusal;
  const auto comes = [&](const std::string& name) {
    return begins(peers.emplace_back(address_of(server)), name, &refusal);
  };
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(comes("ada"));
  EXPECT_FALSE(comes("ada"));
  EXPECT_EQ(refusal.status, 503);
  EXPECT_EQ(refusal.field("Retry-After"), "1");
  EXPECT_EQ(refusal.body,
            "{\"error\":\"this identity has as many connections as it may\",\"reason\":"
            "\"REASON_UNAVAILABLE\",\"number\":\"2\"}\n");
  EXPECT_TRUE(peers.back().ends());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(comes("eve"));
  EXPECT_FALSE(comes("eve"));
  EXPECT_EQ(server.counter(IoCounter::kPlacesRefused), 2U);
  EXPECT_EQ(HttpPeer(address_of(server)).get("/healthz", bearer("eve")).status, 200)
      << "whether it is alive everybody may ask";
  // One that was another's becomes one more of hers.
  EXPECT_EQ(peers.emplace_back(address_of(server)).get("/v1/status").status, 401);
  EXPECT_EQ(peers.back().get("/v1/status", bearer("ada")).status, 503);
  // One place is free again, and the file may give more.
  ASSERT_TRUE(peers.front().send("{}"));
  EXPECT_GE(peers.front().receive().status, 400);
  EXPECT_EQ(HttpPeer(address_of(server)).get("/v1/status", bearer("ada")).status, 200);
  EXPECT_TRUE(peers.front().ends()) << "it had nothing under way";
  write_identities("http_many", line("ada", "query", " connections=0"));
  ASSERT_TRUE(server.server().reload().ok());
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(comes("ada"));
}

// The connections are like those of a browser, or of a pool.
TEST(HttpPlaces, OneThatIsLeftOpenGivesWayToTheNextOfTheSame) {
  const std::string file = write_identities(
      "http_idle", line("ada", "query", " connections=2") + line("eve", "query", ""));
  ServerConfig config = http_server();
  config.identities_file = file;
  TestServer server(config, http_engine());
  HttpPeer eve(address_of(server));
  ASSERT_EQ(eve.get("/v1/status", bearer("eve")).status, 200);
  std::deque<HttpPeer> peers;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(peers.emplace_back(address_of(server)).get("/v1/status", bearer("ada")).status, 200);
  }
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(peers[static_cast<std::size_t>(i)].ends()) << i;
  for (int i = 8; i < 10; ++i) {
    EXPECT_EQ(peers[static_cast<std::size_t>(i)].get("/v1/status", bearer("ada")).status, 200);
  }
  EXPECT_EQ(eve.get("/v1/status", bearer("eve")).status, 200);
  EXPECT_EQ(server.counter(IoCounter::kPlacesRefused), 0U);
}

// All places are taken by ada, with something under way on each.
class FullHttp : public ::testing::Test {
 protected:
  FullHttp() {
    ServerConfig config = http_server();
    config.identities_file = file_ = write_identities(
        "http_full", token_line("ada", "query") + token_line("root", "admin,query"));
    config.http.max_connections = 3;
    config.http.header_timeout = std::chrono::milliseconds(80);  // so it looks often
    config.http.request_timeout = std::chrono::minutes(10);
    server_.emplace(config, http_engine());
    for (std::uint32_t i = 0; i < config.http.max_connections; ++i) {
      EXPECT_TRUE(begins(crowd_.emplace_back(address_of(*server_)), "ada"));
    }
  }
  unsigned status(const std::string& path, const std::string& name = "") {
    HttpPeer peer(address_of(*server_));
    return peer.get(path, name.empty() ? "" : bearer(name)).status;
  }
  std::string file_;
  std::optional<TestServer> server_;
  std::deque<HttpPeer> crowd_;
};

TEST_F(FullHttp, OneAdminComesInForAllThatItMayAndStays) {
  HttpPeer root(address_of(*server_));
  EXPECT_EQ(root.get("/metrics", bearer("root")).status, 200);
  ASSERT_TRUE(begins(root, "root"));
  HttpPeer second(address_of(*server_));
  EXPECT_EQ(second.get("/metrics", bearer("root")).status, 503) << "one at a time";
  EXPECT_TRUE(second.ends());
  ASSERT_TRUE(root.send("{}"));
  EXPECT_GE(root.receive().status, 400);
  EXPECT_EQ(root.get("/v1/posterior", bearer("root")).status, 200);
  HttpPeer third(address_of(*server_));
  EXPECT_EQ(third.get("/metrics", bearer("root")).status, 200);
  EXPECT_TRUE(root.ends()) << "it had nothing under way";
  for (HttpPeer& peer : crowd_) {
    ASSERT_TRUE(peer.send("{}"));
    EXPECT_GE(peer.receive().status, 400) << "and nobody else was let go";
  }
}

TEST_F(FullHttp, OthersAreToldSignsOfLifeAndOnThisMachineTheStatus) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(status("/healthz"), 200);
    EXPECT_EQ(status("/readyz"), 200);
    EXPECT_EQ(status("/v1/status", "ada"), 200);
    EXPECT_EQ(status("/v1/status"), 401);
    EXPECT_EQ(status("/v1/posterior", "ada"), 503);
    EXPECT_EQ(status("/metrics", "ada"), 503);
  }
  HttpPeer once(address_of(*server_));
  EXPECT_EQ(once.get("/healthz").field("Connection"), "close");
  EXPECT_TRUE(once.ends());
  EXPECT_GE(server_->counter(IoCounter::kOperatorConnections), 25U);
}

TEST_F(FullHttp, WhoDripsOrLingersKeepsNobodyOutForLong) {
  std::deque<HttpPeer> idle;
  for (int i = 0; i < 40; ++i) {
    HttpPeer& peer = idle.emplace_back(address_of(*server_));
    if (i % 2 == 0) (void)peer.send("GET /heal");
    if (i % 2 == 1) (void)peer.send("GET /nothing HTTP/1.1\r\n\r\n");  // and stays to be let go
  }
  EXPECT_TRUE(eventually([&] { return status("/metrics", "root") == 200; }));
  EXPECT_TRUE(eventually([&] { return status("/healthz") == 200; }));
  HttpPeer slow(address_of(*server_));
  ASSERT_TRUE(slow.send("GET /healthz HTTP/1.1\r\n"));
  EXPECT_TRUE(slow.ends()) << "it has not all the time of the others";
}

}  // namespace
}  // namespace windhover::testing::http_places_test
