#include "windhover/io/http/http_types.h"

#include <algorithm>

namespace windhover {

std::string_view query_value(std::string_view query, std::string_view name) noexcept {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    if (pair.starts_with(name) && pair.size() > name.size() && pair[name.size()] == '=') {
      return pair.substr(name.size() + 1);
    }
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
  }
  return {};
}

std::string json_string(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    if (c == '\n' || c == '\r' || c == '\t') {
      json += ' ';
    } else {
      json += c >= ' ' && c <= '~' ? c : '?';
    }
  }
  return json + '"';
}

HttpAnswer http_error(unsigned status, std::string_view sentence, std::string_view field) {
  return {.status = status,
          .body = "{\"error\":" + json_string(sentence) +
                  (field.empty() ? "" : ",\"field\":" + json_string(field)) + "}\n",
          .content_type = "application/json",
          .allow = {}};
}

}  // namespace windhover
