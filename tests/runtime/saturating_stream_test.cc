// Streams that let the chains rest never, or not before they have forgotten where they were.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::saturating_stream_test {
namespace {

constexpr Index kWindow = 5000;
constexpr std::uint32_t kFeatures = 11;
constexpr Index kDimension = kFeatures + 1;
constexpr std::uint16_t kChains = 8;

// Deviations of the chains from the mean that is served, in units of the posterior's sd.
struct Deviations {
  explicit Deviations(const Learner& of) : learner(of) {}

  static void add(void* self, std::uint16_t, const double* theta) noexcept {
    Deviations& d = *static_cast<Deviations*>(self);
    const Estimator& estimator = d.learner.view().estimator();
    for (Index j = 0; j < kDimension; ++j) {
      const double deviation = theta[j] - estimator.laplace().mean()[j];
      d.squares += deviation * deviation / estimator.laplace().covariance()[j * (kDimension + 1)];
    }
    d.count += kDimension;
  }
  double mean_square() const { return squares / count; }

  const Learner& learner;
  double squares = 0;
  double count = 0;
};

Data data_of(const std::string& model, Index rows) {
  return model == "linear" ? linear_data(rows, kFeatures, 1.0, 3)
                           : logistic_data(rows, kFeatures, -0.3, 3);
}

class SaturatingStream : public testing::TestWithParam<const char*> {
 protected:
  EngineConfig config_of(double draws_per_observation) const {
    EngineConfig config = small_config(GetParam(), kFeatures, kWindow);
    config.window_slack = 2 * kWindow;
    config.sampler.minibatch_size = 100;
    config.sampler.chains = kChains;
    config.draws_per_observation = draws_per_observation;
    return config;
  }

  // Checks the deviations of so many rounds without a rest.
  static void expect_draws_about_the_mean(TestEngine& engine, const Deviations& deviations,
                                          double rounds) {
    EXPECT_EQ(engine.provenance().status, PosteriorStatus::kOk)
        << to_string(engine.provenance().reason);
    // A chain forgets in n / (2 S) = 25 rounds, its squares in half of that.
    const double draws = rounds / 12.5 * kChains * kDimension;
    EXPECT_NEAR(deviations.mean_square(), 1.0, 4 * std::sqrt(2 / draws));
  }
};

// R = 4, and with every round the rows that pay for the next. A refresh a pass alone would serve
// the rows of half a window ago, with chains 1.3 to 1.4 times as wide about them.
TEST_P(SaturatingStream, AnswersAreOfTheNewestRowsAndTheDrawsLieAboutThem) {
  constexpr Index kRows = 25;  // S / R
  constexpr Index kRounds = 4000;
  const Data data = data_of(GetParam(), kWindow + kRounds * kRows);
  TestEngine engine(config_of(4));
  engine.feed(data, 0, kWindow);
  engine.poll_until_idle();
  Deviations deviations(engine->learner());
  engine->learner().set_trace(Deviations::add, &deviations);
  std::uint64_t oldest = 0;
  for (Index first = kWindow; first < data.rows(); first += kRows) {
    ASSERT_EQ(engine->observe(TestEngine::batch(data, first, kRows), {}).accepted, kRows);
    engine->poll(1);
    const Provenance provenance = engine.provenance();
    oldest = std::max(oldest, provenance.n_seen - provenance.sequence);
  }
  EXPECT_LE(oldest, static_cast<std::uint64_t>(kWindow) / 16);
  expect_draws_about_the_mean(engine, deviations, kRounds);
}

// The same rate in frames of more rows than the sums can follow in a round: a backlog keeps the
// learner from ever resting, and had every pass lose count of the rows that left.
TEST_P(SaturatingStream, FramesOfManyRowsAreTakenInOverRounds) {
  constexpr Index kRows = 256;
  constexpr Index kLead = 512;
  constexpr Index kFrames = 400;
  constexpr double kRoundsAFrame = 4.0 * kRows / 100;
  const Data data = data_of(GetParam(), kWindow + kLead + kFrames * kRows);
  TestEngine engine(config_of(4));
  engine.feed(data, 0, kWindow);
  engine.poll_until_idle();
  Deviations deviations(engine->learner());
  engine->learner().set_trace(Deviations::add, &deviations);
  engine.feed(data, kWindow, kWindow + kLead);
  double due = 0;
  Index oldest = 0;
  for (Index first = kWindow + kLead; first < data.rows(); first += kRows) {
    ASSERT_EQ(engine->observe(TestEngine::batch(data, first, kRows), {}).accepted, kRows);
    due += kRoundsAFrame;
    engine.poll_rounds(static_cast<std::uint64_t>(due));
    due -= std::floor(due);
    const auto sequence = static_cast<Index>(engine.provenance().sequence);
    oldest = std::max(oldest, first + kRows - sequence);
  }
  // What waits, and as much behind that as where nothing waits.
  EXPECT_LE(oldest, kLead + kRows + kWindow / 16);
  expect_draws_about_the_mean(engine, deviations, kFrames * kRoundsAFrame);
}

// A quarter of the window at a time, with draws enough to forget where the chains were. They have
// gone to the new mean by themselves when the estimates follow.
TEST_P(SaturatingStream, ChainsThatHaveFollowedARushOfRowsAreNotMovedAgain) {
  constexpr Index kRows = kWindow / 4;
  constexpr Index kFrames = 40;
  const Data data = data_of(GetParam(), kWindow + kFrames * kRows);
  TestEngine engine(config_of(16));
  engine.feed(data, 0, kWindow);
  engine.poll_until_idle();
  Deviations at_rest(engine->learner());
  for (Index first = kWindow; first < data.rows(); first += kRows) {
    engine.feed(data, first, first + kRows);
    engine.poll_until_idle();
    const double* chains = engine->learner().view().chains.data();
    for (Index c = 0; c < kChains; ++c) Deviations::add(&at_rest, 0, chains + c * kDimension);
  }
  const double draws = double{kFrames} * kChains * kDimension;
  EXPECT_NEAR(at_rest.mean_square(), 1.0, 4 * std::sqrt(2 / draws));
}

INSTANTIATE_TEST_SUITE_P(Models, SaturatingStream, testing::Values("linear", "logistic"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}  // namespace windhover::test::saturating_stream_test
