#include "windhover/tools/kept/kept_text.h"

#include <fmt/format.h>
#include <time.h>

namespace windhover {

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string time_text(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const time_t seconds = (ns - (ns % kSecond + kSecond) % kSecond) / kSecond;
  tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return "unknown";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string id_text(std::uint64_t id) { return fmt::format("{:016x}", id); }

}  // namespace windhover
