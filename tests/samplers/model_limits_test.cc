// Single models: targets they refuse, predictors of every size, the first step.
#include "windhover/samplers/models/model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "windhover/tests/samplers/model_contract.h"

namespace windhover {
namespace {

Model& logistic(Memory& memory) {
  ModelConfig config;
  config.features = 1;
  return *find_model("logistic")->make(memory.arena(), config);
}

TEST(LogisticModel, targets_other_than_0_and_1_are_refused) {
  Memory memory;
  const Model& model = logistic(memory);
  for (const double y : {0.0, 1.0}) EXPECT_EQ(model.check_target(y), Status::kOk);
  for (const double y : {-1.0, 0.5, 2.0, static_cast<double>(NAN)}) {
    EXPECT_EQ(model.check_target(y), Status::kTargetOutOfDomain) << y;
  }
}

TEST(LogisticModel, extreme_predictors_give_finite_sums) {
  Memory memory;
  Model& model = logistic(memory);
  find_model("logistic")->reset(model);
  ModelConfig config;
  config.features = 1;
  const Table table(config, Matrix{{1e4}, {-1e4}, {1e4}}, Vector{{1.0, 0.0, 0.0}});
  const Vector theta{{1.0, 0.0}};
  Vector g(2);
  Vector third = Vector::Zero(2);
  Matrix matrix = Matrix::Zero(4, 4);
  CurvatureSums sums{g.setZero().data(), matrix.data(), third.data()};
  const Matrix p = Matrix::Identity(2, 2);
  model.add_curvature(table.all(), theta.data(), p.data(), 1.0, sums);
  EXPECT_NEAR(sums.loss, 1e4, 1e-9);  // only the third row is on the wrong side
  EXPECT_NEAR(g(0), 1e4, 1e-9);
  EXPECT_TRUE(matrix.allFinite());
  EXPECT_TRUE(third.allFinite());
  for (const double eta : {-1e4, -1.0, 0.0, 1.0, 1e4}) {
    EXPECT_NEAR(model.mean(eta) + model.mean(-eta), 1.0, 1e-15) << eta;
  }
}

Model& made(Memory& memory, const ModelConfig& config) {
  Model& model = *find_model(config.name)->make(memory.arena(), config);
  find_model(config.name)->reset(model);
  return model;
}

// Sums over one row with x = 1 and no intercept, at eta.
struct ScalarSums {
  double gradient = 0, curvature = 0, third = 0, loss = 0, squares = 0;
};
ScalarSums scalar_sums(Model& model, const ModelConfig& config, double eta, double y) {
  const Table table(config, Matrix::Ones(1, 1), Vector::Constant(1, y));
  const double one = 1;
  double gradient = 0;
  double third = 0;
  Matrix matrix = Matrix::Zero(4, 4);
  CurvatureSums sums{&gradient, matrix.data(), &third};
  model.add_curvature(table.all(), &eta, &one, 1.0, sums);
  return {gradient, matrix(0, 0), third, sums.loss, sums.squares};
}

ModelConfig scalar_config(std::string_view name) {
  ModelConfig config;
  config.name = name;
  config.features = 1;
  config.intercept = false;
  return config;
}

TEST(PoissonModel, targets_that_are_no_counts_are_refused) {
  Memory memory;
  const Model& model = made(memory, scalar_config("poisson"));
  for (const double y : {0.0, 1.0, 7.0, 0x1.0p53}) EXPECT_EQ(model.check_target(y), Status::kOk);
  for (const double y : {-1.0, 0.5, 1e16, static_cast<double>(NAN)}) {
    EXPECT_EQ(model.check_target(y), Status::kTargetOutOfDomain) << y;
  }
}

TEST(PoissonModel, loss_is_smooth_and_finite_however_large_the_predictor) {
  Memory memory;
  const ModelConfig config = scalar_config("poisson");
  Model& model = made(memory, config);
  for (const double eta : {-1e4, 0.0, 49.9999, 50.0001, 60.0, 1e4, 1e50}) {
    const ScalarSums at = scalar_sums(model, config, eta, 3.0);
    EXPECT_TRUE(std::isfinite(at.loss + at.gradient + at.curvature + at.third)) << eta;
    EXPECT_GE(at.curvature, 0);
  }
  const ScalarSums below = scalar_sums(model, config, 50 - 1e-9, 3.0);
  const ScalarSums above = scalar_sums(model, config, 50 + 1e-9, 3.0);
  EXPECT_NEAR(above.loss / below.loss, 1.0, 1e-8);
  EXPECT_NEAR(above.gradient / below.gradient, 1.0, 1e-8);
  EXPECT_NEAR(above.curvature / below.curvature, 1.0, 1e-8);
}

TEST(StudentModel, curvature_is_the_expected_hessian_and_weights_make_the_squares) {
  for (const double nu : {3.0, 4.0, 30.0}) {
    for (const double dispersion : {0.25, 9.0}) {
      Memory memory;
      ModelConfig config = scalar_config("student-t");
      config.degrees_of_freedom = nu;
      Model& model = made(memory, config);
      model.set_dispersion(dispersion);
      const double eta = 0.7;
      const double sigma = std::sqrt(dispersion);
      // The expectation is over y = eta + sigma sinh(u), so that heavy tails are reached.
      double total = 0, information = 0, squares = 0;
      for (double u = -16; u <= 16; u += 0.05) {
        const double y = eta + sigma * std::sinh(u);
        const ScalarSums at = scalar_sums(model, config, eta, y);
        const double density = std::exp(-at.loss / dispersion) * std::cosh(u);
        total += density;
        information += density * at.gradient * at.gradient / dispersion;
        squares += density * at.squares;
        EXPECT_NEAR(at.curvature, (nu + 1) / (nu + 3), 1e-15);
      }
      // E[g g^T] = E[Hessian] (the information equality), and the weighted squares estimate
      // sigma^2.
      EXPECT_NEAR(information / total, (nu + 1) / (nu + 3), 1e-6) << nu;
      EXPECT_NEAR(squares / total, dispersion, 1e-6 * dispersion) << nu;
    }
  }
}

// One Newton step from 0 with these sums is the weighted fit of what start() suggests.
TEST(ModelStart, one_step_from_0_is_the_weighted_least_squares_fit) {
  for (const ModelEntry& entry : model_registry()) {
    Memory memory;
    ModelConfig config;
    config.name = entry.name;
    config.features = 2;
    Model& model = made(memory, config);
    if (!model.has_start()) continue;
    const Matrix x = normals(1, 60, 2);
    Vector y(60);
    Vector eta(60);
    Vector weight(60);
    Vector residual = Vector::Zero(60);
    for (Index i = 0; i < 60; ++i) {
      const bool count = is_count(entry.response);
      y(i) = count ? std::floor(std::exp(2 + x(i, 0))) : x(i, 1) - 3;
      eta(i) = count ? std::log(y(i) + 0.1) : y(i);
      weight(i) = count ? y(i) + 0.1 : 1.0;
      if (count) residual(i) = 0.1;
      if (entry.response == Response::kZeroInflatedCount) {  // odds are 1
        const double mu = weight(i);
        const double none = std::exp(-mu);
        const double structural = 1 / (1 + none);
        residual(i) = y(i) > 0 ? 0.1 : 0.1 * (1 - structural);
        weight(i) = 0.5 * mu * (1 - structural * mu * none);
      } else if (has_shape(entry.response)) {  // the shape is 1
        const double spread = 1 + weight(i);
        residual(i) /= spread;
        weight(i) *= (1 + y(i)) / (spread * spread);
      }
      if (entry.response == Response::kBinomial) {
        y(i) = std::floor(std::exp(1 + x(i, 0)));
        const double trials = std::max(y(i) + std::fmod(y(i), 3), 1.0);  // as of Table
        const double p = (y(i) + 0.5) / (trials + 1);
        eta(i) = std::log(p / (1 - p));
        weight(i) = trials * p * (1 - p);
        residual(i) = trials * p - y(i);
      }
    }
    const Vector working = eta - residual.cwiseQuotient(weight);
    Matrix design(60, 3);
    design << x, Vector::Ones(60);
    const Vector expected = (design.transpose() * weight.asDiagonal() * design)
                                .ldlt()
                                .solve(design.transpose() * weight.cwiseProduct(working));
    const Table table(config, x, y);
    Vector g = Vector::Zero(3);
    Matrix matrix = Matrix::Zero(4, 4);
    CurvatureSums sums{g.data(), matrix.data(), nullptr};
    model.add_start(table.all(), sums);
    const Matrix a = matrix.topLeftCorner(3, 3).selfadjointView<Eigen::Lower>();
    EXPECT_LT(relative_difference(Vector(-a.ldlt().solve(g)), expected), 1e-10) << entry.name;
    EXPECT_EQ(sums.rows, 60);
  }
}

}  // namespace
}  // namespace windhover
