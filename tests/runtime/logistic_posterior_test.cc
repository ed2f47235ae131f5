#include <gtest/gtest.h>

#include <cstdio>

#include "windhover/tests/runtime/glm_reference.h"

namespace windhover::test::logistic_posterior_test {
namespace {

// All rows at once, learned to the end.
struct Fit {
  Fit(const EngineConfig& config, const Data& data) : engine(config) {
    engine.feed(data);
    engine.poll_until_idle();
    parameters = engine.parameters();
  }
  void expect_sensible(double largest_sd) {
    for (const ParameterSummary& p : parameters) {
      EXPECT_TRUE(std::isfinite(p.mean) && std::isfinite(p.mode));
      EXPECT_GT(p.sd, 0.0);
      EXPECT_LT(p.sd, largest_sd);
      EXPECT_TRUE(std::isfinite(p.sd_robust));
    }
  }
  TestEngine engine;
  std::vector<ParameterSummary> parameters;
};

void expect_mode(const Fit& fit, const Gaussian& laplace, double tolerance_sd = 1e-4) {
  for (Index j = 0; j < laplace.mean.size(); ++j) {
    const ParameterSummary& p = fit.parameters[static_cast<std::size_t>(j)];
    const double sd = std::sqrt(laplace.covariance(j, j));
    EXPECT_NEAR((p.mode - laplace.mean[j]) / sd, 0, tolerance_sd) << "parameter " << j;
    EXPECT_NEAR(p.sd / sd, 1, 1e-3) << "parameter " << j;
  }
}

TEST(LogisticPosterior, ModeIsNewtons) {
  const Data data = logistic_data(2000, 6, -0.5, 21);
  const EngineConfig config = small_config("logistic", 6, 2000);
  Fit fit(config, data);
  expect_mode(fit, logistic_reference(data.design(), data.y, config.model).laplace());
}

// Rows join at the anchor of the last pass, so one that surprises moves the mode by a Newton step
// and no more until the next pass.
TEST(LogisticPosterior, ModeIsNewtonsAfterEveryRowOfATrickle) {
  const Data data = logistic_data(150, 3, 0.5, 22);
  const EngineConfig config = small_config("logistic", 3, 150);
  TestEngine engine(config);
  double worst_mode = 0;
  double worst_sd = 0;
  Index worst_row = 0;
  for (Index n = 1; n <= 150; ++n) {
    engine.feed(data, n - 1, n);
    engine.poll_until_idle();
    const GlmReference reference =
        logistic_reference(data.design().topRows(n), data.y.head(n), config.model);
    const Gaussian summary = engine.summary();
    for (Index j = 0; j < 4; ++j) {
      const double sd = std::sqrt(reference.laplace().covariance(j, j));
      const double mode = engine->learner().view().estimator().laplace().mode()[j];
      const double off = std::abs(mode - reference.laplace().mean[j]) / sd;
      if (off > worst_mode) worst_row = n;
      worst_mode = std::max(worst_mode, off);
      worst_sd = std::max(worst_sd, std::abs(std::sqrt(summary.covariance(j, j)) / sd - 1));
    }
  }
  std::printf("logistic trickle: mode off at most %.3f sd (row %d), sd off at most %.3f\n",
              worst_mode, static_cast<int>(worst_row), worst_sd);
  EXPECT_LE(worst_mode, 0.05);
  EXPECT_LE(worst_sd, 0.05);
}

// 14 of 500: the mode is half a standard deviation off the mean.
TEST(LogisticPosterior, MeanWithRarePositivesIsTheTrueMean) {
  Data data = logistic_data(500, 3, -1, 23);
  // The 14 rows with the largest noisy linear predictor.
  const VectorXd score = data.x * data.truth.head(3) + 2.0 * normals(99, 500);
  std::vector<Index> order(500);
  for (Index i = 0; i < 500; ++i) order[static_cast<std::size_t>(i)] = i;
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return score[a] > score[b]; });
  data.y.setZero();
  for (std::size_t i = 0; i < 14; ++i) data.y[order[i]] = 1;
  EngineConfig config = small_config("logistic", 3, 500);
  config.model.intercept_precision = 0.01;
  Fit fit(config, data);
  const GlmReference reference = logistic_reference(data.design(), data.y, config.model);
  const auto truth = reference.moments(100'000, 24);
  ASSERT_LT(truth.mean_error, 0.01);
  double mode_off = 0;
  for (Index j = 0; j < 4; ++j) {
    const ParameterSummary& p = fit.parameters[static_cast<std::size_t>(j)];
    const double sd = std::sqrt(truth.gaussian.covariance(j, j));
    EXPECT_NEAR((p.mean - truth.gaussian.mean[j]) / sd, 0, 0.05) << "parameter " << j;
    mode_off = std::max(mode_off, std::abs(p.mode - truth.gaussian.mean[j]) / sd);
    std::printf("rare positives, parameter %d: mean off %.3f sd, mode off %.3f sd\n",
                static_cast<int>(j), (p.mean - truth.gaussian.mean[j]) / sd,
                (p.mode - truth.gaussian.mean[j]) / sd);
  }
  EXPECT_GT(mode_off, 0.2) << "the data do not show the difference";
}

TEST(LogisticPosterior, SeparableDataAreHeldByThePrior) {
  Data data = logistic_data(300, 2, 0, 25);
  for (Index i = 0; i < 300; ++i) data.y[i] = data.x(i, 0) > 0 ? 1 : 0;
  const EngineConfig config = small_config("logistic", 2, 300);
  Fit fit(config, data);
  fit.expect_sensible(3.2);
  EXPECT_GT(fit.parameters[0].mode, 2.0);
  expect_mode(fit, logistic_reference(data.design(), data.y, config.model).laplace());
}

TEST(LogisticPosterior, OneClassOnlyIsHeldByThePrior) {
  for (const double only : {0.0, 1.0}) {
    Data data = logistic_data(300, 2, 0, 26);
    data.y.setConstant(only);
    const EngineConfig config = small_config("logistic", 2, 300);
    Fit fit(config, data);
    fit.expect_sensible(3.2);
    EXPECT_GT(only == 1 ? fit.parameters[2].mode : -fit.parameters[2].mode, 2.0);
    expect_mode(fit, logistic_reference(data.design(), data.y, config.model).laplace());
  }
}

TEST(LogisticPosterior, ConstantColumnSharesWithTheIntercept) {
  Data data = logistic_data(400, 3, 0.3, 27);
  data.x.col(1).setConstant(1.0);
  const EngineConfig config = small_config("logistic", 3, 400);
  Fit fit(config, data);
  fit.expect_sensible(3.2);
  expect_mode(fit, logistic_reference(data.design(), data.y, config.model).laplace());
}

TEST(LogisticPosterior, DuplicatedColumnsShareTheirEffect) {
  Data data = logistic_data(400, 3, 0.3, 28);
  data.x.col(2) = data.x.col(0);
  const EngineConfig config = small_config("logistic", 3, 400);
  Fit fit(config, data);
  fit.expect_sensible(3.2);
  EXPECT_NEAR(fit.parameters[0].mode, fit.parameters[2].mode, 1e-5);
  expect_mode(fit, logistic_reference(data.design(), data.y, config.model).laplace());
}

TEST(LogisticPosterior, UnseenCategoryKeepsItsPrior) {
  Data data = logistic_data(400, 3, 0.3, 29);
  data.x.col(1).setZero();
  EngineConfig config = small_config("logistic", 3, 400);
  config.model.prior_precision = 4;
  Fit fit(config, data);
  EXPECT_NEAR(fit.parameters[1].mean, 0, 1e-9);
  EXPECT_NEAR(fit.parameters[1].sd, 0.5, 1e-9);
}

TEST(LogisticPosterior, ScalesAMillionApartAreNoObstacle) {
  for (const Standardize standardize : {Standardize::kOff, Standardize::kColdStart}) {
    Data data = logistic_data(500, 3, 0.3, 30);
    data.x.col(0) *= 1e6;
    data.x.col(2) *= 1e-6;
    EngineConfig config = small_config("logistic", 3, 500);
    config.standardize = standardize;
    Fit fit(config, data);
    Data fitted = data;
    MatrixXd to_raw = MatrixXd::Identity(4, 4);
    if (standardize == Standardize::kColdStart) {
      const auto mean = data.x.colwise().mean().eval();
      fitted.x.rowwise() -= mean;
      for (Index j = 0; j < 3; ++j) {
        const double scale = std::sqrt(fitted.x.col(j).squaredNorm() / 500.0);
        fitted.x.col(j) /= scale;
        to_raw(j, j) = 1 / scale;
        to_raw(3, j) = -mean[j] / scale;
      }
    }
    const Gaussian laplace = logistic_reference(fitted.design(), data.y, config.model).laplace();
    expect_mode(fit, {to_raw * laplace.mean, to_raw * laplace.covariance * to_raw.transpose()},
                1e-3);
  }
}

// What a standardised constant column means before it has varied.
TEST(LogisticPosterior, StandardizedConstantColumnStaysFinite) {
  Data data = logistic_data(400, 3, 0.3, 31);
  data.x.col(1).setConstant(5.0);
  EngineConfig config = small_config("logistic", 3, 400);
  config.standardize = Standardize::kColdStart;
  Fit fit(config, data);
  // The intercept at x = 0 is five prior sd of this column away from any row.
  fit.expect_sensible(6);
  EXPECT_NEAR(fit.parameters[1].sd, 1.0, 1e-6);
  EXPECT_NEAR(fit.parameters[3].sd, 5.0, 0.1);
}

}  // namespace
}  // namespace windhover::test::logistic_posterior_test
