#include "windhover/tools/daemon/certificate_report.h"

#include <algorithm>
#include <limits>

#include "windhover/tools/kept/kept_text.h"

namespace windhover {
namespace {

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kSoon = 14 * kDay;

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t seconds_of(std::int64_t wall_ns) noexcept { return wall_ns / kSecond; }

std::string date_of(std::int64_t seconds) {
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max() / kSecond;
  return time_text(std::clamp(seconds, -kLast, kLast) * kSecond) + " UTC";
}

}  // namespace

CertificateState state_of(const CertificateDates& dates, std::int64_t wall_ns) noexcept {
  if (!dates.known()) return CertificateState::kUnknown;
  const std::int64_t now = seconds_of(wall_ns);
  if (now > dates.until_s) return CertificateState::kExpired;
  if (now < dates.from_s) return CertificateState::kNotYet;
  return dates.until_s - now < kSoon ? CertificateState::kExpiresSoon : CertificateState::kGood;
}

std::string words_of(const CertificateDates& dates, std::int64_t wall_ns) {
  switch (state_of(dates, wall_ns)) {
    case CertificateState::kUnknown:
    case CertificateState::kGood:
      break;
    case CertificateState::kExpiresSoon:
      return "expires on " + date_of(dates.until_s);
    case CertificateState::kExpired:
      return "has expired on " + date_of(dates.until_s);
    case CertificateState::kNotYet:
      return "is not valid before " + date_of(dates.from_s);
  }
  return "";
}

void CertificateReport::look(const CertificateDates& dates, std::int64_t wall_ns) noexcept {
  const CertificateState state = state_of(dates, wall_ns);
  if (state == state_ && dates == dates_) return;
  state_ = state;
  dates_ = dates;
  const std::int64_t now = seconds_of(wall_ns);
  switch (state) {
    case CertificateState::kUnknown:
      break;
    case CertificateState::kGood:
      log_.write(
          log_.line(LogLevel::kInfo, events_.good).add("days_left", (dates.until_s - now) / kDay));
      break;
    case CertificateState::kExpiresSoon:
      log_.write(log_.line(LogLevel::kWarning, events_.expires_soon)
                     .add("hours_left", (dates.until_s - now) / 3600));
      break;
    case CertificateState::kExpired:
      log_.write(log_.line(LogLevel::kError, events_.expired)
                     .add("hours_ago", (now - dates.until_s) / 3600));
      break;
    case CertificateState::kNotYet:
      log_.write(log_.line(LogLevel::kError, events_.not_yet)
                     .add("hours_left", (dates.from_s - now) / 3600));
      break;
  }
}

}  // namespace windhover
