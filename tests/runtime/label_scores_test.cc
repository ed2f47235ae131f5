// Labels that come late: the row is an observation as any other, and its score that of the answer
// given when it was asked about.
#include <string>

#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/labels_fixture.h"

namespace windhover::test::labels_test {
namespace {

// The rounding error of a sum of 800 scores of about 1 is below 800 x 800 x 2^-53 = 7e-11.
constexpr double kOff = 1e-9;

class EveryModel : public testing::TestWithParam<const char*> {};

TEST_P(EveryModel, ScoresTheAnswerOfThen) {
  Learned served(scored_config_of(GetParam()), 11);
  const Data& data = served.data;
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
    served.learn();
    const ScoreMeans after = served.all();
    ASSERT_EQ(after.rows, before.rows + 1);
    EXPECT_NEAR(served.sum_of(&ScoreMeans::log_score) - log_scores, then[i].log_score, kOff);
    const Response response = find_model(GetParam())->response;
    if (!has_dispersion(response)) continue;
    for (std::size_t k = 0; k < kScoredIntervals.size(); ++k) {
      const double covered = after.coverage[k] * static_cast<double>(after.rows) -
                             before.coverage[k] * static_cast<double>(before.rows);
      const bool inside = std::abs(then[i].pit - 0.5) <= 0.5 * kScoredIntervals[k];
      EXPECT_NEAR(covered, inside ? 1 : 0, kOff);
    }
  }
  // It is another answer by now, and the sums would tell: what was scored is not that.
  Learned now(scored_config_of(GetParam()), 11);
  now.stream(data, 320, 780);
  double apart = 0;
  for (Index i = 0; i < kAsked; ++i) {
    const PredictiveSummary s = now.ask("", data, 300 + i, &data.y[300 + i]);
    apart = std::max(apart, std::abs(s.log_score - then[i].log_score));
  }
  EXPECT_GT(apart, 1'000 * kOff);
}

// The first rows are answered by another law of y than later ones.
TEST(LabelScores, AnAnswerToOneOfTheFirstRowsIsScoredAsGiven) {
  for (const char* model : {"linear", "log-normal"}) {
    for (const Horizon horizon : {Horizon::kWindow, Horizon::kAdaptive, Horizon::kAll}) {
      EngineConfig config = scored_config_of(model);
      config.horizon = horizon;
      config.model.noise_variance = 0;
      const Data data = data_for(model, 40, 11);
      Keyed served(config);
      served.stream(data, 0, 20);
      for (Index row = 20; row < 24; ++row) {
        const std::string key = std::to_string(row);
        const double y = 3 * data.y[row];
        const PredictiveSummary then = served.ask(key, data, row, &y);
        const double before = served.sum_of(&ScoreMeans::log_score);
        ASSERT_EQ(served.tell(key, y).accepted, 1u);
        served.learn();
        EXPECT_NEAR(served.sum_of(&ScoreMeans::log_score) - before, then.log_score, kOff)
            << model << " " << to_string(horizon) << " " << row;
      }
    }
  }
}

// Two keys of one row were answered with `then`: of outcomes on both sides of where its 80 %
// conformal interval ended one is said to have been held, and not the other. By `now`, and by the
// scores where intervals end now, both would have the same said of them.
void expect_held_as_served(Keyed& served, const PredictiveSummary& then,
                           const PredictiveSummary& now) {
  const double little = 1e-6 * (then.conformal_upper - then.conformal_lower);
  ASSERT_GT(std::abs(now.conformal_upper - then.conformal_upper), 100 * little);
  ASSERT_GT(std::abs(now.conformal_alpha - then.conformal_alpha), 1e-4);
  EXPECT_TRUE(served.held_80("within", then.conformal_upper - little));
  EXPECT_FALSE(served.held_80("beyond", then.conformal_upper + little));
}

// The same row twice, with a key each.
struct AskedTwice {
  AskedTwice(const Data& data, Index row) {
    for (int i = 0; i < 2; ++i) x.insert(x.end(), &data.x(row, 0), &data.x(row, 0) + 3);
    request = question(2, x);
    request.keys = keys;
    request.interval_probability = 0.8;
    if (data.trials.size() > 0) trials.assign(2, data.trials[row]);
    request.trials = trials;
  }
  PredictRequest keyless() const {
    PredictRequest same = request;
    same.keys = {};
    return same;
  }

