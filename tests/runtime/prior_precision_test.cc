// Prior precisions learned online against the fixed point of variational EM computed offline, and
// the posterior that is served at them.
#include "windhover/runtime/learning/prior_precision.h"

#include <gtest/gtest.h>

#include <string>

#include "windhover/tests/runtime/prior_precision_fixture.h"

namespace windhover::test::prior_precision_test {
namespace {

TEST(PriorPrecision, LinearReachesTheFixedPointOfVariationalEmFromAnyStart) {
  const Data data = grouped_linear_data(1500, 71);
  for (const Groups& groups : {kOne, kTwo}) {
    EngineConfig config = learning_config("linear", 6, 1500, groups);
    const VectorXd exact = variational_em(
        [&](const VectorXd& precision) { return linear_posterior_at(data, 1.0, precision); },
        groups, config.model);
    for (const double start : {1e-2, 1e3}) {
      config.model.prior_precision = start;
      TestEngine engine(config);
      engine.feed(data);
      engine.poll_rounds(3000);
      EXPECT_LE(distance(learned(engine), exact), 1e-6)
          << start << ": " << learned(engine) << ", " << exact;
    }
  }
}

TEST(PriorPrecision, LogisticReachesTheFixedPointOfVariationalEmFromAnyStart) {
  const Data data = grouped_logistic_data(1500, 72);
  for (const Groups& groups : {kOne, kTwo}) {
    EngineConfig config = learning_config("logistic", 6, 1500, groups);
    const VectorXd exact = variational_em(
        [&](const VectorXd& precision) { return logistic_posterior_at(data, precision); }, groups,
        config.model);
    for (const double start : {1e-2, 1e3}) {
      config.model.prior_precision = start;
      TestEngine engine(config);
      engine.feed(data);
      engine.poll_rounds(3000);
      EXPECT_LE(distance(learned(engine), exact), 1e-4)
          << start << ": " << learned(engine) << ", " << exact;
    }
  }
}

// With the noise variance learned too, both stand at once where each is the fixed point of its own.
TEST(PriorPrecision, IsLearnedTogetherWithTheNoiseVariance) {
  const Data data = grouped_linear_data(1500, 73);
  EngineConfig config = learning_config("linear", 6, 1500, kTwo);
  config.model.noise_variance = 0;
  TestEngine engine(config);
  engine.feed(data);
  engine.poll_rounds(3000);
  const double variance = engine->learner().view().estimator().dispersion().value();
  const VectorXd exact = variational_em(
      [&](const VectorXd& precision) { return linear_posterior_at(data, variance, precision); },
      kTwo, config.model);
  EXPECT_LE(distance(learned(engine), exact), 1e-6);
  const Gaussian g = linear_posterior_at(data, variance, spread(exact, kTwo, config.model));
  const MatrixXd design = data.design();
  const double expected = ((data.y - design * g.mean).squaredNorm() +
                           (design.transpose() * design * g.covariance).trace()) /
                          static_cast<double>(data.rows());
  EXPECT_NEAR(variance / expected, 1.0, 1e-6);
}

// What is served and drawn is the posterior under the learned prior.
TEST(PriorPrecision, PosteriorIsThatOfTheLearnedPrior) {
  const Data data = grouped_linear_data(1000, 74);
  TestEngine engine(learning_config("linear", 6, 1000, kTwo));
  engine.feed(data);
  engine.poll_rounds(1500);
  const VectorXd precision = spread(learned(engine), kTwo, engine->config().model);
  const Gaussian exact = linear_posterior_at(data, 1.0, precision);
  EXPECT_LE(kl(engine.summary(), exact), 1e-9);
  const auto parameters = engine.parameters();
  for (Index j = 0; j < precision.size(); ++j) {
    EXPECT_EQ(parameters[static_cast<std::size_t>(j)].prior_precision, precision[j]);
  }
  Trace trace(exact.mean);
  engine->learner().set_trace(Trace::add, &trace);
  const std::uint64_t rounds = 30'000;
  engine.poll_rounds(rounds);
  // A chain forgets in about 2 n / S rounds; three times the expected KL of a Gaussian fitted to so
  // many independent draws.
  const double independent = trace.count() * engine->learner().view().minibatch_size / (2 * 1000.0);
  EXPECT_GT(independent, 5000);
  EXPECT_LE(kl(trace.moments(), exact), 3 * 7 * 10 / (4 * independent));
}

// A group without signal is switched off, one with signal is left alone.
TEST(PriorPrecision, SeparatesSignalFromNoise) {
  for (const char* model : {"linear", "logistic"}) {
    const Index features = 12;
    Groups groups(12, 1);
    VectorXd truth = VectorXd::Zero(features + 1);
    for (Index j = 0; j < 4; ++j) {
      groups[static_cast<std::size_t>(j)] = 0;
      truth[j] = j % 2 == 0 ? 1.0 : -0.8;
    }
    Data data = linear_data(4000, features, 1.0, 75);
    data.y += data.design() * (truth - data.truth);
    if (std::string(model) == "logistic") {
      const VectorXd eta = data.design() * truth;
      const VectorXd u = uniforms(304, data.rows());
      for (Index i = 0; i < data.rows(); ++i) {
        data.y[i] = u[i] < 1 / (1 + std::exp(-eta[i])) ? 1.0 : 0.0;
      }
    }
    EngineConfig config = learning_config(model, 12, 4000, groups);
    TestEngine engine(config);
    engine.feed(data);
    engine.poll_rounds(6000);
    const VectorXd lambda = learned(engine);
    EXPECT_NEAR(std::log(lambda[0] * truth.head(4).squaredNorm() / 4), 0, 0.3) << model;
    EXPECT_GT(lambda[1], 100 * lambda[0]) << model;
    config.model.learn_prior_precision = false;
    config.model.prior_groups = {};
    TestEngine fixed(config);
    fixed.feed(data);
    fixed.poll_rounds(6000);
    const auto noise = [&](TestEngine& e) {
      return e.summary().mean.segment(4, 8).squaredNorm() +
             e.summary().covariance.block(4, 4, 8, 8).trace();
    };
    EXPECT_LT(noise(engine), 0.7 * noise(fixed)) << model;
  }
}

// Automatic relevance determination with a group for each feature: bounds are kept, and neither a
// column of zeros nor one without signal does any harm.
TEST(PriorPrecision, GroupsOfOneFeatureStayWithinTheirBounds) {
  Groups groups = {0, 1, 2, 3, 4, 5};
  Data data = grouped_linear_data(2000, 76);
  data.y -= data.truth[5] * data.x.col(5);
  data.y -= data.truth[3] * data.x.col(3);
  data.x.col(3).setZero();
  EngineConfig config = learning_config("linear", 6, 2000, groups);
  config.model.prior_precision_max = 500;
  TestEngine engine(config);
  engine.feed(data);
  engine.poll_rounds(8000);
  const VectorXd lambda = learned(engine);
  EXPECT_NEAR(lambda[0], 1 / (1.5 * 1.5), 0.1);
  EXPECT_EQ(lambda[3], 1.0);  // where it began: nothing is known about it
  EXPECT_LE(lambda.maxCoeff(), 500.0);
  EXPECT_GT(lambda[5], 30.0);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kDivergences), 0u);
  EXPECT_EQ(engine->counters().get(RuntimeCounter::kFactorizationFailures), 0u);
  const Gaussian exact =
      linear_posterior_at(data, 1.0, spread(lambda, groups, engine->config().model));
  EXPECT_LE(kl(engine.summary(), exact), 1e-9);
}

