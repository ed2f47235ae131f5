#include "windhover/io/tls/client_tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "windhover/io/tls/pem_file.h"
#include "windhover/io/tls/tls_channel.h"
#include "windhover/io/tls/tls_context.h"

namespace windhover {

struct ClientTls::Impl {
  TlsSettings settings;
  TlsChannel channel;
};

namespace {

// kOk, or kInvalidArgument, and `why` names the file and what is wrong with it.
Status load(SSL_CTX* context, const ClientTlsOptions& options, std::string& why) {
  const auto refuse = [&why](const std::string& file, const char* what) {
    why = file + ": " + what;
    return Status::kInvalidArgument;
  };
  if (options.ca_file.empty()) {
    SSL_CTX_set_default_verify_paths(context);
  } else if (const char* const wrong = trust(context, options.ca_file, false)) {
    return refuse(options.ca_file, wrong);
  }
  if (options.certificate.empty()) return Status::kOk;
  if (const char* const wrong = use_certificates(context, options.certificate)) {
    return refuse(options.certificate, wrong);
  }
  if (const char* const wrong = use_key(context, options.key)) return refuse(options.key, wrong);
  return Status::kOk;
}

// Sets the name that the certificate must have. Certificates keep IP addresses apart from names.
bool expect_name(SSL* connection, const std::string& name) noexcept {
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), name.c_str()) == 1) return true;
  return SSL_set1_host(connection, name.c_str()) == 1 &&
         SSL_set_tlsext_host_name(connection, name.c_str()) == 1;
}

}  // namespace

ClientTls::ClientTls() noexcept = default;
ClientTls::~ClientTls() = default;

Status ClientTls::begin(int descriptor, const ClientTlsOptions& options, const std::string& host,
                        std::string& why) {
  impl_ = std::make_unique<Impl>();
  impl_->settings = TlsSettings(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* const context = impl_->settings.get();
  why = "OpenSSL has no memory";
  if (context == nullptr) return Status::kUnavailable;
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(
      context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (const Status loaded = load(context, options, why); !ok(loaded)) return loaded;
  SSL* const connection = SSL_new(context);
  if (!impl_->channel.begin(connection, descriptor, false) ||
      !expect_name(connection, options.server_name.empty() ? host : options.server_name)) {
    return Status::kUnavailable;
  }
  return Status::kOk;
}

Status ClientTls::handshake(std::string& why) noexcept {
  const TlsResult result = impl_->channel.handshake();
  wait_for_room_ = result.end == TlsEnd::kWaitWrite;
  switch (result.end) {
    case TlsEnd::kDone:
      return Status::kOk;
    case TlsEnd::kWaitRead:
    case TlsEnd::kWaitWrite:
      return Status::kNotReady;
    case TlsEnd::kClosed:
      why = "the server ended the TLS handshake; does it speak TLS?";
      return Status::kClosed;
    case TlsEnd::kFailed:
      break;
  }
  if (const char* const refused = impl_->channel.refused_certificate()) {
    why = std::string("the server's certificate is not good: ") + refused;
    return Status::kNotPermitted;
  }
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  why = std::string("TLS failed: ") + (reason != nullptr ? reason : "unknown");
  return Status::kIoError;
}

Status ClientTls::send_some(const char* data, std::size_t size, std::size_t& sent) noexcept {
  const TlsResult result = impl_->channel.write({reinterpret_cast<const std::byte*>(data), size});
  sent = result.bytes;
  if (result.end == TlsEnd::kClosed) return Status::kClosed;
  return result.end == TlsEnd::kFailed ? Status::kIoError : Status::kOk;
}

Status ClientTls::receive_some(char* data, std::size_t size, std::size_t& received) noexcept {
  const TlsResult result = impl_->channel.read({reinterpret_cast<std::byte*>(data), size});
  received = result.bytes;
  if (result.end == TlsEnd::kClosed) return Status::kClosed;
  return result.end == TlsEnd::kFailed ? Status::kIoError : Status::kOk;
}

bool ClientTls::has_pending() const noexcept { return impl_->channel.has_pending(); }
void ClientTls::say_goodbye() noexcept { impl_->channel.say_goodbye(); }

}  // namespace windhover
