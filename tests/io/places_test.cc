// Who gets a place at an endpoint when there are more who want one: who is known before strangers,
// an identity as many as it may have, and an admin also when all are taken.
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/io/conversation_fixture.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/server_fixture.h"
#include "windhover/tests/io/stranger_elsewhere.h"

namespace windhover::testing::places_test {
namespace {

v1::Request hello_of(const std::string& name) {
  v1::Request request;
  request.mutable_hello()->set_version_min(1);
  request.mutable_hello()->set_version_max(1);
  request.mutable_hello()->set_token(name + "-token");
  return request;
}

// Whether it is welcome; otherwise `refusal` says why not.
bool greets(RawPeer& peer, const std::string& name, v1::Refusal* refusal = nullptr) {
  v1::Response response;
  if (!peer.send(hello_of(name)) || !peer.receive(response)) return false;
  if (refusal != nullptr) *refusal = response.refusal();
  return response.has_welcome();
}

bool asks(RawPeer& peer, bool posterior) {
  v1::Request request;
  if (posterior) {
    request.mutable_posterior_summary();
  } else {
    request.mutable_status();
  }
  v1::Response response;
  return peer.send(request) && peer.receive(response) && !response.has_refusal();
}

// Connections that say a byte of a Hello now and then, and come again when they are let go.
class Strangers {
 public:
  Strangers(const std::string& address, std::size_t count)
      : address_(address), thread_([this, count] { run(count); }) {}
  ~Strangers() {
    ending_ = true;
    thread_.join();
  }
  // Whether all have come once.
  bool are_there() const { return there_; }

 private:
  void run(std::size_t count) {
    std::vector<std::unique_ptr<RawPeer>> peers(count);
    while (!ending_) {
      for (std::unique_ptr<RawPeer>& peer : peers) {
        if (ending_) return;
        if (peer == nullptr || !peer->send("\x7f")) peer = std::make_unique<RawPeer>(address_);
      }
      there_ = true;
    }
  }

  std::string address_;
  std::atomic<bool> ending_{false};
  std::atomic<bool> there_{false};
  std::thread thread_;
};

TEST(Places, StrangersThatDripKeepNobodyOutWhoIsKnown) {
  const std::string file = write_identities("drip", token_line("ada", "query"));
  ServerConfig config;
  config.max_producers = 16;
  config.identities_file = file;
  ASSERT_EQ(config.max_sessions, 64U);
  TestServer server(config);
  RawPeer stays(server.query_address());
  ASSERT_TRUE(greets(stays, "ada"));
  const Strangers strangers(server.query_address(), 80);
  ASSERT_TRUE(eventually([&] { return strangers.are_there(); }));
  ASSERT_TRUE(eventually([&] { return server.counter(IoCounter::kStrangersLetGo) > 100; }));
  std::deque<RawPeer> known;
  for (int i = 0; i < 40; ++i) {
    EXPECT_TRUE(greets(known.emplace_back(server.query_address()), "ada")) << i;
  }
  for (RawPeer& peer : known) EXPECT_TRUE(asks(peer, true));
  EXPECT_TRUE(asks(stays, true));
  EXPECT_EQ(server.counter(IoCounter::kConnectionsRefused), 0U);
  EXPECT_EQ(server.counter(IoCounter::kOperatorConnections), 0U) << "there was no need of it";
}

// One that is slow to say who it is, and a crowd at another address.
TEST(Places, ACrowdOfStrangersMakesRoomForItself) {
  const std::string file = write_identities("crowd", token_line("ada", "query"));
  ServerConfig config = small_server();
  config.identities_file = file;
  config.max_sessions = 4;
  TestServer server(config);
  RawPeer ada(server.query_address());
  ASSERT_TRUE(eventually([&] { return server.server().query().sessions == 1; }));
  std::deque<StrangerElsewhere> crowd;
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(crowd.emplace_back(server.server().query().port).connected());
  }
  // The first four have had a place; of the others each has taken that of one of the crowd.
  EXPECT_TRUE(eventually([&] { return server.counter(IoCounter::kStrangersLetGo) >= 37; }));
  EXPECT_TRUE(greets(ada, "ada"));
  EXPECT_TRUE(asks(ada, true));
}

// Each from an address of its own: whoever has been there for longest goes, not who has just come.
TEST(Places, StrangersOfManyAddressesGoInTheOrderInWhichTheyCame) {
  const std::string file = write_identities("many_addresses", token_line("ada", "query"));
  ServerConfig config = small_server();
  config.identities_file = file;
  config.max_sessions = 4;
  TestServer server(config);
  std::deque<StrangerElsewhere> strangers;
  const auto come = [&](std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto which = static_cast<std::uint32_t>(strangers.size());
      ASSERT_TRUE(strangers.emplace_back(server.server().query().port, which).connected());
    }
  };
  const auto gone = [&](std::uint64_t count) {
    return eventually([&] { return server.counter(IoCounter::kStrangersLetGo) == count; });
  };
  come(4);
  ASSERT_TRUE(eventually([&] { return server.server().query().sessions == 4; }));
  RawPeer ada(server.query_address());
  ASSERT_TRUE(gone(1));
  come(3);
  ASSERT_TRUE(gone(4)) << "the four that came before her";
  EXPECT_TRUE(greets(ada, "ada"));
  EXPECT_TRUE(asks(ada, true));
}

