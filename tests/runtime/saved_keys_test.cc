// Keys that are pending when an engine is saved are pending when it is restored, with their rows
// and what was answered about them.
#include <atomic>
#include <string>
#include <thread>

#include "windhover/runtime/labels/pending_labels.h"
#include "windhover/tests/runtime/saved_keys_fixture.h"

namespace windhover::test::saved_keys_test {
namespace {

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
}  // namespace windhover::test::saved_keys_test
