#include "windhover/io/tls/tls_context.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <limits>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "windhover/io/tls/pem_file.h"

namespace windhover {

namespace {

// ASN1_TIME_diff() is OpenSSL's only way from its type of time to a number that works beyond 2038.
std::int64_t seconds_since_1970(const ASN1_TIME* time) noexcept {
  ASN1_TIME* const epoch = ASN1_TIME_set(nullptr, 0);
  int days = 0;
  int seconds = 0;
  const bool known =
      epoch != nullptr && time != nullptr && ASN1_TIME_diff(&days, &seconds, epoch, time) == 1;
  ASN1_TIME_free(epoch);
  ERR_clear_error();
  return known ? std::int64_t{days} * 86'400 + seconds : 0;
}

CertificateDates dates_of(const X509* certificate) noexcept {
  return {seconds_since_1970(X509_get0_notBefore(certificate)),
          seconds_since_1970(X509_get0_notAfter(certificate))};
}

}  // namespace

TlsSettings::~TlsSettings() { SSL_CTX_free(context_); }

TlsDates TlsSettings::dates() const noexcept {
  TlsDates dates;
  if (context_ == nullptr) return dates;
  if (const X509* const own = SSL_CTX_get0_certificate(context_)) dates.own = dates_of(own);
  STACK_OF(X509)* chain = nullptr;
  SSL_CTX_get0_chain_certs(context_, &chain);
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    dates.own = overlap(dates.own, dates_of(sk_X509_value(chain, i)));
  }
  const STACK_OF(X509_OBJECT)* const trusted =
      X509_STORE_get0_objects(SSL_CTX_get_cert_store(context_));
  for (int i = 0; i < sk_X509_OBJECT_num(trusted); ++i) {
    const X509* const one = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(trusted, i));
    if (one == nullptr) continue;
    const CertificateDates of_one = dates_of(one);
    if (!of_one.known()) continue;
    const bool first = !dates.client_ca.known();
    dates.client_ca_begins_s =
        first ? of_one.from_s : std::min(dates.client_ca_begins_s, of_one.from_s);
    dates.client_ca = overlap(dates.client_ca, of_one);
  }
  return dates;
}

Error TlsContext::failed(std::string_view file, const char* what) noexcept {
  const std::size_t shown = std::min<std::size_t>(file.size(), 300);
  const std::string_view end = file.substr(file.size() - shown);
  std::snprintf(sentence_.data(), sentence_.size(), "%.*s: %s", static_cast<int>(shown), end.data(),
                what);
  ERR_clear_error();
  return {Status::kInvalidConfig, sentence_.data(), std::numeric_limits<double>::quiet_NaN()};
}

Result<bool> TlsContext::read(const TlsConfig& config, TlsSettings& settings) noexcept {
  // The C library reads time zones once: here, before a certificate's dates are checked.
  const std::time_t now = 0;
  std::tm broken_down{};
  (void)::gmtime_r(&now, &broken_down);
  TlsSettings fresh(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* const context = fresh.get();
  if (context == nullptr) return failed("TLS", "OpenSSL has no memory");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // Forward secrecy and AEAD for TLS 1.2; all ciphers of TLS 1.3 have both.
  if (SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1) {
    return failed("TLS", "OpenSSL has none of the ciphers");
  }
  if (const char* const wrong = use_certificates(context, config.certificate)) {
    return failed(config.certificate, wrong);
  }
  if (const char* const wrong = use_key(context, config.key)) return failed(config.key, wrong);
  if (!config.client_ca.empty()) {
    if (const char* const wrong = trust(context, config.client_ca, true)) {
      return failed(config.client_ca, wrong);
    }
    // A certificate that a client shows has to be good; but it need not show one.
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  }
  settings = std::move(fresh);
  return true;
}

void TlsContext::use(TlsSettings settings) noexcept {
  const TlsDates dates = settings.dates();
  const std::lock_guard lock(mutex_);
  settings_ = std::move(settings);
  dates_ = dates;
}

TlsDates TlsContext::dates() const noexcept {
  const std::lock_guard lock(mutex_);
  return dates_;
}

ssl_st* TlsContext::new_connection() const noexcept {
  const std::lock_guard lock(mutex_);
  return SSL_new(settings_.get());
}

}  // namespace windhover
