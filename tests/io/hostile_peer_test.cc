// Peers that break the protocol, vanish, stall or come in crowds: each gets what it deserves, and
// the others never notice.
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/io/listener.h"
#include "windhover/tests/io/random_messages.h"
#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/served_models.h"
#include "windhover/tests/io/server_fixture.h"

namespace windhover {
namespace {

using std::chrono::milliseconds;
using testing::eventually;
using testing::RawPeer;
using testing::ServedModels;
using testing::small_engine;
using testing::small_server;
using testing::TestRows;
using testing::TestServer;

v1::Request status_request() {
  v1::Request request;
  request.mutable_status();
  return request;
}

TEST(HostilePeer, MessageBeforeHelloIsRefusedAndClosed) {
  TestServer server;
  RawPeer peer(server.query_address());
  ASSERT_TRUE(peer.send(status_request()));
  EXPECT_TRUE(peer.refused_and_closed(v1::REASON_HELLO_REQUIRED));
  EXPECT_EQ(server.counter(IoCounter::kHelloMissing), 1U);
}

TEST(HostilePeer, WrongVersionModelOrFingerprintIsRefusedAndClosed) {
  TestServer server;
  const auto hello = [&](std::uint32_t low, std::uint32_t high, const char* model,
                         std::uint64_t fingerprint, v1::Reason reason) {
    RawPeer peer(server.query_address());
    v1::Request request;
    request.mutable_hello()->set_version_min(low);
    request.mutable_hello()->set_version_max(high);
    request.mutable_hello()->set_model(model);
    request.mutable_hello()->set_model_fingerprint(fingerprint);
    return peer.send(request) && peer.refused_and_closed(reason);
  };
  EXPECT_TRUE(hello(2, 9, "", 0, v1::REASON_UNSUPPORTED));
  EXPECT_TRUE(hello(0, 0, "", 0, v1::REASON_UNSUPPORTED));
  EXPECT_TRUE(hello(1, 1, "other", 0, v1::REASON_UNKNOWN_MODEL));
  EXPECT_TRUE(hello(1, 1, "defaul", 0, v1::REASON_UNKNOWN_MODEL));
  EXPECT_TRUE(hello(1, 1, "default", 1234, v1::REASON_FINGERPRINT_MISMATCH));
  Client client;
  EXPECT_EQ(client.connect(server.query_address(), {.fingerprint = server.engine().fingerprint()}),
            Status::kOk);
}

TEST(HostilePeer, MalformedFrameIsRefusedAndClosed) {
  TestServer server;
  RawPeer peer(server.observe_address());
  ASSERT_TRUE(peer.hello());
  ASSERT_TRUE(peer.send(std::string("\x02\xff\xff", 3) + std::string(100'000, 'x')));
  EXPECT_TRUE(peer.refused_and_closed(v1::REASON_MALFORMED));
  EXPECT_EQ(server.counter(IoCounter::kMalformedFrames), 1U);
}

TEST(HostilePeer, OversizedFrameIsRefusedBeforeItArrives) {
  TestServer server;
  RawPeer peer(server.observe_address());
  ASSERT_TRUE(peer.hello());
  ASSERT_TRUE(peer.send(std::string("\xff\xff\xff\x7f", 4)));
  v1::Response response;
  ASSERT_TRUE(peer.receive(response));
  EXPECT_EQ(response.refusal().reason(), v1::REASON_TOO_LARGE);
  EXPECT_EQ(response.refusal().number(), 64U * 1024);
  EXPECT_TRUE(peer.ends());
  EXPECT_EQ(server.counter(IoCounter::kOversizedFrames), 1U);
}

TEST(HostilePeer, AcknowledgementPrecedesTheRefusalThatCloses) {
  TestServer server;
  RawPeer peer(server.observe_address());
  ASSERT_TRUE(peer.hello());
  v1::Request request;
  request.set_id(77);
  request.mutable_observe()->set_rows(1);
  for (int i = 0; i < 3; ++i) request.mutable_observe()->add_features_f64(1);
  request.mutable_observe()->add_targets_f64(1);
  ASSERT_TRUE(peer.send(RawPeer::framed(request) + std::string("\x80\x00", 2)));
  v1::Response response;
  ASSERT_TRUE(peer.receive(response));
  EXPECT_EQ(response.id(), 77U);
  EXPECT_EQ(response.observe_ack().accepted(), 1U);
  EXPECT_TRUE(peer.refused_and_closed(v1::REASON_MALFORMED));
}

TEST(HostilePeer, UnknownBodyIsUnsupportedAndTheConnectionStays) {
  TestServer server;
  RawPeer peer(server.query_address());
  ASSERT_TRUE(peer.hello());
  v1::Request request;
  request.set_id(5);
  request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(99, "later");
  ASSERT_TRUE(peer.send(request));
  v1::Response response;
  ASSERT_TRUE(peer.receive(response));
  EXPECT_EQ(response.id(), 5U);
  EXPECT_EQ(response.refusal().reason(), v1::REASON_UNSUPPORTED);
  EXPECT_FALSE(response.refusal().closing());
  ASSERT_TRUE(peer.send(status_request()));
  ASSERT_TRUE(peer.receive(response));
  EXPECT_TRUE(response.has_status_result());
}

TEST(HostilePeer, BytesOneByOneAreUnderstood) {
  TestServer server;
  RawPeer peer(server.query_address());
  ASSERT_TRUE(peer.hello());
  for (const char byte : RawPeer::framed(status_request())) {
    ASSERT_TRUE(peer.send(std::string(1, byte)));
  }
  v1::Response response;
  ASSERT_TRUE(peer.receive(response));
  EXPECT_TRUE(response.has_status_result());
}

TEST(HostilePeer, RandomBytesNeverDisturbTheOthers) {
  TestServer server;
  Client good;
  ASSERT_EQ(good.connect(server.observe_address()), Status::kOk);
  testing::Random random(7);
  for (int i = 0; i < 200; ++i) {
    RawPeer peer(i % 2 == 0 ? server.observe_address() : server.query_address());
    if (!peer.connected()) continue;
    if (i % 3 != 0 && !peer.hello()) continue;
    std::string bytes;
    for (int j = 0; j < 20; ++j) bytes += RawPeer::framed(testing::random_request(random));
    for (int j = 0; j < 3; ++j) {
      bytes[testing::below(random, bytes.size())] = static_cast<char>(random());
    }
    (void)peer.send(bytes);
    if (i % 10 == 0) {
      EXPECT_EQ(good.observe(TestRows(10).rows()), Status::kOk) << good.error_text();
    }
  }
  EXPECT_EQ(good.totals().accepted, 200U);
}

TEST(HostilePeer, VanishingInMidFrameFreesTheSession) {
  TestServer server;
  {
    RawPeer peer(server.observe_address());
    ASSERT_TRUE(peer.hello());
    ASSERT_TRUE(peer.send(std::string("\xe8\x07half", 6)));
    ASSERT_TRUE(eventually([&] { return server.server().observe().sessions == 1; }));
  }
  EXPECT_TRUE(eventually([&] { return server.server().observe().sessions == 0; }));
}

TEST(HostilePeer, HalfClosedPeerStillGetsItsAnswers) {
  TestServer server;
  Address address;
  ASSERT_TRUE(parse_address(server.query_address(), address));
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(address.port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  v1::Request hello;
  hello.mutable_hello()->set_version_max(1);
  const std::string bytes = RawPeer::framed(hello) + RawPeer::framed(status_request());
  ASSERT_EQ(::send(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  ASSERT_EQ(::shutdown(fd, SHUT_WR), 0);
  std::string answers;
  std::array<char, 4096> some;
  for (ssize_t n; (n = ::recv(fd, some.data(), some.size(), 0)) > 0;) {
    answers.append(some.data(), static_cast<std::size_t>(n));
  }
  ::close(fd);
  const auto first = scan_frame(testing::as_frame(answers), 1U << 20);
  ASSERT_EQ(first.kind, FrameScan::kFrame);
  const auto second = scan_frame(testing::as_frame(answers).subspan(first.consumed), 1U << 20);
  EXPECT_EQ(second.kind, FrameScan::kFrame);
}

TEST(HostilePeer, SilentPeerIsToldAndLetGo) {
  ServerConfig config = small_server();
  config.idle_timeout = milliseconds(400);
  TestServer server(config);
  RawPeer silent(server.query_address());
  ASSERT_TRUE(silent.hello());
  RawPeer mute(server.observe_address());  // does not even say Hello
  ASSERT_TRUE(mute.connected());
  EXPECT_TRUE(silent.refused_and_closed(v1::REASON_TIMEOUT));
  EXPECT_TRUE(mute.refused_and_closed(v1::REASON_TIMEOUT));
  EXPECT_EQ(server.counter(IoCounter::kTimeouts), 2U);
  EXPECT_TRUE(eventually([&] { return server.server().query().sessions == 0; }));
}

TEST(HostilePeer, PeerThatNeverReadsItsAnswersIsLetGo) {
  ServerConfig config = small_server();
  config.write_timeout = milliseconds(200);
  TestServer server(config);
  RawPeer peer(server.query_address());
  ASSERT_TRUE(peer.hello());
  std::string many;
  for (int i = 0; i < 1000; ++i) many += RawPeer::framed(status_request());
  std::size_t offset = 0;
  EXPECT_TRUE(eventually([&] {  // until the server hangs up on us
    std::size_t sent = 0;
    const Status status = peer.socket().send_some(many.data() + offset, many.size() - offset, sent);
    offset = (offset + sent) % many.size();
    return !ok(status);
  }));
  EXPECT_EQ(server.counter(IoCounter::kTimeouts), 1U);
  EXPECT_TRUE(eventually([&] { return server.server().query().sessions == 0; }));
}

TEST(HostilePeer, SenderThatNeverReadsItsAcknowledgementsIsStillHeard) {
  ServerConfig config = small_server();
  config.write_timeout = std::chrono::minutes(1);
  TestServer server(config);
  RawPeer peer(server.observe_address());
  ASSERT_TRUE(peer.hello());
  v1::Request request;
  request.mutable_observe()->set_rows(1);
  for (int i = 0; i < 3; ++i) request.mutable_observe()->add_features_f64(1);
  request.mutable_observe()->add_targets_f64(std::numeric_limits<double>::quiet_NaN());
  std::string many;
  for (int i = 0; i < 100; ++i) many += RawPeer::framed(request);
  std::uint64_t frames = 0;
  while (frames < 200'000) {  // refused rows make the acknowledgements long
    std::string_view left = many;
    while (!left.empty()) {
      std::size_t sent = 0;
      ASSERT_EQ(peer.socket().send_some(left.data(), left.size(), sent), Status::kOk);
      left.remove_prefix(sent);
      if (sent == 0) std::this_thread::sleep_for(milliseconds(1));
    }
    frames += 100;
  }
  EXPECT_TRUE(eventually([&] { return server.counter(IoCounter::kRowsRefused) == 200'000; }));
  std::uint64_t refused = 0;
  std::uint64_t acknowledged = 0;
  v1::Response response;
  while (acknowledged < frames && peer.receive(response)) {
    refused += response.observe_ack().refused();
    acknowledged += response.observe_ack().frames();
  }
  EXPECT_EQ(refused, 200'000U);
}

TEST(HostilePeer, CrowdBeyondCapacityIsToldAndNobodyElseNotices) {
  TestServer server;
  std::vector<std::unique_ptr<Client>> inside;
  for (int i = 0; i < 9; ++i) {  // the last on the place for Status
    inside.push_back(std::make_unique<Client>());
    ASSERT_EQ(inside.back()->connect(server.query_address()), Status::kOk);
  }
  for (int i = 0; i < 100; ++i) {
    Client outside;
    ASSERT_EQ(outside.connect(server.query_address()), Status::kUnavailable)
        << outside.error_text();
  }
  EXPECT_EQ(server.counter(IoCounter::kConnectionsRefused), 100U);
  v1::StatusResult status;
  for (auto& client : inside) EXPECT_EQ(client->status(status), Status::kOk);
  inside.pop_back();
  inside.pop_back();
  ASSERT_TRUE(eventually([&] { return server.server().query().sessions == 7; }));
  Client next;
  EXPECT_EQ(next.connect(server.query_address()), Status::kOk);
}

TEST(HostilePeer, RunningOutOfDescriptorsIsSurvived) {
  TestServer server;
  Client before;
  ASSERT_EQ(before.connect(server.query_address()), Status::kOk);
  // UBSan looks at a type it has not met through a pipe, for which it needs descriptors.
  v1::StatusResult status;
  ASSERT_EQ(before.status(status), Status::kOk);
  Address address;
  ASSERT_TRUE(parse_address(server.query_address(), address));
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  const int peer = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  std::vector<int> hoard;
  rlimit low{std::min<rlim_t>(old.rlim_cur, 256), old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  for (int fd; (fd = ::dup(peer)) >= 0;) hoard.push_back(fd);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(address.port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  (void)::connect(peer, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  EXPECT_TRUE(eventually([&] { return server.counter(IoCounter::kAcceptErrors) >= 2; }));
  EXPECT_EQ(before.status(status), Status::kOk);  // who was there is served
  for (const int fd : hoard) ::close(fd);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  ::close(peer);
  Client after;
  EXPECT_EQ(after.connect(server.query_address()), Status::kOk) << after.error_text();
}

// However slow the machine is, no second goes by while they connect.
TEST(HostilePeer, CrowdThatConnectsIsMadeToWaitAndWhoIsThereIsServed) {
  ServedModels server({{"one", small_engine()}}, small_server());
  Client before;
  ASSERT_EQ(before.connect(server.query_address()), Status::kOk);
  server.clock().stop();
  constexpr int kMost = 50'000;
  int made = 0;
  const Counters<IoCounter>& counters = server.server().counters();
  while (made < kMost && counters.get(IoCounter::kAcceptWaits) == 0) {
    const RawPeer peer(server.query_address());
    ++made;
  }
  EXPECT_LT(made, kMost) << "more than may were let in at once";
  EXPECT_GE(made, static_cast<int>(Listener::kMostPerSecond)) << "a second's worth is let in";
  v1::StatusResult status;
  EXPECT_EQ(before.status(status), Status::kOk);
  server.clock().go_on();
  Client after;
  EXPECT_TRUE(eventually([&] { return ok(after.connect(server.query_address())); }))
      << "it waits, and has its turn";
}

}  // namespace
}  // namespace windhover
