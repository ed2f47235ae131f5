#ifndef WINDHOVER_IO_TLS_CERTIFICATE_DATES_H_
#define WINDHOVER_IO_TLS_CERTIFICATE_DATES_H_

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

}  // namespace windhover

#endif  // WINDHOVER_IO_TLS_CERTIFICATE_DATES_H_
