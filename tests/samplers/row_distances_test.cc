// How far one row is from what a Gaussian posterior expects of it, against the definition.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "windhover/tests/samplers/model_contract.h"

namespace windhover::row_distances_test {
namespace {

// The least of a convex function between two points, by golden sections.
template <class Function>
double least_of(Function&& f, double low, double high) {
  const double golden = 0.5 * (std::sqrt(5.0) - 1);
  for (int i = 0; i < 200; ++i) {
    const double a = high - golden * (high - low);
    const double b = low + golden * (high - low);
    (f(a) < f(b) ? high : low) = f(a) < f(b) ? b : a;
  }
  return f(0.5 * (low + high));
}

// All that a row's linear predictor can do lies along one line, theta + t P x: the row's loss there
// and the posterior's, the square of t over x^T P x.
TEST_P(ModelContract, row_distances_are_what_the_best_predictor_leaves) {
  if (!tells_distance(model.response()) || find_model(model.name())->network) {
    GTEST_SKIP() << "does not say";
  }
  const Table table(config, x, y);
  const RowBatch all = table.all();
  const Matrix root = Matrix::Random(d, d);
  const Matrix p = 0.1 * (root * root.transpose() + Matrix::Identity(d, d));
  const double divisor = has_dispersion(model.response()) ? 1.7 : 1.0;
  model.set_dispersion(1.7);
  std::vector<RowDistance> distances(all.count);
  model.row_distances(all, {theta.data(), p.data(), divisor, 0}, distances.data());
  for (std::size_t i = 0; i < all.count; ++i) {
    const RowBatch row = all.part(i, 1);
    RowDistance alone;
    model.row_distances(row, {theta.data(), p.data(), divisor, 0}, &alone);
    EXPECT_EQ(alone.noise, distances[i].noise) << i;
    EXPECT_EQ(alone.predictive, distances[i].predictive) << i;
    // x up to a factor, which is the residual.
    const Vector g = gradient(model, row, theta);
    const Vector direction = p * g;
    const double variance = g.dot(direction);
    if (!(variance > 0)) continue;  // it is where it should be, or says nothing
    const auto loss = [&](double t) {
      const Vector at = theta - t * direction;
      return 2 * model.loss_sum(row, at.data()) / divisor;
    };
    // A y at the end of its range would have its predictor at infinity.
    const double far = 1e4 / std::sqrt(variance);
    const double best = least_of(loss, 0, far);
    EXPECT_NEAR(distances[i].noise, loss(0) - best, 1e-6 * (1 + distances[i].noise)) << i;
    const double both = least_of([&](double t) { return loss(t) + t * t * variance; }, 0, far);
    EXPECT_NEAR(distances[i].predictive, both - best, 1e-6 * (1 + distances[i].noise)) << i;
    EXPECT_LE(distances[i].predictive, distances[i].noise * (1 + 1e-12)) << i;
  }
}

// For a normal y with residual r, noise s and variance v of the linear predictor they are r^2 / s
// and r^2 / (s + v).
TEST_P(ModelContract, row_distances_of_a_normal_y_are_in_predictive_sds) {
  if (!is_normal(model.response()) || find_model(model.name())->network) GTEST_SKIP();
  const Table table(config, x, y);
  const RowBatch all = table.all();
  const Matrix p = 0.3 * Matrix::Identity(d, d);
  constexpr double kNoise = 1.7;
  std::vector<RowDistance> distances(all.count);
  model.row_distances(all, {theta.data(), p.data(), kNoise, 0}, distances.data());
  const double least = 0.5;
  std::vector<RowDistance> spared(all.count);
  model.row_distances(all, {theta.data(), p.data(), kNoise, least}, spared.data());
  for (std::size_t i = 0; i < all.count; ++i) {
    const double square = 2 * model.loss_sum(all.part(i, 1), theta.data());  // r^2
    EXPECT_NEAR(distances[i].noise, square / kNoise, 1e-12 * (1 + square)) << i;
    const double variance = 0.3 * gradient(model, all.part(i, 1), theta).squaredNorm() / square;
    if (square > 0) {
      EXPECT_NEAR(distances[i].predictive, square / (kNoise + variance), 1e-9 * (1 + square)) << i;
    }
    EXPECT_EQ(spared[i].noise, distances[i].noise) << i;
    EXPECT_EQ(spared[i].predictive,
              distances[i].noise > least ? distances[i].predictive : distances[i].noise)
        << i;
  }
}

}  // namespace
}  // namespace windhover::row_distances_test
