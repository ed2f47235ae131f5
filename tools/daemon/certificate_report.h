// Whether the server's certificate and those of its clients' authorities are good, in the log.
#ifndef WINDHOVER_TOOLS_DAEMON_CERTIFICATE_REPORT_H_
#define WINDHOVER_TOOLS_DAEMON_CERTIFICATE_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "windhover/io/tls/certificate_dates.h"
#include "windhover/tools/daemon/daemon_log.h"

namespace windhover {

// An expired certificate is served all the same: the server's own clock may be wrong.
enum class CertificateState : std::uint8_t { kUnknown, kGood, kExpiresSoon, kExpired, kNotYet };

// Soon: within two weeks.
CertificateState state_of(const CertificateDates& dates, std::int64_t wall_ns) noexcept;

// What it says of a certificate, behind its name, "expires on DATE" and such; empty: it is good.
std::string words_of(const CertificateDates& dates, std::int64_t wall_ns);

// What the log calls what becomes of a certificate.
struct CertificateEvents {
  const char* good;
  const char* expires_soon;
  const char* expired;
  const char* not_yet;
};
inline constexpr CertificateEvents kOwnCertificate = {
    "certificate", "certificate_expires_soon", "certificate_expired", "certificate_not_valid_yet"};
inline constexpr CertificateEvents kClientCa = {"client_ca", "client_ca_expires_soon",
                                                "client_ca_expired", "client_ca_not_valid_yet"};

// Logs each certificate that is taken up, and again when it expires soon and when it has expired.
// One thread. No heap call.
class CertificateReport {
 public:
  CertificateReport(const CertificateEvents& events, DaemonLog& log) noexcept
      : events_(events), log_(log) {}

  void look(const CertificateDates& dates, std::int64_t wall_ns) noexcept;

 private:
  CertificateEvents events_;
  DaemonLog& log_;
  CertificateDates dates_;
  CertificateState state_ = CertificateState::kUnknown;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_CERTIFICATE_REPORT_H_
