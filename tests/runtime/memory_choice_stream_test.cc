// Horizon::kAdaptive on streams of outliers, of labels that stay the same for long, and of classes
// that change places.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "windhover/runtime/learning/memory_choice.h"
#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::memory_choice_stream_test {
namespace {

constexpr Index kFirst = 2'000;

EngineConfig config_of(const char* model, Index features, Horizon horizon) {
  EngineConfig config = small_config(model, static_cast<std::uint32_t>(features), 100'000);
  config.horizon = horizon;
  config.model.prior_precision = config.model.intercept_precision = 0;
  if (config.model.name == "linear") config.model.noise_variance = 0;
  config.draws_per_observation = 0.5;
  config.max_query_rows = 100;
  return config;
}

struct Followed {
  double log_score =
      0;  // of a row after the first kFirst; what is worse than -1,000 counts as that
  Index warming_up = 0;  // answers after the first 100 rows
};

// Rows `frame` at a time, each predicted before it is learned from.
Followed follow(const EngineConfig& config, const Data& data, Index frame) {
  TestEngine engine(config);
  Followed followed;
  for (Index at = 0; at < data.rows(); at += frame) {
    std::vector<double> features;
    for (Index i = at; i < at + frame; ++i) {
      for (Index j = 0; j < data.x.cols(); ++j) features.push_back(data.x(i, j));
    }
    PredictRequest request;
    request.rows = static_cast<std::size_t>(frame);
    request.features = features;
    request.outcomes = {data.y.data() + at, static_cast<std::size_t>(frame)};
    const std::vector<PredictiveSummary> answers = engine.answers(request);
    for (const PredictiveSummary& answer : answers) {
      if (at >= kFirst) followed.log_score += std::max(answer.log_score, -1'000.0);
    }
    const bool warm = engine.provenance().status != PosteriorStatus::kWarmingUp;
    if (at >= 100 && !warm) followed.warming_up += frame;
    engine.feed(data, at, at + frame);
    engine.poll_until_idle();
  }
  followed.log_score /= static_cast<double>(data.rows() - kFirst);
  return followed;
}

// One row of a hundred is a hundred noise sd off. Which they are nobody knows before; that they
// come, and how far off, is learned: the law of the rows has 1.52 nats a row, one normal 3.8. The
// first few outliers nobody can know of.
TEST(MemoryChoiceStream, GrossOutliersAreExpected) {
  Data data = linear_data(8'000, 6, 1.0, 21);
  const VectorXd u = uniforms(22, data.rows());
  const VectorXd z = normals(23, data.rows());
  for (Index i = 0; i < data.rows(); ++i) {
    if (u[i] < 0.01) data.y[i] += 100 * z[i];
  }
  const MatrixXd design = data.design();
  double law = 0;  // log score of the rows by the law that made them
  for (Index i = kFirst; i < data.rows(); ++i) {
    const double off = data.y[i] - design.row(i).dot(data.truth);
    law += std::log(0.99 * std::exp(normal_log_density(off, 1)) +
                    0.01 * std::exp(normal_log_density(off, 10'001)));
  }
  law /= static_cast<double>(data.rows() - kFirst);
  for (const Index frame : {10, 100}) {
    const double adaptive =
        follow(config_of("linear", 6, Horizon::kAdaptive), data, frame).log_score;
    const double window = follow(config_of("linear", 6, Horizon::kWindow), data, frame).log_score;
    std::printf("%d rows at a time: %.3f, a window %.3f, the law %.3f\n", static_cast<int>(frame),
                adaptive, window, law);
    EXPECT_GT(adaptive, law - 0.3) << frame;
  }
}

// Rows that all count as a hundred say of noise and jumps what rows that count as one do.
TEST(MemoryChoiceStream, WeightsThatAreAllAlikeChangeNothing) {
  Data data = linear_data(6'000, 6, 1.0, 41);
  const VectorXd direction = normals(42, 6).normalized();
  for (Index i = 3'000; i < data.rows(); ++i) data.y[i] += data.x.row(i).dot(direction);
  EngineConfig config = config_of("linear", 6, Horizon::kAdaptive);
  const double once = follow(config, data, 10).log_score;
  config.model.weight = true;
  data.weight = VectorXd::Constant(data.rows(), 100);
  const double hundred = follow(config, data, 10).log_score;
  std::printf("counting once %.3f, a hundred times %.3f\n", once, hundred);
  EXPECT_NEAR(hundred, once, 0.002);
}

// 0 or 1 for some dozens of rows each: the shortest memory predicts best, of fewer rows than a cold
// start wants, and often all of them are of one class. When another comes the chains start anew.
TEST(MemoryChoiceStream, AColdStartOfTheShortestMemoryEnds) {
  constexpr Index kRows = 3'000;
  Data data = linear_data(kRows, 5, 0, 31);
  const VectorXd z = normals(32, kRows);
  double level = 0;
  for (Index i = 0; i < kRows; ++i) {
    level = 0.97 * level + z[i];
    data.x(i, 0) = 0.2 * level + 0.5 * data.x(i, 0);
    data.y[i] = level > 0 ? 1 : 0;
  }
  const Followed followed = follow(config_of("logistic", 5, Horizon::kAdaptive), data, 1);
  std::printf("%d of %d answers were warming up\n", static_cast<int>(followed.warming_up),
              static_cast<int>(kRows) - 100);
  EXPECT_LE(followed.warming_up, 20);
}

// Two classes without noise between them, which change places every 1,500 rows. A short memory's
// posterior takes the border between them for sharper than it is known.
Data classes_that_change_places(Index rows) {
  Data data = linear_data(rows, 3, 0, 51);
  for (Index i = 0; i < rows; ++i) {
    const bool above = data.x(i, 0) > 0.3 * std::sin(data.x(i, 1));
    data.y[i] = above == (i / 1'500 % 2 == 0) ? 1 : 0;
  }
  return data;
}

// The sign of a level that walks back to 0 in some 30 rows, and hardly follows from x.
Data sticky_labels(Index rows) {
  Data data = linear_data(rows, 3, 0, 61);
  const VectorXd z = normals(62, rows);
  double level = 0;
  for (Index i = 0; i < rows; ++i) {
    level = 0.97 * level + z[i];
    data.y[i] = level + data.x(i, 0) > 0 ? 1 : 0;
  }
  return data;
}

// Where the mode of the last rows is a worse forecast than the filters that it was chosen by,
// answers are nearer to these. At the posterior's mean alone it is -0.293 and -0.604.
TEST(MemoryChoiceStream, WhatIsServedPredictsAsWhatWasCompared) {
  const double places =
      follow(config_of("logistic", 3, Horizon::kAdaptive), classes_that_change_places(8'000), 10)
          .log_score;
  const double sticky =
      follow(config_of("logistic", 3, Horizon::kAdaptive), sticky_labels(8'000), 10).log_score;
  std::printf("classes that change places %.4f, sticky labels %.4f\n", places, sticky);
  EXPECT_GT(places, -0.2);
  EXPECT_GT(sticky, -0.595);
}

}  // namespace
}  // namespace windhover::test::memory_choice_stream_test
