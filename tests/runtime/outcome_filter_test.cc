// Outcomes that one posterior predicts, each given those before it: together they are as likely as
// the posterior says of all of them at once.
#include "windhover/runtime/scoring/outcome_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "windhover/tests/runtime/predict_fixture.h"

namespace windhover::test::outcome_filter_test {
namespace {

constexpr Index kNumbers = 5;
constexpr Index kRows = 40;

struct Filter {
  Filter() : block(1 << 16), arena(block.bytes()), filter(arena, kNumbers) { filter.begin(); }

  OutcomeFilter::LinearPredictor look(const VectorXd& direction) {
    std::copy_n(direction.data(), kNumbers, filter.direction().data());
    return filter.look();
  }
  // y = x^T z + noise of this variance, of the row looked at last.
  void tell_normal(double y, const OutcomeFilter::LinearPredictor& at, double noise,
                   double weight) {
    const double variance = at.variance + noise;
    filter.tell({(y - at.mean) / variance, -1 / variance, weight});
  }

  MappedBlock block;
  Arena arena;
  OutcomeFilter filter;
};

TEST(OutcomeFilter, OfANormalOutcomeIsTheConjugatePosterior) {
  constexpr double kNoise = 0.3;
  const RowMatrix x = autoregressive_rows(kRows, kNumbers, 0.6, 3);
  const VectorXd y = 2 * normals(4, kRows);
  Filter told;
  MatrixXd precision = MatrixXd::Identity(kNumbers, kNumbers);
  VectorXd sum = VectorXd::Zero(kNumbers);
  for (Index i = 0; i < kRows; ++i) {
    const VectorXd row = x.row(i).transpose();
    const double weight = 0.25 * static_cast<double>(i % 7);  // 0 too
    const auto [mean, variance] = told.look(row);
    const VectorXd known = precision.llt().solve(row);
    EXPECT_NEAR(mean, known.dot(sum), 1e-12) << i;
    EXPECT_NEAR(variance, known.dot(row), 1e-12) << i;
    told.tell_normal(y[i], {mean, variance}, kNoise, weight);
    precision += weight / kNoise * row * row.transpose();
    sum += weight / kNoise * y[i] * row;
  }
  told.filter.begin();
  EXPECT_EQ(told.look(x.row(0).transpose()).mean, 0);
  EXPECT_NEAR(told.filter.look().variance, x.row(0).squaredNorm(), 1e-12);
}

TEST(OutcomeFilter, WhatSaysLessThanNothingIsLeftOut) {
  const double nan = std::nan("");
  const VectorXd row = VectorXd::Ones(kNumbers);
  for (const OutcomeFilter::Outcome& outcome : {OutcomeFilter::Outcome{1, 0.1, 1},
                                                {nan, -0.1, 1},
                                                {1, nan, 1},
                                                {1, -0.3, 1},
                                                {HUGE_VAL, -0.1, 1}}) {
    Filter told;
    told.look(row);
    told.filter.tell(outcome);
    EXPECT_EQ(told.look(row).mean, 0) << outcome.slope << " " << outcome.curvature;
    EXPECT_EQ(told.filter.look().variance, kNumbers);
  }
}

// Judges outcomes by the predictor's own numbers.
class GivenOutcomes : public PredictTest {
 protected:
  void begin(const char* model, std::uint32_t features) {
    make(model, features);
    filter_ = std::make_unique<OutcomeFilter>(*arena_, Predictor::directions(config_, 2));
    filter_->begin();
  }
  // log p(y | x, those told before).
  double told(const VectorXd& x, double y) {
    PredictRequest request = question(1, {x.data(), static_cast<std::size_t>(x.size())}, {&y, 1});
    const PredictiveSummary served = predict(request)[0];
    predictor_->direction(*posterior_, filter_->direction());
    const auto [shift, variance] = filter_->look();
    PredictiveSummary given;
    given.linpred_sd = std::sqrt(variance);
    const double mean = served.linpred_mean + shift;
    const double step = 0.5 * given.linpred_sd;
    const auto at = [&](double moved) {
      given.linpred_mean = mean + moved;
      predictor_->answer_at(find_model(config_.model.name)->response, request, given);
      return given.log_score;
    };
    const double below = at(-step);
    const double above = at(step);
    const double here = at(0);
    filter_->tell({(above - below) / (2 * step), (above - 2 * here + below) / (step * step), 1});
    return here;
  }

