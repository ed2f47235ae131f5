// Robust regression in the engine: outliers, a scale given or learned, and the spread of the draws.
#include <gtest/gtest.h>

#include <array>

#include "windhover/tests/runtime/glm_reference.h"

namespace windhover::test::student_posterior_test {
namespace {

// Linear data whose noise is `sigma` times Student's t with 4 degrees of freedom.
Data student_data(Index rows, Index features, double sigma, std::uint64_t seed) {
  Data data = linear_data(rows, features, 0.0, seed);
  const VectorXd z = normals(900 + seed, 5 * rows);
  for (Index i = 0; i < rows; ++i) {
    data.y[i] += sigma * z[5 * i] / std::sqrt(z.segment(5 * i + 1, 4).squaredNorm() / 4);
  }
  return data;
}

TEST(StudentPosterior, ModeIsTheExactOneWithAGivenScale) {
  EngineConfig config = small_config("student-t", 3, 1000);
  config.model.noise_variance = 0.49;
  const Data data = student_data(600, 3, 0.7, 81);
  TestEngine engine(config);
  engine.feed(data);
  engine.poll_until_idle();
  const GlmReference reference(data.design(), data.y, config.model, student_loss(4, 0.49),
                               data.truth);
  expect_modes(engine, reference);
  EXPECT_EQ(engine.provenance().noise_variance, 0.49);
  EXPECT_EQ(engine.provenance().noise_variance_sd, 0.0);
}

// The curvature is the Fisher information: sqrt(1 / n) relative error in a variance, 3 % of an sd.
TEST(StudentPosterior, SpreadOfTheDrawsIsThePosteriorsWhenTheModelHolds) {
  EngineConfig config = small_config("student-t", 3, 1000);
  config.model.noise_variance = 1.0;
  config.draws_per_observation = 0;
  const Data data = student_data(1000, 3, 1.0, 82);
  TestEngine engine(config);
  const Gaussian drawn = drawn_of(engine, data, 30'000);
  const GlmReference reference(data.design(), data.y, config.model, student_loss(4, 1.0),
                               data.truth);
  const Gaussian exact = reference.moments(60'000, 83).gaussian;
  for (Index j = 0; j < 4; ++j) {
    const double sd = std::sqrt(exact.covariance(j, j));
    EXPECT_NEAR((drawn.mean[j] - exact.mean[j]) / sd, 0.0, 0.1) << j;
    EXPECT_NEAR(std::sqrt(drawn.covariance(j, j)) / sd, 1.0, 0.1) << j;
    EXPECT_NEAR(std::sqrt(engine.summary().covariance(j, j)) / sd, 1.0, 0.1) << j;
  }
}

// sd of log scale^2: sqrt(2 (nu + 3) / (nu n)) = 0.03; four of them.
TEST(StudentPosterior, LearnedScaleIsTheTrueOne) {
  for (const double sigma : {1e-3, 0.5, 2e4}) {
    const EngineConfig config = small_config("student-t", 2, 4000);
    TestEngine engine(config);
    engine.feed(student_data(4000, 2, sigma, 84));
    engine.poll_until_idle();
    const Provenance p = engine.provenance();
    EXPECT_NEAR(p.noise_variance / (sigma * sigma), 1.0, 0.12) << sigma;
    EXPECT_NEAR(p.noise_variance_sd / p.noise_variance, std::sqrt(2 * 7.0 / (4 * 4000.0)), 1e-9);
  }
}

// A tenth of the rows is wrong by 50 sd: the normal model follows them, Student's does not.
TEST(StudentPosterior, OutliersDoNotMoveIt) {
  Data data = linear_data(1000, 2, 1.0, 85);
  for (Index i = 0; i < 1000; i += 10) data.y[i] += 50;
  double off[2];
  for (const int robust : {0, 1}) {
    EngineConfig config = small_config(robust ? "student-t" : "linear", 2, 1000);
    config.model.noise_variance = 0;
    TestEngine engine(config);
    engine.feed(data);
    engine.poll_until_idle();
    off[robust] = engine.parameters()[2].mean - data.truth[2];
  }
  EXPECT_GT(off[0], 4.0);
  EXPECT_LT(std::abs(off[1]), 0.3);
}

TEST(StudentPosterior, EveryAnswerFromNoRowOnIsFiniteAndOfTheTargetsSize) {
  EngineConfig config = small_config("student-t", 3, 100);
  TestEngine engine(config);
  const Data data = student_data(60, 3, 10.0, 86);
  const std::array<double, 3> x = {1, 2, -1};
  const std::array<double, 1> outcomes = {-1e8};
  PredictRequest request;
  request.rows = 1;
  request.features = x;
  request.outcomes = outcomes;
  std::array<PredictiveSummary, 1> answer;
  Provenance provenance;
  for (Index n = 0; n < 60; ++n) {
    ASSERT_EQ(engine.reader().predict(request, answer, provenance), Status::kOk);
    const PredictiveSummary& s = answer[0];
    EXPECT_TRUE(std::isfinite(s.mean + s.sd + s.log_score + s.crps + s.interval_lower)) << n;
    EXPECT_GT(s.sd, 0.01) << n;
    EXPECT_LT(s.sd, 1000.0) << n;
    engine.feed(data, n, n + 1);
    engine.poll_until_idle();
  }
}

// Rows that leave a full window are taken out with the dispersion they came in with.
TEST(StudentPosterior, MovingWindowIsThatOfItsRows) {
  EngineConfig config = small_config("student-t", 2, 300);
  const Data data = student_data(1200, 2, 0.7, 87);
  TestEngine moving(config);
  for (Index i = 0; i < 1200; i += 30) {
    moving.feed(data, i, i + 30);
    moving.poll_until_idle();
  }
  TestEngine fresh(config);
  fresh.feed(data, 900, 1200);
  fresh.poll_until_idle();
  const auto a = moving.parameters();
  const auto b = fresh.parameters();
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(a[j].mode, b[j].mode, 0.05 * b[j].sd) << j;
  EXPECT_NEAR(moving.provenance().noise_variance / fresh.provenance().noise_variance, 1.0, 0.01);
}

}  // namespace
}  // namespace windhover::test::student_posterior_test
