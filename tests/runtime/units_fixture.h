// Streams whose columns and targets are in units of every size.
#ifndef WINDHOVER_TESTS_RUNTIME_UNITS_FIXTURE_H_
#define WINDHOVER_TESTS_RUNTIME_UNITS_FIXTURE_H_

#include <algorithm>
#include <cmath>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::units_test {

constexpr double kSqm = 100;
constexpr double kRooms = 3;
inline const std::vector<double> kFlat = {kSqm, kRooms};

// y = 20,000 + 3,000 sqm + 5,000 rooms + noise of 20,000.
inline Data house_prices(Index rows, std::uint64_t seed = 3) {
  Data data;
  data.x.resize(rows, 2);
  const VectorXd u = uniforms(seed, 2 * rows);
  for (Index i = 0; i < rows; ++i) {
    data.x(i, 0) = 40 + 120 * u[2 * i];
    data.x(i, 1) = 1 + std::floor(5 * u[2 * i + 1]);
  }
  data.truth = (VectorXd(3) << 3'000, 5'000, 20'000).finished();
  data.y = data.design() * data.truth + 20'000 * normals(seed + 1, rows);
  return data;
}

// The prior, and with it the units, are left to the engine.
inline EngineConfig default_prior(const char* model, std::uint32_t features, std::uint64_t window) {
  EngineConfig config = small_config(model, features, window);
  config.model.prior_precision = 0;
  config.model.intercept_precision = 0;
  config.model.noise_variance = 0;
  config.window_slack = std::max<std::uint64_t>(window, 1'024);
  return config;
}

struct Units {
  VectorXd shift;
  VectorXd scale;
  double y_shift;
  double y_scale;
};

inline Units units_of(const Data& data) {
  Units u;
  u.shift = data.x.colwise().mean().transpose();
  u.scale =
      (data.x.rowwise() - u.shift.transpose()).array().square().colwise().mean().sqrt().transpose();
  u.y_shift = data.y.mean();
  u.y_scale = std::sqrt((data.y.array() - u.y_shift).square().mean());
  return u;
}

inline MatrixXd standardized_design(const Data& data, const Units& u) {
  MatrixXd x = data.design();
  for (Index j = 0; j < data.x.cols(); ++j) {
    x.col(j) = (x.col(j).array() - u.shift[j]) / u.scale[j];
  }
  return x;
}

// Rows first, so that the cold start sees all of them.
inline void fit_all(TestEngine& engine, const Data& data) {
  engine.feed(data);
  engine.poll_until_idle();
}

}  // namespace windhover::test::units_test

#endif  // WINDHOVER_TESTS_RUNTIME_UNITS_FIXTURE_H_
