// The place kept for Status when all others are taken: who gets it, for what, and for how long.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/conversation_fixture.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/server_fixture.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::operator_place_test {
namespace {

using testing::eventually;
using testing::RawPeer;
using testing::small_server;
using testing::temporary_path;
using testing::TestRows;
using testing::TestServer;

v1::Request status_request() {
  v1::Request request;
  request.mutable_status();
  return request;
}

// Everybody's places are taken by peers that have said Hello and nothing else.
class OperatorPlaceTest : public ::testing::Test {
 protected:
  OperatorPlaceTest() : path_(temporary_path("operator")) {
    ServerConfig config = small_server();
    config.query.unix_path = path_;
    config.hello_timeout = std::chrono::minutes(5);
    config.write_timeout = std::chrono::milliseconds(40);  // so it looks often
    server_.emplace(config);
    for (std::uint32_t i = 0; i < config.max_sessions; ++i) {
      crowd_.push_back(std::make_unique<RawPeer>(server_->query_address()));
      EXPECT_TRUE(crowd_.back()->hello());
    }
    EXPECT_TRUE(eventually([&] { return sessions() == config.max_sessions; }));
  }
  std::uint32_t sessions() { return server_->server().query().sessions; }
  std::uint64_t count(IoCounter id) { return server_->counter(id); }

  std::string path_;
  std::optional<TestServer> server_;
  std::vector<std::unique_ptr<RawPeer>> crowd_;
};

TEST_F(OperatorPlaceTest, StatusIsToldOverLoopbackAndOverAUnixSocket) {
  for (const std::string& address : {server_->query_address(), "unix:" + path_}) {
    Client client;
    ASSERT_EQ(client.connect(address), Status::kOk) << client.error_text();
    v1::StatusResult status;
    EXPECT_EQ(client.status(status), Status::kOk) << client.error_text();
    EXPECT_EQ(status.query_sessions(), small_server().max_sessions + 1);
    client.close();
    ASSERT_TRUE(eventually([&] { return sessions() == small_server().max_sessions; }));
  }
  EXPECT_EQ(count(IoCounter::kOperatorConnections), 2U);
  EXPECT_EQ(count(IoCounter::kConnectionsRefused), 0U);
}

TEST_F(OperatorPlaceTest, AnythingButStatusEndsIt) {
  Client client;
  ASSERT_EQ(client.connect(server_->query_address()), Status::kOk);
  std::vector<ParameterSummary> parameters;
  Provenance provenance;
  EXPECT_EQ(client.posterior(parameters, provenance), Status::kUnavailable);
  EXPECT_FALSE(client.connected());
}

TEST_F(OperatorPlaceTest, NobodyKeepsItForLong) {
  RawPeer stranger(server_->query_address());
  ASSERT_TRUE(stranger.hello());
  RawPeer next(server_->query_address());
  EXPECT_TRUE(next.refused_and_closed(v1::REASON_UNAVAILABLE));
  EXPECT_TRUE(eventually([&] {
    (void)stranger.send(status_request());
    return sessions() == small_server().max_sessions;
  }));
  RawPeer later(server_->query_address());
  EXPECT_TRUE(later.hello());
}

// Who has been told that it may not stay, and does not go.
TEST_F(OperatorPlaceTest, ThoseThatLingerGiveWay) {
  std::vector<std::unique_ptr<RawPeer>> lingering;
  for (int i = 0; i < 20; ++i) {
    lingering.push_back(std::make_unique<RawPeer>(server_->query_address()));
    v1::Request nonsense;
    nonsense.mutable_posterior_summary();
    (void)lingering.back()->send(nonsense);  // before a Hello
  }
  RawPeer peer(server_->query_address());
  v1::Response response;
  EXPECT_TRUE(peer.hello() && peer.send(status_request()) && peer.receive(response));
  EXPECT_TRUE(response.has_status_result());
}

TEST_F(OperatorPlaceTest, CrowdThatOnlyConnectsDoesNotKeepItFromWhoSpeaks) {
  for (int i = 0; i < 20; ++i) {
    std::vector<std::unique_ptr<RawPeer>> mute;
    for (int j = 0; j < 10; ++j) {
      mute.push_back(std::make_unique<RawPeer>(server_->query_address()));
    }
    // It may be looked at before its Hello has come.
    EXPECT_TRUE(eventually([&] {
      RawPeer peer(server_->query_address());
      v1::Response response;
      return peer.hello() && peer.send(status_request()) && peer.receive(response) &&
             response.has_status_result();
    }));
  }
}

}  // namespace
}  // namespace windhover::operator_place_test
