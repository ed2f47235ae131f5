// What the tests of row blocks share: sparse rows, and an engine of a diagonal structure.
#ifndef WINDHOVER_TESTS_RUNTIME_ROW_BLOCK_FIXTURE_H_
#define WINDHOVER_TESTS_RUNTIME_ROW_BLOCK_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "windhover/platform/random.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::row_block_test {

// Sparse rows of ones with their targets, and the linear predictors behind them.
struct SparseRows {
  std::vector<double> values;
  std::vector<std::uint32_t> columns;
  std::vector<std::size_t> starts = {0};
  std::vector<double> targets;
  std::vector<double> predictors;
  std::vector<double> weights;  // none: the model has none

  std::size_t rows() const { return targets.size(); }
  std::size_t nonzeros(std::size_t row) const { return starts[row + 1] - starts[row]; }
};

inline double uniform(std::uint64_t seed, std::uint64_t step) {
  double u = 0;
  fill_uniforms(seed, {step, 0, Purpose::kTest}, {&u, 1});
  return u;
}

// y at a linear predictor, of a uniform number.
using Outcome = double (*)(double eta, double u);

inline double class_of(double eta, double u) { return u < 1 / (1 + std::exp(-eta)) ? 1 : 0; }

// `fields` categories a row, each of features / fields kinds, frequent ones first.
inline SparseRows rows_of(std::size_t rows, std::uint32_t features, std::uint32_t fields,
                          const VectorXd& truth, std::uint64_t seed, Outcome outcome = class_of) {
  SparseRows made;
  const std::uint32_t kinds = features / fields;
  std::uint64_t step = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    double eta = truth[features];
    for (std::uint32_t f = 0; f < fields; ++f) {
      const double u = uniform(seed, step++);
      const std::uint32_t column = f * kinds + static_cast<std::uint32_t>(kinds * u * u);
      made.columns.push_back(column);
      made.values.push_back(1);
      eta += truth[column];
    }
    made.starts.push_back(made.columns.size());
    made.predictors.push_back(eta);
    made.targets.push_back(outcome(eta, uniform(seed, step++)));
  }
  return made;
}

inline void feed(TestEngine& engine, const SparseRows& data, std::size_t first, std::size_t last) {
  while (first < last) {
    const std::size_t rows = std::min<std::size_t>(100, last - first);
    std::vector<std::uint32_t> ends;
    for (std::size_t i = 1; i <= rows; ++i) {
      ends.push_back(static_cast<std::uint32_t>(data.starts[first + i] - data.starts[first]));
    }
    ObservationBatch batch;
    batch.rows = rows;
    batch.features = reinterpret_cast<const std::byte*>(&data.values[data.starts[first]]);
    batch.feature_values = ends.back();
    batch.indices = reinterpret_cast<const std::byte*>(&data.columns[data.starts[first]]);
    batch.row_ends = reinterpret_cast<const std::byte*>(ends.data());
    batch.targets = reinterpret_cast<const std::byte*>(&data.targets[first]);
    if (!data.weights.empty()) {
      batch.weights = reinterpret_cast<const std::byte*>(&data.weights[first]);
    }
    std::vector<RefusedRow> refused(rows);
    const ObserveResult result = engine->observe(batch, refused);
    if (result.status == Status::kWindowFull) {
      engine->poll(10);
      continue;
    }
    ASSERT_EQ(result.status, Status::kOk);
    ASSERT_EQ(result.accepted, rows);
    first += rows;
  }
}

inline PredictiveSummary answer(TestEngine& engine, const SparseRows& data, std::size_t row,
                                Provenance* provenance = nullptr) {
  const auto end = static_cast<std::uint32_t>(data.nonzeros(row));
  PredictRequest request;
  request.rows = 1;
  request.features = {&data.values[data.starts[row]], end};
  request.indices = {&data.columns[data.starts[row]], end};
  request.row_ends = {&end, 1};
  return engine.answers(request, provenance)[0];
}

inline EngineConfig config_of(std::uint32_t features, std::uint32_t nonzeros) {
  EngineConfig config;
  config.model.name = "logistic";
  config.model.features = features;
  config.model.max_nonzeros = nonzeros;
  config.structure = Structure::kDiagonal;
  config.window_size = 20'000;
  config.max_frame_rows = 1'000;
  config.window_slack = 2'000;
  return config;
}

inline VectorXd truth_of(std::uint32_t features, double sd) {
  VectorXd truth = sd * normals(23, Index{features} + 1);
  truth[features] = -0.5;
  return truth;
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The share of the rows from `first` on whose linear predictor is in its interval of 90 %.
inline double held(TestEngine& engine, const SparseRows& data, std::size_t first,
                   Provenance* provenance) {
  double held = 0;
  for (std::size_t row = first; row < data.rows(); ++row) {
    const PredictiveSummary s = answer(engine, data, row, provenance);
    held += std::abs(data.predictors[row] - s.linpred_mean) < 1.645 * s.linpred_sd ? 1 : 0;
  }
  return held / static_cast<double>(data.rows() - first);
}

// Expects the same answers from both engines for the rows from `first` on, which neither has seen.
// The diagonal one has 32 chains and 256 draws. Returns the provenance of its answers.
inline Provenance expect_equal_answers(TestEngine& diagonal, TestEngine& full,
                                       const SparseRows& data, std::size_t first) {
  Provenance provenance;
  std::vector<double> ratios;
  for (std::size_t row = first; row < data.rows(); ++row) {
    const PredictiveSummary a = answer(diagonal, data, row, &provenance);
    const PredictiveSummary b = answer(full, data, row);
    // 32 chains and 8 ensembles of them: the mean is off by a fifth of an sd, an sd by a tenth.
    EXPECT_NEAR(a.linpred_mean, b.linpred_mean, 0.8 * b.linpred_sd) << row;
    ratios.push_back(a.linpred_sd / b.linpred_sd);
    EXPECT_NEAR(ratios.back(), 1, 0.35) << row;
  }
  EXPECT_NEAR(median(ratios), 1, 0.06);
  EXPECT_EQ(provenance.status, PosteriorStatus::kOk) << to_string(provenance.reason);
  EXPECT_LT(provenance.law_ratio, 1.3);
  EXPECT_NEAR(provenance.ou_ratio, 1, 0.2);
  return provenance;
}

// Expects the same coefficients too: both draw from one posterior.
inline Provenance expect_agreement(TestEngine& diagonal, TestEngine& full, const SparseRows& data,
                                   std::size_t first) {
  const Provenance provenance = expect_equal_answers(diagonal, full, data, first);
  std::vector<double> ratios;
  const std::vector<ParameterSummary> of_diagonal = diagonal.parameters();
  const std::vector<ParameterSummary> of_full = full.parameters();
  for (std::size_t j = 0; j < of_full.size(); ++j) {
    EXPECT_NEAR(of_diagonal[j].mean, of_full[j].mean, 0.9 * of_full[j].sd) << j;
    ratios.push_back(of_diagonal[j].sd / of_full[j].sd);
    EXPECT_EQ(of_diagonal[j].prior_precision, of_full[j].prior_precision);
  }
  EXPECT_NEAR(median(ratios), 1, 0.06);
  return provenance;
}

}  // namespace windhover::test::row_block_test

#endif  // WINDHOVER_TESTS_RUNTIME_ROW_BLOCK_FIXTURE_H_
