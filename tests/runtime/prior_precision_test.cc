// Prior precisions learned online against the fixed point of variational EM computed offline, and
// the posterior that is served at them.
#include "windhover/runtime/learning/prior_precision.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::prior_precision_test {
namespace {

using Groups = std::vector<std::uint32_t>;

// The prior precision of each parameter: groups are of the features alone, and the last coefficient
// is the intercept.
VectorXd spread(const VectorXd& lambda, const Groups& groups, const ModelConfig& model) {
  VectorXd precision(static_cast<Index>(groups.size()) + 1);
  for (std::size_t j = 0; j < groups.size(); ++j) {
    precision[static_cast<Index>(j)] = lambda[static_cast<Index>(groups[j])];
  }
  precision[precision.size() - 1] = model.intercept_precision;
  return precision;
}

Gaussian linear_posterior_at(const Data& data, double noise_variance, const VectorXd& precision) {
  const MatrixXd design = data.design();
  MatrixXd a = design.transpose() * design / noise_variance;
  a.diagonal() += precision;
  const MatrixXd covariance = a.inverse();
  return {covariance * (design.transpose() * data.y) / noise_variance, covariance};
}

// The Gaussian that is served for a logistic model: Laplace's, its mean moved by the first-order
// correction for skewness.
Gaussian logistic_posterior_at(const Data& data, const VectorXd& precision) {
  const MatrixXd x = data.design();
  Gaussian g{VectorXd::Zero(x.cols()), MatrixXd()};
  VectorXd p;
  for (int i = 0; i < 30; ++i) {
    p = (1 + (-(x * g.mean).array()).exp()).inverse();
    const VectorXd weight = p.array() * (1 - p.array());
    MatrixXd a = x.transpose() * weight.asDiagonal() * x;
    a.diagonal() += precision;
    g.covariance = a.inverse();
    g.mean += g.covariance * (x.transpose() * (data.y - p) - precision.cwiseProduct(g.mean));
  }
  const VectorXd leverage = (x * g.covariance).cwiseProduct(x).rowwise().sum();
  const VectorXd third = p.array() * (1 - p.array()) * (1 - 2 * p.array()) * leverage.array();
  g.mean -= 0.5 * g.covariance * (x.transpose() * third);
  return g;
}

// lambda_g = D_g / E|theta_g|^2 again and again: the M step as it stands in the papers, slow and
// never wrong.
template <class PosteriorAt>
VectorXd variational_em(const PosteriorAt& posterior_at, const Groups& groups,
                        const ModelConfig& model) {
  const Index count = static_cast<Index>(*std::ranges::max_element(groups)) + 1;
  VectorXd lambda = VectorXd::Ones(count);
  for (int i = 0; i < 3000; ++i) {
    const Gaussian g = posterior_at(spread(lambda, groups, model));
    VectorXd size = VectorXd::Zero(count);
    VectorXd squares = VectorXd::Zero(count);
    for (std::size_t j = 0; j < groups.size(); ++j) {
      const Index k = static_cast<Index>(j);
      size[groups[j]] += 1;
      squares[groups[j]] += g.mean[k] * g.mean[k] + g.covariance(k, k);
    }
    const VectorXd before = lambda;
    lambda = size.cwiseQuotient(squares);
    if ((lambda.array() / before.array()).log().abs().maxCoeff() < 1e-10) break;
  }
  return lambda;
}

EngineConfig learning_config(const char* model, std::uint32_t features, std::uint64_t window,
                             const Groups& groups) {
  EngineConfig config = small_config(model, features, window);
  config.draws_per_observation = 0;
  config.model.learn_prior_precision = true;
  config.model.prior_groups = groups;
  return config;
}

VectorXd learned(TestEngine& engine) {
  const auto lambda = engine->learner().view().estimator().prior().of_groups();
  return Eigen::Map<const VectorXd>(lambda.data(), static_cast<Index>(lambda.size()));
}

double distance(const VectorXd& a, const VectorXd& b) {
  return (a.array() / b.array()).log().abs().maxCoeff();
}

const Groups kOne = {0, 0, 0, 0, 0, 0};
const Groups kTwo = {0, 1, 0, 1, 1, 1};

// Two features of group 0 matter much, the four of group 1 little.
template <class MakeData>
Data grouped_data(const MakeData& make) {
  VectorXd truth(7);
  truth << 1.5, 0.2, -1.0, -0.1, 0.15, 0.1, 0.3;
  return make(truth);
}

Data grouped_linear_data(Index rows, std::uint64_t seed) {
  return grouped_data([&](const VectorXd& truth) {
    Data data = linear_data(rows, 6, 1.0, seed);
    data.y += data.design() * (truth - data.truth);
    data.truth = truth;
    return data;
  });
}

Data grouped_logistic_data(Index rows, std::uint64_t seed) {
  return grouped_data([&](const VectorXd& truth) {
    Data data = logistic_data(rows, 6, 0.0, seed);
    const VectorXd eta = data.design() * truth;
    const VectorXd u = uniforms(4 * seed + 3, rows);
    for (Index i = 0; i < rows; ++i) data.y[i] = u[i] < 1 / (1 + std::exp(-eta[i])) ? 1.0 : 0.0;
    data.truth = truth;
    return data;
  });
}

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

// Whatever came before, a learner at rest has the fixed point of the rows that it stands on: while
// a stream stays as it is, what was learned from it does too, and follows when it changes.
TEST(PriorPrecision, StandsAtTheFixedPointWheneverTheLearnerRests) {
  const Index window = 1000;
  const Index change = 8 * window;
  Data data = grouped_linear_data(16 * window, 77);
  for (Index i = change; i < data.rows(); ++i) data.y[i] += 3 * data.x(i, 1) - 3 * data.x(i, 3);
  EngineConfig config = learning_config("linear", 6, static_cast<std::uint64_t>(window), kTwo);
  config.draws_per_observation = 4;
  TestEngine engine(config);
  VectorXd before;
  double settled = 0;
  for (Index i = 0; i < data.rows(); i += window) {
    engine.feed(data, i, i + window);
    engine.poll_until_idle();
    const VectorXd now = learned(engine);
    const Data rows{data.x.middleRows(i, window), data.y.segment(i, window), data.truth};
    const VectorXd exact = variational_em(
        [&](const VectorXd& precision) { return linear_posterior_at(rows, 1.0, precision); }, kTwo,
        config.model);
    EXPECT_LE(distance(now, exact), 0.01) << i;
    if (i >= window && i < change) {
      settled = std::max(settled, std::abs(std::log(now[0] / before[0])));
    }
    before = now;
  }
  // |theta_0|^2 = 3.25 is known to 2 x 1.8 x 0.04 from one window, its change to 6 % of it.
  EXPECT_LE(settled, 3 * 0.06);
  EXPECT_NEAR(std::log(before[1] * (3.2 * 3.2 + 3.1 * 3.1) / 4), 0, 0.15);
}

// Rows without a signal take the precision to its bound; those that come then, at once or a few at
// a time, bring it back, also where no more rows follow.
TEST(PriorPrecision, ComesBackFromItsBoundBeforeTheLearnerRests) {
  for (const char* model : {"linear", "logistic"}) {
    const bool linear = std::string(model) == "linear";
    Data data = linear ? grouped_linear_data(3000, 79) : grouped_logistic_data(3000, 79);
    const VectorXd u = linear ? normals(80, 300) : uniforms(80, 300);
    for (Index i = 0; i < 300; ++i) data.y[i] = linear ? u[i] : (u[i] < 0.5 ? 1.0 : 0.0);
    for (const Index at_once : {50, 2700}) {
      EngineConfig config = learning_config(model, 6, 4000, kOne);
      config.draws_per_observation = 4;
      TestEngine engine(config);
      engine.feed(data, 0, 300);
      engine.poll_until_idle();
      for (Index i = 300; i < data.rows(); i += at_once) {
        engine.feed(data, i, std::min(i + at_once, data.rows()));
        engine.poll_rounds(5);
      }
      engine.poll_until_idle();
      const VectorXd exact = variational_em(
          [&](const VectorXd& precision) {
            return linear ? linear_posterior_at(data, 1.0, precision)
                          : logistic_posterior_at(data, precision);
          },
          kOne, config.model);
      EXPECT_LE(distance(learned(engine), exact), 0.01) << model << ", " << at_once << " at once";
    }
  }
}

// Twenty coefficients that rows say next to nothing about, and a stream that trickles.
struct Trickle {
  double passes_a_row = 0;
  double farthest = 0;  // from the fixed point, in posterior sd
};

Trickle trickle(const char* model, double signal, Index rows) {
  constexpr Index kWindow = 300;
  const bool linear = std::string(model) == "linear";
  const Index n = kWindow + rows;
  Data data = linear ? linear_data(n, 20, 1.0, 1) : logistic_data(n, 20, 0.0, 1);
  data.truth = signal * coefficients(21, 1);
  const VectorXd eta = data.design() * data.truth;
  const VectorXd u = linear ? normals(51, n) : uniforms(51, n);
  for (Index i = 0; i < n; ++i) {
    data.y[i] = linear ? eta[i] + u[i] : (u[i] < 1 / (1 + std::exp(-eta[i])) ? 1.0 : 0.0);
  }
  const Groups groups(20, 0);
  EngineConfig config = learning_config(model, 20, kWindow, groups);
  config.draws_per_observation = 4;
  TestEngine engine(config);
  engine.feed(data, 0, kWindow);
  engine.poll_until_idle();
  const auto passes = [&] {
    return static_cast<double>(engine->counters().get(RuntimeCounter::kPasses));
  };
  const double before = passes();
  Trickle result;
  for (Index i = kWindow; i < n; ++i) {
    engine.feed(data, i, i + 1);
    engine.poll_until_idle();
    if (i % 20 != 0) continue;
    const Index first = i + 1 - kWindow;
    const Data held{data.x.middleRows(first, kWindow), data.y.segment(first, kWindow), data.truth};
    const auto posterior_at = [&](const VectorXd& lambda) {
      const VectorXd precision = spread(lambda, groups, config.model);
      return linear ? linear_posterior_at(held, 1.0, precision)
                    : logistic_posterior_at(held, precision);
    };
    // The evidence may have several optima: the one that the engine stands by.
    VectorXd lambda = learned(engine);
    for (int k = 0; k < 3000; ++k) {
      const Gaussian g = posterior_at(lambda);
      const double determined = 20 - lambda[0] * g.covariance.diagonal().head(20).sum();
      const double next = std::min(determined / g.mean.head(20).squaredNorm(), 1e6);
      const double step = std::abs(std::log(next / lambda[0]));
      lambda[0] = next;
      if (step < 1e-9) break;
    }
    const Gaussian exact = posterior_at(lambda);
    const Gaussian served = engine.summary();
    const VectorXd off = served.mean - exact.mean;
    const VectorXd sd = (served.covariance.diagonal().array() / exact.covariance.diagonal().array())
                            .sqrt()
                            .matrix();
    result.farthest = std::max({result.farthest, (sd.array() - 1).abs().maxCoeff(),
                                std::sqrt(off.dot(exact.covariance.ldlt().solve(off)))});
  }
  result.passes_a_row = (passes() - before) / static_cast<double>(rows);
  return result;
}

// Each row moves the precision by a little. The sums of a quadratic loss need no pass for it: they
// are summed anew with each hundredth of the window as ever. Others are with nearly every row of
// so small a window, whether a precision is learned or not.
TEST(PriorPrecision, TakesNoPassesOfItsOwnWhereRowsTrickle) {
  for (const double signal : {0.0, 0.1}) {
    const Trickle linear = trickle("linear", signal, 100);
    EXPECT_LE(linear.passes_a_row, 0.5) << signal;
    EXPECT_LE(linear.farthest, 0.02) << signal;
  }
  const Trickle logistic = trickle("logistic", 0.2, 60);
  EXPECT_LE(logistic.passes_a_row, 2) << "with a given precision it is 1";
  EXPECT_LE(logistic.farthest, 0.02);
}

// Rows that change the precision a lot join the sums before the pass ends that sums all rows anew.
TEST(PriorPrecision, DrawsAreMadeAnewWhereItJumpsBetweenPasses) {
  for (const char* sampler : {"calibrated", "sghmc"}) {
    Data data = grouped_linear_data(5100, 81);
    data.y.head(5000) -= 0.97 * data.design().topRows(5000) * data.truth;
    EngineConfig config = learning_config("linear", 6, 6000, kOne);
    config.draws_per_observation = 1;
    config.sampler.name = sampler;
    TestEngine engine(config);
    engine.feed(data, 0, 5000);
    engine.poll_until_idle();
    const double before = learned(engine)[0];
    const std::uint64_t steps = engine->counters().get(RuntimeCounter::kSteps);
    data.y.tail(100) *= 2;
    engine.feed(data, 5000, 5100);
    engine.poll_until_idle();
    ASSERT_GT(std::log(before / learned(engine)[0]), 1) << sampler;
    const double chains = engine->config().sampler.chains;
    const double moves =
        static_cast<double>(engine->counters().get(RuntimeCounter::kSteps) - steps) / chains;
    const double relaxations = moves / engine->learner().view().relaxation;
    EXPECT_GE(relaxations, engine->config().retained_draws / chains) << sampler;
  }
}

// Steps that cannot be trusted are taken back. The precision has not moved then, nor has it
// arrived.
TEST(PriorPrecision, HasNotArrivedWhereItsStepsWereTakenBack) {
  ModelConfig model;
  model.name = "linear";
  model.features = 2;
  model.prior_precision = 1;
  model.learn_prior_precision = true;
  MappedBlock block(1 << 16);
  Arena arena(block.bytes());
  PriorPrecision prior(arena, model);
  prior.reset(model);
  EXPECT_TRUE(prior.converged());
  const VectorXd mode{{0.1, -0.1, 0.0}};
  const MatrixXd covariance = VectorXd{{0.01, 0.01, 0.01}}.asDiagonal();
  const VectorXd variances = covariance.diagonal();
  prior.mark();
  EXPECT_GT(prior.update(mode.data(), mode.data(), variances.data(), 1e300), 1);
  prior.undo();
  prior.look_ahead(mode.data(), mode.data(), covariance.data());
  EXPECT_EQ(prior.moved(), 0);
  EXPECT_FALSE(prior.converged());
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
