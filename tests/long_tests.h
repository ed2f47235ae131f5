// Heavier statistics and soaks run only when asked for: `tools/test --long`.
#ifndef WINDHOVER_TESTS_LONG_TESTS_H_
#define WINDHOVER_TESTS_LONG_TESTS_H_

#include <gtest/gtest.h>

#include <cstdlib>

#define WINDHOVER_SKIP_UNLESS_LONG()                                                          \
  if (const char* asked = std::getenv("WINDHOVER_LONG"); asked == nullptr || *asked != '1') { \
    GTEST_SKIP() << "a long test: tools/test --long, or WINDHOVER_LONG=1, runs it";           \
  }                                                                                           \
  static_assert(true)

#endif  // WINDHOVER_TESTS_LONG_TESTS_H_
