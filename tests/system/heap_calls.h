// Whether a daemon that has stopped made heap calls, where the build counts them.
#ifndef WINDHOVER_TESTS_SYSTEM_HEAP_CALLS_H_
#define WINDHOVER_TESTS_SYSTEM_HEAP_CALLS_H_

#include <gtest/gtest.h>

#include "windhover/tools/daemon/child_daemon.h"

namespace windhover::testing {

// Expects no heap call since ready. Under sanitizers nobody counts, and it has to say so.
inline void expect_no_heap_call(const ChildDaemon::Stopped& stopped) {
#ifdef WINDHOVER_SANITIZED
  EXPECT_FALSE(stopped.heap_calls.has_value());
#else
  ASSERT_TRUE(stopped.heap_calls.has_value());
  EXPECT_EQ(*stopped.heap_calls, 0U);
#endif
}

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_SYSTEM_HEAP_CALLS_H_