  std::unique_ptr<OutcomeFilter> filter_;
};

TEST_F(GivenOutcomes, OfALinearModelAreAsLikelyAsAllAtOnce) {
  constexpr Index kFeatures = 3;
  begin("linear", kFeatures);
  MatrixXd covariance = MatrixXd::Constant(kFeatures, kFeatures, 0.4);
  covariance.diagonal() << 1.0, 0.8, 2.0;
  VectorXd mean(kFeatures);
  mean << 1, -2, 0.5;
  set(mean, covariance);
  posterior_->dispersion = 0.7;
  posterior_->target_scale = 1.7;
  posterior_->temperature = 0.5;
  covariance *= 0.5 * 1.7 * 1.7;
  // Two memories differ, and answers are averaged over them.
  posterior_->average.clear();
  const VectorXd one = 0.5 * normals(8, kFeatures);
  const VectorXd two = 0.5 * normals(9, kFeatures);
  for (const VectorXd* column : {&one, &two}) {
    const MemoryAverage::Column to = posterior_->average.add();
    std::copy_n(column->data(), kFeatures, to.direction);
    std::fill_n(to.normals, config_.retained_draws, 0.0);
    covariance += *column * column->transpose();
  }
  std::fill_n(posterior_->average.shift(), kFeatures, 0.0);
  const RowMatrix x = autoregressive_rows(kRows, kFeatures, 0.3, 5);
  const VectorXd y = x * mean + 1.5 * normals(6, kRows);
  double sum = 0;
  for (Index i = 0; i < kRows; ++i) sum += told(x.row(i).transpose(), y[i]);
  const MatrixXd all =
      x * covariance * x.transpose() + posterior_->dispersion * MatrixXd::Identity(kRows, kRows);
  const auto factor = all.llt();
  const VectorXd off = factor.matrixL().solve(y - x * mean);
  const double log_det = 2 * MatrixXd(factor.matrixL()).diagonal().array().log().sum();
  const double at_once =
      -0.5 * (off.squaredNorm() + log_det + kRows * std::log(2 * std::numbers::pi));
  EXPECT_NEAR(sum, at_once, 1e-6);
}

// One x, so that all at once is an integral over one number: a sum over 2,000 steps of 12 sd.
template <class LogProbability>
double of_all_at_once(double mean, double sd, const VectorXd& y, LogProbability&& log_probability) {
  constexpr int kSteps = 2'000;
  double most = -HUGE_VAL;
  VectorXd terms(kSteps);
  for (int k = 0; k < kSteps; ++k) {
    const double z = -6 + 12.0 * k / (kSteps - 1);
    terms[k] = -0.5 * z * z;
    for (const double outcome : y) terms[k] += log_probability(outcome, mean + sd * z);
    most = std::max(most, terms[k]);
  }
  const double step = 12.0 / (kSteps - 1);
  return most +
         std::log((terms.array() - most).exp().sum() * step / std::sqrt(2 * std::numbers::pi));
}

TEST_F(GivenOutcomes, OfCountsAndClassesTooButForTheirSkew) {
  constexpr Index kTold = 30;
  const VectorXd x = VectorXd::Ones(1);
  const MatrixXd variance = MatrixXd::Constant(1, 1, 0.64);
  const VectorXd u = uniforms(7, kTold);
  struct Case {
    const char* model;
    double mean;
    double (*log_probability)(double y, double eta);
  };
  for (const Case& c :
       {Case{"poisson", 1.0,
             [](double y, double eta) { return y * eta - std::exp(eta) - std::lgamma(y + 1); }},
        Case{"logistic", 0.5,
             [](double y, double eta) { return -std::log1p(std::exp(y == 1 ? -eta : eta)); }}}) {
    begin(c.model, 1);
    set(VectorXd::Constant(1, c.mean), variance);
    VectorXd y(kTold);  // those of a linear predictor one sd below
    for (Index i = 0; i < kTold; ++i) {
      const double eta = c.mean - 0.8;
      double at = 0;
      for (double sum = std::exp(c.log_probability(0, eta)); sum < u[i] && at < 20;) {
        at += 1;
        if (std::string_view(c.model) == "logistic") break;
        sum += std::exp(c.log_probability(at, eta));
      }
      y[i] = at;
    }
    double sum = 0;
    double by_themselves = 0;
    for (const double outcome : y) {
      by_themselves +=
          of_all_at_once(c.mean, 0.8, VectorXd::Constant(1, outcome), c.log_probability);
      sum += told(x, outcome);
    }
    const double at_once = of_all_at_once(c.mean, 0.8, y, c.log_probability);
    EXPECT_NEAR(sum, at_once, 0.05) << c.model;
    EXPECT_GT(std::abs(by_themselves - at_once), 0.3)
        << c.model << ": they share what is not known";
  }
}

TEST_F(GivenOutcomes, AreNotFollowedOfSeveralClassesOrOfNetworks) {
  make("softmax", 3);
  EXPECT_EQ(Predictor::directions(config_, 0), 0U);
  make("linear", 3);
  EXPECT_EQ(Predictor::directions(config_, 4), 7U);
}

}  // namespace
}  // namespace windhover::test::outcome_filter_test
