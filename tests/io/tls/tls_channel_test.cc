// One side of TLS, and a peer of OpenSSL's that sends what it likes when it likes.
#include "windhover/io/tls/tls_channel.h"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "windhover/tests/io/tls/talkative_client.h"

namespace windhover {
namespace tls_channel_test {
namespace {

using testing::OneCertificate;
using testing::TalkativeClient;

class TlsChannelTest : public ::testing::Test {
 protected:
  TlsChannelTest() {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_.data()), 0);
    EXPECT_TRUE(channel_.begin(certificate_.context().new_connection(), ends_[0], true));
  }
  ~TlsChannelTest() override {
    channel_.end();
    for (const int end : ends_) ::close(end);
  }
  TlsResult read() { return channel_.read(room_); }
  // Reads as often as there is more.
  TlsResult read_on() {
    TlsResult result = read();
    while (result.end == TlsEnd::kWaitRead && unread() > 0) result = read();
    return result;
  }
  std::size_t unread() const {
    int size = 0;
    EXPECT_EQ(::ioctl(ends_[0], FIONREAD, &size), 0);
    return static_cast<std::size_t>(size);
  }

  OneCertificate certificate_;
  std::array<int, 2> ends_{};
  TlsChannel channel_;
  std::array<std::byte, 64 * 1024> room_{};
};

TEST_F(TlsChannelTest, NewKeysAreTakenAndEndAConnectionThatSendsNothingElse) {
  TalkativeClient client(ends_[1], TLS1_3_VERSION);
  client.begin([&] { return read(); });
  for (int time = 0; time < 3; ++time) {
    for (std::uint32_t i = 0; i < TlsChannel::kMessages; ++i) client.new_keys();
    client.send();
    EXPECT_EQ(read_on().end, TlsEnd::kWaitRead);
    client.say("more");
    client.send();
    EXPECT_EQ(read_on().bytes, 4U) << time;
  }
  // A few more are not even looked at.
  for (int i = 0; i < 1000; ++i) client.new_keys();
  client.say("more");
  client.send();
  EXPECT_EQ(read_on().end, TlsEnd::kFailed);
  EXPECT_EQ(read().end, TlsEnd::kFailed);
  EXPECT_EQ(channel_.write(room_).end, TlsEnd::kFailed);
}

TEST_F(TlsChannelTest, AnotherHandshakeIsNone) {
  TalkativeClient client(ends_[1], TLS1_2_VERSION);
  client.begin([&] { return read(); });
  client.another_handshake();
  client.send();
  EXPECT_EQ(read().end, TlsEnd::kWaitRead);
  EXPECT_TRUE(channel_.established());
}

// Bytes for the application one by one, 23 of the socket each.
TEST_F(TlsChannelTest, ALookTakesSoMuchOfTheSocketAndNoMore) {
  TalkativeClient client(ends_[1], TLS1_3_VERSION);
  client.begin([&] { return read(); });
  std::size_t said = 0;
  for (; client.unsent() < 2 * TlsChannel::kLookBytes; ++said) client.say("x");
  const std::size_t sent = client.unsent();
  ASSERT_EQ(client.send(), sent);
  std::size_t heard = 0;
  for (int look = 1; look <= 2; ++look) {
    const TlsResult result = read();
    EXPECT_EQ(result.end, TlsEnd::kDone);
    EXPECT_EQ(unread(), sent - static_cast<std::size_t>(look) * TlsChannel::kLookBytes);
    heard += result.bytes;
  }
  heard += read().bytes;
  EXPECT_EQ(heard, said);
  EXPECT_EQ(read().end, TlsEnd::kWaitRead);
}

// With new keys between messages a record's worth is read ahead once, and then little at a time.
TEST_F(TlsChannelTest, ALookIsShorterWhereThereAreMessages) {
  TalkativeClient client(ends_[1], TLS1_3_VERSION);
  client.begin([&] { return read(); });
  std::size_t said = 0;
  for (; client.unsent() < TlsChannel::kLookBytes; ++said) {
    for (int i = 0; i < 10; ++i) client.new_keys();
    client.say("x");
  }
  const std::size_t sent = client.unsent();
  ASSERT_EQ(client.send(), sent);
  std::size_t heard = 0;
  int looks = 0;
  for (; heard < said && looks < 1000; ++looks) {
    const std::size_t before = unread();
    const TlsResult result = read();
    ASSERT_TRUE(result.end == TlsEnd::kDone || result.end == TlsEnd::kWaitRead);
    EXPECT_LE(before - unread(), looks == 0 ? 20'000U : 1'024U);
    heard += result.bytes;
    std::array<char, 65536> replies;
    while (::recv(ends_[1], replies.data(), replies.size(), 0) > 0) continue;
  }
  EXPECT_EQ(heard, said);
  EXPECT_GE(looks, 40);
}

}  // namespace
}  // namespace tls_channel_test
}  // namespace windhover
