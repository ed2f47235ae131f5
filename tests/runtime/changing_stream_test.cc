// What becomes of the draws when the posterior they belong to changes.
#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::changing_stream_test {
namespace {

// Iterates against the centre and spread of their own time, in posterior standard deviations.
struct Standardised {
  const Learner* learner;
  std::uint32_t parameter;
  double count = 0;
  double sum = 0;
  double squares = 0;

  static void add(void* self, std::uint16_t, const double* theta) noexcept {
    auto& s = *static_cast<Standardised*>(self);
    const Estimator& e = s.learner->view().estimator();
    const std::size_t diagonal = std::size_t{s.parameter} * (e.laplace().factor().dimension() + 1);
    const double z = (theta[s.parameter] - e.laplace().mean()[s.parameter]) /
                     std::sqrt(e.laplace().covariance()[diagonal]);
    s.count += 1;
    s.sum += z;
    s.squares += z * z;
  }
  double mean() const { return sum / count; }
  double mean_square() const { return squares / count; }
};

// One coefficient moves by ten posterior sd a window: chains left to themselves lag by more than
// one. 20 windows at R = 4 and 4 chains are 160 independent iterates or more: 0.08 for the mean,
// 0.11 for the mean square.
TEST(ChangingStream, DriftingCoefficientLeavesNoChainBehind) {
  constexpr Index kRows = 20'000;
  constexpr Index kWindow = 1000;
  Data data = linear_data(kRows, 3, 1.0, 81);
  for (Index i = 0; i < kRows; ++i) {
    data.y[i] += 10 * static_cast<double>(i) / kWindow / std::sqrt(kWindow) * data.x(i, 0);
  }
  EngineConfig config = small_config("linear", 3, kWindow);
  config.sampler.chains = 4;
  TestEngine engine(config);
  Standardised moving{&engine->learner(), 0};
  const_cast<Learner&>(engine->learner()).set_trace(&Standardised::add, &moving);
  int answers = 0;
  int ok_answers = 0;
  for (Index row = 0; row < kRows; row += 20) {
    engine.feed(data, row, row + 20);
    engine.poll_until_idle();
    if (row < 3000) continue;
    ++answers;
    ok_answers += engine.provenance().status == PosteriorStatus::kOk;
  }
  EXPECT_NEAR(moving.mean(), 0, 0.3);
  EXPECT_GT(moving.mean_square(), 0.65);
  EXPECT_LT(moving.mean_square(), 1.45);
  EXPECT_GE(ok_answers, answers * 9 / 10);
}

// Left to themselves, chains that replay R draws for every new row stand tau (1 - exp(-1 / tau))
// posterior variances off the window's mode, tau = 1 / (2 R), for where it was: 0.43 at R = 1, 0.12
// at R = 4. Carried along they do not; what is left of 32 chains' mean is 1 / 32.
TEST(ChangingStream, ChainsDoNotLagBehindTheWindow) {
  constexpr Index kRows = 40'000;
  constexpr Index kWindow = 1000;
  constexpr Index kChains = 32;
  for (const double replay_ratio : {1.0, 4.0}) {
    const Data data = linear_data(kRows, 3, 1.0, 85);
    EngineConfig config = small_config("linear", 3, kWindow);
    config.sampler.chains = kChains;
    config.sampler.minibatch_size = 20;
    config.draws_per_observation = replay_ratio;
    TestEngine engine(config);
    double variance = 0;
    double count = 0;
    for (Index row = 0; row < kRows; row += 20) {
      engine.feed(data, row, row + 20);
      engine.poll_until_idle();
      if (row < 5 * kWindow || row % 500 != 0) continue;
      const std::span<const double> thetas = engine->learner().view().chains;
      const Eigen::Map<const MatrixXd> chains(thetas.data(), 4, kChains);
      const Gaussian now = engine.summary();
      const VectorXd off = chains.rowwise().mean() - now.mean;
      variance += off.dot(now.covariance.llt().solve(off)) / 4;
      count += 1;
    }
    variance /= count;
    const double tau = 1 / (2 * replay_ratio);
    const double left_alone = tau * (1 - std::exp(-1 / tau)) + 1.0 / kChains;
    std::printf("R = %.0f: mean of the chains %.4f posterior variances off the mode (%.4f alone)\n",
                replay_ratio, variance, left_alone);
    // 70 times, half a window apart, 4 directions: a relative error of 0.15 or so.
    EXPECT_NEAR(variance * kChains, 1.0, 0.6);
    EXPECT_LT(variance, 0.5 * left_alone);
  }
}

// A feature that is 0 for five windows and then appears in a tenth of the rows: its posterior sd
// falls from the prior's 1 to 0.1. Neither draws from before nor an estimate of its gradient noise
// from before may make the spread too wide.
TEST(ChangingStream, NewCategoryHasDrawsOfItsOwnWidth) {
  constexpr Index kRows = 10'000;
  constexpr Index kFirst = 5000;
  for (const char* model : {"linear", "logistic"}) {
    const bool linear = std::string_view(model) == "linear";
    Data data = linear ? linear_data(kRows, 2, 1.0, 82) : logistic_data(kRows, 2, 0.0, 82);
    for (Index i = 0; i < kRows; ++i) data.x(i, 1) = i >= kFirst && i % 10 == 0 ? 1.0 : 0.0;
    EngineConfig config = small_config(model, 2, 1000);
    config.sampler.chains = 4;
    TestEngine engine(config);
    Standardised spread{&engine->learner(), 1};
    int not_ok = 0;
    for (Index row = 0; row < kRows; row += 20) {
      if (row == kFirst)
        const_cast<Learner&>(engine->learner()).set_trace(&Standardised::add, &spread);
      engine.feed(data, row, row + 20);
      engine.poll_until_idle();
      if (row < kFirst || row % 200 != 0) continue;
      not_ok += engine.provenance().status != PosteriorStatus::kOk;
      const MatrixXd draws = engine.draws();
      const VectorXd column = draws.col(1).array() - draws.col(1).mean();
      const double sd = std::sqrt(column.squaredNorm() / static_cast<double>(draws.rows() - 1));
      // 64 draws, each chain's successors correlated: a relative error of 0.13.
      EXPECT_NEAR(sd / engine.parameters()[1].sd, 1.0, 0.5) << model << ", row " << row;
    }
    EXPECT_GT(spread.mean_square(), 0.6) << model;
    EXPECT_LT(spread.mean_square(), 1.5) << model;
    EXPECT_LE(not_ok, 2) << model;
  }
}

// Hours of the day, each for as long as it lasts, a hundred rows at a time: a chain that drew the
// first ones of an hour before its law knew of them went as far as the prior was wide.
TEST(ChangingStream, RowsOfANewCategoryAllAtOnceThrowNoChain) {
  constexpr Index kHours = 12;
  constexpr Index kBurst = 300;
  constexpr Index kFrame = 100;
  constexpr Index kRows = 2 * kHours * kBurst;
  Data data = linear_data(kRows, kHours, 1.0, 86);
  const VectorXd noise = normals(860, kRows);
  for (Index i = 0; i < kRows; ++i) {
    const Index hour = i / kBurst % kHours;
    data.x.row(i).setZero();
    data.x(i, hour) = 1;
    data.y[i] = std::sin(static_cast<double>(hour)) + noise[i];
  }
  EngineConfig config = small_config("linear", kHours, 65'536);
  config.model.prior_precision = 1e-3;
  config.sampler.chains = 8;
  TestEngine engine(config);
  Standardised last{&engine->learner(), kHours - 1};
  int spread = 0;
  for (Index row = 0; row < kRows; row += kFrame) {
    if (row == (kHours - 1) * kBurst) {
      const_cast<Learner&>(engine->learner()).set_trace(&Standardised::add, &last);
    }
    if (row == kHours * kBurst) {
      const_cast<Learner&>(engine->learner()).set_trace(nullptr, nullptr);
    }
    engine.feed(data, row, row + kFrame);
    engine.poll_until_idle();
    spread += engine.provenance().reason == StatusReason::kSpread;
  }
  std::printf("mean square of what was new: %.2f, %d answers said spread\n", last.mean_square(),
              spread);
  EXPECT_GT(last.mean_square(), 0.6);
  EXPECT_LT(last.mean_square(), 1.5);
  EXPECT_EQ(spread, 0);
}

// A stream that comes in one burst and stops.
TEST(ChangingStream, EndsWithDrawsEnoughToSayOk) {
  for (const std::uint32_t chains : {1U, 4U}) {
    for (const std::uint32_t features : {3U, 40U}) {
      const Data data = linear_data(20'000, features, 1.0, 83);
      EngineConfig config = small_config("linear", features, 16'000);
      config.window_slack = 32'768;
      config.sampler.chains = chains;
      TestEngine engine(config);
      engine.feed(data);
      engine.poll_until_idle();
      const Provenance p = engine.provenance();
      EXPECT_EQ(p.status, PosteriorStatus::kOk)
          << chains << " chains, " << features << " features, ou_ratio " << p.ou_ratio << ", ess "
          << p.ess_bulk << ", R " << p.draws_per_observation;
      EXPECT_EQ(p.sequence, 20'000u);
    }
  }
}

// The first rows come from an eighth of the day and say nothing of the rest, where their fit gives
// probabilities of 0 and 1; then the rest comes at once. Unchecked Newton steps from there ended at
// coefficients of thousands.
TEST(ChangingStream, RowsFromElsewhereInOneBurstDoNotThrowTheModeOff) {
  constexpr Index kFirst = 2000;
  constexpr Index kRows = 22'000;
  Data data = logistic_data(kRows, 6, 0.0, 84);
  const VectorXd u = uniforms(840, kRows);
  const VectorXd v = uniforms(841, kRows);
  for (Index i = 0; i < kRows; ++i) {
    const double hour = u[i] * (i < kFirst ? 0.125 : 1.0);
    for (int k = 0; k < 3; ++k) {
      data.x(i, 2 * k) = std::sin(2 * M_PI * (k + 1) * hour);
      data.x(i, 2 * k + 1) = std::cos(2 * M_PI * (k + 1) * hour);
    }
    // Rises steeply within the first eighth and is flat elsewhere.
    const double eta = i < kFirst ? 60 * (hour - 0.0625) : -1.0;
    data.y[i] = v[i] < 1 / (1 + std::exp(-eta)) ? 1.0 : 0.0;
  }
  EngineConfig config = small_config("logistic", 6, 10'000);
  config.window_slack = 32'768;
  config.model.prior_precision = 1e-4;
  TestEngine engine(config);
  engine.feed(data, 0, kFirst);
  engine.poll_until_idle();
  ASSERT_EQ(engine.provenance().status, PosteriorStatus::kOk);
  engine.feed(data, kFirst, kRows);
  engine.poll_until_idle();
  const Provenance p = engine.provenance();
  EXPECT_EQ(p.status, PosteriorStatus::kOk)
      << "ou_ratio " << p.ou_ratio << ", ess " << p.ess_bulk << ", R " << p.draws_per_observation;
  EXPECT_EQ(p.sequence, static_cast<std::uint64_t>(kRows));
  EXPECT_EQ((*engine).counters().get(RuntimeCounter::kColdStarts), 2u);
  for (const ParameterSummary& parameter : engine.parameters()) {
    EXPECT_LT(std::abs(parameter.mean), 2.0);
    EXPECT_LT(parameter.sd, 0.2);
  }
}

// A pass takes 1000 / 16 = 63 pieces, one in 2 rounds after the first that saw no new row, then one
// in 3 and in the end one in 4: three passes in 63 (2 + 3 + 4) = 567 rounds, later four in 1008.
TEST(ChangingStream, PassesBecomeRareWhereNothingChanges) {
  const Data data = linear_data(1001, 5, 1.0, 83);
  EngineConfig config = small_config("linear", 5, 1000);
  config.draws_per_observation = 0;
  TestEngine engine(config);
  engine.feed(data, 0, 1000);
  ASSERT_TRUE(engine.poll_until_sampling());
  const auto passes_in = [&engine](std::uint64_t rounds) {
    const std::uint64_t before = engine->learner().view().passes;
    engine.poll_rounds(rounds);
    return engine->learner().view().passes - before;
  };
  EXPECT_GE(passes_in(700), 3u);
  passes_in(20'000);
  const std::uint64_t rare = passes_in(4 * 63 * 4);
  EXPECT_GE(rare, 3u);
  EXPECT_LE(rare, 5u);
  engine.feed(data, 1000, 1001);
  EXPECT_GE(passes_in(700), 3u);
}

}  // namespace
}  // namespace windhover::test::changing_stream_test
