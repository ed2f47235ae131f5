#ifndef WINDHOVER_IO_TLS_CERTIFICATE_DATES_H_
#define WINDHOVER_IO_TLS_CERTIFICATE_DATES_H_

#include <algorithm>
#include <cstdint>

namespace windhover {

// When a certificate is good, or a chain of them, in seconds since 1970. Both 0: there is none, or
// it does not say.
struct CertificateDates {
  std::int64_t from_s = 0;
  std::int64_t until_s = 0;

  bool known() const noexcept { return until_s != 0; }
  friend bool operator==(const CertificateDates&, const CertificateDates&) = default;
};

// When both are good; one that does not say does not count.
inline CertificateDates overlap(const CertificateDates& a, const CertificateDates& b) noexcept {
  if (!a.known()) return b;
  if (!b.known()) return a;
  return {std::max(a.from_s, b.from_s), std::min(a.until_s, b.until_s)};
}

// Of a server's files.
struct TlsDates {
  CertificateDates own;                 // its certificate and those behind it in its file
  CertificateDates client_ca;           // all authorities of its clients
  std::int64_t client_ca_begins_s = 0;  // when the first of these is good
};

}  // namespace windhover

#endif  // WINDHOVER_IO_TLS_CERTIFICATE_DATES_H_
