// What the tests of late labels share: models, their rows, and an engine that is asked with keys.
#ifndef WINDHOVER_TESTS_RUNTIME_LABELS_FIXTURE_H_
#define WINDHOVER_TESTS_RUNTIME_LABELS_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "windhover/runtime/scoring/prediction_scores.h"
#include "windhover/tests/runtime/checkpoint_fixture.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::labels_test {

constexpr std::int64_t kSecond = 1'000'000'000;

inline EngineConfig with_labels(EngineConfig config, std::uint32_t pending = 64) {
  config.labels.pending = pending;
  config.labels.timeout_seconds = 60;
  return config;
}

// Rows that the model can have, with three features.
inline Data data_for(std::string_view model, Index rows, std::uint64_t seed) {
  Data data = linear_data(rows, 3, 0.5, seed);
  for (double& y : data.y) {
    if (model == "log-normal") y = std::exp(y);
    if (model == "logistic" || model == "mlp-logistic") y = y > 0.3 ? 1 : 0;
    if (is_count(find_model(model)->response)) y = std::floor(std::exp(0.5 * y));
    if (model == "softmax" || model == "mlp-softmax") y = y < -0.5 ? 0 : (y < 0.5 ? 1 : 2);
  }
  if (model == "binomial") {
    data.trials = (12 * uniforms(seed + 1, rows)).array().floor() + 1;
    data.y = (data.trials.array() / (1 + (-data.y.array()).exp())).round();
  }
  return data;
}

inline EngineConfig config_of(std::string_view model) {
  EngineConfig config = small_config(model.data(), 3, 400);
  config.model.classes = 3;
  config.model.hidden = 4;
  return config;
}

// The same with labels that may come late, and scores.
inline EngineConfig scored_config_of(std::string_view model) {
  EngineConfig config = with_labels(config_of(model));
  config.score_predictions = true;
  return config;
}

// An engine that is asked with keys, and a clock that moves by hand.
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
    const std::vector<double> trials = {data.trials.size() > 0 ? data.trials[row] : 1};
    if (data.trials.size() > 0) request.trials = trials;
    request.keys = {&key, 1};
    return engine.answers(request)[0];
  }
  ObserveResult tell(std::string_view key, double y) {
    refused = {};
    return engine->labels().observe({{&key, 1}, {&y, 1}}, {&refused, 1});
  }
  // A millisecond goes by, and everything is scored and learned from.
  void learn() {
    clock.advance_ns(1'000'000);
    engine.poll_until_idle();
  }
  std::uint64_t count(RuntimeCounter counter) { return engine->counters().get(counter); }
  // Rows as they come, with time to learn from them.
  void stream(const Data& data, Index first, Index last) {
    for (Index i = first; i < last; i += 20) {
      engine.feed(data, i, std::min(i + 20, last));
      learn();
    }
  }
  ScoreMeans all() {
    PredictionScores scores;
    EXPECT_TRUE(engine->scores(scores));
    return scores.means.back();
  }
  // Tells it, and whether the answer's 80 % conformal interval is then said to have held it.
  bool held_80(std::string_view key, double y) {
    const ScoreMeans before = all();
    EXPECT_EQ(tell(key, y).accepted, 1u);
    learn();
    const ScoreMeans after = all();
    EXPECT_EQ(after.rows, before.rows + 1);
    const double counted = after.conformal_coverage[1] * static_cast<double>(after.rows) -
                           before.conformal_coverage[1] * static_cast<double>(before.rows);
    EXPECT_NEAR(counted, std::round(counted), 1e-9);
    return counted > 0.5;
  }
  double sum_of(double ScoreMeans::*mean) {
    const ScoreMeans means = all();
    return means.*mean * static_cast<double>(means.rows);
  }

  ManualClock clock;
  TestEngine engine;
  RefusedRow refused;
};

// One that has learned from 300 of 800 rows that its model can have.
class Learned : public Keyed {
 public:
  Learned(const EngineConfig& config, std::uint64_t seed)
      : Keyed(config), data(data_for(config.model.name, 800, seed)) {
    stream(data, 0, 300);
  }

  const Data data;
};

}  // namespace windhover::test::labels_test

#endif  // WINDHOVER_TESTS_RUNTIME_LABELS_FIXTURE_H_
