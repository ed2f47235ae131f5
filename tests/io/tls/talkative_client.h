// A client under TLS that sends what it likes when it likes, and reads nothing.
#ifndef WINDHOVER_TESTS_IO_TLS_TALKATIVE_CLIENT_H_
#define WINDHOVER_TESTS_IO_TLS_TALKATIVE_CLIENT_H_

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/io/tls/tls_channel.h"
#include "windhover/io/tls/tls_context.h"
#include "windhover/tests/io/tls/certificates.h"

namespace windhover::testing {

// What a server has with a certificate that nobody vouches for.
class OneCertificate {
 public:
  OneCertificate() {
    TlsConfig config;
    config.certificate = certificate_.certificate();
    config.key = certificate_.key();
    TlsSettings settings;
    EXPECT_TRUE(context_.read(config, settings).ok());
    context_.use(std::move(settings));
  }
  const TlsContext& context() const { return context_; }

 private:
  TestCertificate certificate_{"one", "IP:127.0.0.1", nullptr};
  TlsContext context_;
};

// What it has to say lies in it until send().
class TalkativeClient {
 public:
  TalkativeClient(int descriptor, int version)
      : descriptor_(descriptor),
        context_(SSL_CTX_new(TLS_client_method())),
        connection_(SSL_new(context_)),
        in_(BIO_new(BIO_s_mem())),
        out_(BIO_new(BIO_s_mem())) {
    SSL_set_max_proto_version(connection_, version);
    SSL_set_connect_state(connection_);
    SSL_set_bio(connection_, in_, out_);
  }
  ~TalkativeClient() {
    SSL_free(connection_);
    SSL_CTX_free(context_);
  }
  TalkativeClient(const TalkativeClient&) = delete;
  TalkativeClient& operator=(const TalkativeClient&) = delete;

  // The handshake, and a byte behind it. `read` has the other side read, and gives its TlsResult.
  template <class Read>
  void begin(Read&& read) {
    for (int turn = 0; turn < 100 && SSL_do_handshake(connection_) != 1; ++turn) {
      send();
      EXPECT_EQ(read().end, TlsEnd::kWaitRead);
      std::array<char, 8192> some{};
      const ssize_t got = ::recv(descriptor_, some.data(), some.size(), 0);
      if (got > 0) BIO_write(in_, some.data(), static_cast<int>(got));
    }
    say("x");
    send();
    EXPECT_EQ(read().bytes, 1U);
  }
  void say(const std::string& bytes) {
    EXPECT_EQ(SSL_write(connection_, bytes.data(), static_cast<int>(bytes.size())),
              static_cast<int>(bytes.size()));
  }
  void new_keys() {
    EXPECT_EQ(SSL_key_update(connection_, SSL_KEY_UPDATE_REQUESTED), 1);
    EXPECT_EQ(SSL_do_handshake(connection_), 1);
  }
  void another_handshake() {
    EXPECT_EQ(SSL_renegotiate(connection_), 1);
    EXPECT_EQ(SSL_do_handshake(connection_), -1);
  }
  std::size_t unsent() const { return BIO_ctrl_pending(out_); }
  // Sends as much as the socket takes.
  std::size_t send() {
    std::vector<char> bytes(unsent());
    BIO_read(out_, bytes.data(), static_cast<int>(bytes.size()));
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return sent > 0 ? static_cast<std::size_t>(sent) : 0;
  }

 private:
  int descriptor_;
  SSL_CTX* context_;
  SSL* connection_;
  BIO* in_;
  BIO* out_;
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_TLS_TALKATIVE_CLIENT_H_
