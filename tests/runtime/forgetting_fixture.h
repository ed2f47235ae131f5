// What the tests of rows that count by their age share: the exponents, from their definition.
#ifndef WINDHOVER_TESTS_RUNTIME_FORGETTING_FIXTURE_H_
#define WINDHOVER_TESTS_RUNTIME_FORGETTING_FIXTURE_H_

#include <cmath>

#include <algorithm>

#include "windhover/tests/runtime/weight_fixture.h"

namespace windhover::test::forgetting_test {

// N / tau, the root of x = 2 tanh(x).
inline double size_in_taus() {
  static const double root = [] {
    double x = 2;
    for (int i = 0; i < 100; ++i) x = 2 * std::tanh(x);
    return x;
  }();
  return root;
}

// What a row counts for beside the newest of `rows` rows, in steps of N / 32.
inline VectorXd ages(Index first, Index rows, Index size) {
  const Index step = std::max<Index>(1, size / 32);
  const Index newest = (first + rows - 1) / step;
  VectorXd r(rows);
  for (Index i = 0; i < rows; ++i) {
    const double age = static_cast<double>((newest - (first + i) / step) * step);
    r[i] = std::exp(-age * size_in_taus() / static_cast<double>(size));
  }
  return r;
}

// The exponents of the likelihoods of rows [first, first + rows).
inline VectorXd exponents(Index first, Index rows, Index size) {
  const VectorXd r = ages(first, rows, size);
  return r * (r.sum() / r.squaredNorm());
}

// Rows [first, first + rows) of `data`, each weighing what it does times its exponent.
inline Data aged_rows(const Data& data, Index first, Index rows, Index size) {
  Data aged;
  aged.x = data.x.middleRows(first, rows);
  aged.y = data.y.segment(first, rows);
  if (data.offset.size() > 0) aged.offset = data.offset.segment(first, rows);
  if (data.trials.size() > 0) aged.trials = data.trials.segment(first, rows);
  aged.weight = exponents(first, rows, size);
  if (data.weight.size() > 0) aged.weight.array() *= data.weight.segment(first, rows).array();
  return aged;
}

inline EngineConfig forgetting(EngineConfig config) {
  config.horizon = Horizon::kForgetting;
  return config;
}

// Feeds frames of so many rows, with some rounds after each; at rest in the end.
inline void stream(TestEngine& engine, const Data& data, Index frame) {
  for (Index row = 0; row < data.rows(); row += frame) {
    engine.feed(data, row, std::min(row + frame, data.rows()));
    engine->poll(16);
  }
  engine.poll_until_idle();
}

}  // namespace windhover::test::forgetting_test

#endif  // WINDHOVER_TESTS_RUNTIME_FORGETTING_FIXTURE_H_
