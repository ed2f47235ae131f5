// What is saved is restored, and what is anything else is refused and leaves no trace.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "windhover/platform/cpu.h"
#include "windhover/runtime/checkpoint/config_fields.h"
#include "windhover/runtime/checkpoint/stream.h"
#include "windhover/tests/runtime/engine_fixture.h"
#include "windhover/tests/runtime/memory_stream.h"
#include "windhover/tests/runtime/saved_state.h"

namespace windhover::test::checkpoint_test {
namespace {

EngineConfig saved_config(std::uint32_t features = 2, std::uint64_t window = 40) {
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
  EXPECT_TRUE(lived.engine->restore(source).ok());
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

// Whether an engine that refused is as one that was just created.
class Refusal {
 public:
  explicit Refusal(const EngineConfig& config)
      : clock_(0), fresh_(config, &clock_), engine_(config, &clock_), new_(save(*fresh_)) {}

  Error refuse(std::span<const std::byte> bytes, Status at_end = Status::kClosed) {
    MemorySource source(bytes, at_end);
    const Result<bool> restored = engine_->restore(source);
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

TEST(CheckpointDamage, EveryFlippedBitIsFound) {
  const EngineConfig config = saved_config();
  Lived lived(config);
  Bytes bytes = bytes_of(*lived.engine);
  Refusal refusal(config);
  const std::string names[] = {"'rows'", "'learner'", "'snapshot'", "'counters'", "'end'"};
  std::size_t seen[5] = {};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::byte flip{static_cast<unsigned char>(1U << i % 8)};
    bytes[i] ^= flip;
    const Error error = refusal.refuse(bytes);
    bytes[i] ^= flip;
    ASSERT_TRUE(error.status == Status::kMalformed || error.status == Status::kClosed)
        << i << ": " << error.sentence;
    if (i % 61 == 0 || i < 200) {
      ASSERT_EQ(refusal.trace(), "") << i;
    }
    for (std::size_t k = 0; k < 5; ++k) {
      seen[k] += std::string(error.sentence).find(names[k]) != std::string::npos;
    }
  }
  for (std::size_t k = 0; k < 5; ++k) EXPECT_GT(seen[k], 25u) << names[k];
  ASSERT_EQ(refusal.trace(), "");
  EXPECT_EQ(restore_error(*refusal.engine(), bytes).status, Status::kOk) << "and it still can";
  EXPECT_EQ(difference(save(*refusal.engine()), save(*lived.engine)), "");
}

TEST(CheckpointDamage, EveryPrefixIsFound) {
  const EngineConfig config = saved_config();
  Lived lived(config);
  const Bytes bytes = bytes_of(*lived.engine);
  Refusal refusal(config);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Error error = refusal.refuse(std::span(bytes).first(size));
    ASSERT_EQ(error.status, Status::kClosed) << size;
    ASSERT_NE(std::string(error.sentence).find("ends too early"), std::string::npos);
    if (size % 97 == 0) {
      ASSERT_EQ(refusal.trace(), "") << size;
    }
  }
  const Error error = refusal.refuse(std::span(bytes).first(5000), Status::kIoError);
  EXPECT_EQ(error.status, Status::kIoError);
  EXPECT_EQ(refusal.trace(), "");
}

TEST(CheckpointDamage, SectionsMovedLeftOutDoubledOrOfAnotherCheckpointAreFound) {
  const EngineConfig config = saved_config();
  Lived lived(config), other(config, 120, 5);
  const Bytes bytes = bytes_of(*lived.engine);
  Refusal refusal(config);
  const OpenCheckpoint open(bytes);
  // Bytes of each section, with its checksum.
  std::vector<std::span<const std::byte>> pieces;
  std::size_t at = sizeof(checkpoint::Header);
  for (const auto& section : open.sections) {
    const std::size_t size = sizeof(section.header) + section.payload.size() + 8;
    pieces.push_back(std::span(bytes).subspan(at, size));
    at += size;
  }
  const auto joined = [&](const std::function<void(std::vector<std::span<const std::byte>>&)>& f) {
    auto changed = pieces;
    f(changed);
    Bytes out(bytes.begin(), bytes.begin() + sizeof(checkpoint::Header));
    for (const auto& piece : changed) out.insert(out.end(), piece.begin(), piece.end());
    return out;
  };
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
    refusal.refuse(joined([&](auto& p) { std::swap(p[i], p[i + 1]); }));
    refusal.refuse(joined([&](auto& p) { p.erase(p.begin() + static_cast<std::ptrdiff_t>(i)); }));
    refusal.refuse(
        joined([&](auto& p) { p.insert(p.begin() + static_cast<std::ptrdiff_t>(i), p[i]); }));
    ASSERT_EQ(refusal.trace(), "") << i;
  }
  Bytes mixed = bytes_of(*other.engine);
  std::copy_n(bytes.begin(), sizeof(checkpoint::Header), mixed.begin());
  refusal.refuse(mixed);
  EXPECT_EQ(refusal.trace(), "");
}

// With checksums that fit: what no damage makes, and another version may.
TEST(CheckpointDamage, WhatIsSignedAndDoesNotFitIsRefused) {
  const EngineConfig config = saved_config();
  Lived lived(config);
  const Bytes bytes = bytes_of(*lived.engine);
  Refusal refusal(config);
  const auto refuse = [&](const std::function<void(OpenCheckpoint&)>& change) {
    OpenCheckpoint open(bytes);
    change(open);
    const Error error = refusal.refuse(open.signed_anew());
    EXPECT_EQ(refusal.trace(), "") << error.sentence;
    return error;
  };
  ASSERT_EQ(OpenCheckpoint(bytes).signed_anew(), bytes);
  EXPECT_EQ(refuse([](auto& o) { o.header.version = 2; }).status, Status::kUnsupported);
  EXPECT_EQ(refuse([](auto& o) { o.header.magic[3] = 'x'; }).status, Status::kMalformed);
  EXPECT_EQ(refuse([](auto& o) { ++o.header.fingerprint; }).status, Status::kInvalidConfig);
  EXPECT_EQ(refuse([](auto& o) { ++o.header.first; }).status, Status::kMalformed);
  EXPECT_EQ(refuse([](auto& o) { --o.header.head; }).status, Status::kMalformed);
  EXPECT_EQ(refuse([](auto& o) { o.header.head += 1; }).status, Status::kMalformed);
  EXPECT_EQ(refuse([](auto& o) { o.header.lease = o.header.head + 1; }).status, Status::kMalformed);
  const Error lease = refuse([](auto& o) {
    --o.header.lease;
    --o.header.first;
    std::uint64_t rows[2];
    Bytes& payload = o.named("rows").payload;
    std::memcpy(rows, payload.data(), sizeof(rows));
    rows[0] -= 1;
    rows[1] += 1;
    std::memcpy(payload.data(), rows, sizeof(rows));
    payload.insert(payload.begin() + 16, 24, std::byte{0});
  });
  EXPECT_NE(std::string(lease.sentence).find("'learner'"), std::string::npos);
  EXPECT_EQ(refuse([](auto& o) { o.header.head = ~std::uint64_t{0}; }).status,
            Status::kInvalidConfig);
  const Error version = refuse([](auto& o) { o.named("window sums").header.version = 7; });
  EXPECT_EQ(version.status, Status::kUnsupported);
  EXPECT_NE(std::string(version.sentence).find("'window sums'"), std::string::npos);
  // Every section one number longer or shorter, left out, and another one in its place.
  const std::size_t sections = OpenCheckpoint(bytes).sections.size();
  ASSERT_GT(sections, 20u);
  for (std::size_t i = 0; i < sections; ++i) {
    refuse([i](auto& o) { o.sections[i].payload.resize(o.sections[i].payload.size() + 8); });
    refuse([i](auto& o) {
      if (o.sections[i].payload.size() < 8) return void(o.sections.clear());
      o.sections[i].payload.resize(o.sections[i].payload.size() - 8);
    });
    refuse([i](auto& o) { o.sections.erase(o.sections.begin() + static_cast<std::ptrdiff_t>(i)); });
    refuse([i](auto& o) { o.sections[i].header.name[0] = 'X'; });
  }
  // Rows that are not where they are said to be, or are none.
  const auto rows = [&](std::size_t at, std::uint64_t value) {
    return refuse([=](auto& o) { std::memcpy(&o.named("rows").payload[at], &value, 8); });
  };
  EXPECT_EQ(rows(0, 0).status, Status::kMalformed);
  EXPECT_EQ(rows(8, 41).status, Status::kMalformed);
  EXPECT_EQ(rows(8, ~std::uint64_t{0} / 2).status, Status::kMalformed);
}

// A count that is too large is not followed past the section that holds it, nor out of the block.
TEST(CheckpointDamage, NumbersAreTakenFromTheirSectionAndPutIntoTheBlockAlone) {
  std::vector<std::uint64_t> memory(64, 5);
  const auto block = std::as_bytes(std::span(memory).subspan(16, 32));
  const auto sections = [&](std::size_t numbers) {
    checkpoint::SectionHeader header("some");
    header.length = 8 * numbers;
    Bytes bytes(sizeof(header) + header.length, std::byte{1});
    std::memcpy(bytes.data(), &header, sizeof(header));
    return bytes;
  };
  const auto restored = [&](std::size_t held, std::size_t first, std::size_t count) {
    std::ranges::fill(memory, 5u);
    const Bytes bytes = sections(held);
    checkpoint::StateRestorer restorer(bytes, block);
    restorer.section("some", 1);
    restorer.visit(std::span(memory).subspan(first, count));
    return restorer.misfit() == nullptr;
  };
  EXPECT_TRUE(restored(32, 16, 32));
  EXPECT_EQ(memory[15], 5u);
  EXPECT_EQ(memory[16], 0x0101010101010101u);
  EXPECT_EQ(memory[48], 5u);
  EXPECT_FALSE(restored(33, 16, 32)) << "a number is left";
  EXPECT_FALSE(restored(31, 16, 32)) << "a number is missing";
  EXPECT_EQ(memory[16], 0u) << "none of them is put";
  EXPECT_FALSE(restored(33, 16, 33));
  EXPECT_FALSE(restored(33, 15, 33));
  EXPECT_EQ(std::ranges::count(memory, 5u), 64) << "nothing is written outside, nor before it";
  std::uint64_t one = 5;
  const Bytes bytes = sections(1);
  checkpoint::StateRestorer restorer(bytes, block);
  restorer.section("some", 1);
  restorer.value(one);
  EXPECT_EQ(one, 0x0101010101010101u);
  restorer.value(one);
  EXPECT_EQ(one, 0u);
  EXPECT_STREQ(restorer.misfit(), "some");
}

TEST(CheckpointConfiguration, EveryFieldThatDiffersIsNamed) {
  const EngineConfig base = [] {
    EngineConfig c = saved_config(3, 60);
    c.model.learn_prior_precision = true;
    return c;
  }();
  Lived lived(base);
  const Bytes bytes = bytes_of(*lived.engine);
  const double two[] = {1, 2, 3};
  const double other_two[] = {1, 2, 4};
  const std::uint32_t groups[] = {0, 1, 0};
  using Change = std::function<void(EngineConfig&)>;
  const std::pair<const char*, Change> changes[] = {
      {"model.name", [](auto& c) { c.model.name = "student-t"; }},
      {"model.features", [](auto& c) { c.model.features = 4; }},
      {"model.max_nonzeros", [](auto& c) { c.model.max_nonzeros = 3; }},
      {"model.intercept", [](auto& c) { c.model.intercept = false; }},
      {"model.prior_precision", [](auto& c) { c.model.prior_precision = 2; }},
      {"model.intercept_precision", [](auto& c) { c.model.intercept_precision = 2; }},
      {"model.learn_prior_precision", [](auto& c) { c.model.learn_prior_precision = false; }},
      {"model.prior_precision_min", [](auto& c) { c.model.prior_precision_min = 1e-3; }},
      {"model.prior_precision_max", [](auto& c) { c.model.prior_precision_max = 1e3; }},
      {"model.prior_groups", [&](auto& c) { c.model.prior_groups = groups; }},
      {"model.noise_variance", [](auto& c) { c.model.noise_variance = 0; }},
      {"model.degrees_of_freedom", [](auto& c) { c.model.degrees_of_freedom = 5; }},
      {"schema", [](auto& c) { c.schema_fingerprint = 5; }},
      {"sampler.name", [](auto& c) { c.sampler.name = "sgld"; }},
      {"sampler.minibatch_size", [](auto& c) { c.sampler.minibatch_size = 9; }},
      {"sampler.chains", [](auto& c) { c.sampler.chains = 2; }},
      {"sampler.noise_estimator",
       [](auto& c) { c.sampler.noise_estimator = NoiseEstimator::kRecursion; }},
      {"sampler.injected_noise", [](auto& c) { c.sampler.injected_noise = 4; }},
      {"window_size", [](auto& c) { c.window_size = 61; }},
      {"draws_per_observation", [](auto& c) { c.draws_per_observation = 5; }},
      {"standardize", [](auto& c) { c.standardize = Standardize::kColdStart; }},
      {"standardize_target", [](auto& c) { c.standardize_target = Standardize::kColdStart; }},
      {"retained_draws", [](auto& c) { c.retained_draws = 3; }},
      {"seed", [](auto& c) { c.seed = 8; }},
  };
  for (const auto& [name, change] : changes) {
    EngineConfig config = base;
    change(config);
    ASSERT_TRUE(check(config).ok()) << name << ": " << check(config).error().sentence;
    Refusal refusal(config);
    const Error error = refusal.refuse(bytes);
    EXPECT_EQ(error.status, Status::kInvalidConfig) << name;
    EXPECT_NE(std::string(error.sentence).find(std::string("another ") + name + ";"),
              std::string::npos)
        << name << ": " << error.sentence;
    EXPECT_EQ(refusal.trace(), "") << name;
  }
  EngineConfig given = base;
  given.standardize = Standardize::kGiven;
  given.feature_shift = given.feature_scale = two;
  Lived with_scale(given);
  const Bytes scaled = bytes_of(*with_scale.engine);
  ASSERT_EQ(restore_error(*with_scale.engine, scaled).status, Status::kOk);
  given.feature_scale = other_two;
  const Error error = Refusal(given).refuse(scaled);
  EXPECT_NE(std::string(error.sentence).find("another feature_scale;"), std::string::npos);
}

// What is refused stays usable where the configuration's own spans live in the block.
TEST(CheckpointConfiguration, GivenUnitsAndGroupsOutliveARefusal) {
  const std::uint32_t groups[] = {0, 1, 0};
  const double shift[] = {1, 2, 3};
  EngineConfig config = saved_config(3, 60);
  config.model.learn_prior_precision = true;
  config.model.prior_groups = groups;
  config.standardize = Standardize::kGiven;
  config.feature_shift = config.feature_scale = shift;
  Refusal refusal(config);
  refusal.refuse({});
  EXPECT_EQ(refusal.trace(), "");
  EXPECT_EQ(refusal.engine()->config().feature_shift[2], 3);
  EXPECT_EQ(refusal.engine()->config().model.prior_groups[1], 1u);
  Lived lived(config);
  ASSERT_EQ(restore_error(*refusal.engine(), bytes_of(*lived.engine)).status, Status::kOk);
}

TEST(CheckpointConfiguration, FieldsHaveNamesThatFitAndDiffer) {
  std::vector<std::string> names;
  for (const checkpoint::ConfigField& field : checkpoint::config_fields()) {
    names.emplace_back(field.name());
    EXPECT_LE(names.back().size(), 31u) << names.back();
    EXPECT_EQ(std::string(field.sentence).find("another " + names.back() + "; "),
              std::string("the checkpoint has ").size());
  }
  EXPECT_LE(names.size(), 96u);
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

#if defined(__x86_64__) && defined(__GLIBCXX__)
// A field more, and the list of fields that a checkpoint depends on has to be looked at:
// runtime/checkpoint/config_fields.cc. Left out on purpose are checkpoints, window_slack,
// max_frame_rows, max_followers, learner_threads, max_readers and max_query_rows.
TEST(CheckpointConfiguration, NoFieldIsForgotten) {
  EXPECT_EQ(sizeof(ModelConfig), 120u);
  EXPECT_EQ(sizeof(SamplerConfig), 192u);
  EXPECT_EQ(sizeof(EngineConfig), 448u);
}
#endif

TEST(Checkpoint, WithoutTheOptionNothingIsSavedOrRestored) {
  EngineConfig config = saved_config();
  Lived lived(config);
  const Bytes bytes = bytes_of(*lived.engine);
  config.checkpoints = false;
  TestEngine engine(config);
  MemorySink sink;
  EXPECT_EQ(engine->save(sink), Status::kUnsupported);
  EXPECT_EQ(engine->request_capture(), Status::kUnsupported);
  EXPECT_EQ(engine->save_captured(sink, 0), Status::kUnsupported);
  EXPECT_FALSE(engine->captured());
  engine->release_capture();
  EXPECT_TRUE(sink.bytes.empty());
  EXPECT_EQ(restore_error(*engine, bytes).status, Status::kUnsupported);
}

TEST(Checkpoint, ASinkThatFailsIsReportedAndTheEngineGoesOn) {
  Lived lived(saved_config());
  const SavedState before = save(*lived.engine);
  MemorySink whole;
  ASSERT_EQ(lived.engine->save(whole), Status::kOk);
  for (std::size_t call = 0; call < whole.calls(); ++call) {
    MemorySink sink(call);
    ASSERT_EQ(lived.engine->save(sink), Status::kIoError) << call;
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
