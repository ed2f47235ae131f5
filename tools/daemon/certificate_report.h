// Whether the server's certificate is good, in the log.
#ifndef WINDHOVER_TOOLS_DAEMON_CERTIFICATE_REPORT_H_
#define WINDHOVER_TOOLS_DAEMON_CERTIFICATE_REPORT_H_

#include <cstdint>
#include <string_view>

#include "windhover/io/tls/certificate_dates.h"
#include "windhover/tools/daemon/daemon_log.h"

namespace windhover {

// An expired certificate is served all the same: the server's own clock may be wrong.
enum class CertificateState : std::uint8_t { kUnknown, kGood, kExpiresSoon, kExpired, kNotYet };

// Soon: within two weeks.
CertificateState state_of(const CertificateDates& dates, std::int64_t wall_ns) noexcept;

// Logs each certificate that is taken up, and again when it expires soon and when it has expired.
// One thread. No heap call.
class CertificateReport {
 public:
  explicit CertificateReport(DaemonLog& log) noexcept : log_(log) {}

  void look(const CertificateDates& dates, std::int64_t wall_ns) noexcept;

 private:
  DaemonLog& log_;
  CertificateDates dates_;
  CertificateState state_ = CertificateState::kUnknown;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_CERTIFICATE_REPORT_H_
