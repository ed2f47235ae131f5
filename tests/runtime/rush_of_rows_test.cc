// Frames that replace much of the window, or add much to it, at once: what is served while their
// rows join the estimates, and where the chains go.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "windhover/samplers/langevin/metric.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::rush_of_rows_test {
namespace {

constexpr std::uint32_t kFeatures = 11;
constexpr Index kDimension = kFeatures + 1;
constexpr Index kChains = 8;

EngineConfig rush_config(const char* model, std::uint64_t window) {
  EngineConfig config = small_config(model, kFeatures, window);
  config.window_slack = 2 * window;
  config.sampler.minibatch_size = 100;
  config.sampler.chains = kChains;
  config.draws_per_observation = 4;
  return config;
}

// All rows at once, without a round in between.
void observe(TestEngine& engine, const Data& data, Index first, Index last) {
  constexpr Index kMost = 250;
  for (; first < last; first += kMost) {
    const Index rows = std::min(kMost, last - first);
    ASSERT_EQ(engine->observe(TestEngine::batch(data, first, rows), {}).accepted, rows);
  }
}

// The squared errors of the served means, in units of what is served as their sd.
class Errors {
 public:
  void add(TestEngine& engine, const VectorXd& truth) {
    const auto parameters = engine.parameters();
    for (Index j = 0; j < kDimension; ++j) {
      const ParameterSummary& served = parameters[static_cast<std::size_t>(j)];
      sum_ += std::pow((served.mean - truth[j]) / served.sd, 2);
      largest_sd_ = std::max(largest_sd_, served.sd);
    }
    count_ += kDimension;
  }
  // Expects errors no larger than the served sds say. Looks at one frame depend on each other; all
  // are worth `looks` independent ones.
  void expect_honest(double looks) const {
    EXPECT_LE(sum_ / count_, 1 + 4 * std::sqrt(2 / (looks * kDimension)));
  }
  double largest_sd() const { return largest_sd_; }

 private:
  double sum_ = 0;
  double count_ = 0;
  double largest_sd_ = 0;
};

// What is served in some of the rounds in which rows [first, last) join, which come at once.
void look_while_joining(TestEngine& engine, const Data& data, Index first, Index last,
                        Errors& errors) {
  observe(engine, data, first, last);
  for (int round = 0; round < 15; ++round) {
    engine.poll_rounds(1);
    if (round >= 5) errors.add(engine, data.truth);
  }
}

// The rows of four fifths of the window leave its sums before those in their place have joined.
TEST(RushOfRows, RowsThatHaveYetToJoinAreNotCounted) {
  constexpr Index kWindow = 2500;
  constexpr Index kRows = 2000;
  constexpr Index kFrames = 40;
  const Data data = linear_data(kWindow + kFrames * kRows, kFeatures, 1.0, 5);
  TestEngine engine(rush_config("linear", kWindow));
  engine.feed(data, 0, kWindow);
  engine.poll_until_idle();
  Errors at_rest;
  at_rest.add(engine, data.truth);
  Errors errors;
  for (Index first = kWindow; first < data.rows(); first += kRows) {
    look_while_joining(engine, data, first, first + kRows, errors);
    engine.poll_until_idle();
  }
  errors.expect_honest(kFrames);
  // The sums may lack a 32nd of the rows; the sd of two windows differ by 1 / sqrt(N), relative.
  const double most = std::sqrt(32.0 / 31) * (1 + 4 / std::sqrt(double{kWindow}));
  EXPECT_LT(errors.largest_sd(), most * at_rest.largest_sd());
}

TEST(RushOfRows, AGrowingWindowPromisesNoMoreThanItsSumsHold) {
  constexpr Index kBefore = 2000;
  constexpr Index kAfter = 6000;
  constexpr std::uint64_t kRuns = 20;
  Errors errors;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    const Data data = linear_data(kAfter, kFeatures, 1.0, 100 + run);
    TestEngine engine(rush_config("linear", 2 * kAfter));
    engine.feed(data, 0, kBefore);
    engine.poll_until_idle();
    look_while_joining(engine, data, kBefore, kAfter, errors);
  }
  errors.expect_honest(kRuns);
}

// The draws that are left when all is at rest lie about the mean as they should, also in a
// direction that no row says anything about, where only the prior is.
TEST(RushOfRows, DrawsOfAGrowingWindowAreAsWideAsItsPosterior) {
  constexpr Index kBefore = 1500;
  constexpr Index kAfter = 21'500;
  constexpr std::uint64_t kRuns = 10;
  constexpr Index kUnseen = kFeatures - 1;
  constexpr double kTolerance = 1.3;  // as the status has
  double squares = 0;
  double unseen = 0;
  double draws = 0;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    Data data = linear_data(kAfter, kFeatures, 1.0, 200 + run);
    data.x.col(kUnseen).setZero();
    TestEngine engine(rush_config("linear", 2 * kAfter));
    engine.feed(data, 0, kBefore);
    engine.poll_until_idle();
    observe(engine, data, kBefore, kAfter);
    engine.poll_until_idle();
    EXPECT_EQ(engine.provenance().status, PosteriorStatus::kOk)
        << to_string(engine.provenance().reason);
    const auto parameters = engine.parameters();
    const RowMatrix of_engine = engine.draws();
    for (Index j = 0; j < kDimension; ++j) {
      const ParameterSummary& served = parameters[static_cast<std::size_t>(j)];
      const double sum = (of_engine.col(j).array() - served.mean).square().sum();
      (j == kUnseen ? unseen : squares) += sum / (served.sd * served.sd);
    }
    draws += static_cast<double>(of_engine.rows());
  }
  EXPECT_LT(squares / (draws * (kDimension - 1)), kTolerance);
  EXPECT_NEAR(unseen / draws, 1.0, 4 * std::sqrt(2 / draws));
}

