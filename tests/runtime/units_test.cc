// Answers in units of the rows as they came, whatever these are.
#include "windhover/runtime/learning/units.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "windhover/tests/runtime/units_fixture.h"

namespace windhover::test::units_test {
namespace {

// The stream: the answer was 0.11 +- 3.2, and ok.
TEST(Units, HousePricesAreThoseOfTheExactPosteriorUnderTheScaledPrior) {
  for (const double unit : {1.0, 1e-3}) {
    Data data = house_prices(unit == 1 ? 5'000 : 1'000);
    data.y *= unit;
    TestEngine engine(default_prior("linear", 2, 5'000));
    fit_all(engine, data);
    Provenance p;
    const PredictiveSummary flat = engine.answers(question(1, kFlat), &p)[0];
    EXPECT_EQ(p.status, PosteriorStatus::kOk) << to_string(p.reason);
    EXPECT_LT(p.prior_conflict, 1);
    const Units u = units_of(data);
    const double scale2 = u.y_scale * u.y_scale;
    const Gaussian exact =
        linear_posterior(standardized_design(data, u), (data.y.array() - u.y_shift) / u.y_scale,
                         p.noise_variance / scale2, engine->config().model);
    VectorXd x(3);
    x << (kSqm - u.shift[0]) / u.scale[0], (kRooms - u.shift[1]) / u.scale[1], 1;
    const double mean = u.y_shift + u.y_scale * x.dot(exact.mean);
    const double sd = u.y_scale * std::sqrt(x.dot(exact.covariance * x));
    EXPECT_NEAR(flat.linpred_mean, mean, 1e-6 * sd);
    EXPECT_NEAR(flat.linpred_sd, sd, 1e-6 * sd);
    EXPECT_NEAR(flat.mean, unit * 335'000, 5 * sd);
    // 1 / sqrt(2 n) of its square root.
    EXPECT_NEAR(flat.sd, unit * 20'000, unit * 20'000 * 5 / std::sqrt(2.0 * 1'000));
    EXPECT_LT(flat.interval_lower, unit * 335'000);
    EXPECT_GT(flat.interval_upper, unit * 335'000);
  }
}

TEST(Units, PriorOnRawTargetsThatTheRowsContradictIsNotOk) {
  for (const double unit : {1e-6, 1.0, 1e-3, 1e6}) {
    Data data = house_prices(unit == 1e-3 ? 1'000 : 5'000);
    data.y *= unit;
    EngineConfig config = default_prior("linear", 2, 5'000);
    config.model.prior_precision = 1;  // what the default was
    config.model.intercept_precision = 0.1;
    const Units u = units_of(data);
    const std::vector<double> shift(u.shift.begin(), u.shift.end());
    const std::vector<double> scale(u.scale.begin(), u.scale.end());
    config.standardize = Standardize::kGiven;
    config.feature_shift = shift;
    config.feature_scale = scale;
    TestEngine engine(config);
    fit_all(engine, data);
    const Provenance p = engine.provenance();
    if (unit == 1e-6) {  // 0.3 of N(0, 1) is as expected
      EXPECT_EQ(p.status, PosteriorStatus::kOk) << to_string(p.reason);
      continue;
    }
    EXPECT_EQ(p.status, PosteriorStatus::kDegraded) << unit;
    EXPECT_EQ(p.reason, StatusReason::kPrior) << unit << " " << to_string(p.reason);
    EXPECT_GT(p.prior_conflict, 1) << unit;
  }
}

// Sums that rows have joined and left are those of the window, in the units that are frozen.
TEST(Units, PosteriorOfTheWindowIsExactAfterRowsHaveLeft) {
  const Data data = house_prices(3'000);
  const std::vector<double> shift = {90, 3};
  const std::vector<double> scale = {30, 1.5};
  EngineConfig config = default_prior("linear", 2, 1'000);
  config.standardize = Standardize::kGiven;
  config.feature_shift = shift;
  config.feature_scale = scale;
  config.standardize_target = Standardize::kGiven;
  config.target_shift = 300'000;
  config.target_scale = 100'000;
  config.model.noise_variance = 4e8;
  TestEngine engine(config);
  engine.feed(data, 0, 900);
  engine.poll_until_idle();
  for (Index first = 900; first < 3'000; first += 100) {
    engine.feed(data, first, first + 100);
    engine.poll_until_idle();
  }
  Data window;
  window.x = data.x.bottomRows(1'000);
  window.y = data.y.tail(1'000);
  const Units u{(VectorXd(2) << 90, 3).finished(), (VectorXd(2) << 30, 1.5).finished(), 300'000,
                100'000};
  const Gaussian exact =
      linear_posterior(standardized_design(window, u), (window.y.array() - u.y_shift) / u.y_scale,
                       0.04, engine->config().model);
  // Units of the rows: theta_j times 1e5 / scale_j, and the intercept at x = 0.
  MatrixXd map = MatrixXd::Zero(3, 3);
  for (Index j = 0; j < 2; ++j) {
    map(j, j) = u.y_scale / u.scale[j];
    map(2, j) = -u.y_scale * u.shift[j] / u.scale[j];
  }
  map(2, 2) = u.y_scale;
  const MatrixXd covariance = map * exact.covariance * map.transpose();
  VectorXd mean = map * exact.mean;
  mean[2] += u.y_shift;
  Provenance p;
  const std::vector<ParameterSummary> parameters = engine.parameters(&p);
  EXPECT_EQ(p.noise_variance, 4e8);
  const Estimator& e = engine->learner().view().estimator();
  const Eigen::Map<const MatrixXd> c(e.noise().values().data(), 3, 3);
  const Eigen::Map<const MatrixXd> fitted(e.laplace().covariance(), 3, 3);
  const Eigen::Map<const VectorXd> prior(e.prior().values(), 3);
  const MatrixXd sandwich = map * fitted * (e.laplace().n() * c + MatrixXd(prior.asDiagonal())) *
                            fitted * map.transpose();
  for (std::size_t j = 0; j < 3; ++j) {
    const auto i = static_cast<Index>(j);
    const double sd = std::sqrt(covariance(i, i));
    EXPECT_NEAR(parameters[j].mean, mean[i], 1e-6 * sd) << j;
    EXPECT_NEAR(parameters[j].mode, mean[i], 1e-6 * sd) << j;
    EXPECT_NEAR(parameters[j].sd, sd, 1e-8 * sd) << j;
    EXPECT_NEAR(parameters[j].q95 - parameters[j].q50, 1.6448536 * sd, 1e-6 * sd) << j;
    // Dependence between rows is estimated beside it: 50 batches or more tell it to a fifth.
    EXPECT_NEAR(parameters[j].sd_robust / std::sqrt(sandwich(i, i)), 1, 0.25) << j;
    const double prior_variance = map.row(i).cwiseAbs2().dot(prior.cwiseInverse());
    EXPECT_NEAR(parameters[j].prior_precision * prior_variance, 1, 1e-12) << j;
    EXPECT_LT(parameters[j].mcse_mean, sd);
  }
  // An answer at x = 0 is the intercept's.
  const std::vector<double> zero = {0, 0};
  const PredictiveSummary s = engine.answers(question(1, zero))[0];
  EXPECT_NEAR(s.linpred_mean, parameters[2].mean, 1e-9 * std::abs(mean[2]));
  EXPECT_NEAR(s.linpred_sd, parameters[2].sd, 1e-9 * parameters[2].sd);
  // Draws are those of the same posterior: 64 of them leave sd / 8.
  const RowMatrix draws = engine.draws();
  for (Index j = 0; j < 3; ++j) {
    const double sd = std::sqrt(covariance(j, j));
    EXPECT_NEAR(draws.col(j).mean(), mean[j], 5 * sd / 8) << j;
    const double spread = (draws.col(j).array() - draws.col(j).mean()).square().mean();
    EXPECT_NEAR(std::sqrt(spread) / sd, 1, 5 / std::sqrt(2.0 * 64)) << j;
  }
}

// Log-odds do not have units of y, but features do; a softmax has an intercept for every class.
TEST(Units, ParametersOfClassesAreInUnitsOfTheFeatures) {
  for (const char* model : {"logistic", "softmax"}) {
    Data data = house_prices(2'000);
    data.y = (data.y.array() > 335'000).cast<double>();
    EngineConfig config = default_prior(model, 2, 2'000);
    config.model.classes = 2;
    TestEngine engine(config);
    fit_all(engine, data);
    const std::vector<ParameterSummary> p = engine.parameters();
    ASSERT_EQ(p.size(), 3u);
    // 0.15 a sqm near the threshold: the noise is 20,000, the slope 3,000.
    EXPECT_NEAR(p[0].mean, 0.255, 0.06) << model;
    const RowMatrix draws = engine.draws();
    EXPECT_NEAR(draws.col(0).mean(), p[0].mean, 5 * p[0].sd / 8) << model;
    EXPECT_NEAR(draws.col(2).mean(), p[2].mean, 5 * p[2].sd / 8) << model;
    EXPECT_NEAR(p[2].mean / p[0].mean, -105, 5) << model;
    if (config.model.name == "softmax") continue;
    const std::vector<double> zero = {0, 0};
    const PredictiveSummary s = engine.answers(question(1, zero))[0];
    EXPECT_NEAR(s.linpred_mean, p[2].mean, 1e-9 * std::abs(p[2].mean));
    EXPECT_NEAR(s.linpred_sd, p[2].sd, 1e-9 * p[2].sd);
  }
}

// Hidden units of a network take features as they come, its output is y: the draws that are served
// make the answers that are served.
TEST(Units, ParametersOfANetworkMakeItsAnswersFromRawRows) {
  const Data data = house_prices(1'000);
  EngineConfig config = default_prior("mlp-linear", 2, 1'000);
  config.model.hidden = 3;
  TestEngine engine(config);
  fit_all(engine, data);
  const PredictiveSummary s = engine.answers(question(1, kFlat))[0];
  const RowMatrix draws = engine.draws();
  double mean = 0;
  for (Index m = 0; m < draws.rows(); ++m) {
    double y = draws(m, 12);
    for (Index k = 0; k < 3; ++k) {
      const double in = draws(m, 3 * k) * kSqm + draws(m, 3 * k + 1) * kRooms + draws(m, 3 * k + 2);
      y += draws(m, 9 + k) * std::tanh(in);
    }
    mean += y / static_cast<double>(draws.rows());
  }
  EXPECT_NEAR(s.mean, mean, 1e-9 * mean);
  EXPECT_NEAR(s.mean, 335'000, 10'000);
  EXPECT_NEAR(s.sd, 20'000, 2'000);
}

// An intercept prior around 0 would be 8.5 from counts of 5,000.
TEST(Units, CountsAreLocatedAtTheirMean) {
  const Data x = house_prices(1'000);
  Data data = x;
  const VectorXd u = normals(9, 1'000);
  for (Index i = 0; i < data.rows(); ++i) {
    const double mean = 5'000 * std::exp(0.002 * (data.x(i, 0) - 100));
    data.y[i] = std::round(mean + std::sqrt(mean) * u[i]);
  }
  TestEngine engine(default_prior("poisson", 2, 1'000));
  fit_all(engine, data);
  Provenance p;
  const PredictiveSummary s = engine.answers(question(1, kFlat), &p)[0];
  EXPECT_EQ(p.status, PosteriorStatus::kOk) << to_string(p.reason);
  EXPECT_LT(p.prior_conflict, 0.5);
  EXPECT_NEAR(s.mean, 5'000, 5 * s.epred_sd);
  EXPECT_LT(s.epred_sd, 5'000 / std::sqrt(5'000 * 100.0));
  const std::vector<ParameterSummary> parameters = engine.parameters();
  EXPECT_NEAR(parameters[0].mean, 0.002, 5 * parameters[0].sd);
  EXPECT_NEAR(parameters[2].mean, std::log(5'000) - 0.2, 5 * parameters[2].sd);
}

// Targets that have not varied have no scale: the window starts over where they do.
TEST(Units, TargetsThatVaryAfterTheColdStartGiveTheScaleThen) {
  for (const double constant : {0.0, 7.5}) {
    for (const Horizon horizon : {Horizon::kWindow, Horizon::kFading}) {
      Data data = house_prices(6'000);
      const Data later = data;
      data.y.head(2'000).setConstant(constant);
      EngineConfig config = default_prior("linear", 2, 1'000);
      config.horizon = horizon;
      TestEngine engine(config);
      engine.feed(data, 0, 1'000);
      engine.poll_until_idle();
      const PredictiveSummary quiet = engine.answers(question(1, kFlat))[0];
      EXPECT_NEAR(quiet.mean, constant, 0.01 * std::max(constant, 1.0));
      EXPECT_TRUE(std::isfinite(quiet.sd));
      for (Index first = 1'000; first < 6'000; first += 500) {
        engine.feed(data, first, first + 500);
        engine.poll_until_idle();
      }
      Provenance p;
      const PredictiveSummary s = engine.answers(question(1, kFlat), &p)[0];
      ASSERT_TRUE(std::isfinite(s.mean) && std::isfinite(s.sd));
      EXPECT_LT(p.prior_conflict, 0.5);
      EXPECT_EQ(engine->counters().get(RuntimeCounter::kColdStarts), 2u);
      EXPECT_NEAR(s.mean, 335'000, 5 * s.epred_sd);
      EXPECT_LT(s.epred_sd, 2'000);
    }
  }
}

// Columns of two values keep them a unit apart; a constant one stays as it is.
TEST(Units, FeaturesAreScaledAsThePriorIs) {
  EngineConfig config = with_defaults(default_prior("linear", 1, 100));
  EXPECT_EQ(config.standardize, Standardize::kScaled);
  EXPECT_EQ(config.standardize_target, Standardize::kColdStart);
  EXPECT_EQ(config.model.prior_precision, 0.16);
  EXPECT_EQ(with_defaults(config).standardize, Standardize::kScaled);
  Column two, three, constant;
  for (const double x : {3.0, 7.0, 3.0, 3.0}) two.add(x);
  for (const double x : {3.0, 7.0, 3.0, 5.0}) three.add(x);
  for (int i = 0; i < 4; ++i) constant.add(0.1);
  EXPECT_EQ(feature_units(config, two).shift, 4.0);
  EXPECT_EQ(feature_units(config, two).inverse_scale, 0.25);
  EXPECT_DOUBLE_EQ(feature_units(config, three).inverse_scale, 1 / std::sqrt(2.75));
  EXPECT_EQ(feature_units(config, constant).inverse_scale, 1.0);
  config.standardize = Standardize::kColdStart;
  EXPECT_DOUBLE_EQ(feature_units(config, two).inverse_scale, 1 / std::sqrt(3.0));
  config.standardize = Standardize::kScaled;
  config.model.intercept = false;
  EXPECT_EQ(feature_units(config, two).shift, 0.0);
  const TargetTransform target = scanned_target_units(config, three);
  EXPECT_EQ(target.shift, 0.0);
  EXPECT_DOUBLE_EQ(target.scale, std::sqrt((9 + 49 + 9 + 25) / 4.0));
}

TEST(Units, GivenPriorLeavesRowsAsTheyCome) {
  EngineConfig config = default_prior("linear", 1, 100);
  config.model.prior_precision = 2;
  const EngineConfig full = with_defaults(config);
  EXPECT_EQ(full.standardize, Standardize::kOff);
  EXPECT_EQ(full.standardize_target, Standardize::kOff);
  EXPECT_EQ(full.model.prior_precision, 2);
  EXPECT_EQ(full.model.intercept_precision, 0.1);
}

}  // namespace
}  // namespace windhover::test::units_test
