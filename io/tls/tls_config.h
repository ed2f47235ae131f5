#ifndef WINDHOVER_IO_TLS_TLS_CONFIG_H_
#define WINDHOVER_IO_TLS_TLS_CONFIG_H_

#include <cstddef>
#include <string_view>

namespace windhover {

// TLS 1.2 and 1.3 on every TCP address of the server; Unix-domain sockets stay in the clear. PEM
// files. The strings are copied.
struct TlsConfig {
  std::string_view certificate;  // the server's, and those between it and the root; empty: no TLS
  std::string_view key;          // its key; refused if others than its owner may read or write it
  // Authorities that vouch for clients: then a client may show a certificate, whose name is an
  // identity ("cert:NAME"). Empty: none is asked for.
  std::string_view client_ca;

  // Bytes of OpenSSL's block, where the host gives it one; 0: enough for as many connections as
  // there can be. With less there can be fewer: kTlsBaseBytes, and kTlsConnectionBytes for each.
  std::size_t memory_bytes = 0;

  bool enabled() const noexcept { return !certificate.empty(); }
};

// The memory of OpenSSL, with room to spare: of itself, with two configurations at a time, and of a
// connection during its handshake. Measured by tests/system/tls_test.cc: 0.6 MB, and 85 KB, of
// which 57 KB stay afterwards.
inline constexpr std::size_t kTlsBaseBytes = std::size_t{2} << 20;
inline constexpr std::size_t kTlsConnectionBytes = std::size_t{96} << 10;

}  // namespace windhover

#endif  // WINDHOVER_IO_TLS_TLS_CONFIG_H_
