// What the tests of rows with a weight share: models, their rows, and the equal rows in their
// place.
#ifndef WINDHOVER_TESTS_RUNTIME_WEIGHT_FIXTURE_H_
#define WINDHOVER_TESTS_RUNTIME_WEIGHT_FIXTURE_H_

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "windhover/tests/runtime/units_fixture.h"

namespace windhover::test::weight_test {

inline constexpr std::array kModels = {"linear",
                                       "logistic",
                                       "poisson",
                                       "student-t",
                                       "log-normal",
                                       "negative-binomial",
                                       "zero-inflated-poisson",
                                       "heteroscedastic",
                                       "softmax",
                                       "binomial"};

// Draws the count by inversion.
inline double poisson_count(double rate, double u) {
  double term = std::exp(-rate);
  double k = 0;
  for (double below = term; below < u && k < 1'000; below += term) term *= rate / ++k;
  return k;
}

// Targets that the model may have, of three features; a row counts as one to four.
inline Data weighted_rows(const std::string& model, Index rows, std::uint64_t seed) {
  Data data = linear_data(rows, 3, 0.0, seed);
  const VectorXd eta = 0.5 * data.y;
  const VectorXd z = normals(seed + 1, rows);
  const VectorXd u = uniforms(seed + 2, rows);
  data.weight = (4 * uniforms(seed + 3, rows)).array().floor() + 1;
  if (model == "binomial") data.trials = (9 * uniforms(seed + 4, rows)).array().floor() + 1;
  for (Index i = 0; i < rows; ++i) {
    const double wide = u[i] < 0.05 ? 6 * z[i] : z[i];
    data.y[i] = model == "logistic" ? (u[i] < 1 / (1 + std::exp(-eta[i])))
                : model == "binomial"
                    ? std::floor(data.trials[i] / (1 + std::exp(-eta[i] - 0.5 * z[i])) + u[i])
                : model == "softmax"         ? std::floor(3 * u[i])
                : model == "student-t"       ? eta[i] + wide
                : model == "log-normal"      ? std::exp(eta[i] + z[i])
                : model == "heteroscedastic" ? eta[i] + z[i] * std::exp(0.5 * eta[i])
                : model == "linear"          ? eta[i] + z[i]
                : model == "zero-inflated-poisson"
                    ? poisson_count(2 * std::exp(eta[i]), (u[i] - 0.3) / 0.7)
                : model == "poisson" ? poisson_count(2 * std::exp(eta[i]), u[i])
                                     : std::floor(-2 * std::exp(eta[i]) * std::log1p(-u[i]));
  }
  return data;
}

// Every row as often as it counts: all of them, then those that count twice, and so on, as if they
// had come at random.
inline Data equal_rows(const Data& data) {
  std::vector<Index> order;
  for (double copy = 1; copy <= data.weight.maxCoeff(); ++copy) {
    for (Index i = 0; i < data.rows(); ++i) {
      if (data.weight[i] >= copy) order.push_back(i);
    }
  }
  Data all;
  all.x = data.x(order, Eigen::all);
  all.y = data.y(order);
  if (data.offset.size() > 0) all.offset = data.offset(order);
  if (data.trials.size() > 0) all.trials = data.trials(order);
  return all;
}

inline EngineConfig with_weight(EngineConfig config) {
  config.model.weight = true;
  return config;
}

// The prior and units are left to the engine, and all rows come before it looks at any.
inline EngineConfig default_prior(const std::string& model, std::uint64_t window) {
  EngineConfig config = units_test::default_prior(model.c_str(), 3, window);
  config.model.classes = 3;
  return config;
}

}  // namespace windhover::test::weight_test

#endif  // WINDHOVER_TESTS_RUNTIME_WEIGHT_FIXTURE_H_
