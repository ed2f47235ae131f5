#include "windhover/tools/data/shown_text.h"

#include <fmt/format.h>

namespace windhover {

std::string shown_text(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, which terminals take for ESC and a character.
    if (c == 0xC2 && i + 1 < text.size() && (text[i + 1] & '\xE0') == '\x80') {
      c = static_cast<unsigned char>(text[++i]);
    } else if (c >= 0x20 && c != 0x7F) {
      shown += text[i];
      continue;
    }
    shown += c == '\n'   ? "\\n"
             : c == '\r' ? "\\r"
             : c == '\t' ? "\\t"
                         : fmt::format("\\x{:02x}", c);
  }
  return shown;
}

std::string listed_texts(std::span<const std::string> texts) {
  std::string list;
  for (const std::string& text : texts) {
    const bool plain = text.find_first_of(",\"") == std::string::npos;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", plain ? text : '"' + text + '"');
  }
  return list;
}

}  // namespace windhover
