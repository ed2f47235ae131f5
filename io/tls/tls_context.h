// What a server's connections share under TLS: its certificate and its settings.
#ifndef WINDHOVER_IO_TLS_TLS_CONTEXT_H_
#define WINDHOVER_IO_TLS_TLS_CONTEXT_H_

#include <array>
#include <mutex>
#include <string_view>
#include <utility>

#include "windhover/io/tls/certificate_dates.h"
#include "windhover/io/tls/tls_config.h"
#include "windhover/platform/result.h"

struct ssl_ctx_st;
struct ssl_st;

namespace windhover {

// Owns a configuration of OpenSSL, or none.
class TlsSettings {
 public:
  TlsSettings() noexcept = default;
  explicit TlsSettings(ssl_ctx_st* owned) noexcept : context_(owned) {}
  TlsSettings(TlsSettings&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
  TlsSettings& operator=(TlsSettings&& other) noexcept {
    std::swap(context_, other.context_);
    return *this;
  }
  ~TlsSettings();

  ssl_ctx_st* get() const noexcept { return context_; }
  TlsDates dates() const noexcept;

 private:
  ssl_ctx_st* context_ = nullptr;
};

// TLS 1.2 and 1.3, only with forward secrecy and AEAD; no compression, renegotiation, session
// tickets or session cache.
class TlsContext {
 public:
  // Reads the files into `settings`, and changes nothing else. The sentence of an error is "FILE:
  // what", good until the next call. No heap call but OpenSSL's own. One thread at a time.
  Result<bool> read(const TlsConfig& config, TlsSettings& settings) noexcept;
  // New connections have these settings from now on; existing ones keep theirs. Any thread.
  void use(TlsSettings settings) noexcept;

  // The dates of the certificates that new connections are shown, and judged by. Any thread.
  TlsDates dates() const noexcept;

  // For a connection that was accepted. Null: OpenSSL has no memory for it. Any thread.
  ssl_st* new_connection() const noexcept;

 private:
  Error failed(std::string_view file, const char* what) noexcept;

  mutable std::mutex mutex_;
  TlsSettings settings_;
  TlsDates dates_;
  std::array<char, 512> sentence_{};
};

}  // namespace windhover

#endif  // WINDHOVER_IO_TLS_TLS_CONTEXT_H_
