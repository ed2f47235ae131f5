// What a row tells against a Gaussian posterior's prediction of it, against the integral.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "windhover/tests/samplers/model_contract.h"

namespace windhover::predictive_loss_test {
namespace {

constexpr double kDispersion = 1.7;

double divisor_of(const Model& model) {
  return has_dispersion(model.response()) ? kDispersion : 1.0;
}

TEST_P(ModelContract, predictive_losses_of_a_known_theta_are_its_losses) {
  if (find_model(model.name())->network) GTEST_SKIP() << "followed by no Gaussian";
  const Table table(config, x, y);
  const RowBatch all = table.all();
  const Matrix p = 1e-30 * Matrix::Identity(d, d);
  model.set_dispersion(kDispersion);
  std::vector<double> losses(all.count);
  model.predictive_losses(all, {theta.data(), p.data(), divisor_of(model)}, losses.data());
  for (std::size_t i = 0; i < all.count; ++i) {
    const double expected = model.loss_sum(all.part(i, 1), theta.data()) / divisor_of(model);
    EXPECT_NEAR(losses[i], expected, 1e-9 * (1 + std::abs(expected))) << i;
  }
}

// For a normal y the loss follows from the residual, the noise and what P leaves open.
TEST_P(ModelContract, predictive_residuals_say_what_predictive_losses_do) {
  if (!is_normal(model.response()) || find_model(model.name())->network) {
    GTEST_SKIP() << "of a normal y with a linear predictor alone";
  }
  const Table table(config, x, y);
  const RowBatch all = table.all();
  const Matrix root = Matrix::Random(d, d);
  const Matrix p = root * root.transpose() + Matrix::Identity(d, d);
  model.set_dispersion(kDispersion);
  std::vector<double> losses(all.count);
  std::vector<PredictiveResidual> rows(all.count);
  model.predictive_losses(all, {theta.data(), p.data(), kDispersion}, losses.data());
  model.predictive_residuals(all, {theta.data(), p.data(), kDispersion}, rows.data());
  for (std::size_t i = 0; i < all.count; ++i) {
    const double variance = kDispersion + rows[i].variance;
    const double loss =
        rows[i].weight * 0.5 * (std::log(variance / kDispersion) + rows[i].square() / variance);
    EXPECT_GE(rows[i].variance, 0) << i;
    EXPECT_NEAR(losses[i], loss, 1e-12 * (1 + std::abs(loss))) << i;
  }
}

// All that a row's linear predictor can do lies along theta + s P x / sd, with s standard normal.
TEST_P(ModelContract, predictive_losses_are_of_the_mean_likelihood) {
  if (find_model(model.name())->network || d != static_cast<Eigen::Index>(config.columns()) ||
      config.weighted()) {
    GTEST_SKIP() << "more than one linear predictor, or rows that count as several";
  }
  if (model.response() == Response::kZeroInflatedCount) {
    GTEST_SKIP() << "a zero that may be structural levels off between two of five points";
  }
  const Table table(config, x, y);
  const RowBatch all = table.all();
  const Matrix root = Matrix::Random(d, d);
  const Matrix wide = root * root.transpose() + Matrix::Identity(d, d);
  model.set_dispersion(kDispersion);
  for (std::size_t i = 0; i < all.count; ++i) {
    const RowBatch row = all.part(i, 1);
    const Vector g = gradient(model, row, theta);  // x up to a factor
    if (!(g.dot(wide * g) > 0)) continue;
    Vector direction = wide * g / std::sqrt(g.dot(wide * g));
    const auto loss = [&](double s) {
      const Vector at = theta + s * direction;
      return model.loss_sum(row, at.data()) / divisor_of(model);
    };
    // Within three sd the row tells no more than 2 nats: rows like those before are predicted so.
    double scale = 1;
    while (std::max(std::abs(loss(3) - loss(0)), std::abs(loss(-3) - loss(0))) > 2) {
      direction *= 0.5;
      scale *= 0.25;
    }
    const Matrix p = scale * wide;
    double found = 0;
    model.predictive_losses(row, {theta.data(), p.data(), divisor_of(model)}, &found);
    constexpr double kStep = 0.01;
    double mean = 0;
    for (double s = -8; s <= 8; s += kStep) {
      mean += kStep * std::exp(loss(0) - loss(s) - 0.5 * s * s) / std::sqrt(2 * std::numbers::pi);
    }
    EXPECT_NEAR(found, loss(0) - std::log(mean), 0.01) << i;
  }
}

}  // namespace
}  // namespace windhover::predictive_loss_test
