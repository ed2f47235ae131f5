// Files that are written, inspected and reported on in one line.
#ifndef WINDHOVER_TESTS_TOOLS_INSPECT_FIXTURE_H_
#define WINDHOVER_TESTS_TOOLS_INSPECT_FIXTURE_H_

#include <stdexcept>
#include <string>
#include <vector>

#include "windhover/tests/tools/support.h"
#include "windhover/tools/data/inspect.h"

namespace windhover::inspect_fixture {

using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

inline Inspection inspected(const std::string& name, const std::string& content,
                            InspectOptions options = {.target = "y"}) {
  return inspect(file_with(name, content), options);
}

inline std::string refused(const std::string& content, InspectOptions options = {.target = "y"}) {
  return refusal_of([&] { (void)inspected("refused.csv", content, options); });
}

inline const ColumnReport& column(const Inspection& inspection, const std::string& name) {
  for (const ColumnReport& c : inspection.columns) {
    if (c.name == name) return c;
  }
  throw std::runtime_error("no report of " + name);
}

}  // namespace windhover::inspect_fixture

#endif  // WINDHOVER_TESTS_TOOLS_INSPECT_FIXTURE_H_
