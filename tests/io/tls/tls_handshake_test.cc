// Peers whose handshake ends early, does not end, or comes in pieces.
#include <openssl/ssl.h>

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "windhover/tests/io/raw_peer.h"
#include "windhover/tests/io/server_fixture.h"
#include "windhover/tests/io/tls/authority.h"
#include "windhover/tests/io/tls/client_hello.h"

namespace windhover {
namespace tls_handshake_test {

using testing::Authority;
using testing::client_hello;
using testing::eventually;
using testing::RawPeer;
using testing::TestServer;
using testing::tls;

TEST(Tls, EveryPrefixOfAHandshakeAndGarbageEndInOrder) {
  const Authority authority;
  TestServer server(authority.config());
  const std::string hello = client_hello();
  std::uint64_t peers = 0;
  for (std::size_t size = 0; size <= hello.size(); size += 1 + hello.size() / 64) {
    RawPeer peer(server.observe_address());
    ASSERT_TRUE(peer.connected());
    EXPECT_TRUE(peer.send(hello.substr(0, size)));
    ++peers;
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string bytes = hello;
    if (i % 3 == 0) bytes.assign(1 + random() % 3000, '\0');
    for (char& byte : bytes) {
      if (random() % (i % 3 == 0 ? 1 : 40) == 0) byte = static_cast<char>(random());
    }
    RawPeer peer(server.observe_address());
    ASSERT_TRUE(peer.connected());
    // The bytes come in two pieces.
    const std::size_t half = random() % bytes.size();
    peer.send(std::string_view(bytes).substr(0, half));
    peer.send(std::string_view(bytes).substr(half));
    ++peers;
  }
  EXPECT_TRUE(eventually([&] {
    return server.server().observe().sessions == 0 &&
           server.counter(IoCounter::kConnectionsAccepted) +
                   server.counter(IoCounter::kConnectionsRefused) ==
               peers;
  }));
  EXPECT_EQ(server.counter(IoCounter::kTlsHandshakes), 0U);
  EXPECT_EQ(server.counter(IoCounter::kFrames), 0U);
  Client client;
  EXPECT_EQ(client.connect(tls(server.observe_address()), authority.options()), Status::kOk)
      << client.error_text();
}

TEST(Tls, HandshakeThatDoesNotEndIsEnded) {
  const Authority authority;
  TestServer server(authority.config());
  RawPeer silent(server.query_address());
  RawPeer begun(server.query_address());
  EXPECT_TRUE(begun.send(client_hello().substr(0, 20)));
  EXPECT_TRUE(silent.ends());
  EXPECT_TRUE(begun.ends());
  EXPECT_EQ(server.counter(IoCounter::kTlsTimeouts), 2U);
}

// Records of one byte, the socket's bytes one by one, and a pause in the middle of each.
TEST(Tls, RecordsMayComeInPieces) {
  const Authority authority;
  TestServer server(authority.config());
  Address address;
  ASSERT_TRUE(parse_address(server.query_address(), address));
  testing::RawPeer peer(server.query_address());
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  SSL* const connection = SSL_new(context);
  SSL_set_connect_state(connection);
  BIO* const in = BIO_new(BIO_s_mem());
  BIO* const out = BIO_new(BIO_s_mem());
  SSL_set_bio(connection, in, out);
  const auto send_all = [&] {
    char byte = 0;
    while (BIO_read(out, &byte, 1) == 1) ASSERT_TRUE(peer.send(std::string_view(&byte, 1)));
  };
  const auto receive = [&] {
    char bytes[4096];
    std::size_t got = 0;
    ASSERT_EQ(peer.socket().wait(false, std::chrono::seconds(10)), Status::kOk);
    ASSERT_EQ(peer.socket().receive_some(bytes, sizeof bytes, got), Status::kOk);
    BIO_write(in, bytes, static_cast<int>(got));
  };
  while (SSL_do_handshake(connection) != 1) {
    send_all();
    receive();
  }
  send_all();
  v1::Request request;
  request.mutable_hello()->set_version_max(1);
  for (const char byte : RawPeer::framed(request)) {
    EXPECT_EQ(SSL_write(connection, &byte, 1), 1);
    send_all();
  }
  char answer[4096];
  int size = 0;
  while ((size = SSL_read(connection, answer, sizeof answer)) <= 0) receive();
  const auto bytes = std::as_bytes(std::span(answer, static_cast<std::size_t>(size)));
  const FrameScan scan = scan_frame(bytes, 1U << 20);
  ASSERT_EQ(scan.kind, FrameScan::kFrame);
  v1::Response response;
  ASSERT_TRUE(response.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size())));
  EXPECT_TRUE(response.has_welcome());
  SSL_free(connection);
  SSL_CTX_free(context);
}

}  // namespace tls_handshake_test
}  // namespace windhover
