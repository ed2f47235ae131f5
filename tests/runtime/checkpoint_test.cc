// What is saved is restored.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "windhover/platform/cpu.h"
#include "windhover/tests/runtime/checkpoint_fixture.h"

namespace windhover::test::checkpoint_test {
namespace {

TEST(Checkpoint, SavedBytesAreTheSameBytesAgain) {
  Lived lived(saved_config());
  const SavedState before = save(*lived.engine);
  const Bytes bytes = bytes_of(*lived.engine);
  EXPECT_EQ(difference(save(*lived.engine), before), "") << "saving changed it";
  EXPECT_EQ(bytes_of(*lived.engine), bytes);
  Lived other(saved_config(), 77, 9);
  ASSERT_EQ(restore_error(*other.engine, bytes).status, Status::kOk);
  EXPECT_EQ(difference(save(*other.engine), before), "");
  EXPECT_EQ(bytes_of(*other.engine), bytes);
}

TEST(Checkpoint, TheSourceIsReadToTheEndMarkAndNoFurther) {
  Lived lived(saved_config());
  Bytes bytes = bytes_of(*lived.engine);
  bytes.resize(bytes.size() + 100, std::byte{0xff});
  MemorySource source(bytes);
  EXPECT_TRUE(lived.engine->state().restore(source).ok());
  EXPECT_EQ(source.left(), 100u);
}

// A window that wraps around, with rows that the learner has not taken in, dense and sparse, in
// more sections than one.
TEST(Checkpoint, RowsFillAsManySectionsAsTheyNeed) {
  for (const std::uint32_t max_nonzeros : {0U, 30U}) {
    EngineConfig config = saved_config(30, 700);
    config.model.max_nonzeros = max_nonzeros;
    ManualClock clock(5);
    TestEngine engine(config, &clock);
    const Data data = linear_data(1200, 30, 1.0, 8);
    std::vector<std::uint32_t> indices(30), ends(1);
    const auto observe = [&](Index i) {
      ObservationBatch batch = TestEngine::batch(data, i, 1);
      for (std::uint32_t j = 0; j < 30; ++j) indices[j] = j;
      ends[0] = static_cast<std::uint32_t>(i % 31);
      if (max_nonzeros > 0) {
        batch.feature_values = ends[0];
        batch.indices = reinterpret_cast<const std::byte*>(indices.data());
        batch.row_ends = reinterpret_cast<const std::byte*>(ends.data());
      }
      ASSERT_EQ(engine->observe(batch, {}).accepted, 1u);
    };
    for (Index i = 0; i < 1000; ++i) {
      observe(i);
      if (i % 20 == 0) engine->poll(4);
    }
    engine->poll(30);
    for (Index i = 1000; i < 1200; ++i) observe(i);
    const Bytes bytes = bytes_of(*engine);
    OpenCheckpoint open(bytes);
    std::size_t sections = 0;
    for (const auto& section : open.sections) sections += section.header.is(checkpoint::kRows);
    EXPECT_GT(sections, 2u);
    EXPECT_EQ(open.header.head, 1200u);
    EXPECT_EQ(open.header.lease, 1000u);
    EXPECT_EQ(open.header.first, 300u);
    TestEngine other(config, &clock, 0xA5);
    ASSERT_EQ(restore_error(*other, bytes).status, Status::kOk);
    EXPECT_EQ(other->head(), 1200u);
    EXPECT_EQ(difference(save(*other), save(*engine)), "") << max_nonzeros;
    engine->poll(200);
    other->poll(200);
    EXPECT_EQ(difference(save(*other), save(*engine)), "") << max_nonzeros;
  }
}

// What may be another one: it changes no number of the state.
TEST(Checkpoint, GoesIntoAnEngineOfOtherSlackReadersFollowersAndThreads) {
  EngineConfig config = saved_config(3, 100);
  config.sampler.chains = 2;
  Lived lived(config);
  EngineConfig other = config;
  other.window_slack = 2 * (other.max_frame_rows = 300);
  other.max_readers = 3;
  other.max_query_rows = 7;
  other.max_followers = 2;
  other.learner_threads = 2;
  TestEngine engine(other);
  const RowFollower follower = engine->follower().value();
  ASSERT_EQ(restore_error(*engine, bytes_of(*lived.engine)).status, Status::kOk);
  EXPECT_EQ(engine->head(), lived.engine->head());
  EXPECT_EQ(follower.kept_from(), lived.engine->head() - 100);
  EXPECT_EQ(engine.parameters()[0].mean, lived.engine.parameters()[0].mean);
}

TEST(Checkpoint, TooSmallASlackForTheRowsThatWaitedIsNamed) {
  Lived lived(saved_config());
  const Data data = linear_data(900, 2, 1.0, 1);
  lived.engine.feed(data, 0, 900);
  EngineConfig small = saved_config();
  small.max_frame_rows = 64;
  small.window_slack = 899;
  TestEngine engine(small);
  const Error error = restore_error(*engine, bytes_of(*lived.engine));
  EXPECT_EQ(error.status, Status::kInvalidConfig);
  EXPECT_NE(std::string(error.sentence).find("window_slack"), std::string::npos);
  EXPECT_EQ(error.number, 900);
  small.window_slack = 900;
  EXPECT_EQ(restore_error(*TestEngine(small), bytes_of(*lived.engine)).status, Status::kOk);
}

TEST(Checkpoint, WithoutTheOptionNothingIsSavedOrRestored) {
  EngineConfig config = saved_config();
  Lived lived(config);
  const Bytes bytes = bytes_of(*lived.engine);
  config.checkpoints = false;
  TestEngine engine(config);
  MemorySink sink;
  EXPECT_EQ(engine->state().save(sink), Status::kUnsupported);
  EXPECT_EQ(engine->state().request_capture(), Status::kUnsupported);
  EXPECT_EQ(engine->state().save_captured(sink, 0), Status::kUnsupported);
  EXPECT_FALSE(engine->state().captured());
  engine->state().release_capture();
  EXPECT_TRUE(sink.bytes.empty());
  EXPECT_EQ(restore_error(*engine, bytes).status, Status::kUnsupported);
}

TEST(Checkpoint, ASinkThatFailsIsReportedAndTheEngineGoesOn) {
  Lived lived(saved_config());
  const SavedState before = save(*lived.engine);
  MemorySink whole;
  ASSERT_EQ(lived.engine->state().save(whole), Status::kOk);
  for (std::size_t call = 0; call < whole.calls(); ++call) {
    MemorySink sink(call);
    ASSERT_EQ(lived.engine->state().save(sink), Status::kIoError) << call;
    ASSERT_EQ(sink.calls(), call + 1) << "nothing is written after a failure";
  }
  EXPECT_EQ(difference(save(*lived.engine), before), "");
  EXPECT_EQ(bytes_of(*lived.engine), whole.bytes);
}

TEST(Checkpoint, ReadersHandedOutOutliveARefusalAndARestore) {
  Lived lived(saved_config());
  const double mean = lived.engine.parameters()[0].mean;
  const Bytes bytes = bytes_of(*lived.engine);
  EXPECT_EQ(restore_error(*lived.engine, {}).status, Status::kClosed);
  EXPECT_EQ(lived.engine.provenance().n_seen, 0u);
  EXPECT_EQ(lived.engine->reader().status(), Status::kUnavailable) << "it is still handed out";
  ASSERT_EQ(restore_error(*lived.engine, bytes).status, Status::kOk);
  EXPECT_EQ(lived.engine.parameters()[0].mean, mean);
}

TEST(Checkpoint, WatchersHandedOutOutliveARefusal) {
  EngineConfig config = saved_config();
  config.max_watchers = 1;
  Lived lived(config);
  ASSERT_TRUE(lived.engine->reader().ok());
  ASSERT_TRUE(lived.engine->watcher().ok());
  EXPECT_EQ(restore_error(*lived.engine, {}).status, Status::kClosed);
  EXPECT_EQ(lived.engine->watcher().status(), Status::kUnavailable) << "nobody shares its place";
}

// Numbers do not depend on the instruction set that computed them.
TEST(Checkpoint, SavedWithOneInstructionSetIsRestoredWithAnother) {
  const InstructionSet best = instruction_set();
  EngineConfig config = saved_config(20, 300);
  config.model.name = "logistic";
  config.model.noise_variance = 0;
  const Data data = logistic_data(900, 20, 0.1, 4);
  for (const auto& [from, to] :
       {std::pair{InstructionSet::kBaseline, best}, std::pair{best, InstructionSet::kBaseline}}) {
    limit_instruction_set(from);
    TestEngine one(config);
    one.feed(data, 0, 600);
    one.poll_until_idle();
    const std::vector<ParameterSummary> saved = one.parameters();
    const Bytes bytes = bytes_of(*one);
    limit_instruction_set(to);
    TestEngine other(config);
    ASSERT_EQ(restore_error(*other, bytes).status, Status::kOk);
    const std::vector<ParameterSummary> restored = other.parameters();
    for (std::size_t j = 0; j < saved.size(); ++j) {
      EXPECT_EQ(saved[j].mean, restored[j].mean);
      EXPECT_EQ(saved[j].sd, restored[j].sd);
    }
    EXPECT_EQ(one.draws(), other.draws());
    // It goes on to the same posterior, whatever rounding does to its chains.
    for (TestEngine* engine : {&one, &other}) {
      engine->feed(data, 600, 900);
      engine->poll_until_idle();
    }
    const Gaussian there = one.summary();
    const Gaussian here = other.summary();
    for (Index j = 0; j < there.mean.size(); ++j) {
      EXPECT_NEAR(there.mean[j], here.mean[j], 0.02 * std::sqrt(there.covariance(j, j)));
    }
  }
  limit_instruction_set(best);
}

}  // namespace
}  // namespace windhover::test::checkpoint_test
