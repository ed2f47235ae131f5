// What the tests of late labels over the wire share.
#ifndef WINDHOVER_TESTS_IO_LABELS_FIXTURE_H_
#define WINDHOVER_TESTS_IO_LABELS_FIXTURE_H_

#include <cstdint>

#include "windhover/tests/io/conversation_fixture.h"

namespace windhover::testing::labels_test {

inline EngineConfig with_labels(EngineConfig config = small_engine(), std::uint32_t pending = 64) {
  config.labels.pending = pending;
  config.labels.timeout_seconds = 60;
  return config;
}

}  // namespace windhover::testing::labels_test

#endif  // WINDHOVER_TESTS_IO_LABELS_FIXTURE_H_
