// Engines that are restored with the keys of another.
#ifndef WINDHOVER_TESTS_RUNTIME_SAVED_KEYS_FIXTURE_H_
#define WINDHOVER_TESTS_RUNTIME_SAVED_KEYS_FIXTURE_H_

#include <string_view>

#include "windhover/tests/runtime/labels_fixture.h"

namespace windhover::test::saved_keys_test {

using labels_test::config_of;
using labels_test::Keyed;
using labels_test::kSecond;
using labels_test::Learned;
using labels_test::with_labels;

// The rounding error of a sum of 800 scores of about 1 is below 800 x 800 x 2^-53 = 7e-11.
inline constexpr double kOff = 1e-9;

inline EngineConfig saved_config_of(std::string_view model, std::uint32_t pending = 64) {
  EngineConfig config = with_labels(config_of(model), pending);
  config.score_predictions = true;
  config.checkpoints = true;
  return config;
}

// An engine in a later life, which begins long after the one that was saved.
struct Restored : Keyed {
  Restored(const EngineConfig& config, const Bytes& bytes) : Keyed(config) {
    clock.advance_ns(1'000 * kSecond);
    MemorySource source(bytes);
    const Result<bool> restored = engine->state().restore(source);
    EXPECT_TRUE(restored.ok()) << restored.error().sentence;
    if (config.labels.pending > 0) expect_counted();
  }
  void expect_counted() {
    using enum RuntimeCounter;
    EXPECT_EQ(count(kLabelsKept), engine->labels().pending() + count(kLabelsJoined) +
                                      count(kLabelsTimedOut) + count(kLabelsReplaced));
  }
};

}  // namespace windhover::test::saved_keys_test

#endif  // WINDHOVER_TESTS_RUNTIME_SAVED_KEYS_FIXTURE_H_
