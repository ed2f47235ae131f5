// Trials of rows on their way in and of questions: what is refused, followers, checkpoints, late
// labels.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "windhover/runtime/window/row_follower.h"
#include "windhover/tests/runtime/checkpoint_fixture.h"
#include "windhover/tests/runtime/labels_fixture.h"

namespace windhover::test::trials_rows_test {
namespace {

using labels_test::Keyed;
using labels_test::with_labels;

ObserveResult observe(TestEngine& engine, double y, const double* trials, RefusedRow* why) {
  const std::array<double, 1> x = {0.5};
  ObservationBatch batch;
  batch.rows = 1;
  batch.features = reinterpret_cast<const std::byte*>(x.data());
  batch.feature_values = 1;
  batch.targets = reinterpret_cast<const std::byte*>(&y);
  batch.trials = reinterpret_cast<const std::byte*>(trials);
  return engine->observe(batch, {why, 1});
}

Status ask(TestEngine& engine, const double* trials, double y = 0) {
  const std::array<double, 1> x = {0.5};
  const std::array<double, 1> outcomes = {y};
  PredictRequest request = question(1, x, outcomes);
  if (trials != nullptr) request.trials = {trials, 1};
  PredictiveSummary answer;
  Provenance provenance;
  return engine.reader().predict(request, {&answer, 1}, provenance);
}

constexpr double kWrong[] = {std::numeric_limits<double>::quiet_NaN(), 0.0, -1.0, 2.5, 1e9 + 1,
                             std::numeric_limits<double>::infinity()};

TEST(TrialsRows, WhatCannotBeIsRefusedByItself) {
  TestEngine engine(small_config("binomial", 1, 100));
  RefusedRow why;
  for (const double wrong : kWrong) {
    EXPECT_EQ(observe(engine, 0, &wrong, &why).refused, 1U) << wrong;
    EXPECT_EQ(why.reason, Status::kTrialsOutOfRange) << wrong;
    EXPECT_EQ(ask(engine, &wrong), Status::kTrialsOutOfRange) << wrong;
  }
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kRowsRefusedTrials), 6U);
  const double five = 5;
  const double most = 1e9;
  for (const double y : {-1.0, 0.5, 6.0}) {
    EXPECT_EQ(observe(engine, y, &five, &why).refused, 1U) << y;
    EXPECT_EQ(why.reason, Status::kTargetOutOfDomain) << y;
    EXPECT_EQ(ask(engine, &five, y), Status::kTargetOutOfDomain) << y;
  }
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kRowsRefusedTarget), 3U);
  for (const double y : {0.0, 5.0}) EXPECT_EQ(observe(engine, y, &five, &why).accepted, 1U) << y;
  EXPECT_EQ(observe(engine, most, &most, &why).accepted, 1U);
  EXPECT_EQ(engine->head(), 3U);
  // One trial, where a question says nothing.
  EXPECT_EQ(ask(engine, nullptr, 2), Status::kTargetOutOfDomain);
  EXPECT_EQ(ask(engine, nullptr, 1), Status::kOk);
}

TEST(TrialsRows, TheyAreNeededAndTakenByBinomialModelsAlone) {
  TestEngine engine(small_config("binomial", 1, 100));
  RefusedRow why;
  EXPECT_EQ(observe(engine, 1, nullptr, &why).status, Status::kTrialsMissing);
  const std::array<double, 1> x = {0.5};
  EXPECT_EQ(engine->observe(x, 1), Status::kTrialsMissing);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kRowsRefusedTrials), 2U);
  const double one = 1;
  for (const char* model : {"logistic", "poisson", "linear"}) {
    TestEngine none(small_config(model, 1, 100));
    EXPECT_EQ(observe(none, 1, &one, &why).status, Status::kTrialsNotTaken) << model;
    EXPECT_EQ(ask(none, &one), Status::kTrialsNotTaken) << model;
    EXPECT_EQ(none->counters().get(RuntimeCounter::kRowsRefusedTrials), 1U) << model;
    EXPECT_EQ(none->head(), 0U);
  }
  // They stand where an offset would.
  EngineConfig offset = small_config("binomial", 1, 100);
  offset.model.offset = true;
  const auto checked = check(offset);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(std::string(checked.error().sentence),
            "model.offset must be false for binomial: its rows have trials in its place");
  ObservationBatch batch;
  batch.rows = 1;
  batch.features = reinterpret_cast<const std::byte*>(x.data());
  batch.feature_values = 1;
  batch.targets = batch.offsets = batch.trials = reinterpret_cast<const std::byte*>(&one);
  EXPECT_EQ(engine->observe(batch, {}).status, Status::kOffsetNotTaken);
}

Data counted(Index rows, std::uint64_t seed) {
  Data data = linear_data(rows, 3, 0.5, seed);
  data.trials = (12 * uniforms(seed + 1, rows)).array().floor() + 1;
  for (Index i = 0; i < rows; ++i) {
    data.y[i] = std::round(data.trials[i] / (1 + std::exp(-data.y[i])));
  }
  return data;
}

