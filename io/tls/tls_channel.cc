#include "windhover/io/tls/tls_channel.h"

#include <array>
#include <cerrno>
#include <string_view>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

namespace windhover {
namespace {

// OpenSSL's own BIO for sockets calls write(), and a peer that is gone would be a signal.
int descriptor_of(BIO* bio) noexcept {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

int done(BIO* bio, ssize_t result, int retry_flag) noexcept {
  BIO_clear_retry_flags(bio);
  if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    BIO_set_flags(bio, retry_flag | BIO_FLAGS_SHOULD_RETRY);
  }
  return static_cast<int>(result);
}

int write_socket(BIO* bio, const char* bytes, int size) {
  const auto length = static_cast<std::size_t>(size);
  return done(bio, ::send(descriptor_of(bio), bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT),
              BIO_FLAGS_WRITE);
}

int read_socket(BIO* bio, char* bytes, int size) {
  const ssize_t got =
      ::recv(descriptor_of(bio), bytes, static_cast<std::size_t>(size), MSG_DONTWAIT);
  if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return done(bio, got, BIO_FLAGS_READ);
}

long control_socket(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* make_method() noexcept {
  BIO_METHOD* const method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
  if (method == nullptr) return nullptr;
  BIO_meth_set_write(method, &write_socket);
  BIO_meth_set_read(method, &read_socket);
  BIO_meth_set_ctrl(method, &control_socket);
  return method;
}

BIO* new_socket_bio(int descriptor) noexcept {
  static BIO_METHOD* const method = make_method();
  BIO* const bio = method != nullptr ? BIO_new(method) : nullptr;
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)));
  BIO_set_init(bio, 1);
  return bio;
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

bool TlsChannel::begin(ssl_st* connection, int descriptor, bool server) noexcept {
  end();
  if (connection == nullptr) return false;
  BIO* const bio = new_socket_bio(descriptor);
  if (bio == nullptr) {
    SSL_free(connection);
    ERR_clear_error();
    return false;
  }
  SSL_set_bio(connection, bio, bio);
  if (server) {
    SSL_set_read_ahead(connection, 1);  // what lies there is looked at before each wait
    SSL_set_accept_state(connection);
  } else {
    SSL_set_connect_state(connection);
  }
  connection_ = connection;
  failed_ = false;
  return true;
}

void TlsChannel::end() noexcept {
  if (connection_ == nullptr) return;
  SSL_free(connection_);
  connection_ = nullptr;
  ERR_clear_error();
}

TlsResult TlsChannel::judge(int result, std::size_t bytes) noexcept {
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
  ERR_clear_error();
  std::size_t bytes = 0;
  const int result = SSL_read_ex(connection_, room.data(), room.size(), &bytes);
  TlsResult first = judge(result, bytes);
  // Records are small; what follows is taken along.
  while (first.end == TlsEnd::kDone && first.bytes < room.size()) {
    const std::span<std::byte> rest = room.subspan(first.bytes);
    if (SSL_read_ex(connection_, rest.data(), rest.size(), &bytes) != 1) break;  // told next time
    first.bytes += bytes;
  }
  return first;
}

TlsResult TlsChannel::write(std::span<const std::byte> bytes) noexcept {
  if (failed_) return {};
  ERR_clear_error();
  std::size_t written = 0;
  const int result = SSL_write_ex(connection_, bytes.data(), bytes.size(), &written);
  return judge(result, written);
}

TlsResult TlsChannel::handshake() noexcept {
  if (failed_) return {};
  ERR_clear_error();
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
