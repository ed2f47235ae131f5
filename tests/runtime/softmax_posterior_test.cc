// Softmax regression in the engine and its predictive summary.
#include <gtest/gtest.h>

#include <array>

#include "windhover/runtime/prediction/class_probabilities.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::softmax_posterior_test {
namespace {

// theta: one block of coefficients for each class but the first, intercepts last.
VectorXd probabilities(const VectorXd& x, const VectorXd& theta, Index classes) {
  const Index columns = x.size();
  VectorXd p(classes);
  p[0] = 1;
  for (Index c = 1; c < classes; ++c) {
    p[c] = std::exp(x.dot(theta.segment((c - 1) * columns, columns)));
  }
  return p / p.sum();
}

Data class_data(Index rows, Index features, Index classes, std::uint64_t seed) {
  Data data;
  data.x = autoregressive_rows(rows, features, 0.5, 4 * seed);
  data.truth = 2 * coefficients((classes - 1) * (features + 1), 4 * seed + 1);
  const MatrixXd design = data.design();
  const VectorXd u = uniforms(4 * seed + 2, rows);
  data.y.resize(rows);
  for (Index i = 0; i < rows; ++i) {
    const VectorXd p = probabilities(design.row(i), data.truth, classes);
    double below = p[0];
    Index y = 0;
    while (y + 1 < classes && below < u[i]) below += p[++y];
    data.y[i] = static_cast<double>(y);
  }
  return data;
}

EngineConfig class_config(std::uint32_t features, std::uint32_t classes, std::uint64_t window) {
  EngineConfig config = small_config("softmax", features, window);
  config.model.classes = classes;
  return config;
}

TEST(SoftmaxPosterior, OfTwoClassesIsTheLogisticModels) {
  const Data data = logistic_data(400, 3, -0.5, 91);
  TestEngine softmax(class_config(3, 2, 1000));
  TestEngine logistic(small_config("logistic", 3, 1000));
  for (TestEngine* engine : {&softmax, &logistic}) {
    engine->feed(data);
    engine->poll_until_idle();
  }
  const auto a = softmax.parameters();
  const auto b = logistic.parameters();
  ASSERT_EQ(a.size(), 4U);
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_NEAR(a[j].mode, b[j].mode, 1e-6 * b[j].sd);
    EXPECT_NEAR(a[j].mean, b[j].mean, 1e-6 * b[j].sd);
    EXPECT_NEAR(a[j].sd, b[j].sd, 1e-6 * b[j].sd);
  }
  const std::array<double, 6> x = {1, -2, 0.5, 3, 3, 3};
  const std::array<double, 2> outcomes = {1, 0};
  const auto p = softmax.answers(question(2, x, outcomes));
  const auto q = logistic.answers(question(2, x, outcomes));
  for (std::size_t row = 0; row < 2; ++row) {
    EXPECT_EQ(p[row].classes, 2U);
    EXPECT_EQ(q[row].classes, 0U);
    EXPECT_NEAR(p[row].probs[1], q[row].epred_mean, 0.01 * q[row].epred_sd);
    EXPECT_NEAR(p[row].probs_sd[1], q[row].epred_sd, 0.05 * q[row].epred_sd);
    // A 5 % quantile of 512 points has an error of a tenth of an sd.
    EXPECT_NEAR(p[row].probs_eti_lower[1], q[row].interval_lower, 0.3 * q[row].epred_sd);
    EXPECT_NEAR(p[row].probs_eti_upper[1], q[row].interval_upper, 0.3 * q[row].epred_sd);
    EXPECT_NEAR(p[row].log_score, q[row].log_score, 1e-3);
    EXPECT_NEAR(p[row].entropy, q[row].entropy, 1e-3);
    EXPECT_NEAR(p[row].mutual_information, q[row].mutual_information, 1e-3);
    EXPECT_NEAR(p[row].brier, 2 * q[row].brier, 1e-3);  // both classes' errors
  }
}

