// Whether the server's certificate and those of its clients' authorities are good, in the log.
#ifndef WINDHOVER_TOOLS_DAEMON_CERTIFICATE_REPORT_H_
#define WINDHOVER_TOOLS_DAEMON_CERTIFICATE_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/io/tls/certificate_dates.h"
#include "windhover/tools/daemon/daemon_log.h"

namespace windhover {

// An expired certificate is served all the same: the server's own clock may be wrong.
enum class CertificateState : std::uint8_t { kUnknown, kGood, kExpiresSoon, kExpired, kNotYet };

// Soon: within two weeks.
CertificateState state_of(const CertificateDates& dates, std::int64_t wall_ns) noexcept;

// Authorities are good as soon as one of them is, and until one of them is not any more.
CertificateDates authorities_of(const TlsDates& dates) noexcept;
// Whether one of the authorities is still to become good, while another one is, or was.
bool one_is_not_valid_yet(const TlsDates& dates, std::int64_t wall_ns) noexcept;

// What it says of a certificate, behind its name, "expires on DATE" and such; empty: it is good.
std::string words_of(const CertificateDates& dates, std::int64_t wall_ns);
// Likewise of authorities, each a sentence.
std::vector<std::string> words_of_authorities(const TlsDates& dates, std::int64_t wall_ns);

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
  // Of authorities, one of which may be still to become good: a warning, as the others go on.
  void look_at_authorities(const TlsDates& dates, std::int64_t wall_ns) noexcept;

 private:
  CertificateEvents events_;
  DaemonLog& log_;
  CertificateDates dates_;
  CertificateState state_ = CertificateState::kUnknown;
  std::int64_t later_s_ = 0;  // when the last authority becomes good; 0: all are, or none is
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_CERTIFICATE_REPORT_H_