// What is asked with a key will be a row, and a row says its trials.
TEST(TrialsRows, AKeyWantsThem) {
  EngineConfig config = small_config("binomial", 3, 200);
  config.labels = {.pending = 4, .timeout_seconds = 60};
  TestEngine engine(config);
  const std::array<double, 3> x = {0.5, 1, -1};
  const std::array<std::string_view, 1> keys = {"a"};
  const std::array<double, 1> trials = {9};
  PredictRequest request = question(1, x);
  request.keys = keys;
  PredictiveSummary answer;
  Provenance provenance;
  EXPECT_EQ(engine.reader().predict(request, {&answer, 1}, provenance), Status::kTrialsMissing);
  request.trials = trials;
  EXPECT_EQ(engine.reader().predict(request, {&answer, 1}, provenance), Status::kOk);
  EXPECT_EQ(answer.pending, PendingKey::kKept);
}

TEST(TrialsRows, PackedRowsAndFollowersHaveThem) {
  for (const std::uint32_t max_nonzeros : {0U, 3U}) {
    for (const bool weight : {false, true}) {
      EngineConfig config = small_config("binomial", 3, 200);
      config.model.max_nonzeros = max_nonzeros;
      config.model.weight = weight;
      config.max_followers = 1;
      ManualClock clock(1'000'000);
      TestEngine one(config, &clock);
      RowFollower follower = one->follower().value();
      Data data = counted(100, 51);
      if (weight) data.weight = normals(53, 100).array().exp();
      for (Index i = 0; i < 100; ++i) {
        ObservationBatch b = TestEngine::batch(data, i, 1);
        const std::uint32_t end = 3;
        const std::array<std::uint32_t, 3> indices = {0, 1, 2};
        if (max_nonzeros > 0) {
          b.indices = reinterpret_cast<const std::byte*>(indices.data());
          b.row_ends = reinterpret_cast<const std::byte*>(&end);
        }
        ASSERT_EQ(one->observe(b, {}).accepted, 1U);
      }
      std::vector<std::byte> bytes(follower.packed_bytes(0, 100));
      ASSERT_EQ(follower.pack(0, 100, bytes), bytes.size());
      TestEngine other(config, &clock, 0xA5);
      ASSERT_EQ(other->observe_packed(bytes, 100).accepted, 100U);
      EXPECT_EQ(difference(save(*one), save(*other)), "");
      // Damaged trials are refused as those that came.
      const double wrong = -1;
      const std::size_t at = max_nonzeros == 0 ? 4 * sizeof(double) : 4 + sizeof(double);
      std::memcpy(bytes.data() + at, &wrong, sizeof(wrong));
      TestEngine third(config, &clock, 0xA5);
      EXPECT_EQ(third->observe_packed(bytes, 100).refused, 1U);
      EXPECT_EQ(third->counters().get(RuntimeCounter::kRowsRefusedTrials), 1U);
      // A row with an offset is as long, and is another row.
      EngineConfig following = small_config("poisson", 3, 200);
      following.model.max_nonzeros = max_nonzeros;
      following.model.weight = weight;
      following.model.offset = true;
      following.follows = true;
      TestEngine without(following);
      EXPECT_EQ(without->follow(*one), Status::kWrongDimension);
    }
  }
}

TEST(TrialsRows, CheckpointHoldsThem) {
  EngineConfig config = saved_config();
  config.model.name = "binomial";
  Data data = linear_data(150, 2, 1.0, 3);
  data.trials = VectorXd::Constant(150, 3);
  data.y = (data.y.array() > 0).select(VectorXd::Constant(150, 2), VectorXd::Zero(150));
  expect_goes_on_alike(config, data, 100);
}

// A question keeps its trials until its outcome is told (label_scores_test.cc has the rest).
TEST(TrialsRows, AnOutcomeBeyondTheTrialsAskedAboutIsRefused) {
  const Data data = counted(400, 63);
  Keyed served(with_labels(small_config("binomial", 3, 300)));
  served.stream(data, 0, 300);
  served.ask("late", data, 320);
  EXPECT_EQ(served.tell("late", data.trials[320] + 1).refused, 1U);
  EXPECT_EQ(served.refused.reason, Status::kTargetOutOfDomain);
  served.ask("late", data, 320);
  EXPECT_EQ(served.tell("late", data.trials[320]).accepted, 1U);
}

TEST(TrialsRows, SilenceMayMeanOneSuccessAtMost) {
  for (const double outcome : {0.0, 1.0, 2.0}) {
    EngineConfig config = with_labels(small_config("binomial", 3, 300));
    config.labels.timeout_outcome = outcome;
    EXPECT_EQ(check(config).ok(), outcome <= 1) << outcome;
  }
}

}  // namespace
}  // namespace windhover::test::trials_rows_test