class FullServer : public ::testing::Test {
 protected:
  FullServer() {
    ServerConfig config = small_server();
    config.identities_file = file_ =
        write_identities("full", token_line("ada", "query") + token_line("eve", "query") +
                                     token_line("root", "admin,query"));
    config.write_timeout = std::chrono::milliseconds(40);  // so it looks often
    server_.emplace(config);
    for (std::uint32_t i = 0; i < config.max_sessions; ++i) {
      EXPECT_TRUE(greets(crowd_.emplace_back(server_->query_address()), "ada"));
    }
  }
  std::string file_;
  std::optional<TestServer> server_;
  std::deque<RawPeer> crowd_;
};

TEST_F(FullServer, WhoIsThereStays) {
  std::deque<RawPeer> strangers;
  for (int i = 0; i < 20; ++i) (void)strangers.emplace_back(server_->query_address()).send("\x7f");
  for (RawPeer& peer : crowd_) EXPECT_TRUE(asks(peer, true));
  EXPECT_EQ(server_->counter(IoCounter::kStrangersLetGo), 0U);
}

TEST_F(FullServer, OneAdminComesInForAllThatItMayAndStays) {
  RawPeer root(server_->query_address());
  ASSERT_TRUE(greets(root, "root"));
  EXPECT_TRUE(asks(root, true));
  // A second one has what others have: the status.
  RawPeer second(server_->query_address());
  ASSERT_TRUE(greets(second, "root"));
  EXPECT_TRUE(asks(second, false));
  EXPECT_FALSE(asks(second, true));
  EXPECT_TRUE(second.ends());
  RawPeer eve(server_->query_address());
  ASSERT_TRUE(greets(eve, "eve"));
  EXPECT_TRUE(asks(eve, false));
  EXPECT_TRUE(eve.ends()) << "after kLifeNs";
  EXPECT_TRUE(asks(root, true));
  for (RawPeer& peer : crowd_) EXPECT_TRUE(asks(peer, true));
  EXPECT_EQ(server_->counter(IoCounter::kOperatorConnections), 3U);
}

TEST_F(FullServer, StrangersThatDripKeepNeitherAdminNorStatusOut) {
  const Strangers strangers(server_->query_address(), 80);
  ASSERT_TRUE(eventually([&] { return strangers.are_there(); }));
  std::unique_ptr<RawPeer> root;
  EXPECT_TRUE(eventually([&] {
    root = std::make_unique<RawPeer>(server_->query_address());
    return greets(*root, "root");
  }));
  EXPECT_TRUE(eventually([&] {
    RawPeer ada(server_->query_address());
    return greets(ada, "ada") && asks(ada, false);
  }));
  EXPECT_TRUE(asks(*root, true));
}

