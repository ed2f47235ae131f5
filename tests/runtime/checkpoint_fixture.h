// Engines that are saved, and engines that refuse.
#ifndef WINDHOVER_TESTS_RUNTIME_CHECKPOINT_FIXTURE_H_
#define WINDHOVER_TESTS_RUNTIME_CHECKPOINT_FIXTURE_H_

#include <string>

#include "windhover/tests/runtime/engine_fixture.h"
#include "windhover/tests/runtime/memory_stream.h"
#include "windhover/tests/runtime/saved_state.h"

namespace windhover::test {

inline EngineConfig saved_config(std::uint32_t features = 2, std::uint64_t window = 40) {
  EngineConfig config = small_config("linear", features, window);
  config.sampler.chains = 1;
  config.sampler.minibatch_size = 8;
  config.retained_draws = 2;
  config.max_readers = 1;
  config.checkpoints = true;
  return config;
}

// An engine at work; its clock stands still, so that ages do.
struct Lived {
  explicit Lived(const EngineConfig& config, Index rows = 150, std::uint64_t seed = 3)
      : clock(1'000'000), engine(config, &clock) {
    const Data data = linear_data(rows, config.model.features, 1.0, seed);
    for (Index i = 0; i < rows; ++i) {
      engine.feed(data, i, i + 1);
      clock.advance_ns(300'000);
      engine->poll(4);
    }
  }
  ManualClock clock;
  TestEngine engine;
};

// Whether an engine that refused is as one that was just created.
class Refusal {
 public:
  explicit Refusal(const EngineConfig& config)
      : clock_(0), fresh_(config, &clock_), engine_(config, &clock_), new_(save(*fresh_)) {}

  Error refuse(std::span<const std::byte> bytes, Status at_end = Status::kClosed) {
    MemorySource source(bytes, at_end);
    const Result<bool> restored = engine_->state().restore(source);
    EXPECT_FALSE(restored.ok());
    return restored.error();
  }
  std::string trace() {
    const std::string different = difference(save(*engine_), new_);
    if (different.empty() && engine_->head() == 0) return "";
    return "after the refusal " + different;
  }
  TestEngine& engine() { return engine_; }

 private:
  ManualClock clock_;
  TestEngine fresh_;
  TestEngine engine_;
  SavedState new_;
};

// An engine saved after so many rows, and one restored from it, come to the same with the others;
// the checkpoint.
inline Bytes expect_goes_on_alike(const EngineConfig& config, const Data& data, Index saved_at) {
  ManualClock clock(1'000'000);
  TestEngine engine(config, &clock);
  engine.feed(data, 0, saved_at);
  engine.poll_until_idle();
  MemorySink sink;
  EXPECT_EQ(engine->state().save(sink), Status::kOk);
  TestEngine again(config, &clock, 0xA5);
  MemorySource source(sink.bytes);
  EXPECT_TRUE(again->state().restore(source).ok());
  for (TestEngine* one : {&engine, &again}) {
    one->feed(data, saved_at, data.rows());
    one->poll_until_idle();
  }
  EXPECT_EQ(difference(save(*engine), save(*again)), "");
  return sink.bytes;
}

inline EngineConfig captured_config(std::uint64_t window = 200) {
  EngineConfig config = small_config("linear", 4, window);
  config.sampler.chains = 2;
  config.retained_draws = 4;
  config.checkpoints = true;
  return config;
}

inline Bytes saved_capture(Engine& engine, std::uint64_t head) {
  MemorySink sink;
  EXPECT_EQ(engine.state().save_captured(sink, head), Status::kOk);
  return sink.bytes;
}

}  // namespace windhover::test

#endif  // WINDHOVER_TESTS_RUNTIME_CHECKPOINT_FIXTURE_H_
