// A checkpoint of row blocks in the middle of a stream.
#ifndef WINDHOVER_TESTS_RUNTIME_ROW_BLOCK_CHECKPOINT_H_
#define WINDHOVER_TESTS_RUNTIME_ROW_BLOCK_CHECKPOINT_H_

#include <gtest/gtest.h>

#include "windhover/tests/runtime/memory_stream.h"
#include "windhover/tests/runtime/row_block_fixture.h"
#include "windhover/tests/runtime/saved_state.h"

namespace windhover::test::row_block_test {

// Saved after `first` rows, while chains still move, and restored into another engine: with the
// rows that follow both come to the same draws and state, bit for bit.
inline void expect_checkpoint_goes_on(const EngineConfig& config, const SparseRows& data,
                                      std::size_t first) {
  ManualClock clock(1'000'000);
  TestEngine engine(config, &clock);
  feed(engine, data, 0, first);
  while (engine->learner().head() < first) engine->poll(1);
  MemorySink sink;
  ASSERT_EQ(engine->state().save(sink), Status::kOk);
  TestEngine again(config, &clock, 0xA5);
  MemorySource source(sink.bytes);
  ASSERT_TRUE(again->state().restore(source).ok());
  for (TestEngine* each : {&engine, &again}) {
    feed(*each, data, first, data.rows());
    each->poll_until_idle();
  }
  EXPECT_EQ(engine.draws(), again.draws());
  EXPECT_EQ(difference(save(*engine), save(*again)), "");
}

}  // namespace windhover::test::row_block_test

#endif  // WINDHOVER_TESTS_RUNTIME_ROW_BLOCK_CHECKPOINT_H_
