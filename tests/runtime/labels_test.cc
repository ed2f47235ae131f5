// Labels that come late: the row is an observation as any other, and its score that of the answer
// given when it was asked about.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "windhover/runtime/scoring/prediction_scores.h"
#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/checkpoint_fixture.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::labels_test {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

EngineConfig with_labels(EngineConfig config, std::uint32_t pending = 64) {
  config.labels.pending = pending;
  config.labels.timeout_seconds = 60;
  return config;
}

// Rows that the model can have, with three features.
Data data_for(std::string_view model, Index rows, std::uint64_t seed) {
  Data data = linear_data(rows, 3, 0.5, seed);
  for (double& y : data.y) {
    if (model == "log-normal") y = std::exp(y);
    if (model == "logistic" || model == "mlp-logistic") y = y > 0.3 ? 1 : 0;
    if (model == "poisson" || model == "negative-binomial") y = std::floor(std::exp(0.5 * y));
    if (model == "softmax" || model == "mlp-softmax") y = y < -0.5 ? 0 : (y < 0.5 ? 1 : 2);
  }
  return data;
}

EngineConfig config_of(std::string_view model) {
  EngineConfig config = small_config(model.data(), 3, 400);
  config.model.classes = 3;
  config.model.hidden = 4;
  return config;
}

class Keyed {
 public:
  explicit Keyed(const EngineConfig& config) : clock(kSecond), engine(config, &clock) {}

  // Asks about a row with a key; the answer is scored by `y`, which the engine does not learn.
  PredictiveSummary ask(std::string_view key, const Data& data, Index row,
                        const double* y = nullptr) {
    const std::vector<double> offset = {data.offset.size() > 0 ? data.offset[row] : 0};
    PredictRequest request =
        question(1, {&data.x(row, 0), static_cast<std::size_t>(data.x.cols())});
    if (y != nullptr) request.outcomes = {y, 1};
    if (data.offset.size() > 0) request.offsets = offset;
    request.keys = {&key, 1};
    return engine.answers(request)[0];
  }
  ObserveResult tell(std::string_view key, double y) {
    refused = {};
    return engine->observe_outcomes({{&key, 1}, {&y, 1}}, {&refused, 1});
  }
  std::uint64_t count(RuntimeCounter counter) { return engine->counters().get(counter); }
  // Rows as they come, with time to learn from them.
  void stream(const Data& data, Index first, Index last) {
    for (Index i = first; i < last; i += 20) {
      engine.feed(data, i, std::min(i + 20, last));
      clock.advance_ns(1'000'000);
      engine.poll_until_idle();
    }
  }
  ScoreMeans all() {
    PredictionScores scores;
    EXPECT_TRUE(engine->scores(scores));
    return scores.means.back();
  }
  double sum_of(double ScoreMeans::*mean) {
    const ScoreMeans means = all();
    return means.*mean * static_cast<double>(means.rows);
  }

  ManualClock clock;
  TestEngine engine;
  RefusedRow refused;
};

class EveryModel : public testing::TestWithParam<const char*> {};

TEST_P(EveryModel, ScoresTheAnswerOfThen) {
  EngineConfig config = with_labels(config_of(GetParam()));
  config.score_predictions = true;
  Keyed served(config);
  const Data data = data_for(GetParam(), 800, 11);
  served.stream(data, 0, 300);
  constexpr Index kAsked = 20;
  std::vector<PredictiveSummary> then;
  for (Index i = 0; i < kAsked; ++i) {
    then.push_back(served.ask("key " + std::to_string(i), data, 300 + i, &data.y[300 + i]));
    EXPECT_EQ(then.back().pending, PendingKey::kKept);
  }
  served.stream(data, 320, 780);
  for (Index i = 0; i < kAsked; ++i) {
    const ScoreMeans before = served.all();
    const double log_scores = served.sum_of(&ScoreMeans::log_score);
    ASSERT_EQ(served.tell("key " + std::to_string(i), data.y[300 + i]).accepted, 1u);
    served.clock.advance_ns(1'000'000);
    served.engine.poll_until_idle();
    const ScoreMeans after = served.all();
    ASSERT_EQ(after.rows, before.rows + 1);
    // Sums of 800 scores.
    EXPECT_NEAR(served.sum_of(&ScoreMeans::log_score) - log_scores, then[i].log_score, 1e-9);
    const Response response = find_model(GetParam())->response;
    if (!has_dispersion(response)) continue;
    for (std::size_t k = 0; k < kScoredIntervals.size(); ++k) {
      const double covered = after.coverage[k] * static_cast<double>(after.rows) -
                             before.coverage[k] * static_cast<double>(before.rows);
      const bool inside = std::abs(then[i].pit - 0.5) <= 0.5 * kScoredIntervals[k];
      EXPECT_NEAR(covered, inside ? 1 : 0, 1e-9);
    }
  }
  // It is another answer by now: what was scored is not that.
  Keyed now(config);
  now.stream(data, 0, 300);
  now.stream(data, 320, 780);
  double apart = 0;
  for (Index i = 0; i < kAsked; ++i) {
    const PredictiveSummary s = now.ask("", data, 300 + i, &data.y[300 + i]);
    apart = std::max(apart, std::abs(s.log_score - then[i].log_score));
  }
  EXPECT_GT(apart, 1e-4);
}