// The precisions of classes share their groups: one number a feature, whatever the class.
TEST(PriorPrecision, SoftmaxSharesAGroupAmongItsClasses) {
  Data data = grouped_logistic_data(1500, 78);
  EngineConfig config = learning_config("softmax", 6, 1500, kTwo);
  config.model.classes = 3;
  const VectorXd u = uniforms(9, data.rows());
  for (Index i = 0; i < data.rows(); ++i) data.y[i] += u[i] < 0.3 ? 1 : 0;
  TestEngine engine(config);
  engine.feed(data);
  engine.poll_rounds(8000);
  const auto parameters = engine.parameters();
  ASSERT_EQ(parameters.size(), 14u);
  for (std::size_t j = 0; j < 7; ++j) {
    EXPECT_EQ(parameters[j].prior_precision, parameters[j + 7].prior_precision) << j;
  }
  EXPECT_EQ(parameters[6].prior_precision, config.model.intercept_precision);
  // The precision is at the fixed point, by its definition.
  const Gaussian g = engine.summary();
  for (std::uint32_t group : {0u, 1u}) {
    double size = 0;
    double squares = 0;
    for (Index j = 0; j < 14; ++j) {
      if (j % 7 == 6 || kTwo[static_cast<std::size_t>(j % 7)] != group) continue;
      size += 1;
      squares += g.mean[j] * g.mean[j] + g.covariance(j, j);
    }
    EXPECT_NEAR(learned(engine)[group] * squares / size, 1.0, 1e-3) << group;
  }
}

// The caller's array of groups may go once the engine is there.
TEST(PriorPrecision, EngineKeepsItsOwnCopyOfTheGroups) {
  EngineConfig config = small_config("linear", 6, 100);
  config.model.learn_prior_precision = true;
  auto groups = std::make_unique<Groups>(kTwo);
  config.model.prior_groups = *groups;
  TestEngine engine(config);
  groups.reset();
  const auto kept = engine->config().model.prior_groups;
  EXPECT_TRUE(std::ranges::equal(kept, kTwo));
}

}  // namespace
}  // namespace windhover::test::prior_precision_test