TEST(SoftmaxPosterior, ModeIsWhereTheGradientVanishesAndDrawsSpreadAsThePosterior) {
  EngineConfig config = class_config(2, 4, 2000);
  config.draws_per_observation = 0;
  const Data data = class_data(2000, 2, 4, 92);
  TestEngine engine(config);
  const Gaussian drawn = drawn_of(engine, data, 30'000);
  // The mode and the Hessian there, by hand.
  const VectorXd mode =
      Eigen::Map<const VectorXd>(engine->learner().view().estimator().laplace().mode(), 9);
  VectorXd prior(9);
  prior << 1, 1, 0.1, 1, 1, 0.1, 1, 1, 0.1;
  VectorXd gradient = prior.cwiseProduct(mode);
  MatrixXd hessian = prior.asDiagonal();
  const MatrixXd design = data.design();
  for (Index i = 0; i < data.rows(); ++i) {
    const VectorXd x = design.row(i);
    const VectorXd p = probabilities(x, mode, 4);
    for (Index a = 1; a < 4; ++a) {
      gradient.segment(3 * (a - 1), 3) += (p[a] - (data.y[i] == static_cast<double>(a))) * x;
      for (Index b = 1; b < 4; ++b) {
        hessian.block(3 * (a - 1), 3 * (b - 1), 3, 3) +=
            p[a] * ((a == b ? 1.0 : 0.0) - p[b]) * x * x.transpose();
      }
    }
  }
  const MatrixXd covariance = hessian.inverse();
  EXPECT_LT(gradient.dot(covariance * gradient), 1e-4) << "squared distance in posterior sd";
  for (Index j = 0; j < 9; ++j) {
    const double sd = std::sqrt(covariance(j, j));
    EXPECT_NEAR(engine.parameters()[static_cast<std::size_t>(j)].sd / sd, 1.0, 0.01) << j;
    EXPECT_NEAR(std::sqrt(drawn.covariance(j, j)) / sd, 1.0, 0.07) << j;
    EXPECT_NEAR((drawn.mean[j] - engine.summary().mean[j]) / sd, 0.0, 0.1) << j;
  }
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), 0u);
}

TEST(SoftmaxPosterior, ProbabilitiesAgreeWithManyDraws) {
  constexpr std::uint32_t kClasses = 3;
  const EngineConfig config = class_config(2, kClasses, 200);
  const Data data = class_data(60, 2, kClasses, 93);
  TestEngine engine(config);
  engine.feed(data);
  engine.poll_until_idle();
  const Gaussian posterior = engine.summary();
  const std::array<double, 2> x = {1.5, -1};
  const std::array<double, 1> outcome = {2};
  const auto answer = engine.answers(question(1, x, outcome));
  constexpr int kDraws = 200'000;
  const MatrixXd root = posterior.covariance.llt().matrixL();
  VectorXd mean = VectorXd::Zero(kClasses);
  VectorXd square = VectorXd::Zero(kClasses);
  VectorXd inside = VectorXd::Zero(kClasses);
  double entropy = 0;
  const PredictiveSummary& s = answer[0];
  const VectorXd row = (VectorXd(3) << 1.5, -1, 1).finished();
  const VectorXd z = normals(94, 6 * kDraws);
  for (int k = 0; k < kDraws; ++k) {
    const VectorXd p = probabilities(row, posterior.mean + root * z.segment(6 * k, 6), kClasses);
    mean += p / kDraws;
    square += p.cwiseAbs2() / kDraws;
    entropy -= p.dot(p.array().log().matrix()) / kDraws;
    for (std::size_t c = 0; c < kClasses; ++c) {
      const double pc = p[static_cast<Index>(c)];
      inside[static_cast<Index>(c)] +=
          (pc > s.probs_eti_lower[c] && pc < s.probs_eti_upper[c] ? 1.0 : 0.0) / kDraws;
    }
  }
  double total = 0;
  for (std::size_t c = 0; c < kClasses; ++c) {
    const auto j = static_cast<Index>(c);
    const double sd = std::sqrt(square[j] - mean[j] * mean[j]);
    EXPECT_NEAR(s.probs[c], mean[j], 0.02 * sd) << c;
    EXPECT_NEAR(s.probs_sd[c], sd, 0.05 * sd) << c;
    EXPECT_NEAR(inside[j], 0.9, 0.04) << c;  // sd of the share: 0.013
    total += s.probs[c];
  }
  EXPECT_NEAR(total, 1.0, 1e-12);
  EXPECT_NEAR(s.expected_entropy, entropy, 0.01);
  EXPECT_NEAR(s.entropy, -mean.dot(mean.array().log().matrix()), 0.01);
  EXPECT_NEAR(s.log_score, std::log(mean[2]), 0.01);
}

