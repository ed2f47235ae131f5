// Where learned prior precisions stand when the learner rests, and what it does until then.
#include "windhover/runtime/learning/prior_precision.h"

#include <gtest/gtest.h>

#include <string>

#include "windhover/tests/runtime/prior_precision_fixture.h"

namespace windhover::test::prior_precision_test {
namespace {

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

}  // namespace
}  // namespace windhover::test::prior_precision_test
