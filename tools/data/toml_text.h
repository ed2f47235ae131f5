#ifndef WINDHOVER_TOOLS_DATA_TOML_TEXT_H_
#define WINDHOVER_TOOLS_DATA_TOML_TEXT_H_

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace windhover {

// `text` as a TOML basic string, in JSON's notation, which TOML reads but for a raw U+007F. Bytes
// that are not UTF-8 are replaced.
inline std::string toml_text(std::string_view text) {
  std::string json =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (auto at = json.find('\x7f'); at != std::string::npos; at = json.find('\x7f', at)) {
    json.replace(at, 1, "\\u007f");
  }
  return json;
}

// The shortest form that reads back as the same number, and as a float.
inline std::string toml_number(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_TOML_TEXT_H_
