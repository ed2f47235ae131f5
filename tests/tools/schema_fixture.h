// What the tests of schemas share: their texts, with something in place of something else.
#ifndef WINDHOVER_TESTS_TOOLS_SCHEMA_FIXTURE_H_
#define WINDHOVER_TESTS_TOOLS_SCHEMA_FIXTURE_H_

#include <string>

#include "windhover/tools/data/schema.h"

namespace windhover {

inline Schema parsed(std::string text) { return Schema::from_text(text, "flights.toml"); }

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace windhover

#endif  // WINDHOVER_TESTS_TOOLS_SCHEMA_FIXTURE_H_
