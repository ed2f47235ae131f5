#include "windhover/tools/daemon/certificate_report.h"

#include <algorithm>
#include <limits>
#include <utility>

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

CertificateDates authorities_of(const TlsDates& dates) noexcept {
  return {dates.client_ca_begins_s, dates.client_ca.until_s};
}

bool one_is_not_valid_yet(const TlsDates& dates, std::int64_t wall_ns) noexcept {
  const std::int64_t now = seconds_of(wall_ns);
  return dates.client_ca.known() && dates.client_ca_begins_s <= now && now < dates.client_ca.from_s;
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

std::vector<std::string> words_of_authorities(const TlsDates& dates, std::int64_t wall_ns) {
  std::vector<std::string> all;
  if (std::string words = words_of(authorities_of(dates), wall_ns); !words.empty()) {
    all.push_back(std::move(words));
  }
  if (one_is_not_valid_yet(dates, wall_ns)) {
    all.push_back("is not valid before " + date_of(dates.client_ca.from_s));
  }
  return all;
}

void CertificateReport::look_at_authorities(const TlsDates& dates, std::int64_t wall_ns) noexcept {
  look(authorities_of(dates), wall_ns);
  const std::int64_t later_s = one_is_not_valid_yet(dates, wall_ns) ? dates.client_ca.from_s : 0;
  if (later_s == later_s_) return;
  later_s_ = later_s;
  if (later_s == 0) return;
  log_.write(log_.line(LogLevel::kWarning, events_.not_yet)
                 .add("hours_left", (later_s - seconds_of(wall_ns)) / 3600));
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
