// Numbers, times and ids as the commands about data folders print them.
#ifndef WINDHOVER_TOOLS_KEPT_KEPT_TEXT_H_
#define WINDHOVER_TOOLS_KEPT_KEPT_TEXT_H_

#include <cstdint>
#include <string>

namespace windhover {

// "1,234,567".
std::string grouped(std::uint64_t number);
// Nanoseconds since 1970, in UTC: "2026-11-24 21:03:12".
std::string time_text(std::int64_t ns);
// An id or a fingerprint in sixteen hexadecimal digits; JSON's numbers would round it.
std::string id_text(std::uint64_t id);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_KEPT_KEPT_TEXT_H_
