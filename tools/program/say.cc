#include "windhover/tools/program/say.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "windhover/tools/data/shown_text.h"

namespace windhover {

void say(std::string_view kind, std::string_view text) {
  std::string lines;
  for (;;) {
    const std::size_t end = text.find('\n');
    lines += shown_text(text.substr(0, end)) + "\n";
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  fmt::print(stderr, "{}: {}", kind, lines);
}

}  // namespace windhover
