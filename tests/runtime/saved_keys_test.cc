// Keys that are pending when an engine is saved are pending when it is restored, with their rows
// and what was answered about them.
#include <atomic>
#include <string>
#include <thread>

#include "windhover/runtime/checkpoint/format.h"
#include "windhover/runtime/labels/pending_labels.h"
#include "windhover/tests/runtime/labels_fixture.h"

namespace windhover::test::labels_test {
namespace {

// The rounding error of a sum of 800 scores of about 1 is below 800 x 800 x 2^-53 = 7e-11.
constexpr double kOff = 1e-9;

EngineConfig saved_config_of(std::string_view model, std::uint32_t pending = 64) {
  EngineConfig config = with_labels(config_of(model), pending);
  config.score_predictions = true;
  config.checkpoints = true;
  return config;
}

// An engine in a later life, in memory that was used before.
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

class SavedKeys : public testing::TestWithParam<const char*> {};

// As an engine that was never saved, to the bit of each score.
TEST_P(SavedKeys, AreJoinedAndScoredByTheAnswerOfThen) {
  const EngineConfig config = saved_config_of(GetParam());
  Learned served(config, 11);
  const Data& data = served.data;
  constexpr Index kAsked = 20;
  std::vector<PredictiveSummary> then;
  for (Index i = 0; i < kAsked; ++i) {
    then.push_back(served.ask("key " + std::to_string(i), data, 300 + i, &data.y[300 + i]));
  }
  served.tell("key 0", data.y[300]);
  served.stream(data, 320, 500);
  Restored again(config, bytes_of(*served.engine));
  EXPECT_EQ(again.engine->labels().pending(), 19u);
  again.stream(data, 500, 780);
  for (Index i = 1; i < kAsked; ++i) {
    const double before = again.sum_of(&ScoreMeans::log_score);
    ASSERT_EQ(again.tell("key " + std::to_string(i), data.y[300 + i]).accepted, 1u);
    again.learn();
    EXPECT_NEAR(again.sum_of(&ScoreMeans::log_score) - before, then[i].log_score, kOff);
  }
  const ObserveResult twice = again.tell("key 0", data.y[300]);
  EXPECT_EQ(twice.duplicate, 1u) << "it was joined in the life before";
  EXPECT_EQ(again.tell("key 5", 1).duplicate, 1u);
  again.expect_counted();
}

INSTANTIATE_TEST_SUITE_P(Labels, SavedKeys,
                         testing::Values("linear", "student-t", "logistic", "binomial", "softmax",
                                         "mlp-linear", "mlp-softmax"),
                         [](const auto& model) {
                           std::string name = model.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// The rows that outcomes make are the ones that were asked about: the posteriors are the same.
TEST(SavedKeysOfSparseRows, AreTheRowsThatWereAskedAbout) {
  EngineConfig config = saved_config_of("linear");
  config.model.max_nonzeros = 3;
  config.max_followers = 1;
  Keyed served(config);
  Data data = linear_data(120, 3, 1.0, 5);
  const std::vector<std::uint32_t> indices = {0, 2};
  const std::vector<std::uint32_t> row_ends = {2};
  std::vector<std::string> names;
  for (Index i = 0; i < 60; ++i) {
    names.push_back(std::to_string(i));
    const std::string_view key = names.back();
    const std::vector<double> x = {data.x(i, 0), data.x(i, 2)};
    PredictRequest request = question(1, x);
    request.indices = indices;
    request.row_ends = row_ends;
    request.keys = {&key, 1};
    ASSERT_EQ(served.engine.answers(request)[0].pending, PendingKey::kKept);
  }
  Restored again(config, bytes_of(*served.engine));
  for (Keyed* one : {&served, static_cast<Keyed*>(&again)}) {
    for (Index i = 0; i < 60; ++i) ASSERT_EQ(one->tell(names[i], data.y[i]).accepted, 1u);
  }
  const auto rows_of = [](Engine& engine) {
    RowFollower follower = engine.follower().value();
    Bytes bytes(follower.packed_bytes(0, 60));
    EXPECT_GT(follower.pack(0, 60, bytes), 60u * 2 * sizeof(double));
    return bytes;
  };
  EXPECT_EQ(rows_of(*served.engine), rows_of(*again.engine));
}

// A key waits on for what was left of its time; while nobody was there none of it went by.
TEST(SavedKeysTime, IsWhatWasLeft) {
  const EngineConfig config = saved_config_of("linear");
  Keyed served(config);
  const Data data = linear_data(10, 3, 1.0, 5);
  for (const char* key : {"a", "b", "c"}) {
    served.ask(key, data, 0);
    served.clock.advance_ns(10 * kSecond);
  }
  served.ask("a", data, 1);  // is the last now, in the first place
  Restored again(config, bytes_of(*served.engine));
  const auto settled_after = [&](std::int64_t seconds) {
    again.clock.advance_ns(seconds * kSecond - 1);
    const std::uint64_t early = again.engine->labels().settle(9).timed_out;
    again.clock.advance_ns(1);
    EXPECT_EQ(early, 0u);
    return again.engine->labels().settle(9).timed_out;
  };
  EXPECT_EQ(settled_after(40), 1u);
  EXPECT_EQ(again.tell("b", 1).refused, 1u);
  EXPECT_EQ(again.refused.reason, Status::kKeyTimedOut);
  EXPECT_EQ(settled_after(10), 1u) << "c";
  EXPECT_EQ(settled_after(10), 1u) << "a";
  EXPECT_EQ(again.engine->labels().pending(), 0u);
  again.expect_counted();
}

// Nor longer than the configuration of the new life says.
TEST(SavedKeysTime, IsAtMostThatOfTheNewLife) {
  EngineConfig config = saved_config_of("linear");
  Keyed served(config);
  const Data data = linear_data(10, 3, 1.0, 5);
  served.ask("a", data, 0);
  config.labels.timeout_seconds = 5;
  Restored again(config, bytes_of(*served.engine));
  again.ask("b", data, 0);
  again.clock.advance_ns(5 * kSecond);
  EXPECT_EQ(again.engine->labels().settle(9).timed_out, 2u);
}

// What became of keys after the moment of the checkpoint is not in it: a log may tell it again.
class KeysSince : public testing::Test {
 protected:
  KeysSince() : served_(config(), 11) {
    for (const char* key : {"a", "b", "c"}) served_.ask(key, served_.data, 300, &y());
    EXPECT_EQ(served_.tell("c", y()).accepted, 1u);
    served_.learn();
    EXPECT_EQ(served_.engine->state().request_capture(), Status::kOk);
    served_.engine->poll(0);
    EXPECT_TRUE(served_.engine->state().captured());
    head_ = served_.engine->head();
  }
  static EngineConfig config() {
    EngineConfig config = saved_config_of("linear");
    config.labels.timeout_outcome = 0;
    return config;
  }
  const double& y() const { return served_.data.y[300]; }
  Bytes saved() { return saved_capture(*served_.engine, head_); }
  std::uint64_t hash_of(std::uint64_t row) { return served_.engine->labels().hash_of(row); }

  Learned served_;
  std::uint64_t head_ = 0;
};

TEST_F(KeysSince, AreAsTheyWereThen) {
  EXPECT_EQ(served_.tell("a", y()).accepted, 1u);
  Restored again(config(), saved());
  EXPECT_EQ(again.engine->labels().pending(), 2u);
  EXPECT_EQ(again.tell("c", y()).duplicate, 1u);
  EXPECT_EQ(again.tell("a", y()).accepted, 1u) << "its row is not there";
}

TEST_F(KeysSince, AreSettledWithTheRowsThatTheyBecame) {
  EXPECT_EQ(served_.tell("a", y()).accepted, 1u);
  served_.clock.advance_ns(60 * kSecond);
  EXPECT_EQ(served_.engine->labels().settle(9).accepted, 1u) << "b";
  const std::uint64_t a = hash_of(head_);
  const std::uint64_t b = hash_of(head_ + 1);
  EXPECT_NE(a, b);
  Restored again(config(), saved());
  LateLabels& labels = again.engine->labels();
  labels.settle_again(a ^ 1, KeyState::kJoined, head_);
  EXPECT_EQ(labels.pending(), 2u) << "nobody's";
  for (int times = 0; times < 2; ++times) {  // as where the window was full
    labels.settle_again(a, KeyState::kJoined, head_);
    labels.settle_again(b, KeyState::kTimedOut, head_ + 1);
    EXPECT_EQ(labels.pending(), 0u);
  }
  EXPECT_EQ(again.tell("a", y()).duplicate, 1u);
  EXPECT_EQ(again.tell("b", y()).refused, 1u);
  EXPECT_EQ(again.refused.reason, Status::kKeyTimedOut);
  again.expect_counted();
}

// The rows come again, and are scored by what was answered in the life before.
TEST_F(KeysSince, HaveTheirRowsScoredByTheAnswerOfThen) {
  const double& outcome = served_.data.y[301];
  const PredictiveSummary then = served_.ask("a", served_.data, 301, &outcome);
  EXPECT_EQ(served_.tell("a", outcome).accepted, 1u);
  Restored again(config(), saved());
  again.stream(served_.data, 320, 500);
  const double now = again.ask("", served_.data, 301, &outcome).log_score;
  ASSERT_GT(std::abs(now - then.log_score), 1'000 * kOff);
  const double before = again.sum_of(&ScoreMeans::log_score);
  again.engine->labels().settle_again(hash_of(head_), KeyState::kJoined, again.engine->head());
  again.engine.feed(served_.data, 301, 302);
  again.learn();
  EXPECT_NEAR(again.sum_of(&ScoreMeans::log_score) - before, then.log_score, kOff);
}

// Asked about again it is another key, whose outcome is still to come.
TEST_F(KeysSince, OneThatWasAskedAboutAgainIsPending) {
  EXPECT_EQ(served_.tell("a", y()).accepted, 1u);
  const std::uint64_t a = hash_of(head_);
  EXPECT_EQ(served_.ask("a", served_.data, 302).pending, PendingKey::kKept);
  Restored again(config(), saved());
  again.engine->labels().settle_again(a, KeyState::kJoined, head_);
  EXPECT_EQ(again.engine->labels().pending(), 2u);
  again.engine->labels().settle_again(a, KeyState::kJoined, head_ + 1);
  EXPECT_EQ(again.engine->labels().pending(), 1u);
}

// While a log is learned again questions are answered, and their keys are none of the log's.
TEST_F(KeysSince, OneAskedAboutWhileTheLogIsReadIsPending) {
  EXPECT_EQ(served_.ask("new", served_.data, 302).pending, PendingKey::kKept);
  EXPECT_EQ(served_.tell("new", y()).accepted, 1u);
  const std::uint64_t hash = hash_of(head_);
  Restored again(config(), saved());
  again.engine->progress().set_recovery_target(head_ + 1);
  EXPECT_EQ(again.ask("new", served_.data, 303).pending, PendingKey::kReplaced);
  again.engine->labels().settle_again(hash, KeyState::kJoined, head_);
  EXPECT_EQ(again.tell("new", y()).accepted, 1u);
}

// A row that the learner has still to score is scored by its key's answer, and no other row is by
// that of a key that was dropped.
TEST(SavedKeysLeft, ForTheLearnerAreScored) {
  const EngineConfig config = saved_config_of("linear");
  Learned served(config, 11);
  const Data& data = served.data;
  const PredictiveSummary then = served.ask("told", data, 301, &data.y[301]);
  served.ask("dropped", data, 302, &data.y[302]);
  served.stream(data, 320, 500);
  served.clock.advance_ns(60 * kSecond);
  EXPECT_EQ(served.tell("told", data.y[301]).accepted, 1u);
  EXPECT_EQ(served.engine->labels().settle(9).timed_out, 1u);
  Restored again(config, bytes_of(*served.engine));
  const double before = again.sum_of(&ScoreMeans::log_score);
  again.learn();
  EXPECT_NEAR(again.sum_of(&ScoreMeans::log_score) - before, then.log_score, kOff);
  const PredictiveSummary now = again.ask("", data, 302, &data.y[302]);
  const double with_told = again.sum_of(&ScoreMeans::log_score);
  again.engine.feed(data, 302, 303);
  again.learn();
  EXPECT_NEAR(again.sum_of(&ScoreMeans::log_score) - with_told, now.log_score, kOff);
  EXPECT_EQ(again.tell("dropped", 1).refused, 1u);
  EXPECT_EQ(again.refused.reason, Status::kKeyTimedOut);
}

// A question does not drop a key that is overdue while its row may still be in the log.
TEST_F(KeysSince, AreNotDroppedWhileTheLogIsRead) {
  EngineConfig config = KeysSince::config();
  config.labels.pending = 2;
  config.labels.timeout_outcome = std::numeric_limits<double>::quiet_NaN();
  Restored again(config, saved());
  EXPECT_EQ(again.engine->labels().pending(), 2u);
  again.engine->progress().set_recovery_target(head_ + 1);
  again.clock.advance_ns(60 * kSecond);
  EXPECT_EQ(again.ask("d", served_.data, 302).pending, PendingKey::kTableFull);
  again.engine->progress().set_recovery_target(0);
  EXPECT_EQ(again.ask("d", served_.data, 302).pending, PendingKey::kKept);
  EXPECT_EQ(again.engine->labels().pending(), 2u);
}

TEST_F(KeysSince, AreRowsBelowTheEndOfThem) {
  const LateLabels& labels = served_.engine->labels();
  EXPECT_EQ(labels.rows_end(), head_);
  served_.engine.feed(served_.data, 310, 312);
  EXPECT_EQ(labels.rows_end(), head_);
  EXPECT_EQ(served_.tell("a", y()).accepted, 1u);
  EXPECT_EQ(labels.rows_end(), served_.engine->head());
  Restored again(config(), saved());
  EXPECT_EQ(again.engine->labels().rows_end(), head_);
}

// --- Other configurations.

struct Saved {
  Saved() {
    const Data data = linear_data(30, 3, 1.0, 5);
    for (int i = 0; i < 20; ++i) served.ask(std::to_string(i), data, i);
    for (int i = 0; i < 12; ++i) served.tell(std::to_string(i), data.y[i]);
    served.learn();
    bytes = bytes_of(*served.engine);
  }
  Keyed served{saved_config_of("linear", 64)};
  Bytes bytes;
};

TEST(SavedKeysElsewhere, ASmallerTableTakesPendingKeysAlone) {
  const Saved saved;
  Restored again(saved_config_of("linear", 8), saved.bytes);
  EXPECT_EQ(again.engine->labels().pending(), 8u);
  EXPECT_EQ(again.tell("0", 1).refused, 1u);
  EXPECT_EQ(again.tell("12", 1).accepted, 1u);
  Restored small(saved_config_of("linear", 5), saved.bytes);
  EXPECT_EQ(small.engine->labels().pending(), 5u);
  EXPECT_EQ(small.count(RuntimeCounter::kLabelsTableFull), 3u);
  Restored large(saved_config_of("linear", 1'000), saved.bytes);
  EXPECT_EQ(large.engine->labels().pending(), 8u);
  EXPECT_EQ(large.tell("0", 1).duplicate, 1u);
}

TEST(SavedKeysElsewhere, AnEngineWithoutKeysLeavesThem) {
  const Saved saved;
  EngineConfig config = saved_config_of("linear");
  config.labels.pending = 0;
  Restored again(config, saved.bytes);
  EXPECT_EQ(again.engine->head(), 12u);
  Restored later(saved_config_of("linear"), bytes_of(*again.engine));
  EXPECT_EQ(later.engine->labels().pending(), 0u);
}

// Every byte of a section of keys is read with care also where its checksum is right.
TEST(SavedKeysElsewhere, WhatNobodyWroteIsRefusedOrTaken) {
  const EngineConfig config = saved_config_of("softmax", 8);
  MappedBlock block(1 << 20);
  Arena arena(block.bytes());
  ManualClock clock(kSecond);
  Counters<RuntimeCounter> counters;
  TestEngine engine(config);
  PendingLabels table(arena, with_defaults(config), clock, engine->progress(), counters);
  table.reset();
  const std::vector<double> x = {1, 2, 3};
  for (const char* key : {"a", "bb", "ccc"}) {
    PredictRequest request = question(1, x);
    EXPECT_EQ(table.keep(key, request, 0, nullptr), PendingKey::kKept);
  }
  Bytes section(1 << 12);
  const SavedKeysHeader header = table.saved_header();
  std::memcpy(section.data(), &header, sizeof(header));
  std::size_t size = sizeof(header);
  for (std::uint32_t place = 0; place < table.places(); ++place) {
    size += table.save(place, 0, 0, &section[size]);
  }
  section.resize(size);
  int taken = 0;
  for (std::size_t at = 0; at < size; ++at) {
    for (const int flip : {1, 0x80, 0xff}) {
      Bytes other = section;
      other[at] ^= std::byte(flip);
      table.reset();
      const bool restored = table.restore(other, 100);
      if (restored) table.end_restore();
      taken += restored ? 1 : 0;
      EXPECT_LE(table.pending(), 3u);
      EXPECT_LE(table.drop_overdue(9), 3u);
    }
    table.reset();
    EXPECT_TRUE(!table.restore(std::span(section).first(at), 100) || at >= sizeof(header));
  }
  EXPECT_GT(taken, 0) << "numbers of rows may be any";
}

// While keys are written others ask, tell and learn; each key is in the checkpoint once, pending or
// not, and those that nobody touched are.
TEST(SavedKeysThreads, AreWrittenBesideOthers) {
  EngineConfig config = saved_config_of("linear", 256);
  config.window_slack = 4'096;
  TestEngine engine(config);
  const Data data = linear_data(16, 3, 1.0, 5);
  std::atomic<bool> done{false};
  const auto ask = [&](Reader& reader, const std::string& name) {
    const std::string_view key = name;
    PredictiveSummary summary;
    Provenance provenance;
    PredictRequest request = question(1, {&data.x(0, 0), 3});
    request.keys = {&key, 1};
    EXPECT_EQ(reader.predict(request, {&summary, 1}, provenance), Status::kOk);
  };
  {
    Reader reader = engine->reader().value();
    for (int i = 0; i < 50; ++i) ask(reader, "still " + std::to_string(i));
  }
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    Reader reader = engine->reader().value();
    for (int i = 0; !done; ++i) ask(reader, std::to_string(i % 100));
  });
  threads.emplace_back([&] {
    for (int i = 0; !done; ++i) {
      const std::string name = std::to_string(i % 100);
      const std::string_view key = name;
      (void)engine->labels().observe({{&key, 1}, {&data.y[i % 16], 1}}, {});
    }
  });
  threads.emplace_back([&] {
    while (!done) {
      if (engine->poll(10) == 0) std::this_thread::yield();
    }
  });
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(engine->state().request_capture(), Status::kOk);
    while (!engine->state().captured()) std::this_thread::yield();
    const std::uint64_t head = engine->head();
    const Bytes bytes = saved_capture(*engine, head);
    engine->state().release_capture();
    Restored again(config, bytes);
    EXPECT_EQ(again.engine->head(), head);
    EXPECT_GE(again.engine->labels().pending(), 50u);
    EXPECT_LE(again.engine->labels().pending(), 150u);
    for (int k = 0; k < 50; ++k) {
      ASSERT_EQ(again.tell("still " + std::to_string(k), 1).accepted, 1u);
    }
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace windhover::test::labels_test
