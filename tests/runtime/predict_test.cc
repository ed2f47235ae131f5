#include "windhover/runtime/prediction/predict.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/tests/runtime/engine_fixture.h"
#include "windhover/tests/runtime/predict_fixture.h"

namespace windhover::test::predict_test {
namespace {

TEST_F(PredictTest, GaussianAnswersAreThoseOfTheExactPredictive) {
  make("linear", 3);
  VectorXd mean(3);
  mean << 1, -2, 0.5;
  const MatrixXd root = (MatrixXd(3, 3) << 1, 0, 0, 0.5, 0.7, 0, -0.3, 0.1, 0.2).finished();
  const MatrixXd covariance = root * root.transpose();
  set(mean, covariance);
  posterior_->dispersion = 2.5;
  const std::array<double, 6> xs = {1, 2, 3, -1, 0.5, 10};
  const std::array<double, 3> levels = {0.01, 0.5, 0.99};
  const std::array<double, 2> thresholds = {-3, 4};
  const std::array<double, 2> outcomes = {0.3, -30};
  PredictRequest request;
  request.rows = 2;
  request.features = xs;
  request.quantile_probabilities = levels;
  request.thresholds = thresholds;
  request.outcomes = outcomes;
  request.interval_probability = 0.8;
  const auto answers = predict(request);
  for (std::size_t row = 0; row < 2; ++row) {
    const PredictiveSummary& s = answers[row];
    const Eigen::Map<const VectorXd> x(xs.data() + 3 * row, 3);
    const double m = x.dot(mean);
    const double v = x.dot(covariance * x);
    const double sd = std::sqrt(v + 2.5);
    EXPECT_NEAR(s.linpred_mean, m, 1e-12);
    EXPECT_NEAR(s.linpred_sd, std::sqrt(v), 1e-10);
    EXPECT_EQ(s.epred_mean, s.linpred_mean);
    EXPECT_EQ(s.mean, s.epred_mean);
    EXPECT_NEAR(s.var_epistemic, v, 1e-9);
    EXPECT_EQ(s.var_aleatoric, 2.5);
    EXPECT_NEAR(s.sd, sd, 1e-10);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      EXPECT_NEAR(s.quantiles[i], m + sd * normal_quantile(levels[i]), 1e-9);
    }
    EXPECT_NEAR(s.interval_lower, m + sd * normal_quantile(0.1), 1e-9);
    EXPECT_NEAR(s.interval_upper, m + sd * normal_quantile(0.9), 1e-9);
    for (std::size_t i = 0; i < thresholds.size(); ++i) {
      EXPECT_NEAR(s.exceedance[i], normal_cdf((m - thresholds[i]) / sd), 1e-12);
    }
    const double z = (outcomes[row] - m) / sd;
    EXPECT_NEAR(s.pit, normal_cdf(z), 1e-12);
    EXPECT_NEAR(s.log_score, -0.5 * z * z - std::log(sd * std::sqrt(2 * M_PI)), 1e-9);
    const double crps =
        sd * (z * (2 * normal_cdf(z) - 1) + 2 * std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI) -
              1 / std::sqrt(M_PI));
    EXPECT_NEAR(s.crps, crps, 1e-9);
  }
}

TEST_F(PredictTest, LearnedNoiseVarianceWidensTheTails) {
  make("linear", 1);
  set(VectorXd::Constant(1, 2.0), MatrixXd::Constant(1, 1, 0.25));
  posterior_->dispersion = 1.5;
  posterior_->dispersion_relative_sd = 0.4;
  const std::array<double, 1> x = {1};
  const std::array<double, 2> levels = {0.001, 0.999};
  const std::array<double, 1> outcomes = {5.0};
  PredictRequest request;
  request.rows = 1;
  request.features = x;
  request.quantile_probabilities = levels;
  request.outcomes = outcomes;
  const PredictiveSummary s = predict(request).front();
  const GaussianMixture y(2.0, 0.25, 1.5, 0.4);
  EXPECT_NEAR(s.sd, std::sqrt(1.75), 1e-12);
  EXPECT_NEAR(s.quantiles[0], y.quantile(0.001), 1e-9);
  EXPECT_NEAR(s.quantiles[1], y.quantile(0.999), 1e-9);
  EXPECT_GT(s.quantiles[1], 2.0 + s.sd * normal_quantile(0.999));
  EXPECT_NEAR(s.log_score, y.log_density(5.0), 1e-9);
  EXPECT_NEAR(s.pit, y.cdf(5.0), 1e-9);
  EXPECT_NEAR(s.crps, y.crps(5.0), 1e-9);
}

TEST_F(PredictTest, TransformIsAppliedToTheQuery) {
  make("linear", 2);
  set(VectorXd::Constant(2, 1.0), MatrixXd::Identity(2, 2));
  posterior_->transform.shift[0] = 10;
  posterior_->transform.inverse_scale[1] = 0.25;
  const std::array<double, 2> x = {13, 8};
  PredictRequest request;
  request.rows = 1;
  request.features = x;
  EXPECT_NEAR(predict(request).front().linpred_mean, 3 + 2, 1e-12);
  EXPECT_NEAR(predict(request).front().linpred_sd, std::sqrt(9.0 + 4.0), 1e-12);
}