TEST(Places, AnIdentityHasAsManyAsItMay) {
  const auto line = [](const std::string& name, const std::string& limits) {
    std::string text = token_line(name, "query");
    return text.insert(text.size() - 1, limits);
  };
  const std::string file =
      write_identities("many", line("ada", " connections=2") + line("eve", ""));
  ServerConfig config = small_server();
  config.identities_file = file;
  config.limits.connections = 3;
  TestServer server(config);
  std::deque<RawPeer> peers;
  v1::Refusal refusal;
  const auto comes = [&](const std::string& name) {
    return greets(peers.emplace_back(server.query_address()), name, &refusal);
  };
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(comes("ada"));
  EXPECT_FALSE(comes("ada"));
  EXPECT_EQ(refusal.reason(), v1::REASON_UNAVAILABLE);
  EXPECT_EQ(refusal.number(), 2U);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(comes("eve"));
  EXPECT_FALSE(comes("eve"));
  EXPECT_EQ(refusal.number(), 3U);
  EXPECT_EQ(server.counter(IoCounter::kPlacesRefused), 2U);
  EXPECT_EQ(server.counter(IoCounter::kHelloRefused), 0U);
  // Each endpoint has its own; a second Hello on a connection is the same one.
  RawPeer elsewhere(server.observe_address());
  EXPECT_TRUE(greets(elsewhere, "ada"));
  EXPECT_TRUE(greets(peers.front(), "ada"));
  EXPECT_FALSE(greets(peers.front(), "eve")) << "which would be one more of eve's";
  // One place is free again, and the file may give more.
  EXPECT_TRUE(eventually([&] { return comes("ada"); }));
  write_identities("many", line("ada", " connections=0") + line("eve", ""));
  ASSERT_TRUE(server.server().reload().ok());
  EXPECT_TRUE(comes("ada"));
}

// A peer from another machine that shows no admin's token has nothing to look for on a place kept
// for an admin.
TEST(Places, WhoIsNoAdminIsRefusedOnAnAdminsPlace) {
  Shared shared;
  struct : Places {
    std::size_t of_same_identity(const Conversation&) const noexcept override { return 0; }
    bool admins_is_free() const noexcept override { return is_free; }
    bool is_free = true;
  } places;
  shared.context.places = &places;
  const std::string file =
      write_identities("admin", token_line("ada", "query") + token_line("root", "admin"));
  MappedBlock block(1 << 20);
  Arena arena(block.bytes());
  Access access(arena, 8, 1);
  access.set_model(0, "default");
  Access::Sentence sentence;
  ASSERT_TRUE(access.load(file, sentence).ok()) << sentence.data();
  shared.state.access = &access;
  const auto greeted = [&](const std::string& name, PlaceKind kind) {
    Conversation talk(shared.context);
    talk.begin({}, kind);
    std::vector<std::byte> room(shared.limits.reply_buffer);
    ReplyBuffer replies(room);
    const std::string frame = RawPeer::framed(hello_of(name));
    (void)talk.handle(std::as_bytes(std::span(frame)), replies);
    EXPECT_EQ(talk.place() == PlaceKind::kEverybodys,
              kind == PlaceKind::kEverybodys || (name == "root" && places.is_free));
    return talk.is_greeted();
  };
  EXPECT_TRUE(greeted("root", PlaceKind::kAdmins));
  EXPECT_FALSE(greeted("ada", PlaceKind::kAdmins));
  EXPECT_TRUE(greeted("ada", PlaceKind::kStatus));
  EXPECT_TRUE(greeted("root", PlaceKind::kStatus));
  EXPECT_FALSE(greeted("nobody", PlaceKind::kStatus));
  places.is_free = false;
  EXPECT_FALSE(greeted("root", PlaceKind::kAdmins));
  EXPECT_TRUE(greeted("root", PlaceKind::kStatus));
  shared.state.access = nullptr;
}

}  // namespace
}  // namespace windhover::testing::places_test
