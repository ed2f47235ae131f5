// A peer's socket under TLS: what has come, and cannot be read yet.
#include "windhover/io/peer_socket.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include <gtest/gtest.h>

#include "windhover/tests/io/tls/talkative_client.h"

namespace windhover {
namespace peer_socket_test {
namespace {

using testing::OneCertificate;
using testing::TalkativeClient;

// Both ends of a TCP connection, with as little room between as the kernel gives.
std::array<int, 2> narrow_connection() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(listener, 1), 0);
  EXPECT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const int other = ::socket(AF_INET, SOCK_STREAM, 0);
  const int least = 1;  // what the kernel makes of it
  EXPECT_EQ(::setsockopt(other, SOL_SOCKET, SO_RCVBUF, &least, sizeof least), 0);
  EXPECT_EQ(::connect(other, reinterpret_cast<sockaddr*>(&address), size), 0);
  const int accepted = ::accept(listener, nullptr, nullptr);
  EXPECT_EQ(::setsockopt(accepted, SOL_SOCKET, SO_SNDBUF, &least, sizeof least), 0);
  ::close(listener);
  return {accepted, other};
}

// Found from outside: a peer that asks for new keys and takes no answer had something unread for
// ever, and no deadline.
TEST(PeerSocketUnderTls, WhatCannotBeReadYetIsNotThere) {
  const OneCertificate certificate;
  IoContext io;
  const auto [accepted, other] = narrow_connection();
  Stream stream(io);
  stream.assign(StreamProtocol(AF_INET, IPPROTO_TCP), accepted);
  Counters<IoCounter> counters;
  PeerSocket socket(io, counters);
  ASSERT_TRUE(socket.begin(std::move(stream), &certificate.context(), 0));
  std::array<std::byte, 4096> room{};
  const auto read = [&] {
    ErrorCode error;
    const std::size_t bytes = socket.read_some(room, error);
    return TlsResult{error ? TlsEnd::kWaitRead : TlsEnd::kDone, bytes};
  };
  const auto lies_there = [descriptor = accepted] {
    pollfd wait{descriptor, POLLIN, 0};
    int bytes = 0;
    return ::poll(&wait, 1, 10'000) == 1 && ::ioctl(descriptor, FIONREAD, &bytes) == 0 && bytes > 0;
  };
  TalkativeClient client(other, TLS1_3_VERSION);
  client.begin([&] {
    EXPECT_TRUE(lies_there());
    return read();
  });
  bool waits_to_write = false;
  for (int turn = 0; turn < 1000 && !waits_to_write; ++turn) {
    for (int i = 0; i < 10; ++i) client.new_keys();
    client.say("x");
    const std::size_t sent = client.unsent();
    ASSERT_EQ(client.send(), sent);
    ASSERT_TRUE(lies_there());
    waits_to_write = socket.available() == 0;
    if (!waits_to_write) read();
  }
  EXPECT_TRUE(waits_to_write);
  socket.close();
  ::close(other);
}

}  // namespace
}  // namespace peer_socket_test
}  // namespace windhover