double sigmoid(double eta) {
  return eta >= 0 ? 1 / (1 + std::exp(-eta)) : std::exp(eta) / (1 + std::exp(eta));
}
double log_sigmoid(double eta) { return std::min(eta, 0.0) - std::log1p(std::exp(-std::abs(eta))); }

struct Reference {
  double mean = 0, square = 0, expected_entropy = 0, log_one = 0, log_zero = 0;
};

// The moments by brute force: a fine trapezoidal rule over 14 sd.
Reference reference(double m, double s) {
  const int cells = 2 * static_cast<int>(14 * std::max(40.0, 20 * s));
  Reference r;
  double total = 0;
  for (int i = 0; i <= cells; ++i) {
    const double z = -14 + 28.0 * i / cells;
    const double w = std::exp(-0.5 * z * z);
    const double eta = m + s * z;
    const double p = sigmoid(eta);
    total += w;
    r.mean += w * p;
    r.square += w * p * p;
    r.expected_entropy += w * (-p * log_sigmoid(eta) - sigmoid(-eta) * log_sigmoid(-eta));
    r.log_zero += w * sigmoid(-eta);
  }
  r.log_one = std::log(r.mean / total);
  r.log_zero = std::log(r.log_zero / total);
  r.mean /= total;
  r.square /= total;
  r.expected_entropy /= total;
  return r;
}

TEST_F(PredictTest, LogisticAnswersAgreeWithFineQuadrature) {
  for (const double m : {-40.0, -12.0, -3.0, -0.2, 0.0, 1.0, 5.0, 40.0}) {
    for (const double s : {1e-3, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 50.0}) {
      SCOPED_TRACE(testing::Message() << "linear predictor " << m << " +- " << s);
      const Reference truth = reference(m, s);
      const PredictiveSummary p = logistic(m, s, 1);
      EXPECT_NEAR(p.linpred_mean, m, 1e-12);
      EXPECT_NEAR(p.linpred_sd, s, 1e-9 * s);
      EXPECT_NEAR(p.epred_mean, truth.mean, 1e-7);
      EXPECT_EQ(p.mean, p.epred_mean);
      const double variance = truth.square - truth.mean * truth.mean;
      EXPECT_NEAR(p.var_epistemic, variance, 1e-7);
      EXPECT_NEAR(p.epred_sd, std::sqrt(std::max(0.0, variance)), 1e-5);
      EXPECT_NEAR(p.var_aleatoric, truth.mean - truth.square, 1e-7);
      EXPECT_NEAR(p.sd, std::sqrt(truth.mean * (1 - truth.mean)), 1e-6);
      EXPECT_NEAR(p.expected_entropy, truth.expected_entropy, 1e-6);
      EXPECT_NEAR(p.entropy, p.expected_entropy + p.mutual_information, 1e-12);
      EXPECT_GE(p.mutual_information, 0.0);
      EXPECT_NEAR(p.brier, std::pow(1 - truth.mean, 2), 1e-6);
      EXPECT_NEAR(p.interval_lower, sigmoid(m + s * normal_quantile(0.05)), 1e-12);
      EXPECT_NEAR(p.interval_upper, sigmoid(m + s * normal_quantile(0.95)), 1e-12);
      if (s <= 4) {  // beyond, the far tail of the linear predictor decides a small log score
        EXPECT_NEAR(p.log_score, truth.log_one, 1e-4 * (1 + std::abs(truth.log_one)));
        EXPECT_NEAR(logistic(m, s, 0).log_score, truth.log_zero,
                    1e-4 * (1 + std::abs(truth.log_zero)));
      }
    }
  }
}

TEST_F(PredictTest, LogScoresOfAbsurdOutcomesAreFinite) {
  for (const double m : {-1e6, -800.0, 800.0, 1e6}) {
    for (const double s : {0.1, 3.0, 40.0}) {
      for (const double y : {0.0, 1.0}) {
        const PredictiveSummary p = logistic(m, s, y);
        EXPECT_TRUE(std::isfinite(p.log_score)) << m << " +- " << s << ", outcome " << y;
        EXPECT_LE(p.log_score, 1e-12);
        EXPECT_TRUE(std::isfinite(p.entropy) && std::isfinite(p.epred_sd));
      }
    }
  }
  EXPECT_NEAR(logistic(-800, 0.1, 1).log_score, -800 + 0.005, 1e-6);
}

