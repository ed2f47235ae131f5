// Peers that take their time: a connection has so long for everything, and then its place is free.
#include <algorithm>
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
using std::chrono::nanoseconds;
using testing::eventually;
using testing::predict_of;
using testing::RawPeer;
using testing::small_engine;
using testing::small_server;
using testing::TestRows;
using testing::TestServer;

TEST(Deadlines, WhoSaysNoHelloIsGoneLongBeforeAnIdleOne) {
  ServerConfig config = small_server();
  config.hello_timeout = milliseconds(100);
  TestServer server(config);
  RawPeer idle(server.query_address());
  ASSERT_TRUE(idle.hello());
  RawPeer mute(server.query_address());
  EXPECT_TRUE(mute.refused_and_closed(v1::REASON_TIMEOUT));
  EXPECT_EQ(server.counter(IoCounter::kTimeouts), 1U);
  EXPECT_TRUE(eventually([&] { return server.server().query_sessions() == 1; }));
}

// Found from outside: as many such peers as there are places shut everybody out.
TEST(Deadlines, FramesThatComeByteByByteFreeTheirPlaces) {
  ServerConfig config = small_server();
  config.frame_timeout = milliseconds(100);
  config.hello_timeout = milliseconds(100);
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
    }
    return server.server().query_sessions() == 0;
  }));
  EXPECT_LT(sent, frame.size());
  Client client;
  EXPECT_EQ(client.connect(server.query_address()), Status::kOk) << client.error_text();
}

// Sends pieces, each of which ends one frame and begins the next, for longer than a frame may take.
// The longest time from one piece to the next; the peer itself is late when it is held up.
void send_in_overlapping_pieces(RawPeer& peer, std::uint64_t& frames, nanoseconds& longest) {
  const std::string frame = RawPeer::framed(testing::observe_of(0, 0, 1));
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(peer.send(frame.substr(0, 5)));
  bool taken = true;
  for (auto last = begin; taken && last - begin < milliseconds(500);) {
    std::this_thread::sleep_for(milliseconds(10));
    taken = peer.send(frame.substr(5) + frame.substr(0, 5));
    if (taken) ++frames;
    const auto now = std::chrono::steady_clock::now();
    longest = std::max<nanoseconds>(longest, now - last);
    last = now;
  }
}

TEST(Deadlines, FramesOneBehindTheOtherAreNoneThatTakesLong) {
  ServerConfig config = small_server();
  config.frame_timeout = milliseconds(200);
  // A machine that holds this process up for half the timeout shows nothing: another attempt.
  for (int attempt = 0; attempt < 100; ++attempt) {
    TestServer server(config);
    RawPeer peer(server.observe_address());
    ASSERT_TRUE(peer.hello());
    std::uint64_t frames = 0;
    nanoseconds longest{0};
    ASSERT_NO_FATAL_FAILURE(send_in_overlapping_pieces(peer, frames, longest));
    if (longest > milliseconds(100)) continue;
    EXPECT_TRUE(eventually([&] { return server.counter(IoCounter::kRowsAccepted) == frames; }));
    EXPECT_EQ(server.counter(IoCounter::kTimeouts), 0U);
    return;
  }
  FAIL() << "no attempt in which pieces came in time";
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
  EXPECT_TRUE(eventually([&] { return server.server().query_sessions() == 0; }));
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
  EXPECT_TRUE(eventually([&] { return server.server().observe_sessions() == 0; }));
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
