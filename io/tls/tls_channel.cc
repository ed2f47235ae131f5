#include "windhover/io/tls/tls_channel.h"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

namespace windhover {
namespace {

int done(BIO* bio, ssize_t result, int retry_flag) noexcept {
  BIO_clear_retry_flags(bio);
  if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    BIO_set_flags(bio, retry_flag | BIO_FLAGS_SHOULD_RETRY);
  }
  return static_cast<int>(result);
}

long control_socket(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

std::string_view text_of(const ASN1_STRING* string) noexcept {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
          static_cast<std::size_t>(ASN1_STRING_length(string))};
}

Credential by_alternative_name(const X509* certificate) noexcept {
  auto* const names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  Credential credential;
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names, i);
    if (name->type != GEN_DNS) continue;
    credential = Credential::of_certificate(text_of(name->d.dNSName));
    break;
  }
  GENERAL_NAMES_free(names);
  return credential;
}

Credential by_common_name(const X509* certificate) noexcept {
  const X509_NAME* const subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return {};
  return Credential::of_certificate(
      text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
}

}  // namespace

struct TlsChannel::Calls {
  // OpenSSL's own BIO for sockets calls write(), which raises SIGPIPE if the peer is gone.
  static int write_socket(BIO* bio, const char* bytes, int size) {
    const auto& channel = *static_cast<TlsChannel*>(BIO_get_data(bio));
    const auto length = static_cast<std::size_t>(size);
    return done(bio, ::send(channel.descriptor_, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT),
                BIO_FLAGS_WRITE);
  }

  // OpenSSL reads on until there is something for the application or the socket has no more.
  static int read_socket(BIO* bio, char* bytes, int size) {
    auto& channel = *static_cast<TlsChannel*>(BIO_get_data(bio));
    const auto room = static_cast<std::size_t>(size);
    const std::size_t piece = channel.messages_ > kMessages ? kPieceBytes : room;
    const std::size_t most = std::min({room, piece, channel.may_read_});
    errno = EAGAIN;
    const ssize_t got = most > 0 ? ::recv(channel.descriptor_, bytes, most, MSG_DONTWAIT) : -1;
    if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    if (got > 0) channel.may_read_ -= static_cast<std::size_t>(got);
    return done(bio, got, BIO_FLAGS_READ);
  }

  static void on_message(int written, int, int content_type, const void*, std::size_t, SSL* ssl,
                         void* of) {
    if (written != 0 || content_type != SSL3_RT_HANDSHAKE) return;
    auto& channel = *static_cast<TlsChannel*>(of);
    channel.may_read_ -= std::min(channel.may_read_, kMessageBytes);
    ++channel.messages_;
    if (++channel.in_a_row_ <= kMessages) return;
    SSL_set_shutdown(ssl, SSL_RECEIVED_SHUTDOWN);  // nothing more of what it holds is read
  }

  static BIO* new_bio(TlsChannel& channel) noexcept {
    static BIO_METHOD* const method = make_method();
    BIO* const bio = method != nullptr ? BIO_new(method) : nullptr;
    if (bio == nullptr) return nullptr;
    BIO_set_data(bio, &channel);
    BIO_set_init(bio, 1);
    return bio;
  }

  static BIO_METHOD* make_method() noexcept {
    BIO_METHOD* const method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    if (method == nullptr) return nullptr;
    BIO_meth_set_write(method, &write_socket);
    BIO_meth_set_read(method, &read_socket);
    BIO_meth_set_ctrl(method, &control_socket);
    return method;
  }
};

bool TlsChannel::begin(ssl_st* connection, int descriptor, bool server) noexcept {
  end();
  if (connection == nullptr) return false;
  BIO* const bio = Calls::new_bio(*this);
  if (bio == nullptr) {
    SSL_free(connection);
    ERR_clear_error();
    return false;
  }
  SSL_set_bio(connection, bio, bio);
  SSL_set_msg_callback(connection, &Calls::on_message);
  SSL_set_msg_callback_arg(connection, this);
  if (server) {
    SSL_set_read_ahead(connection, 1);  // the server reads what OpenSSL holds before each wait
    SSL_set_accept_state(connection);
  } else {
    SSL_set_connect_state(connection);
  }
  connection_ = connection;
  descriptor_ = descriptor;
  messages_ = in_a_row_ = 0;
  failed_ = false;
  return true;
}

void TlsChannel::end() noexcept {
  if (connection_ == nullptr) return;
  SSL_free(connection_);
  connection_ = nullptr;
  ERR_clear_error();
}

void TlsChannel::look() noexcept {
  ERR_clear_error();
  may_read_ = kLookBytes;
}

TlsResult TlsChannel::judge(int result, std::size_t bytes) noexcept {
  if (in_a_row_ > kMessages) {
    failed_ = true;
    return {TlsEnd::kFailed, 0};
  }
  if (result > 0) return {TlsEnd::kDone, bytes};
  switch (SSL_get_error(connection_, result)) {
    case SSL_ERROR_WANT_READ:
      return {TlsEnd::kWaitRead, 0};
    case SSL_ERROR_WANT_WRITE:
      return {TlsEnd::kWaitWrite, 0};
    case SSL_ERROR_ZERO_RETURN:
      return {TlsEnd::kClosed, 0};
    case SSL_ERROR_SYSCALL:
      failed_ = true;
      return {TlsEnd::kClosed, 0};
    default:
      failed_ = true;
      return {TlsEnd::kFailed, 0};
  }
}

TlsResult TlsChannel::read(std::span<std::byte> room) noexcept {
  if (failed_) return {};
  look();
  std::size_t bytes = 0;
  const int result = SSL_read_ex(connection_, room.data(), room.size(), &bytes);
  TlsResult first = judge(result, bytes);
  // Records are small: read further ones too.
  while (first.end == TlsEnd::kDone && first.bytes < room.size()) {
    in_a_row_ = 0;
    const std::span<std::byte> rest = room.subspan(first.bytes);
    if (SSL_read_ex(connection_, rest.data(), rest.size(), &bytes) != 1) break;  // told next time
    first.bytes += bytes;
  }
  return first;
}

TlsResult TlsChannel::write(std::span<const std::byte> bytes) noexcept {
  if (failed_) return {};
  look();
  std::size_t written = 0;
  const int result = SSL_write_ex(connection_, bytes.data(), bytes.size(), &written);
  return judge(result, written);
}

TlsResult TlsChannel::handshake() noexcept {
  if (failed_) return {};
  look();
  return judge(SSL_do_handshake(connection_), 0);
}

bool TlsChannel::established() const noexcept {
  return connection_ != nullptr && SSL_is_init_finished(connection_) == 1;
}

bool TlsChannel::has_pending() const noexcept {
  return connection_ != nullptr && SSL_pending(connection_) > 0;
}

void TlsChannel::say_goodbye() noexcept {
  if (failed_ || !established()) return;
  ERR_clear_error();
  (void)SSL_shutdown(connection_);
}

Credential TlsChannel::peer() const noexcept {
  if (!established()) return {};
  X509* const certificate = SSL_get0_peer_certificate(connection_);
  if (certificate == nullptr || SSL_get_verify_result(connection_) != X509_V_OK) return {};
  const Credential named = by_alternative_name(certificate);
  return named.kind != Credential::Kind::kNone ? named : by_common_name(certificate);
}

const char* TlsChannel::refused_certificate() const noexcept {
  const long verified = connection_ != nullptr ? SSL_get_verify_result(connection_) : X509_V_OK;
  return verified != X509_V_OK ? X509_verify_cert_error_string(verified) : nullptr;
}

}  // namespace windhover
