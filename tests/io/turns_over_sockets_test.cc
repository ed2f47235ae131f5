// Turns of the connections of a server, over sockets: everybody is answered, whoever else asks.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/conversation_fixture.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/server_fixture.h"

namespace windhover::turns_over_sockets_test {
namespace {

using testing::eventually;
using testing::predict_of;
using testing::RawPeer;
using testing::small_engine;
using testing::small_server;
using testing::TestRows;
using testing::TestServer;

// Asks one long question after the other until it is to stop; counts the answers.
class Hog {
 public:
  explicit Hog(const std::string& address)
      : peer_(address), thread_([this] {
          v1::Response response;
          const std::string two =
              RawPeer::framed(predict_of(32, true)) + RawPeer::framed(predict_of(32, true));
          if (!peer_.hello()) return;
          while (!done_) {
            if (!peer_.send(two)) return;
            for (int i = 0; i < 2; ++i) {
              if (!peer_.receive(response) || !response.has_predict_result()) return;
              ++answered_;
            }
          }
          ended_well_ = true;
        }) {}
  ~Hog() {
    done_ = true;
    thread_.join();
    EXPECT_TRUE(ended_well_);
  }
  int answered() const { return answered_; }

 private:
  RawPeer peer_;
  std::atomic<bool> done_{false};
  std::atomic<bool> ended_well_{false};
  std::atomic<int> answered_{0};
  std::thread thread_;
};

v1::Request status_request() {
  v1::Request request;
  request.mutable_status();
  return request;
}

TEST(TurnsOverSockets, EverybodyIsAnsweredBesideACrowdWithLongQuestions) {
  TestServer server;
  std::vector<std::unique_ptr<Hog>> hogs;
  for (int i = 0; i < 6; ++i) hogs.push_back(std::make_unique<Hog>(server.query_address()));
  Client client;
  ASSERT_EQ(client.connect(server.query_address()), Status::kOk);
  v1::StatusResult status;
  for (int i = 0; i < 200; ++i) ASSERT_EQ(client.status(status), Status::kOk);
  for (const auto& hog : hogs) {
    EXPECT_TRUE(eventually([&] { return hog->answered() > 10; }));
  }
}

TEST(TurnsOverSockets, RowsAndQuestionsBothGetThroughOnTheObserveEndpoint) {
  TestServer server;
  const Hog hog(server.observe_address());
  const Hog other(server.observe_address());
  Client sender;
  ASSERT_EQ(sender.connect(server.observe_address()), Status::kOk);
  const TestRows rows(100);
  int frames = 0;
  for (; frames < 2'000 || hog.answered() < 20 || other.answered() < 20; ++frames) {
    ASSERT_EQ(sender.observe(rows.rows()), Status::kOk) << sender.error_text();
  }
  EXPECT_EQ(sender.totals().accepted, 100U * static_cast<unsigned>(frames));
}

TEST(TurnsOverSockets, AskersWhoLeaveInTheMiddleOfAnAnswerHoldUpNobody) {
  TestServer server;
  const std::string many = [] {
    std::string bytes;
    for (int i = 0; i < 20; ++i) bytes += RawPeer::framed(predict_of(32, true));
    return bytes;
  }();
  for (int i = 0; i < 30; ++i) {
    std::vector<std::unique_ptr<RawPeer>> peers;
    for (int j = 0; j < 5; ++j) {
      peers.push_back(std::make_unique<RawPeer>(server.query_address()));
      ASSERT_TRUE(peers.back()->hello());
      ASSERT_TRUE(peers.back()->send(many));
    }
    v1::Response response;
    RawPeer stays(server.query_address());
    ASSERT_TRUE(stays.hello());
    ASSERT_TRUE(stays.send(predict_of(32, true)));
    peers.resize(static_cast<std::size_t>(i % 5));
    ASSERT_TRUE(stays.receive(response));
    EXPECT_TRUE(response.has_predict_result());
    peers.clear();
    ASSERT_TRUE(eventually([&] { return server.server().query().sessions <= 1; }));
  }
}

TEST(TurnsOverSockets, StoppingAnswersWhatHasBeenAsked) {
  auto server = std::make_unique<TestServer>();
  RawPeer peer(server->query_address());
  ASSERT_TRUE(peer.hello());
  std::string bytes;
  for (int i = 0; i < 10; ++i) bytes += RawPeer::framed(predict_of(32, true));
  ASSERT_TRUE(peer.send(bytes + RawPeer::framed(status_request())));
  ASSERT_TRUE(eventually([&] { return server->counter(IoCounter::kFrames) >= 2; }));
  server.reset();
  v1::Response response;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(peer.receive(response)) << i;
    EXPECT_TRUE(response.has_predict_result());
  }
  ASSERT_TRUE(peer.receive(response));
  EXPECT_TRUE(response.has_status_result());
}

}  // namespace
}  // namespace windhover::turns_over_sockets_test