// How much further than the new mean the chains stand in the rounds after a frame's rows have
// joined, as a share of the way from the mean before the frame to that after it; a mean over
// frames.
double overshoot(TestEngine& engine, const Data& data, Index window, Index rows) {
  double along = 0;
  double squares = 0;
  for (Index first = window; first < data.rows(); first += rows) {
    const VectorXd before = engine.summary().mean;
    observe(engine, data, first, first + rows);
    bool joined = false;
    VectorXd chains = VectorXd::Zero(kDimension);
    while (engine->poll(1) > 0) {
      engine->poll(0);  // publishes
      const auto* thetas = engine->learner().view().chains.data();
      const auto sequence = static_cast<Index>(engine.provenance().sequence);
      if (joined || sequence < first + rows) continue;
      joined = true;
      for (Index c = 0; c < kChains; ++c) {
        chains += Eigen::Map<const VectorXd>(thetas + c * kDimension, kDimension) / kChains;
      }
    }
    const Gaussian after = engine.summary();
    const VectorXd way = after.covariance.ldlt().solve(after.mean - before);
    EXPECT_TRUE(joined);
    along += (chains - after.mean).dot(way);
    squares += (after.mean - before).dot(way);
  }
  return along / squares;
}

// The mean of chains has variance 1 / kChains a direction; two windows that share all but so many
// rows have means 2 rows / window apart, squared and in units of the posterior's variance.
double mcse(Index frames, Index window, Index rows) {
  const double squares =
      2.0 * static_cast<double>(frames * kDimension * rows) / static_cast<double>(window);
  return std::sqrt(1.0 / kChains / squares);
}

// A frame joins over 25 rounds, in which the chains follow its rows by themselves.
TEST(RushOfRows, ChainsAreNotCarriedPastTheNewMean) {
  constexpr Index kWindow = 5000;
  constexpr Index kRows = 1250;
  constexpr Index kFrames = 100;
  const Data data = linear_data(kWindow + kFrames * kRows, kFeatures, 1.0, 6);
  TestEngine engine(rush_config("linear", kWindow));
  engine.feed(data, 0, kWindow);
  engine.poll_until_idle();
  EXPECT_NEAR(overshoot(engine, data, kWindow, kRows), 0.0, 4 * mcse(kFrames, kWindow, kRows));
}

// A feature that comes in other units for a while, with targets that it says nothing about: what a
// Newton step that no parabola bears makes of it is not served, wherever in a pass it comes.
TEST(RushOfRows, AStepTooLongToTrustIsNotServedInAStreamThatNeverRests) {
  constexpr Index kWindow = 5000;
  constexpr Index kRows = 25;
  constexpr Index kOdd = 400;
  const Data clean = logistic_data(4 * kWindow, kFeatures, 0.0, 7);
  const VectorXd coins = uniforms(8, kOdd);
  for (Index start = 2 * kWindow; start < 3 * kWindow; start += 1100) {
    Data data = clean;
    for (Index i = 0; i < kOdd; ++i) {
      data.x(start + i, 0) *= 1000;
      data.y[start + i] = coins[i] < 0.5 ? 1 : 0;
    }
    TestEngine engine(rush_config("logistic", kWindow));
    engine.feed(data, 0, kWindow);
    engine.poll_until_idle();
    const double most = std::abs(data.truth[0]) + 4 * engine.parameters()[0].sd;
    for (Index first = kWindow; first < start + kOdd; first += kRows) {
      observe(engine, data, first, first + kRows);
      engine.poll_rounds(1);
      ASSERT_LT(std::abs(engine.parameters()[0].mean), most) << first;
    }
  }
}

class Identity : public Metric {
 public:
  void evaluate(const double*, double* root, double* divergence) const noexcept override {
    Eigen::Map<MatrixXd>(root, kDimension, kDimension).setIdentity();
    std::fill_n(divergence, kDimension, 0.0);
  }
};

// A sampler that does not know how slow it is has not followed in one move.
TEST(RushOfRows, ChainsOfAnUnknownRelaxationAreCarried) {
  constexpr Index kWindow = 5000;
  constexpr Index kRows = 1250;
  constexpr Index kFrames = 40;
  const Identity metric;
  EngineConfig config = rush_config("linear", kWindow);
  config.sampler.name = "rsgld";
  config.sampler.metric = &metric;
  config.sampler.step_size = 0.001;
  const Data data = linear_data(kWindow + kFrames * kRows, kFeatures, 1.0, 9);
  TestEngine engine(config);
  engine.feed(data, 0, kWindow);
  engine.poll_until_idle();
  // It is taken to forget in a window, n / S rounds; the 25 rounds of a frame's rows are half of
  // that. If the chains have not followed at all they lack as much.
  const double followed = 1 - (1 - std::exp(-0.5)) / 0.5;
  EXPECT_GT(overshoot(engine, data, kWindow, kRows), -followed - 4 * mcse(kFrames, kWindow, kRows));
}

}  // namespace
}  // namespace windhover::test::rush_of_rows_test
