// Labels that come late: which keys wait, and what becomes of them.
#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "windhover/tests/runtime/labels_fixture.h"

namespace windhover::test::labels_test {
namespace {

TEST(Labels, AKeyIsJoinedOnce) {
  Keyed served(with_labels(config_of("linear")));
  const Data data = linear_data(10, 3, 1.0, 5);
  EXPECT_EQ(served.ask("a", data, 0).pending, PendingKey::kKept);
  EXPECT_EQ(served.ask("", data, 1).pending, PendingKey::kNone);
  EXPECT_EQ(served.engine->labels().pending(), 1u);
  EXPECT_EQ(served.tell("b", 1).refused, 1u);
  EXPECT_EQ(served.refused.reason, Status::kUnknownKey);
  EXPECT_EQ(served.tell("a", 1).accepted, 1u);
  EXPECT_EQ(served.engine->labels().pending(), 0u);
  const ObserveResult again = served.tell("a", 2);
  EXPECT_EQ(again.accepted, 0u);
  EXPECT_EQ(again.refused, 0u);
  EXPECT_EQ(again.duplicate, 1u);
  EXPECT_EQ(served.engine->head(), 1u);
  // Whoever asks anew begins anew.
  EXPECT_EQ(served.ask("a", data, 0).pending, PendingKey::kKept);
  EXPECT_EQ(served.tell("a", 1).accepted, 1u);
  EXPECT_EQ(served.count(RuntimeCounter::kLabelsKept), 2u);
  EXPECT_EQ(served.count(RuntimeCounter::kLabelsJoined), 2u);
  EXPECT_EQ(served.count(RuntimeCounter::kLabelsUnknown), 1u);
  EXPECT_EQ(served.count(RuntimeCounter::kLabelsDuplicate), 1u);
}

TEST(Labels, TwiceInOneBatchIsADuplicate) {
  Keyed served(with_labels(config_of("linear")));
  const Data data = linear_data(10, 3, 1.0, 5);
  served.ask("a", data, 0);
  served.ask("b", data, 1);
  const std::vector<std::string_view> keys = {"a", "x", "a", "b"};
  const std::vector<double> targets = {1, 2, 3, 4};
  RefusedRow refused;
  const ObserveResult result = served.engine->labels().observe({keys, targets}, {&refused, 1});
  EXPECT_EQ(result.accepted, 2u);
  EXPECT_EQ(result.duplicate, 1u);
  EXPECT_EQ(result.refused, 1u);
  EXPECT_EQ(refused.row, 1u);
  EXPECT_EQ(served.engine->labels().observe({keys, {targets.data(), 3}}, {}).status,
            Status::kMalformed);
}

TEST(Labels, TheNewestQuestionHasTheKey) {
  EngineConfig config = with_labels(config_of("linear"));
  Keyed served(config);
  TestEngine direct(config_of("linear"));
  const Data data = linear_data(10, 3, 1.0, 5);
  served.ask("a", data, 0);
  EXPECT_EQ(served.ask("a", data, 1).pending, PendingKey::kReplaced);
  EXPECT_EQ(served.engine->labels().pending(), 1u);
  EXPECT_EQ(served.count(RuntimeCounter::kLabelsReplaced), 1u);
  EXPECT_EQ(served.tell("a", data.y[1]).accepted, 1u);
  direct.feed(data, 1, 2);
  direct.poll_rounds(5);
  served.engine.poll_rounds(5);
  EXPECT_EQ(direct.draws(), served.engine.draws());
}

TEST(Labels, AWrongOutcomeLeavesTheKeyPending) {
  Keyed served(with_labels(config_of("logistic")));
  const Data data = data_for("logistic", 10, 5);
  served.ask("a", data, 0);
  EXPECT_EQ(served.tell("a", 0.5).refused, 1u);
  EXPECT_EQ(served.refused.reason, Status::kTargetOutOfDomain);
  EXPECT_EQ(served.engine->labels().pending(), 1u);
  EXPECT_EQ(served.tell("a", 1).accepted, 1u);
}

TEST(Labels, AFullTableKeepsNoMore) {
  Keyed served(with_labels(config_of("linear"), 2));
  const Data data = linear_data(10, 3, 1.0, 5);
  served.ask("a", data, 0);
  served.ask("b", data, 1);
  EXPECT_EQ(served.ask("c", data, 2).pending, PendingKey::kTableFull);
  EXPECT_EQ(served.ask("a", data, 2).pending, PendingKey::kReplaced);
  EXPECT_EQ(served.count(RuntimeCounter::kLabelsTableFull), 1u);
  EXPECT_EQ(served.tell("c", 1).refused, 1u);
  EXPECT_EQ(served.tell("b", 1).accepted, 1u);
  // A settled key is known until its place is taken.
  EXPECT_EQ(served.tell("b", 1).duplicate, 1u);
  EXPECT_EQ(served.ask("c", data, 2).pending, PendingKey::kKept);
  EXPECT_EQ(served.tell("b", 1).refused, 1u);
  EXPECT_EQ(served.tell("c", 1).accepted, 1u);
}

TEST(Labels, AKeyTimesOutAndIsDropped) {
  Keyed served(with_labels(config_of("linear")));
  const Data data = linear_data(10, 3, 1.0, 5);
  served.ask("a", data, 0);
  served.clock.advance_ns(30 * kSecond);
  served.ask("b", data, 1);
  served.clock.advance_ns(30 * kSecond);
  EXPECT_EQ(served.engine->labels().settle(100).accepted, 0u);
  EXPECT_EQ(served.engine->labels().pending(), 1u);
  EXPECT_EQ(served.tell("a", 1).refused, 1u);
  EXPECT_EQ(served.refused.reason, Status::kKeyTimedOut);
  EXPECT_EQ(served.tell("b", 1).accepted, 1u);
  EXPECT_EQ(served.engine->head(), 1u);
  EXPECT_EQ(served.count(RuntimeCounter::kLabelsTimedOut), 1u);
  EXPECT_EQ(served.count(RuntimeCounter::kLabelsLate), 1u);
}

// It is pending until somebody settles it, and what it is told before that counts.
TEST(Labels, AnOutcomeToldInTimeIsJoinedWhenThereIsRoom) {
  EngineConfig config = with_labels(config_of("linear"));
  config.window_slack = 16;
  config.max_frame_rows = 8;
  config.labels.timeout_outcome = 0;
  Keyed served(config);
  config.labels = {};
  TestEngine direct(config);
  const Data data = linear_data(40, 3, 1.0, 5);
  served.ask("a", data, 30);
  served.engine.feed(data, 0, 16);
  direct.feed(data, 0, 16);
  EXPECT_EQ(served.tell("a", data.y[30]).status, Status::kWindowFull);
  served.clock.advance_ns(60 * kSecond);
  EXPECT_EQ(served.engine->labels().settle(100).status, Status::kWindowFull);
  served.engine.poll_rounds(20);
  direct.poll_rounds(20);
  EXPECT_EQ(served.tell("a", data.y[30]).accepted, 1u);
  EXPECT_EQ(served.count(RuntimeCounter::kLabelsTimedOut), 0u);
  direct.feed(data, 30, 31);
  served.engine.poll_rounds(5);
  direct.poll_rounds(5);
  EXPECT_EQ(direct.draws(), served.engine.draws()) << "of y, not of 0";
}

// Nobody has to call settle() for a table to go on.
TEST(Labels, AskingMakesRoomOfWhatHasTimedOut) {
  Keyed served(with_labels(config_of("linear"), 4));
  const Data data = linear_data(10, 3, 1.0, 5);
  for (int round = 0; round < 5; ++round) {
    for (const char* key : {"a", "b", "c", "d"}) {
      const std::string name = key + std::to_string(round);
      EXPECT_EQ(served.ask(name, data, 0).pending, PendingKey::kKept);
    }
    served.clock.advance_ns(60 * kSecond);
  }
  EXPECT_EQ(served.count(RuntimeCounter::kLabelsTableFull), 0u);
}

TEST(Labels, AFullWindowLeavesEverythingPending) {
  EngineConfig config = with_labels(config_of("linear"), 64);
  config.window_slack = 16;
  config.max_frame_rows = 8;
  config.labels.timeout_outcome = 0;
  Keyed served(config);
  const Data data = linear_data(40, 3, 1.0, 5);
  served.ask("a", data, 30);
  served.ask("b", data, 31);
  const std::uint64_t slack = config.window_slack;
  std::vector<RefusedRow> none;
  for (std::uint64_t fed = 0; fed < slack; fed += 8) {
    ASSERT_EQ(
        served.engine->observe(TestEngine::batch(data, static_cast<Index>(fed), 8), none).accepted,
        8u);
  }
  EXPECT_EQ(served.tell("a", 1).status, Status::kWindowFull);
  served.clock.advance_ns(60 * kSecond - 1);
  EXPECT_EQ(served.engine->labels().settle(100).status, Status::kOk) << "nothing is overdue";
  served.clock.advance_ns(1);
  EXPECT_EQ(served.engine->labels().settle(100).status, Status::kWindowFull);
  EXPECT_EQ(served.engine->labels().pending(), 2u);
  EXPECT_EQ(served.engine->head(), slack);
  served.engine.poll_until_idle();
  EXPECT_EQ(served.tell("a", 1).accepted, 1u);
  EXPECT_EQ(served.engine->labels().settle(100).accepted, 1u);
  EXPECT_EQ(served.engine->head(), slack + 2);
}

// Whatever becomes of the rows.
TEST(Labels, NoMoreAreSettledThanIsSaid) {
  for (const bool has_outcome : {false, true}) {
    EngineConfig config = with_labels(config_of("linear"), 1'024);
    if (has_outcome) config.labels.timeout_outcome = 0;
    Keyed served(config);
    const Data data = linear_data(10, 3, 1.0, 5);
    for (int i = 0; i < 1'000; ++i) served.ask(std::to_string(i), data, 0);
    EXPECT_EQ(served.engine->labels().settle(300).timed_out, 0u);
    served.clock.advance_ns(60 * kSecond);
    for (const std::uint64_t pending : {700u, 400u, 100u, 0u}) {
      const ObserveResult result = served.engine->labels().settle(300);
      EXPECT_EQ(result.timed_out, pending == 0 ? 100u : 300u);
      EXPECT_EQ(result.accepted, has_outcome ? result.timed_out : 0u);
      EXPECT_EQ(served.engine->labels().pending(), pending);
    }
    EXPECT_EQ(served.engine->labels().settle(300).timed_out, 0u);
  }
}

TEST(Labels, WithoutThemKeysAreRefused) {
  Keyed served(config_of("linear"));
  const Data data = linear_data(10, 3, 1.0, 5);
  PredictRequest request = question(1, {&data.x(0, 0), 3});
  const std::string_view key = "a";
  request.keys = {&key, 1};
  PredictiveSummary summary;
  Provenance provenance;
  EXPECT_EQ(served.engine.reader().predict(request, {&summary, 1}, provenance),
            Status::kKeyNotTaken);
  EXPECT_EQ(served.tell("a", 1).status, Status::kKeyNotTaken);
  EXPECT_EQ(served.engine->labels().pending(), 0u);
}

TEST(Labels, AKeyHasUpTo64Bytes) {
  Keyed served(with_labels(config_of("linear")));
  const Data data = linear_data(10, 3, 1.0, 5);
  const std::string longest(64, 'k');
  EXPECT_EQ(served.ask(longest, data, 0).pending, PendingKey::kKept);
  const std::string longer(65, 'k');
  const std::string_view key = longer;
  PredictRequest request = question(1, {&data.x(0, 0), 3});
  request.keys = {&key, 1};
  PredictiveSummary summary;
  Provenance provenance;
  EXPECT_EQ(served.engine.reader().predict(request, {&summary, 1}, provenance),
            Status::kInvalidArgument);
  EXPECT_EQ(served.tell(longer, 1).refused, 1u);
  EXPECT_EQ(served.tell(longest, 1).accepted, 1u);
  // Two keys of one row, or none of the second, are none.
  const std::vector<std::string_view> two = {"a", "b"};
  request.keys = two;
  EXPECT_EQ(served.engine.reader().predict(request, {&summary, 1}, provenance),
            Status::kInvalidArgument);
}

// What may be asked without a key and can never be a row is not kept.
TEST(Labels, AFeatureThatNoRowMayHaveIsRefused) {
  Keyed served(with_labels(config_of("linear")));
  const std::vector<double> x = {1, 1e50, 1};
  PredictRequest request = question(1, x);
  PredictiveSummary summary;
  Provenance provenance;
  EXPECT_EQ(served.engine.reader().predict(request, {&summary, 1}, provenance), Status::kOk);
  const std::string_view key = "a";
  request.keys = {&key, 1};
  EXPECT_EQ(served.engine.reader().predict(request, {&summary, 1}, provenance), Status::kNotFinite);
  EXPECT_EQ(served.engine->labels().may_keep(request), Status::kNotFinite);
  EXPECT_EQ(served.engine->labels().pending(), 0u);
}

// Whoever answers may answer more rows at a time, and of other questions.
TEST(Labels, RowsOfALargerQuestionAreKept) {
  EngineConfig config = with_labels(config_of("linear"));
  config.max_query_rows = 1;
  Keyed served(config);
  const std::vector<double> x = {1, 2, 3, 4, 5, 6};
  const std::vector<std::string_view> keys = {"a", "b"};
  PredictRequest request = question(2, x);
  request.keys = keys;
  request.interval_probability = 2;
  std::vector<PredictiveSummary> summaries(2);
  ASSERT_EQ(served.engine->labels().may_keep(request), Status::kOk);
  served.engine->labels().keep(request, 0, 2, summaries);
  EXPECT_EQ(summaries[1].pending, PendingKey::kKept);
  EXPECT_EQ(served.engine->labels().pending(), 2u);
  request.offsets = x;
  EXPECT_EQ(served.engine->labels().may_keep(request), Status::kOffsetNotTaken);
}

// Every key is told what became of it, whoever asks while rows are joined and learned.
TEST(Labels, NothingIsLostBetweenThreads) {
  EngineConfig config = with_labels(config_of("linear"), 64);
  config.score_predictions = true;
  TestEngine engine(config);
  const Data data = linear_data(16, 3, 1.0, 5);
  constexpr int kAskers = 2;
  constexpr int kKeys = 3'000;
  std::array<std::atomic<int>, kAskers> asked{};
  std::atomic<std::uint64_t> kept{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int asker = 0; asker < kAskers; ++asker) {
    threads.emplace_back([&, asker] {
      Reader reader = engine->reader().value();
      PredictiveSummary summary;
      Provenance provenance;
      for (int i = 0; i < kKeys; ++i) {
        const std::string name = std::to_string(asker) + "/" + std::to_string(i);
        const std::string_view key = name;
        PredictRequest request = question(1, {&data.x(i % 16, 0), 3});
        request.keys = {&key, 1};
        EXPECT_EQ(reader.predict(request, {&summary, 1}, provenance), Status::kOk);
        if (summary.pending == PendingKey::kKept) kept.fetch_add(1);
        asked[static_cast<std::size_t>(asker)].store(i + 1);
      }
    });
  }
  threads.emplace_back([&] {
    while (!done.load()) {
      if (engine->poll(10) == 0) std::this_thread::yield();
    }
  });
  std::uint64_t joined = 0;
  std::array<int, kAskers> told{};
  while (told[0] < kKeys || told[1] < kKeys) {
    for (std::size_t asker = 0; asker < kAskers; ++asker) {
      if (told[asker] == asked[asker].load()) continue;
      const std::string name = std::to_string(asker) + "/" + std::to_string(told[asker]);
      const std::string_view key = name;
      const double y = data.y[told[asker] % 16];
      const ObserveResult result = engine->labels().observe({{&key, 1}, {&y, 1}}, {});
      if (result.status == Status::kWindowFull) continue;
      joined += result.accepted;
      ++told[asker];
    }
  }
  threads[0].join();
  threads[1].join();
  done = true;
  threads[2].join();
  engine.poll_until_idle();
  EXPECT_EQ(joined, kept.load());
  EXPECT_EQ(engine->head(), joined);
  EXPECT_EQ(engine->labels().pending(), 0u);
  PredictionScores scores;
  ASSERT_TRUE(engine->scores(scores));
  EXPECT_EQ(scores.offered, joined);
}

TEST(Labels, TheFootprintSaysWhatAKeyTakes) {
  EngineConfig config = config_of("linear");
  config.score_predictions = true;
  const std::size_t without = Engine::footprint(config).value();
  const std::size_t some = Engine::footprint(with_labels(config, 1 << 10)).value();
  const std::size_t more = Engine::footprint(with_labels(config, 1 << 11)).value();
  EXPECT_GT(some, without);
  // A row of 4 numbers, an answer of 4 and 8; the place, of 104 bytes; one bucket and one entry.
  EXPECT_EQ(more - some, (16 * sizeof(double) + 104 + 4 + 16) << 10);
}

}  // namespace
}  // namespace windhover::test::labels_test