TEST_F(PredictTest, NothingOfAnEarlierAnswerIsLeft) {
  make("linear", 1);
  set(VectorXd::Constant(1, 2.0), MatrixXd::Constant(1, 1, 1.0));
  const std::array<double, 1> x = {1.0};
  PredictRequest request;
  request.rows = 1;
  request.features = x;
  const PredictiveSummary fresh = predict(request)[0];
  PredictiveSummary used;
  const auto fill = [](auto& numbers) { numbers.fill(7.0); };
  fill(used.quantiles);
  fill(used.exceedance);
  used.classes = 3;  // a classifier's
  for (auto* list : {&used.probs, &used.probs_sd, &used.probs_eti_lower, &used.probs_eti_upper}) {
    std::fill_n(list->begin(), used.classes, 7.0);
  }
  used.entropy = used.log_score = used.brier = used.prob_best = used.thompson = 7.0;
  predictor_->predict(*posterior_, Response::kGaussian, 1, request, {&used, 1});
  EXPECT_EQ(used.mean, fresh.mean);
  EXPECT_EQ(used.classes, 0u);
  for (const double value :
       {used.entropy, used.log_score, used.brier, used.prob_best, used.thompson}) {
    EXPECT_EQ(value, 0);
  }
  const auto expect_zeros = [](const auto& numbers) {
    for (const double number : numbers) EXPECT_EQ(number, 0);
  };
  expect_zeros(used.quantiles);
  expect_zeros(used.exceedance);
  expect_zeros(used.probs);
  expect_zeros(used.probs_sd);
  expect_zeros(used.probs_eti_lower);
  expect_zeros(used.probs_eti_upper);
}

TEST_F(PredictTest, ComparisonIsThatOfTheDraws) {
  for (const char* model : {"linear", "logistic"}) {
    make(model, 2, 100);
    const MatrixXd covariance = (MatrixXd(2, 2) << 1, 0.4, 0.4, 0.5).finished();
    const VectorXd mean = (VectorXd(2) << 0.2, -0.1).finished();
    set(mean, covariance);
    const std::array<double, 6> xs = {1, 0, 0, 1, 0.5, 0.5};
    PredictRequest request;
    request.rows = 3;
    request.features = xs;
    const auto answers = predict(request);
    std::array<double, 3> best{};
    std::array<double, 3> regret{};
    for (Index m = 0; m < 100; ++m) {
      std::array<double, 3> value{};
      for (std::size_t row = 0; row < 3; ++row) {
        double eta = 0;
        for (Index j = 0; j < 2; ++j) {
          eta += xs[2 * row + static_cast<std::size_t>(j)] *
                 (mean[j] + posterior_->deviations[j * 100 + m]);
        }
        value[row] = config_.model.name == "linear" ? eta : sigmoid(eta);
      }
      const auto winner =
          static_cast<std::size_t>(std::max_element(value.begin(), value.end()) - value.begin());
      best[winner] += 0.01;
      for (std::size_t row = 0; row < 3; ++row) regret[row] += 0.01 * (value[winner] - value[row]);
    }
    for (std::size_t row = 0; row < 3; ++row) {
      EXPECT_NEAR(answers[row].prob_best, best[row], 1e-12) << model;
      EXPECT_NEAR(answers[row].expected_regret, regret[row], 1e-12) << model;
    }
  }
}

TEST_F(PredictTest, ThompsonDrawsHaveTheCovarianceOfTheDraws) {
  constexpr int kIds = 20'000;
  make("linear", 2);
  set(VectorXd::Constant(2, 3.0), (MatrixXd(2, 2) << 1, 0.6, 0.6, 0.5).finished());
  const ConstMatrixMap deviations(posterior_->deviations, 64, 2);
  const MatrixXd expected = deviations.transpose() * deviations / 63.0;
  const std::array<double, 4> xs = {1, 0, 0, 1};
  PredictRequest request;
  request.rows = 2;
  request.features = xs;
  VectorXd sum = VectorXd::Zero(2);
  MatrixXd squares = MatrixXd::Zero(2, 2);
  for (int id = 1; id <= kIds; ++id) {
    request.thompson_id = static_cast<std::uint64_t>(id);
    const auto answers = predict(request);
    const VectorXd d = (VectorXd(2) << answers[0].thompson - 3, answers[1].thompson - 3).finished();
    sum += d / kIds;
    squares += d * d.transpose() / kIds;
  }
  // Standard errors: sqrt(v / n) and v sqrt(2 / n); five of them.
  for (Index i = 0; i < 2; ++i) {
    EXPECT_NEAR(sum[i], 0, 5 * std::sqrt(expected(i, i) / kIds));
    for (Index j = 0; j < 2; ++j) {
      EXPECT_NEAR(squares(i, j), expected(i, j),
                  5 * std::sqrt(2.0 / kIds * expected(i, i) * expected(j, j)));
    }
  }
}

TEST_F(PredictTest, ThompsonDrawIsAFunctionOfItsId) {
  make("logistic", 1);
  set(VectorXd::Constant(1, 0.0), MatrixXd::Identity(1, 1));
  const std::array<double, 1> x = {1};
  PredictRequest request;
  request.rows = 1;
  request.features = x;
  EXPECT_EQ(predict(request).front().thompson, 0.0);
  request.thompson_id = 1;
  const double first = predict(request).front().thompson;
  EXPECT_GT(first, 0.0);
  EXPECT_LT(first, 1.0);
  request.thompson_id = 2;
  EXPECT_NE(predict(request).front().thompson, first);
  request.thompson_id = 1;
  EXPECT_EQ(predict(request).front().thompson, first);
}

}  // namespace
}  // namespace windhover::test::predict_test
