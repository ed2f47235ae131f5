// Peers that take their time: a connection has so long for everything, and then its place is free.
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/conversation_fixture.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/server_fixture.h"

namespace windhover::deadlines_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::eventually;
using testing::predict_of;
using testing::RawPeer;
using testing::small_engine;
using testing::small_server;
using testing::TestRows;
using testing::TestServer;

// Deadlines that no machine misses by standing still for a while; the clock is put forward instead.
// Another one, which nothing here comes near, has the endpoints look at them often.
ServerConfig patient_server() {
  ServerConfig config = small_server();
  config.hello_timeout = seconds(30);
  config.frame_timeout = seconds(30);
  config.wait_timeout = milliseconds(40);
  return config;
}

TEST(Deadlines, WhoSaysNoHelloIsGoneLongBeforeAnIdleOne) {
  TestServer server(patient_server());
  RawPeer idle(server.query_address());
  ASSERT_TRUE(idle.hello());
  RawPeer mute(server.query_address());
  ASSERT_TRUE(eventually([&] { return server.server().query().sessions == 2; }));
  server.clock().put_forward(seconds(30));
  EXPECT_TRUE(mute.refused_and_closed(v1::REASON_TIMEOUT));
  EXPECT_EQ(server.counter(IoCounter::kTimeouts), 1U);
  EXPECT_TRUE(eventually([&] { return server.server().query().sessions == 1; }));
}

// Found from outside: as many such peers as there are places shut everybody out.
TEST(Deadlines, FramesThatComeByteByByteFreeTheirPlaces) {
  const ServerConfig config = patient_server();
  TestServer server(config);
  const std::string frame = RawPeer::framed(predict_of(32, true));
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (std::uint32_t i = 0; i < config.max_sessions; ++i) {
    peers.push_back(std::make_unique<RawPeer>(server.query_address()));
    ASSERT_TRUE(i % 2 == 0 || peers.back()->hello());
  }
  std::size_t sent = 0;
  EXPECT_TRUE(eventually([&] {  // a byte of each now and then
    if (sent < frame.size()) {
      for (auto& peer : peers) (void)peer->send(frame.substr(sent, 1));
      ++sent;
      server.clock().put_forward(milliseconds(500));
    }
    return server.server().query().sessions == 0;
  }));
  EXPECT_LT(sent, frame.size());
  Client client;
  EXPECT_EQ(client.connect(server.query_address()), Status::kOk) << client.error_text();
}

// Pieces each of which ends one frame and begins the next, for longer than a frame may take.
TEST(Deadlines, FramesOneBehindTheOtherAreNoneThatTakesLong) {
  TestServer server(patient_server());
  RawPeer peer(server.observe_address());
  ASSERT_TRUE(peer.hello());
  const std::string frame = RawPeer::framed(testing::observe_of(0, 0, 1));
  ASSERT_TRUE(peer.send(frame.substr(0, 5)));
  for (std::uint64_t frames = 1; frames <= 8; ++frames) {
    server.clock().put_forward(seconds(10));
    // After two looks at the clock one has begun since: the frame has been judged.
    for (int look = 0; look < 2; ++look) {
      const std::int64_t before = server.server().observe().beat_ns;
      ASSERT_TRUE(eventually([&] { return server.server().observe().beat_ns > before; }));
    }
    ASSERT_TRUE(peer.send(frame.substr(5) + frame.substr(0, 5)));
    ASSERT_TRUE(eventually([&] { return server.counter(IoCounter::kRowsAccepted) == frames; }));
  }
  EXPECT_EQ(server.counter(IoCounter::kTimeouts), 0U);
  server.clock().put_forward(seconds(30));
  EXPECT_TRUE(eventually([&] { return server.counter(IoCounter::kTimeouts) == 1; })) << "the last";
}

TEST(Deadlines, AnswerThatIsTakenByteByByteIsNotWaitedFor) {
  ServerConfig config = small_server();
  config.answer_timeout = milliseconds(300);
  TestServer server(config);
  RawPeer peer(server.query_address());
  ASSERT_TRUE(peer.hello());
  v1::Request status;
  status.mutable_status();
  std::string many;
  for (int i = 0; i < 100; ++i) many += RawPeer::framed(status);
  while (server.counter(IoCounter::kWriteStalls) == 0) {
    std::size_t sent = 0;
    ASSERT_EQ(peer.socket().send_some(many.data(), many.size(), sent), Status::kOk);
  }
  std::array<char, 1> byte;
  EXPECT_TRUE(eventually([&] {
    std::size_t received = 0;
    (void)peer.socket().receive_some(byte.data(), byte.size(), received);
    return server.counter(IoCounter::kTimeouts) == 1;
  }));
  EXPECT_TRUE(eventually([&] { return server.server().query().sessions == 0; }));
}

TEST(Deadlines, WhoWaitsTooLongForTheWindowIsRefusedAndLosesNothing) {
  ServerConfig config = small_server();
  config.wait_timeout = milliseconds(100);
  TestServer server(config, small_engine(), false);
  Client client;
  ASSERT_EQ(client.connect(server.observe_address(), {.producer = 5}), Status::kOk);
  const TestRows rows(40'000);  // more than fits
  Status status = client.send_observe(rows.rows());
  if (ok(status)) status = client.wait_acknowledged();
  EXPECT_EQ(status, Status::kWindowFull);
  EXPECT_EQ(client.refusal(), v1::REASON_WINDOW_FULL) << client.error_text();
  EXPECT_EQ(server.counter(IoCounter::kWaitTimeouts), 1U);
  EXPECT_TRUE(eventually([&] { return server.server().observe().sessions == 0; }));
  server.learn(true);
  while (!ok(status)) {
    ASSERT_EQ(client.reconnect(), Status::kOk) << client.error_text();
    status = client.wait_acknowledged();
  }
  if (client.totals().sent < 40'000) {
    ASSERT_EQ(client.observe(TestRows(40'000 - client.totals().sent).rows()), Status::kOk);
  }
  EXPECT_EQ(client.totals().accepted, client.totals().sent);
  EXPECT_EQ(server.engine().head(), client.totals().accepted);
}

}  // namespace
}  // namespace windhover::deadlines_test
