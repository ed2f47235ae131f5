// Rows with an offset: the posterior is that of what the offset leaves, and answers have it added.
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "windhover/runtime/scoring/prediction_scores.h"
#include "windhover/runtime/window/row_follower.h"
#include "windhover/tests/runtime/checkpoint_fixture.h"
#include "windhover/tests/runtime/glm_reference.h"
#include "windhover/tests/runtime/units_fixture.h"

namespace windhover::test::offset_test {
namespace {

// Counts in exposures from a tenth to ten.
Data exposed_counts(Index rows, Index features, std::uint64_t seed) {
  Data data;
  data.x = autoregressive_rows(rows, features, 0.5, seed);
  data.truth = coefficients(features + 1, seed + 1);
  data.offset = (std::log(10.0) * (2 * uniforms(seed + 2, rows).array() - 1)).matrix();
  const VectorXd rate = (data.design() * data.truth + data.offset).array().exp();
  const VectorXd u = uniforms(seed + 3, rows);
  data.y.resize(rows);
  for (Index i = 0; i < rows; ++i) {
    double term = std::exp(-rate[i]);
    double below = term;
    double k = 0;
    while (below < u[i] && k < 10'000) below += term *= rate[i] / ++k;
    data.y[i] = k;
  }
  return data;
}

// The mode by Newton's method, and the inverse of the curvature there.
Gaussian laplace_of(const Data& data, const ModelConfig& model) {
  const MatrixXd design = data.design();
  const VectorXd prior = prior_precisions(design.cols(), model);
  VectorXd theta = VectorXd::Zero(design.cols());
  MatrixXd curvature;
  for (int i = 0; i < 100; ++i) {
    const VectorXd mean = (design * theta + data.offset).array().exp();
    curvature = design.transpose() * mean.asDiagonal() * design;
    curvature.diagonal() += prior;
    const VectorXd gradient = design.transpose() * (mean - data.y) + prior.cwiseProduct(theta);
    VectorXd step = curvature.llt().solve(gradient);
    if (step.norm() > 1) step /= step.norm();
    theta -= step;
  }
  return {theta, curvature.inverse()};
}

EngineConfig with_offset(EngineConfig config) {
  config.model.offset = true;
  return config;
}

TEST(Offset, PosteriorOfCountsIsThatOfTheirRates) {
  const Data data = exposed_counts(400, 3, 31);
  for (const Horizon horizon : {Horizon::kWindow, Horizon::kAll}) {
    EngineConfig config = with_offset(small_config("poisson", 3, 1000));
    config.horizon = horizon;
    if (horizon == Horizon::kAll) config.sampler.chains = 0;
    TestEngine engine(config);
    engine.feed(data);
    engine.poll_until_idle();
    const Gaussian exact = laplace_of(data, config.model);
    const auto parameters = engine.parameters();
    // Without a window rows are linearised where they are first seen.
    const double tolerance = horizon == Horizon::kWindow ? 1e-4 : 0.5;
    for (Index j = 0; j < 4; ++j) {
      const double sd = std::sqrt(exact.covariance(j, j));
      const ParameterSummary& p = parameters[static_cast<std::size_t>(j)];
      EXPECT_NEAR(p.mode, exact.mean[j], tolerance * sd) << j;
      EXPECT_NEAR(p.sd, sd, 0.05 * sd) << j;
    }
  }
}

// Thresholds as in PoissonPosterior's test of the same; Laplace's approximation is within them.
TEST(Offset, SpreadOfTheDrawsIsThePosteriors) {
  for (const char* sampler : {"calibrated", "sgfs-f"}) {
    EngineConfig config = with_offset(small_config("poisson", 3, 500));
    config.sampler.name = sampler;
    config.draws_per_observation = 0;
    const Data data = exposed_counts(500, 3, 33);
    TestEngine engine(config);
    const Gaussian drawn = drawn_of(engine, data, 30'000);
    const Gaussian exact = laplace_of(data, config.model);
    for (Index j = 0; j < 4; ++j) {
      const double sd = std::sqrt(exact.covariance(j, j));
      EXPECT_NEAR(drawn.mean[j], exact.mean[j], 0.15 * sd) << sampler << j;
      EXPECT_NEAR(std::sqrt(drawn.covariance(j, j)) / sd, 1.0, 0.08) << sampler << j;
    }
  }
}

// The prior is the default one, with y in units found at the cold start.
TEST(Offset, OfANumberIsTakenOffBeforeAnythingElse) {
  for (const char* model : {"linear", "student-t"}) {
    for (const Horizon horizon : {Horizon::kWindow, Horizon::kAll, Horizon::kFading}) {
      Data data = units_test::house_prices(600);
      EngineConfig config = units_test::default_prior(model, 2, 400);
      config.horizon = horizon;
      config.sampler.chains = 0;
      TestEngine plain(config);
      plain.feed(data);
      plain.poll_until_idle();
      data.offset = 1e5 * normals(5, data.rows());
      data.y += data.offset;
      TestEngine offset(with_offset(config));
      offset.feed(data);
      offset.poll_until_idle();
      const auto expected = plain.parameters();
      const auto found = offset.parameters();
      for (std::size_t j = 0; j < expected.size(); ++j) {
        EXPECT_NEAR(found[j].mean, expected[j].mean, 1e-6 * expected[j].sd) << model << j;
        EXPECT_NEAR(found[j].sd, expected[j].sd, 1e-6 * expected[j].sd) << model << j;
      }
      EXPECT_NEAR(offset.provenance().noise_variance, plain.provenance().noise_variance,
                  1e-6 * plain.provenance().noise_variance);
    }
  }
}

TEST(Offset, UnitsOfCountsAreThoseOfTheRate) {
  Data data = exposed_counts(300, 2, 37);
  EngineConfig config = units_test::default_prior("poisson", 2, 400);
  TestEngine engine(with_offset(config));
  engine.feed(data);
  engine.poll_until_idle();
  const double exposure = data.offset.array().exp().mean();
  EXPECT_NEAR(engine->learner().view().estimator().laplace().n(), 300, 1e-9);
  const Gaussian exact = laplace_of(data, [] {
    ModelConfig flat;
    flat.prior_precision = flat.intercept_precision = 1e-6;
    return flat;
  }());
  // A prior of sd 2.5 hardly moves 300 rows.
  const auto parameters = engine.parameters();
  for (Index j = 0; j < 3; ++j) {
    EXPECT_NEAR(parameters[static_cast<std::size_t>(j)].mode, exact.mean[j],
                0.1 * std::sqrt(exact.covariance(j, j)));
  }
  EXPECT_GT(exposure, 1.5);  // else the test says little
}

TEST(Offset, OfAQuestionIsAddedToItsLinearPredictor) {
  for (const char* model : {"linear", "logistic", "poisson", "student-t", "negative-binomial",
                            "zero-inflated-poisson", "heteroscedastic"}) {
    EngineConfig config = with_offset(small_config(model, 2, 300));
    TestEngine engine(config);
    Data data = exposed_counts(200, 2, 41);
    if (!is_count(find_model(model)->response)) data.y = data.y.cwiseMin(1.0);
    engine.feed(data);
    engine.poll_until_idle();
    const std::array<double, 4> x = {1, 2, 1, 2};
    PredictRequest request = question(2, x);
    const std::array<double, 2> offsets = {0, 0.7};
    request.offsets = offsets;
    request.thompson_id = 3;
    const auto answers = engine.answers(request);
    EXPECT_DOUBLE_EQ(answers[1].linpred_mean, answers[0].linpred_mean + 0.7) << model;
    EXPECT_EQ(answers[1].linpred_sd, answers[0].linpred_sd) << model;
    EXPECT_GT(answers[1].thompson, answers[0].thompson) << model;
    EXPECT_EQ(answers[1].prob_best, 1) << model;
    if (is_count(config.model.name == "poisson" ? Response::kCount : Response::kBernoulli)) {
      EXPECT_NEAR(answers[1].mean, answers[0].mean * std::exp(0.7), 1e-9 * answers[1].mean);
    }
    request.offsets = {};
    EXPECT_EQ(engine.answers(request)[0].mean, answers[0].mean) << model;
  }
}

TEST(Offset, WhatCannotBeIsRefusedByItself) {
  const std::array<double, 1> x = {0.5};
  const double y = 1;
  const auto observe = [&](TestEngine& engine, const double* offset, RefusedRow* why) {
    ObservationBatch batch;
    batch.rows = 1;
    batch.features = reinterpret_cast<const std::byte*>(x.data());
    batch.feature_values = 1;
    batch.targets = reinterpret_cast<const std::byte*>(&y);
    batch.offsets = reinterpret_cast<const std::byte*>(offset);
    return engine->observe(batch, {why, 1});
  };
  const auto ask = [&](TestEngine& engine, const double* offset) {
    PredictRequest request = question(1, x);
    request.offsets = {offset, 1};
    PredictiveSummary answer;
    Provenance provenance;
    return engine.reader().predict(request, {&answer, 1}, provenance);
  };
  TestEngine counts(with_offset(small_config("poisson", 1, 100)));
  TestEngine numbers(with_offset(small_config("linear", 1, 100)));
  RefusedRow why;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double most = 100;
  for (const double wrong : {nan, 100.001, -1e3, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(observe(counts, &wrong, &why).refused, 1u);
    EXPECT_EQ(why.reason, Status::kOffsetOutOfRange) << wrong;
    EXPECT_EQ(ask(counts, &wrong), Status::kOffsetOutOfRange) << wrong;
  }
  EXPECT_EQ(counts->counters().get(RuntimeCounter::kRowsRefusedOffset), 4u);
  EXPECT_EQ(observe(counts, &most, &why).accepted, 1u);
  EXPECT_EQ(observe(counts, nullptr, &why).accepted, 1u);  // 0
  const double large = 1e30;
  const double too_large = 1e36;
  EXPECT_EQ(observe(numbers, &large, &why).accepted, 1u);
  EXPECT_EQ(observe(numbers, &too_large, &why).refused, 1u);
  TestEngine none(small_config("linear", 1, 100));
  EXPECT_EQ(observe(none, &y, &why).status, Status::kOffsetNotTaken);
  EXPECT_EQ(ask(none, &y), Status::kOffsetNotTaken);
  EXPECT_EQ(none->counters().get(RuntimeCounter::kRowsRefusedOffset), 1u);
  EXPECT_EQ(none->head(), 0u);
}

TEST(Offset, ModelsOfSeveralLinearPredictorsRefuseIt) {
  for (const char* model : {"softmax", "mlp-linear", "drbm"}) {
    const auto checked = check(with_offset(small_config(model, 2, 100)));
    ASSERT_FALSE(checked.ok()) << model;
    EXPECT_EQ(std::string(checked.error().sentence).find("model.offset"), 0u);
  }
}

TEST(Offset, PackedRowsAndFollowersHaveIt) {
  for (const std::uint32_t max_nonzeros : {0U, 2U}) {
    EngineConfig config = with_offset(small_config("linear", 2, 200));
    config.model.max_nonzeros = max_nonzeros;
    config.max_followers = 1;
    ManualClock clock(1'000'000);
    TestEngine one(config, &clock);
    RowFollower follower = one->follower().value();
    const VectorXd z = normals(51, 400);
    for (Index i = 0; i < 100; ++i) {
      ObservationBatch b;
      const std::uint32_t end = 2;
      const std::array<std::uint32_t, 2> indices = {0, 1};
      b.rows = 1;
      b.features = reinterpret_cast<const std::byte*>(z.data() + 4 * i);
      b.feature_values = 2;
      b.targets = reinterpret_cast<const std::byte*>(z.data() + 4 * i + 2);
      b.offsets = reinterpret_cast<const std::byte*>(z.data() + 4 * i + 3);
      if (max_nonzeros > 0) {
        b.indices = reinterpret_cast<const std::byte*>(indices.data());
        b.row_ends = reinterpret_cast<const std::byte*>(&end);
      }
      ASSERT_EQ(one->observe(b, {}).accepted, 1u);
    }
    std::vector<std::byte> bytes(follower.packed_bytes(0, 100));
    ASSERT_EQ(follower.pack(0, 100, bytes), bytes.size());
    TestEngine other(config, &clock, 0xA5);
    ASSERT_EQ(other->observe_packed(bytes, 100).accepted, 100u);
    EXPECT_EQ(difference(save(*one), save(*other)), "");
    TestEngine none(small_config("linear", 2, 200));
    EngineConfig following = small_config("linear", 2, 200);
    following.model.max_nonzeros = max_nonzeros;
    following.follows = true;
    TestEngine without(following);
    EXPECT_EQ(without->follow(*one), Status::kWrongDimension);
  }
}

TEST(Offset, CheckpointHoldsItAndSaysWhereItIsMissing) {
  EngineConfig config = with_offset(saved_config());
  Data data = linear_data(150, 2, 1.0, 3);
  data.offset = normals(4, 150);
  const Bytes saved = expect_goes_on_alike(config, data, 100);
  Refusal none(saved_config());
  EXPECT_EQ(std::string(none.refuse(saved).sentence),
            "the checkpoint has another model.offset; there it is");
}

// Without the offsets all would be within what is believed, or nothing.
TEST(Offset, ScoresAndReferenceTakeItIntoAccount) {
  EngineConfig config = with_offset(small_config("poisson", 1, 1000));
  config.score_predictions = true;
  ManualClock clock(1'000'000);
  TestEngine engine(config, &clock);
  Data data = exposed_counts(1000, 1, 61);
  for (Index i = 0; i < 1000; i += 10) {
    engine.feed(data, i, i + 10);
    clock.advance_ns(1'000'000);
    engine.poll_until_idle();
  }
  PredictionScores scores;
  ASSERT_TRUE(engine->scores(scores));
  const ScoreMeans& all = scores.means.back();
  EXPECT_GT(all.rows, 900u);
  // Binomial: 4 standard errors.
  EXPECT_NEAR(all.coverage[2], 0.93, 4 * std::sqrt(0.09 / 900));
  EXPECT_GT(all.log_score, all.reference);
}

}  // namespace
}  // namespace windhover::test::offset_test