TEST(SoftmaxPosterior, EveryAnswerFromNoRowOnIsADistribution) {
  TestEngine engine(class_config(2, 5, 100));
  const Data data = class_data(40, 2, 3, 95);  // two classes are never seen
  const std::array<double, 4> x = {0.5, 1, 1e6, -1e6};
  const std::array<double, 2> outcomes = {4, 0};
  std::vector<PredictiveSummary> answers;
  for (Index n = 0; n < 40; ++n) {
    answers = engine.answers(question(2, x, outcomes));
    for (const PredictiveSummary& s : answers) {
      double total = 0;
      for (std::size_t c = 0; c < 5; ++c) {
        total += s.probs[c];
        EXPECT_LE(s.probs_eti_lower[c], s.probs_eti_upper[c]);
      }
      EXPECT_NEAR(total, 1.0, 1e-12) << n;
      EXPECT_TRUE(std::isfinite(s.log_score)) << n;
      EXPECT_GE(s.mutual_information, 0) << n;
    }
    engine.feed(data, n, n + 1);
    engine.poll_until_idle();
  }
  EXPECT_LT(answers[0].probs[4], 0.2);
  EXPECT_GT(answers[0].probs[4], 0.0);
}

TEST(SoftmaxPosterior, WhatAClassNumberCannotAnswerIsUnsupported) {
  TestEngine engine(class_config(1, 3, 100));
  const std::array<double, 1> x = {1};
  const std::array<double, 1> half = {0.5};
  std::array<PredictiveSummary, 1> answer;
  Provenance provenance;
  for (const int what : {0, 1, 2}) {
    PredictRequest request = question(1, x);
    if (what == 0) request.quantile_probabilities = half;
    if (what == 1) request.thresholds = half;
    if (what == 2) request.thompson_id = 1;
    EXPECT_EQ(engine.reader().predict(request, answer, provenance), Status::kUnsupported) << what;
  }
  for (const double y : {-1.0, 3.0, 0.5}) {
    EXPECT_EQ(engine.reader().predict(question(1, x, {&y, 1}), answer, provenance),
              Status::kTargetOutOfDomain);
    EXPECT_EQ(engine->observe(x, y), Status::kTargetOutOfDomain) << y;
  }
  EXPECT_EQ(engine->observe(x, 2), Status::kOk);
}

// Four classes around points of their own, of features whose logarithms are normal: all but
// separable, with rows far out among them.
Data all_but_separable_data(Index rows, std::uint64_t seed) {
  constexpr Index kFeatures = 8;
  Data data;
  data.x.resize(rows, kFeatures);
  data.y.resize(rows);
  const VectorXd z = normals(seed, rows * kFeatures);
  const VectorXd centres = normals(seed + 1'000, 4 * kFeatures);
  const VectorXd u = uniforms(seed + 2'000, rows);
  for (Index i = 0; i < rows; ++i) {
    const auto label = static_cast<Index>(4 * u[i]);
    data.y[i] = static_cast<double>(label);
    const double far = u[(7 * i) % rows] < 0.03 ? 10 : 1;
    for (Index j = 0; j < kFeatures; ++j) {
      data.x(i, j) = far * std::exp(0.8 * (z[kFeatures * i + j] + centres[kFeatures * label + j]));
    }
  }
  return data;
}

// Full steps of Newton's method go in circles there, pass after pass, with nothing new: after the
// row 352 of the first stream, 476 of the second.
TEST(SoftmaxPosterior, NewtonsMethodComesToAnEndWhereClassesAreAllButSeparable) {
  for (const std::uint64_t seed : {6, 10}) {
    const Data data = all_but_separable_data(600, seed);
    EngineConfig config;
    config.model.name = "softmax";
    config.model.features = 8;
    config.model.classes = 4;
    config.window_size = 400;
    config.window_slack = 2'048;
    config.max_frame_rows = 512;
    TestEngine engine(config);
    for (Index row = 0; row < 500; ++row) {
      engine.feed(data, row, row + 1);
      const std::uint64_t before = engine->counters().get(RuntimeCounter::kPasses);
      std::uint64_t passes = 0;
      while (passes < 400 && engine->poll(64) > 0) {
        passes = engine->counters().get(RuntimeCounter::kPasses) - before;
      }
      ASSERT_LT(passes, 400U) << "row " << row << " of stream " << seed;
    }
    EXPECT_FALSE(engine->learner().view().estimator().far_from_mode());
  }
}

}  // namespace
}  // namespace windhover::test::softmax_posterior_test