TEST_P(EveryModel, HoldsTheIntervalsThatWereServed) {
  EngineConfig config = with_labels(config_of(GetParam()));
  config.score_predictions = true;
  Keyed served(config);
  const Data data = data_for(GetParam(), 800, 12);
  served.stream(data, 0, 300);
  PredictRequest request = question(1, {&data.x(300, 0), 3});
  const std::string_view key = "a";
  request.keys = {&key, 1};
  request.interval_probability = 0.8;
  const PredictiveSummary then = served.engine.answers(request)[0];
  served.stream(data, 320, 780);
  // Everything but the answer's own conformal interval is known to hold or not by the outcome.
  const double y = data.y[300];
  const ScoreMeans before = served.all();
  ASSERT_EQ(served.tell(key, y).accepted, 1u);
  served.clock.advance_ns(1'000'000);
  served.engine.poll_until_idle();
  const ScoreMeans after = served.all();
  const Response response = find_model(GetParam())->response;
  const bool held = has_classes(response)
                        ? (then.conformal_set >> static_cast<unsigned>(y) & 1) != 0
                        : y >= then.conformal_lower && y <= then.conformal_upper;
  const double counted = after.conformal_coverage[1] * static_cast<double>(after.rows) -
                         before.conformal_coverage[1] * static_cast<double>(before.rows);
  EXPECT_NEAR(counted, held ? 1 : 0, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Labels, EveryModel,
                         testing::Values("linear", "student-t", "log-normal", "logistic", "poisson",
                                         "negative-binomial", "softmax", "mlp-linear",
                                         "mlp-logistic", "mlp-softmax"),
                         [](const auto& model) {
                           std::string name = model.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// Driven by hand: rows that come with their outcomes, and the same rows asked about first.
void expect_same_bits(EngineConfig config, const Data& data) {
  TestEngine direct(config);
  Keyed late(with_labels(config, 256));
  for (Index first = 0; first < data.rows(); first += 100) {
    std::vector<std::string> names;
    for (Index i = 0; i < 100; ++i) names.push_back(std::to_string(first + i));
    for (Index i = 0; i < 100; ++i) late.ask(names[i], data, first + i);
    direct.feed(data, first, first + 100);
    const std::vector<std::string_view> keys(names.begin(), names.end());
    const ObserveResult result = late.engine->observe_outcomes({keys, {&data.y[first], 100}}, {});
    ASSERT_EQ(result.accepted, 100u);
    direct.poll_rounds(300);
    late.engine.poll_rounds(300);
  }
  EXPECT_EQ(direct.draws(), late.engine.draws());
  const auto expected = direct.parameters();
  const auto reached = late.engine.parameters();
  for (std::size_t j = 0; j < expected.size(); ++j) {
    EXPECT_EQ(expected[j].mean, reached[j].mean);
    EXPECT_EQ(expected[j].sd, reached[j].sd);
  }
}

TEST(Labels, AJoinedRowIsTheRowToTheLastBit) {
  const Data data = linear_data(800, 3, 1.0, 5);
  expect_same_bits(config_of("linear"), data);
  EngineConfig forgetting = config_of("linear");
  forgetting.horizon = Horizon::kAll;
  expect_same_bits(forgetting, data);
  Data exposed = data_for("poisson", 800, 6);
  exposed.offset = 0.3 * normals(7, 800);
  EngineConfig counts = config_of("poisson");
  counts.model.offset = true;
  expect_same_bits(counts, exposed);
}

TEST(Labels, ASparseRowIsKeptWhole) {
  EngineConfig config = config_of("linear");
  config.model.features = 50;
  config.model.max_nonzeros = 3;
  Keyed served(with_labels(config));
  const std::vector<double> values = {1.5, -2, 0.25};
  const std::vector<std::uint32_t> columns = {4, 17, 49};
  const std::vector<std::uint32_t> ends = {0, 3};
  const std::vector<std::string_view> keys = {"none", "three"};
  PredictRequest request = question(2, values);
  request.indices = columns;
  request.row_ends = ends;
  request.keys = keys;
  served.engine.answers(request);
  ASSERT_EQ(served.tell("three", 7).accepted, 1u);
  ASSERT_EQ(served.tell("none", 8).accepted, 1u);
  TestEngine direct(config);
  ObservationBatch batch;
  const std::vector<double> targets = {7, 8};
  const std::vector<std::uint32_t> their_ends = {3, 3};
  batch.rows = 2;
  batch.features = reinterpret_cast<const std::byte*>(values.data());
  batch.feature_values = 3;
  batch.targets = reinterpret_cast<const std::byte*>(targets.data());
  batch.indices = reinterpret_cast<const std::byte*>(columns.data());
  batch.row_ends = reinterpret_cast<const std::byte*>(their_ends.data());
  ASSERT_EQ(direct->observe(batch, {}).accepted, 2u);
  direct.poll_rounds(20);
  served.engine.poll_rounds(20);
  EXPECT_EQ(direct.draws(), served.engine.draws());
}

TEST(Labels, AKeyIsJoinedOnce) {
  Keyed served(with_labels(config_of("linear")));
  const Data data = linear_data(10, 3, 1.0, 5);
  EXPECT_EQ(served.ask("a", data, 0).pending, PendingKey::kKept);
  EXPECT_EQ(served.ask("", data, 1).pending, PendingKey::kNone);
  EXPECT_EQ(served.engine->pending_labels(), 1u);
  EXPECT_EQ(served.tell("b", 1).refused, 1u);
  EXPECT_EQ(served.refused.reason, Status::kUnknownKey);
  EXPECT_EQ(served.tell("a", 1).accepted, 1u);
  EXPECT_EQ(served.engine->pending_labels(), 0u);
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
  const ObserveResult result = served.engine->observe_outcomes({keys, targets}, {&refused, 1});
  EXPECT_EQ(result.accepted, 2u);
  EXPECT_EQ(result.duplicate, 1u);
  EXPECT_EQ(result.refused, 1u);
  EXPECT_EQ(refused.row, 1u);
  EXPECT_EQ(served.engine->observe_outcomes({keys, {targets.data(), 3}}, {}).status,
            Status::kMalformed);
}

TEST(Labels, TheNewestQuestionHasTheKey) {
  EngineConfig config = with_labels(config_of("linear"));
  Keyed served(config);
  TestEngine direct(config_of("linear"));
  const Data data = linear_data(10, 3, 1.0, 5);
  served.ask("a", data, 0);
  EXPECT_EQ(served.ask("a", data, 1).pending, PendingKey::kReplaced);
  EXPECT_EQ(served.engine->pending_labels(), 1u);
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
  EXPECT_EQ(served.engine->pending_labels(), 1u);
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

// The answer lies in the place of its key.
TEST(Labels, APlaceIsTakenAgainOnceItsRowIsScored) {
  EngineConfig config = with_labels(config_of("linear"), 1);
  config.score_predictions = true;
  Keyed served(config);
  const Data data = linear_data(100, 3, 1.0, 5);
  served.stream(data, 0, 60);
  const std::uint64_t scored = served.all().rows;
  const double sum = served.sum_of(&ScoreMeans::log_score);
  const double then = served.ask("a", data, 60, &data.y[60]).log_score;
  EXPECT_EQ(served.tell("a", data.y[60]).accepted, 1u);
  EXPECT_EQ(served.ask("b", data, 61).pending, PendingKey::kTableFull);
  served.clock.advance_ns(1'000'000);
  served.engine.poll_until_idle();
  EXPECT_EQ(served.all().rows, scored + 1);
  EXPECT_NEAR(served.sum_of(&ScoreMeans::log_score) - sum, then, 1e-10);
  EXPECT_EQ(served.ask("b", data, 61).pending, PendingKey::kKept);
}

TEST(Labels, AKeyTimesOutAndIsDropped) {
  Keyed served(with_labels(config_of("linear")));
  const Data data = linear_data(10, 3, 1.0, 5);
  served.ask("a", data, 0);
  served.clock.advance_ns(30 * kSecond);
  served.ask("b", data, 1);
  served.clock.advance_ns(30 * kSecond);
  // Its time is up, whether or not somebody has looked.
  EXPECT_EQ(served.tell("a", 1).refused, 1u);
  EXPECT_EQ(served.refused.reason, Status::kKeyTimedOut);
  EXPECT_EQ(served.engine->pending_labels(), 2u);
  EXPECT_EQ(served.engine->settle_labels(100).accepted, 0u);
  EXPECT_EQ(served.engine->pending_labels(), 1u);
  EXPECT_EQ(served.tell("a", 1).refused, 1u);
  EXPECT_EQ(served.refused.reason, Status::kKeyTimedOut);
  EXPECT_EQ(served.tell("b", 1).accepted, 1u);
  EXPECT_EQ(served.engine->head(), 1u);
  EXPECT_EQ(served.count(RuntimeCounter::kLabelsTimedOut), 1u);
  EXPECT_EQ(served.count(RuntimeCounter::kLabelsLate), 2u);
}

// Nobody has to call settle_labels() for a table to go on.
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

TEST(Labels, SilenceIsAnOutcomeWhereItIsSaidSo) {
  EngineConfig config = with_labels(config_of("logistic"));
  config.labels.timeout_outcome = 0;
  config.score_predictions = true;
  Keyed served(config);
  const Data data = data_for("logistic", 400, 5);
  served.stream(data, 0, 300);
  const double zero = 0;
  const double sum = served.sum_of(&ScoreMeans::log_score);
  const std::uint64_t scored = served.all().rows;
  const PredictiveSummary a = served.ask("a", data, 300, &zero);
  const PredictiveSummary b = served.ask("b", data, 301, &zero);
  served.clock.advance_ns(60 * kSecond);
  served.ask("c", data, 302);
  EXPECT_EQ(served.engine->settle_labels(1).accepted, 1u);
  EXPECT_EQ(served.engine->settle_labels(100).accepted, 1u);
  EXPECT_EQ(served.engine->settle_labels(100).accepted, 0u);
  EXPECT_EQ(served.engine->head(), 302u);
  EXPECT_EQ(served.tell("a", 1).refused, 1u);
  EXPECT_EQ(served.refused.reason, Status::kKeyTimedOut);
  served.engine.poll_until_idle();
  EXPECT_EQ(served.all().rows, scored + 2);
  EXPECT_NEAR(served.sum_of(&ScoreMeans::log_score) - sum, a.log_score + b.log_score, 1e-9);
  EXPECT_EQ(served.engine->pending_labels(), 1u);
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
  EXPECT_EQ(served.engine->settle_labels(100).status, Status::kOk) << "nothing is overdue";
  EXPECT_EQ(served.engine->pending_labels(), 2u);
  served.engine.poll_until_idle();
  EXPECT_EQ(served.tell("a", 1).accepted, 1u);
  served.clock.advance_ns(1);
  EXPECT_EQ(served.engine->settle_labels(100).accepted, 1u);
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
  EXPECT_EQ(served.engine->pending_labels(), 0u);
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

// They are in memory alone.
TEST(Labels, ACheckpointHasNoKeys) {
  EngineConfig config = with_labels(config_of("linear"));
  config.checkpoints = true;
  Keyed served(config);
  const Data data = linear_data(300, 3, 1.0, 5);
  served.stream(data, 0, 200);
  served.ask("a", data, 200);
  MemorySink sink;
  ASSERT_EQ(served.engine->save(sink), Status::kOk);
  MemorySource source(sink.bytes);
  ASSERT_TRUE(served.engine->restore(source).ok());
  EXPECT_EQ(served.engine->pending_labels(), 0u);
  EXPECT_EQ(served.tell("a", 1).refused, 1u);
  EXPECT_EQ(served.refused.reason, Status::kUnknownKey);
  EXPECT_EQ(served.ask("a", data, 200).pending, PendingKey::kKept);
}

// Rows that somebody else answered are scored as if they had come with their outcome.
TEST(Labels, RowsAnsweredElsewhereAreKeptToo) {
  EngineConfig config = with_labels(config_of("linear"));
  config.score_predictions = true;
  Keyed served(config);
  const Data data = linear_data(400, 3, 1.0, 5);
  served.stream(data, 0, 200);
  PredictRequest request = question(1, {&data.x(200, 0), 3});
  const std::string_view key = "a";
  request.keys = {&key, 1};
  PredictiveSummary summary;
  ASSERT_EQ(served.engine->keep_rows(request, {&summary, 1}), Status::kOk);
  EXPECT_EQ(summary.pending, PendingKey::kKept);
  served.stream(data, 200, 400);
  const double now = served.ask("", data, 200, &data.y[200]).log_score;
  const double sum = served.sum_of(&ScoreMeans::log_score);
  ASSERT_EQ(served.tell("a", data.y[200]).accepted, 1u);
  served.clock.advance_ns(1'000'000);
  served.engine.poll_until_idle();
  EXPECT_NEAR(served.sum_of(&ScoreMeans::log_score) - sum, now, 1e-9);
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
      const ObserveResult result = engine->observe_outcomes({{&key, 1}, {&y, 1}}, {});
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
  EXPECT_EQ(engine->pending_labels(), 0u);
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
  // A row of 4 numbers, an answer of 4 and 8, and the place.
  EXPECT_LE(more - some, (16 * sizeof(double) + 128) << 10);
  EXPECT_GE(more - some, (16 * sizeof(double) + kMaxKeyBytes) << 10);
}

}  // namespace
}  // namespace windhover::test::labels_test
