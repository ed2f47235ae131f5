// Rows that come much faster than chains move, as a file does that is sent at once: what the engine
// has when nothing more comes is right, and it says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover {
namespace {

using test::Data;
using test::Index;
using test::TestEngine;
using test::VectorXd;

struct Burst {
  Index before;  // rows that the chains begin with
  int rounds;    // that are done with them
  Index at_once;
  int rounds_between;
};

EngineConfig config_of(const char* model, std::uint64_t window) {
  EngineConfig config;
  config.model.name = model;
  config.model.features = 9;
  config.model.prior_precision = 1;
  config.model.intercept_precision = 0.1;
  config.sampler.chains = 8;
  config.window_size = window;
  return config;
}

Provenance after(const Burst& burst, const EngineConfig& config, const Data& data) {
  TestEngine engine(config);
  engine.feed(data, 0, burst.before);
  engine.poll_rounds(static_cast<std::uint64_t>(burst.rounds));
  for (Index at = burst.before; at < data.rows(); at += burst.at_once) {
    engine.feed(data, at, std::min(data.rows(), at + burst.at_once));
    engine.poll_rounds(static_cast<std::uint64_t>(burst.rounds_between));
  }
  engine.poll_until_idle();
  return engine.provenance();
}

// One Newton step from the mode of 200 rows does not reach that of 8,500. Each further one takes a
// pass, which must not wait for new rows or for the chains to rest.
TEST(Burst, ModeIsReachedBeforeDrawsAreComparedWithIt) {
  const Data data = test::logistic_data(8500, 9, 0.0, 2);
  for (const int rounds_between : {1, 2, 20}) {
    for (const Index at_once : {1000, 5000, 10000}) {
      const Provenance p =
          after({200, 40, at_once, rounds_between}, config_of("logistic", 10'000), data);
      EXPECT_EQ(p.reason, StatusReason::kNone) << at_once << " rows, " << rounds_between;
    }
  }
}

// Chains that have drawn all that rows grant do not rest before their draws have been compared:
// while many rows join the sums, the law is that of another size of minibatch, and nothing is.
TEST(Burst, DrawsAreComparedBeforeChainsRest) {
  const Data data = test::linear_data(110'000, 9, 1.0, 2);
  for (const int rounds_between : {1, 20}) {
    const Provenance p = after({400, 40, 5000, rounds_between}, config_of("linear", 100'000), data);
    EXPECT_EQ(p.reason, StatusReason::kNone) << rounds_between;
  }
}

// Feature 0 is 0 in rows before `late`, and in every other one from there on; y does not depend on
// it.
Data late_category(Index rows, Index late, double (*outcome)(double eta, double u)) {
  Data data = test::inverted_data(rows, 3, -1.0, 3, [](double eta, double) { return eta; });
  const VectorXd u = test::uniforms(5, rows);
  for (Index i = 0; i < rows; ++i) {
    data.y[i] = outcome(data.y[i] - data.truth[0] * data.x(i, 0), u[i]);
    data.x(i, 0) = i >= late && i % 2 == 0 ? 1.0 : 0.0;
  }
  return data;
}

double success(double eta, double u) { return u < 1 / (1 + std::exp(-eta)) ? 1.0 : 0.0; }

double none_or_one(double eta, double u) { return u < std::exp(-std::exp(eta)) ? 0.0 : 1.0; }

EngineConfig category_config(const char* model, std::uint64_t window) {
  EngineConfig config;
  config.model.name = model;
  config.model.features = 3;
  config.window_size = window;
  return config;
}

// The P that nothing of a category is known in would take the mean many sd from the mode.
TEST(Burst, MeanOfANewCategoryIsNotCorrectedAsThoughNothingWereKnownOfIt) {
  for (const char* model : {"poisson", "logistic"}) {
    const bool counts = std::strcmp(model, "poisson") == 0;
    const Data data = late_category(3000, 2500, counts ? none_or_one : success);
    TestEngine engine(category_config(model, 4000));
    engine.feed(data, 0, 2500);
    engine.poll_until_idle();
    engine.feed(data, 2500, 3000);
    const LaplaceApproximation& laplace = engine->learner().view().estimator().laplace();
    double farthest = 0;
    do {
      const double sd = std::sqrt(laplace.covariance()[0]);
      farthest = std::max(farthest, std::abs(laplace.mean()[0] - laplace.mode()[0]) / sd);
    } while (engine->poll(1) > 0);
    EXPECT_LT(farthest, 1) << model;
    EXPECT_EQ(laplace.third_share(), 1) << model;
  }
}

// Chains that a full window's burst lets move by rows of a category that their law does not know
// are thrown by them, and rest where they are.
TEST(Burst, RowsOfANewCategoryThrowNoChain) {
  for (const Index burst : {250, 600, 1500}) {
    const Data data = late_category(3000 + burst, 3000, success);
    EngineConfig config = category_config("logistic", 2000);
    config.draws_per_observation = 1;
    TestEngine engine(config);
    engine.feed(data, 0, 3000);
    engine.poll_until_idle();
    engine.feed(data, 3000, data.rows());
    engine.poll_until_idle();
    const LearnerView view = engine->learner().view();
    const LaplaceApproximation& laplace = view.estimator().laplace();
    const double sd = std::sqrt(laplace.covariance()[0]);
    double squares = 0;
    for (std::size_t at = 0; at < view.chains.size(); at += 4) {
      squares += std::pow((view.chains[at] - laplace.mean()[0]) / sd, 2);
    }
    EXPECT_LT(squares, 31.8) << burst;  // chi-square of eight chains, 0.9999
    EXPECT_EQ(engine.provenance().reason, StatusReason::kNone) << burst;
  }
}

// Student's t with four features, whose coefficients are others from row `jump` on.
Data jumping_data(Index rows, Index jump, std::uint64_t seed) {
  Data data = test::linear_data(rows, 4, 0.0, seed, 0.0);
  const VectorXd other = test::coefficients(5, 4 * seed + 3) * 3;
  const VectorXd z = test::normals(seed + 1000, 5 * rows);
  for (Index i = 0; i < rows; ++i) {
    if (i >= jump) data.y[i] = data.x.row(i).dot(other.head(4)) + other[4];
    data.y[i] += 2 * z[5 * i] / z.segment(5 * i + 1, 4).norm();
  }
  return data;
}

// Chains follow their rows to the mode while the mean waits for the next pass, as one Newton step
// does not reach it; what that pass corrects is no way that they have to be carried.
TEST(Burst, ChainsThatHaveFollowedTheRowsAreNotCarriedThereAgain) {
  constexpr std::uint64_t kRuns = 8;
  constexpr double kParameters = 5;
  double squares = 0;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    const Data data = jumping_data(2400, 600, 300 + run);
    EngineConfig config;
    config.model.name = "student-t";
    config.model.features = 4;
    config.window_size = 4000;
    config.draws_per_observation = 1;
    TestEngine engine(config);
    engine.feed(data, 0, 600);
    engine.poll_until_idle();
    engine.feed(data, 600, 2400);
    engine.poll_until_idle();
    const LearnerView view = engine->learner().view();
    const LaplaceApproximation& laplace = view.estimator().laplace();
    for (std::size_t at = 0; at < view.chains.size(); ++at) {
      const double sd = std::sqrt(laplace.covariance()[at % 5 * 6]);
      squares += std::pow((view.chains[at] - laplace.mean()[at % 5]) / sd, 2);
    }
  }
  const double count = kRuns * kParameters * 8;
  EXPECT_NEAR(squares / count, 1.0, 4 * std::sqrt(2 / count));
}

// C is an average over passes. Where the rows of a window lie elsewhere than those before, in a
// direction that they say little about, it is far too large there; draws that are too narrow for
// that have a pass measure it.
TEST(Burst, NoiseThatMakesDrawsTooNarrowIsMeasuredAnew) {
  constexpr Index kRows = 3000;
  constexpr Index kPiece = 5;
  Data data = test::linear_data(kRows, 2, 0.0, 9);
  const VectorXd z = test::normals(7, 2 * kRows);
  for (Index i = 0; i < kRows; ++i) {
    const double x = 4.0 * static_cast<double>(i) / kRows - 2;
    data.x.row(i) << 0.9 * x + 0.44 * z[2 * i], x;
    data.y[i] = 0.2 * data.x(i, 0) + 0.3 * x + z[2 * i + 1];
  }
  EngineConfig config;
  config.model.features = 2;
  config.model.prior_precision = 1;
  config.model.intercept_precision = 0.1;
  config.window_size = 1000;
  TestEngine engine(config);
  int off = 0;
  for (Index at = 0; at < kRows; at += kPiece) {
    engine.feed(data, at, at + kPiece);
    engine.poll_until_idle();
    if (at % 100 == 0) off += engine.provenance().reason == StatusReason::kSpread;
  }
  EXPECT_EQ(off, 0) << engine.provenance().ou_ratio;
}

}  // namespace
}  // namespace windhover