  std::vector<double> x;
  std::vector<double> trials;
  const std::vector<std::string_view> keys = {"within", "beyond"};
  PredictRequest request;
};

TEST_P(EveryModel, HoldsTheIntervalsThatWereServed) {
  Learned served(scored_config_of(GetParam()), 12);
  const AskedTwice asked(served.data, 300);
  const PredictiveSummary then = served.engine.answers(asked.request)[0];
  served.stream(served.data, 320, 780);
  const Response response = find_model(GetParam())->response;
  if (has_dispersion(response)) {
    expect_held_as_served(served, then, served.engine.answers(asked.keyless())[0]);
    return;
  }
  const double y = served.data.y[300];
  const bool held = has_classes(response)
                        ? (then.conformal_set >> static_cast<unsigned>(y) & 1) != 0
                        : y >= then.conformal_lower && y <= then.conformal_upper;
  EXPECT_EQ(served.held_80("within", y), held);
}

// Intervals move while an answer is under way: what it began with is what is said and scored.
TEST(LabelScores, AnAnswerInPiecesHoldsTheIntervalsItBeganWith) {
  Learned served(scored_config_of("linear"), 12);
  const AskedTwice asked(served.data, 300);
  Reader reader = served.engine->reader().value();
  ASSERT_EQ(reader.begin_predict(asked.request), Status::kOk);
  const PredictiveSummary before = served.engine.answers(asked.keyless())[0];
  served.stream(served.data, 320, 780);
  std::vector<PredictiveSummary> then(2);
  Provenance provenance;
  reader.predict_rows(asked.request, 0, 2, then);
  reader.end_predict(asked.request, then, provenance);
  EXPECT_EQ(then[0].conformal_upper, before.conformal_upper);
  expect_held_as_served(served, then[0], served.engine.answers(asked.keyless())[0]);
}

INSTANTIATE_TEST_SUITE_P(Labels, EveryModel,
                         testing::Values("linear", "student-t", "log-normal", "logistic", "poisson",
                                         "negative-binomial", "binomial", "zero-inflated-poisson",
                                         "heteroscedastic", "softmax", "mlp-linear", "mlp-logistic",
                                         "mlp-softmax"),
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
    const ObserveResult result = late.engine->labels().observe({keys, {&data.y[first], 100}}, {});
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
  expect_same_bits(config_of("binomial"), data_for("binomial", 800, 8));
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

// The answer lies in the place of its key.
TEST(LabelScores, APlaceIsTakenAgainOnceItsRowIsScored) {
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
  served.learn();
  EXPECT_EQ(served.all().rows, scored + 1);
  EXPECT_NEAR(served.sum_of(&ScoreMeans::log_score) - sum, then, kOff);
  EXPECT_EQ(served.ask("b", data, 61).pending, PendingKey::kKept);
}

// A joined row that the learner is still to score takes its own place, and none of the others'.
TEST(LabelScores, WhatHasTimedOutMakesRoomBesideARowThatIsNotScoredYet) {
  EngineConfig config = with_labels(config_of("linear"), 4);
  config.score_predictions = true;
  Keyed served(config);
  const Data data = linear_data(100, 3, 1.0, 5);
  for (const char* key : {"a", "b", "c", "d"}) served.ask(key, data, 0);
  EXPECT_EQ(served.tell("a", 1).accepted, 1u);
  served.clock.advance_ns(60 * kSecond);
  served.engine->labels().settle(100);
  EXPECT_EQ(served.engine->labels().pending(), 0u);
  for (const char* key : {"e", "f", "g"}) {
    EXPECT_EQ(served.ask(key, data, 0).pending, PendingKey::kKept);
  }
  EXPECT_EQ(served.ask("h", data, 0).pending, PendingKey::kTableFull);
  EXPECT_EQ(served.tell("a", 1).duplicate, 1u) << "it has its place until it is scored";
  served.learn();
  EXPECT_EQ(served.ask("h", data, 0).pending, PendingKey::kKept);
}

// What was settled last is known longest, however it was.
TEST(LabelScores, ThePlaceSettledFirstIsTakenFirst) {
  for (const bool joined_first : {false, true}) {
    EngineConfig config = with_labels(config_of("linear"), 2);
    config.score_predictions = true;
    Keyed served(config);
    const Data data = linear_data(100, 3, 1.0, 5);
    const auto join = [&] {
      EXPECT_EQ(served.tell("a", 1).accepted, 1u);
      served.learn();
    };
    served.ask("b", data, 0);
    served.clock.advance_ns(30 * kSecond);
    served.ask("a", data, 0);
    if (joined_first) join();
    served.clock.advance_ns(30 * kSecond);
    served.engine->labels().settle(100);
    if (!joined_first) join();
    EXPECT_EQ(served.ask("c", data, 0).pending, PendingKey::kKept);
    served.tell("b", 1);
    EXPECT_EQ(served.refused.reason, joined_first ? Status::kKeyTimedOut : Status::kUnknownKey);
    EXPECT_EQ(served.tell("a", 1).duplicate, joined_first ? 0u : 1u);
  }
}

TEST(LabelScores, SilenceIsAnOutcomeWhereItIsSaidSo) {
  EngineConfig config = scored_config_of("logistic");
  config.labels.timeout_outcome = 0;
  Learned served(config, 5);
  const Data& data = served.data;
  const double zero = 0;
  const double sum = served.sum_of(&ScoreMeans::log_score);
  const std::uint64_t scored = served.all().rows;
  const PredictiveSummary a = served.ask("a", data, 300, &zero);
  const PredictiveSummary b = served.ask("b", data, 301, &zero);
  served.clock.advance_ns(60 * kSecond);
  served.ask("c", data, 302);
  EXPECT_EQ(served.engine->labels().settle(1).accepted, 1u);
  EXPECT_EQ(served.engine->labels().settle(100).accepted, 1u);
  EXPECT_EQ(served.engine->labels().settle(100).accepted, 0u);
  EXPECT_EQ(served.engine->head(), 302u);
  EXPECT_EQ(served.tell("a", 1).refused, 1u);
  EXPECT_EQ(served.refused.reason, Status::kKeyTimedOut);
  served.engine.poll_until_idle();
  EXPECT_EQ(served.all().rows, scored + 2);
  EXPECT_NEAR(served.sum_of(&ScoreMeans::log_score) - sum, a.log_score + b.log_score, kOff);
  EXPECT_EQ(served.engine->labels().pending(), 1u);
}

// Rows that somebody else answered are scored as if they had come with their outcome.
TEST(LabelScores, RowsAnsweredElsewhereAreKeptToo) {
  Learned served(scored_config_of("linear"), 5);
  const Data& data = served.data;
  PredictRequest request = question(1, {&data.x(300, 0), 3});
  const std::string_view key = "a";
  request.keys = {&key, 1};
  PredictiveSummary summary;
  ASSERT_EQ(served.engine->labels().may_keep(request), Status::kOk);
  served.engine->labels().keep(request, 0, 1, {&summary, 1});
  EXPECT_EQ(summary.pending, PendingKey::kKept);
  served.stream(data, 320, 780);
  const double now = served.ask("", data, 300, &data.y[300]).log_score;
  const double sum = served.sum_of(&ScoreMeans::log_score);
  ASSERT_EQ(served.tell("a", data.y[300]).accepted, 1u);
  served.learn();
  EXPECT_NEAR(served.sum_of(&ScoreMeans::log_score) - sum, now, kOff);
}

}  // namespace
}  // namespace windhover::test::labels_test
