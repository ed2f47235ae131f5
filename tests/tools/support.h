// What the tests of the tools share.
#ifndef WINDHOVER_TESTS_TOOLS_SUPPORT_H_
#define WINDHOVER_TESTS_TOOLS_SUPPORT_H_

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

#include "windhover/tests/temporary_folder.h"
#include "windhover/tools/error.h"

namespace windhover {

// A path of this process alone: tests run side by side.
inline std::string path_of(const std::string& name) { return testing::temporary_path(name); }

// Writes a file of the test and gives its path.
inline std::string file_with(const std::string& name, std::string_view content) {
  std::ofstream(path_of(name), std::ios::binary) << content;
  return path_of(name);
}

// The sentence with which `action` refuses.
inline std::string refusal_of(const auto& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing was refused";
}

inline ::testing::AssertionResult says(const std::string& text, std::string_view part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << '"' << text << "\" does not say \"" << part << '"';
}

}  // namespace windhover

#endif  // WINDHOVER_TESTS_TOOLS_SUPPORT_H_
