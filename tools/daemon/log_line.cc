#include "windhover/tools/daemon/log_line.h"

#include <algorithm>
#include <cmath>

namespace windhover {
namespace {

constexpr std::string_view kTruncatedText = " truncated=true";
constexpr std::string_view kTruncatedJson = ",\"truncated\":true";
// Kept free for the mark of a line that was cut, and the quote that ends a string before it.
constexpr std::size_t kReserve = kTruncatedJson.size() + 1;

// Bytes of the UTF-8 character that `text` begins with (RFC 3629); 0: it begins with none.
std::size_t character_bytes(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool no_character = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return overlong || no_character ? 0 : size;
}

bool needs_quotes(std::string_view value) noexcept {
  return value.empty() || std::ranges::any_of(value, [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte <= ' ' || byte >= 0x7f || c == '"' || c == '=' || c == '\\';
         });
}

}  // namespace

const char* to_string(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
    case LogLevel::kOff:
      break;
  }
  return "off";
}

LogLine::LogLine(LogFormat format, LogLevel level, std::string_view event) noexcept
    : format_(format), level_(level) {
  if (format_ == LogFormat::kJson) put("\"event\":\"");
  put(event);
  if (format_ == LogFormat::kJson) put("\"");
}

// Puts all of the bytes, or none and returns false.
bool LogLine::put(std::string_view bytes) noexcept {
  if (size_ + bytes.size() > kCapacity - kReserve) return false;
  std::ranges::copy(bytes, bytes_.data() + size_);
  size_ += bytes.size();
  return true;
}

bool LogLine::begin_field(std::string_view key) noexcept {
  if (truncated_) return false;
  const std::size_t before = size_;
  const bool json = format_ == LogFormat::kJson;
  if (put(json ? ",\"" : " ") && put(key) && put(json ? "\":" : "=")) return true;
  size_ = before;
  say_truncated();
  return false;
}

void LogLine::add_bare(std::string_view key, std::string_view value) noexcept {
  const std::size_t before = size_;
  if (!begin_field(key)) return;
  if (put(value)) return;
  size_ = before;
  say_truncated();
}

LogLine& LogLine::add(std::string_view key, double value) noexcept {
  std::array<char, 32> digits;
  const auto written = fmt::format_to_n(digits.data(), digits.size(), "{:.6g}", value);
  add_bare(key, std::isfinite(value) ? std::string_view(digits.data(), written.size)
                                     : std::string_view("null"));
  return *this;
}

LogLine& LogLine::add(std::string_view key, std::string_view value) noexcept {
  const std::size_t before = size_;
  if (!begin_field(key)) return *this;
  if (format_ == LogFormat::kText && !needs_quotes(value) && put(value)) return *this;
  if (put("\"")) {
    put_quoted(value);
  } else {
    size_ = before;
    say_truncated();
  }
  return *this;
}

void LogLine::put_quoted(std::string_view value) noexcept {
  bool all = true;
  while (all && !value.empty()) {
    const std::size_t bytes = character_bytes(value);
    const char c = value.front();
    std::array<char, 8> escape;
    if (bytes == 0) {
      all = put("\xef\xbf\xbd");
    } else if (c == '"' || c == '\\') {
      all = put(std::string_view(c == '"' ? "\\\"" : "\\\\"));
    } else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      const auto written = fmt::format_to_n(escape.data(), escape.size(), "\\u{:04x}", c);
      all = put({escape.data(), written.size});
    } else {
      all = put(value.substr(0, bytes));
    }
    value.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  bytes_[size_++] = '"';  // within the reserve
  if (!all) say_truncated();
}

void LogLine::say_truncated() noexcept {
  truncated_ = true;
  const std::string_view words = format_ == LogFormat::kJson ? kTruncatedJson : kTruncatedText;
  std::ranges::copy(words, bytes_.data() + size_);
  size_ += words.size();
}

std::string_view stamp(LogFormat format, std::chrono::system_clock::time_point time,
                       std::string_view level, std::string_view line,
                       std::span<char, kStampedLine> out) noexcept {
  using namespace std::chrono;
  const auto micros = floor<microseconds>(time);
  const auto day = floor<days>(micros);
  const year_month_day date(day);
  const hh_mm_ss clock(micros - day);
  const bool json = format == LogFormat::kJson;
  // {} and not %F: locale and time zone may allocate.
  const auto end = fmt::format_to_n(
      out.data(), out.size(), "{}{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z{}{}{}{}{}\n",
      json ? "{\"ts\":\"" : "", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
      static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
      clock.seconds().count(), clock.subseconds().count(), json ? "\",\"level\":\"" : " ", level,
      json ? "\"," : " ", line, json ? "}" : "");
  return {out.data(), std::min(end.size, out.size())};
}

}  // namespace windhover
