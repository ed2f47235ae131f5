// One line of the daemon's log: an event and its fields, as text or as JSON, without the heap.
//
//   LogLine line(LogFormat::kText, LogLevel::kInfo, "status_changed");
//   line.add("model", "default").add("rows", 1234);  // status_changed model=default rows=1234
//
// stamp() puts time and level before it when it is written.
#ifndef WINDHOVER_TOOLS_DAEMON_LOG_LINE_H_
#define WINDHOVER_TOOLS_DAEMON_LOG_LINE_H_

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace windhover {

enum class LogFormat : std::uint8_t { kText, kJson };
enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError, kOff };
const char* to_string(LogLevel level) noexcept;

// Names of events and keys consist of letters and underscores. Values may be anything: bytes that
// are not UTF-8 become U+FFFD, and in text a value with blanks, quotes, control characters or
// non-ASCII is quoted like a JSON string. A text that does not fit is cut, a number that does not
// fit is left out, and the line ends with truncated=true.
class LogLine {
 public:
  // What an entry of the log's queue holds without a heap call.
  static constexpr std::size_t kCapacity = 250;

  LogLine(LogFormat format, LogLevel level, std::string_view event) noexcept;

  LogLine& add(std::string_view key, std::string_view value) noexcept;
  LogLine& add(std::string_view key, double value) noexcept;  // not finite: null
  LogLine& add(std::string_view key, std::integral auto value) noexcept {
    std::array<char, 24> digits;
    const auto written = fmt::format_to_n(digits.data(), digits.size(), "{}", value);
    add_bare(key, {digits.data(), written.size});
    return *this;
  }

  LogLevel level() const noexcept { return level_; }
  // Valid as long as this object.
  std::string_view view() const noexcept { return {bytes_.data(), size_}; }

 private:
  bool put(std::string_view bytes) noexcept;
  bool begin_field(std::string_view key) noexcept;
  void add_bare(std::string_view key, std::string_view value) noexcept;
  void put_quoted(std::string_view value) noexcept;
  void say_truncated() noexcept;

  LogFormat format_;
  LogLevel level_;
  bool truncated_ = false;
  std::size_t size_ = 0;
  std::array<char, kCapacity> bytes_;
};

// Writes a whole line with its line feed into `out` and returns it:
//   2026-01-02T03:04:05.678901Z info status_changed model=default
//   {"ts":"2026-01-02T03:04:05.678901Z","level":"info","event":"status_changed","model":"default"}
inline constexpr std::size_t kStampedLine = LogLine::kCapacity + 80;
std::string_view stamp(LogFormat format, std::chrono::system_clock::time_point time,
                       std::string_view level, std::string_view line,
                       std::span<char, kStampedLine> out) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_LOG_LINE_H_
